"""Chooses the experts and their order, so that every need is met, and estimates their cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from experts.checkpoints.weights import WEIGHTS
from experts.expert import AsCheck, Expert, SetupProblem, joins, may_use, original, runs_by_default
from experts.registry import EXPERTS, UnknownNameError
from experts.runtime.model_expert import lacking
from experts.signals import SIGNAL_TYPES
from spatial_engine.annotation.licences import licence_of, licence_problem
from spatial_engine.errors import UsageError
from spatial_engine.options import ModelOptions, words

DEFAULT = "default"
"""Name for the default experts."""

SECONDS_PER_CLIP = {
    "valid_area": 1.0,
    "klt": 5.0,
    "colmap": 30.0,
    "track_geometry": 2.0,
    "fitted_path": 6.0,
    "zoom": 1.0,
    "plane_sweep": 12.0,
    "sift": 3.0,
    "reprojection": 3.0,
    "vanishing_points": 3.0,
    "straight_lines": 2.5,
    "cross_check": 3.0,
    "room": 2.0,
}
"""Estimates for a 10 s clip at 640x480 on one core; times measured in a store replace them."""
FIXED_SHARE = {"colmap": 0.5, "plane_sweep": 0.2, "sift": 0.4, "straight_lines": 1.0, "vanishing_points": 0.4}
"""Share of these seconds that does not depend on the number of frames: these experts work on keyframes. Roughly as
timed on about 200 clips, mostly of 3 to 100 frames."""
MEMORY_GB = {
    "valid_area": 0.25,
    "klt": 0.25,
    "colmap": 0.4,
    "track_geometry": 0.4,
    "fitted_path": 0.4,
    "zoom": 0.4,
    "plane_sweep": 0.6,
    "sift": 0.4,
    "vanishing_points": 0.4,
    "straight_lines": 0.4,
    "room": 0.4,
}
"""Peak memory of a process that runs the default experts up to this one, rounded up (the demo clip). For models
it is only the size of the weights."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One expert of a plan."""

    expert: Expert
    licence: str
    """Licences of code and weights, in words."""
    seconds: float | None
    """Expected seconds per clip; None if unknown."""
    measured: bool
    """Whether `seconds` was measured in this store; else it is an estimate."""
    memory_gb: float | None = None
    """Least memory on its device, estimated; None if unknown."""
    obstacles: tuple[SetupProblem | UsageError, ...] = ()
    """Why it cannot run here, each with a remedy; empty if it can."""


def guessed_seconds(expert: Expert) -> float | None:
    """Estimated seconds per clip: `seconds_per_clip` of the expert, or of the table for built-in ones."""
    return getattr(expert, "seconds_per_clip", SECONDS_PER_CLIP.get(expert.name))


def choose_experts(experts: str | Sequence[str | Expert] | None) -> list[Expert]:
    """The experts to run, needs first.

    Args:
        experts: None or "default": all registered ones without weights. Names and experts: these, which must all be
            able to run, and those that join them. "+NAME" adds to them (to the default where nothing else is named),
            "-NAME" takes away.

    Raises:
        UsageError: a name is not known, or a need is not met.
    """
    asked = _asked(experts)
    default = _default_experts()
    given: dict[str, Expert] = {}
    named: set[str] = set()
    for word in asked.added:
        more = default if word == DEFAULT else [named_expert(word) if isinstance(word, str) else word]
        given |= {expert.name: expert for expert in more if expert.name not in given}
        named |= {expert.name for expert in more} if word != DEFAULT else set()
    if unknown := sorted(asked.removed - given.keys()):
        raise UsageError(f"-{unknown[0]}: no such expert would run", f"there are: {', '.join(given)}")
    left = _supported([expert for expert in given.values() if expert.name not in asked.removed], named)
    chosen = _joined(_supported(_arranged(left), named)) if named else left
    for expert in chosen:
        check_signals(expert)
    return choose(None, {expert.name: expert for expert in chosen})


def check_signals(expert: Expert) -> None:
    """Raises `UsageError` if the expert provides a signal that does not exist."""
    if unknown := sorted(expert.provides - SIGNAL_TYPES.keys()):
        known = ", ".join(name for name in SIGNAL_TYPES if not name.endswith("_check"))
        raise UsageError(
            f"expert {expert.name} provides {', '.join(unknown)}, which is no signal",
            f"`provides` may name: {known} (docs/extend.md); without this expert: --experts=-{expert.name}",
        )


def left_out(experts: str | Sequence[str | Expert] | None, chosen: Sequence[Expert]) -> list[str]:
    """One line for each default expert that is not among the `chosen` ones because nothing provides its needs."""
    asked = _asked(experts)
    absent = asked.removed | {original(expert).name for expert in chosen}
    provided = {name for expert in chosen for name in expert.provides}
    return [
        f"{expert.name} is left out: no expert of this run provides {', '.join(unmet)}"
        for expert in (_default_experts() if DEFAULT in asked.added else ())
        if expert.name not in absent and (unmet := sorted(expert.needs - provided))
    ]


def _default_experts() -> list[Expert]:
    """All registered experts that run by default, needs first."""
    able = _able(e for e in registered_experts().values() if runs_by_default(e))
    return choose(None, {expert.name: expert for expert in able})


class _Asked(NamedTuple):
    added: list[Any]
    """Names, experts, and "default"."""
    removed: set[str]


def _asked(experts: str | Sequence[str | Expert] | None) -> _Asked:
    """The experts to add and to remove. "+NAME" and "-NAME" without other names change the default."""
    given = [DEFAULT] if experts is None else words(experts) or []
    removed = {word[1:] for word in given if isinstance(word, str) and word.startswith("-")}
    added = [word for word in given if not (isinstance(word, str) and word.startswith("-"))]
    if all(isinstance(word, str) and word.startswith("+") for word in added):
        added = [DEFAULT, *added]
    return _Asked([word.removeprefix("+") if isinstance(word, str) else word for word in added], removed)


def _supported(experts: Sequence[Expert], named: AbstractSet[str]) -> list[Expert]:
    """The experts without unnamed ones whose needs are no longer met."""
    provided = {name for expert in experts for name in expert.provides}
    kept = [expert for expert in experts if original(expert).name in named or expert.needs <= provided]
    return kept if len(kept) == len(experts) else _supported(kept, named)


def _able(experts: Iterable[Expert]) -> list[Expert]:
    """The experts without those that would join if another expert met their needs."""
    experts = list(experts)
    while True:
        provided = {name for expert in experts for name in expert.provides}
        kept = [e for e in experts if not joins(e) or (e.needs and e.needs <= provided)]
        if len(kept) == len(experts):
            return kept
        experts = kept


def _arranged(experts: Sequence[Expert]) -> list[Expert]:
    """Of several experts for one signal the first one provides it, and the second is its check. Experts that check
    themselves come last. Raises `UsageError` for a third expert, and for a second one whose signals are not
    compared."""
    arranged: list[Expert] = []
    for expert in sorted(experts, key=lambda e: any(name.endswith("_check") for name in e.provides)):
        taken = {name: other.name for other in arranged for name in other.provides}
        clash = sorted(expert.provides & taken.keys())
        if not clash:
            arranged.append(expert)
            continue
        check = AsCheck(expert)
        if again := sorted(check.provides & taken.keys()):
            first, second = taken[clash[0]], taken[again[0]].removesuffix("_check")
            raise UsageError(
                f"{expert.name} is the third to provide {clash[0]}, after {first} and {second}",
                "two opinions are compared: leave one out",
            )
        if not check.provides:
            raise UsageError(
                f"{taken[clash[0]]} and {expert.name} both provide {clash[0]}, which is not compared",
                "leave one of them out",
            )
        arranged.append(check)
    return arranged


def _joined(named: Sequence[Expert]) -> list[Expert]:
    """The experts and the registered ones that derive signals from theirs; a comparison only if there are two estimates
    to compare."""
    experts = list(named)
    for candidate in (e for e in registered_experts().values() if joins(e)):
        provided = {name for expert in experts for name in expert.provides}
        held_together = any(names <= provided for names in getattr(candidate, "compares", ()))
        compares = candidate.needs or held_together or any(isinstance(expert, AsCheck) for expert in experts)
        if compares and candidate.needs <= provided and not candidate.provides & provided:
            experts.append(candidate)
    return experts


def registered_experts() -> dict[str, Expert]:
    """A new expert of every registered name that can be loaded, in order of preference."""
    return {name: make() for name, make in EXPERTS.load_all().items()}


def named_expert(words: str) -> Expert:
    """A new expert from "name" or "name:variant". Raises `UsageError` for an unknown or unloadable name, and for an
    unknown variant."""
    name, _, variant = words.partition(":")
    try:
        make = EXPERTS.load(name)
        if variant not in ("", *getattr(make, "variants", ())):
            known = ", ".join(f"{name}:{v}" for v in getattr(make, "variants", ())) or "it has no variants"
            raise UsageError(f"expert {name} has no variant {variant!r}", f"known: {known}")
        expert: Expert = make(variant=variant) if variant else make()
    except UnknownNameError as error:
        raise UsageError(f"no expert is called {name!r}", f"known: {', '.join(EXPERTS.targets())}") from error
    except ImportError as error:
        raise UsageError(f"expert {name!r} cannot be loaded: {error}", "see: spatial-engine doctor") from error
    return expert


def choose(wanted: Iterable[str] | None, available: Mapping[str, Expert]) -> list[Expert]:
    """The experts that provide `wanted` (None: whatever `available` can), needs first.

    The first of `available` that provides a signal is taken. Raises `UsageError` where a need is not met.
    """
    provider = _providers(available.values())
    missing = [name for name in (provider if wanted is None else wanted) if name not in provider]
    chosen: dict[str, set[str]] = {}
    queue = [provider[name].name for name in (provider if wanted is None else wanted) if name in provider]
    while queue:
        expert = available[queue.pop()]
        if expert.name in chosen:
            continue
        missing += [name for name in sorted(expert.needs) if name not in provider]
        read = expert.needs | may_use(expert)
        chosen[expert.name] = {provider[name].name for name in read if name in provider}
        queue += sorted(chosen[expert.name])
    if missing:
        raise _unmet(missing, available.values())
    return [available[name] for name in _ordered(chosen)]


def steps(
    experts: Sequence[Expert], measured_s: Mapping[str, float], model_options: ModelOptions | None = None
) -> list[Step]:
    """The plan: licences, expected cost (with the times measured in this store, if any), and obstacles."""
    model_options = model_options or ModelOptions()
    return [
        Step(
            expert=expert,
            licence=licence_of(expert),
            seconds=measured_s.get(expert.name, guessed_seconds(expert)),
            measured=expert.name in measured_s,
            memory_gb=_memory_gb(expert),
            obstacles=tuple(_obstacles(expert, model_options)),
        )
        for expert in experts
    ]


def _obstacles(expert: Expert, model_options: ModelOptions) -> Iterator[SetupProblem | UsageError]:
    if refused := licence_problem(expert, model_options):
        yield refused
    yield from lacking(expert, model_options.weights)


def _memory_gb(expert: Expert) -> float | None:
    names = getattr(expert, "weight_names", ())
    if not names:
        return MEMORY_GB.get(expert.name)
    files = [file for name in names if name in WEIGHTS for file in WEIGHTS[name].files]
    return sum(file.bytes or 0 for file in files) / 1e9 or None


def _providers(experts: Iterable[Expert]) -> dict[str, Expert]:
    provider: dict[str, Expert] = {}
    for expert in experts:
        for name in sorted(expert.provides):
            provider.setdefault(name, expert)
    return provider


def _ordered(needs: Mapping[str, set[str]]) -> list[str]:
    sorter = TopologicalSorter({name: sorted(needs[name] - {name}) for name in sorted(needs)})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise UsageError(f"experts need each other in a circle: {circle}", "leave one of them out") from error


def _unmet(signals: Iterable[str], present: Iterable[Expert]) -> UsageError:
    missing = sorted(set(signals))
    unknown = [name for name in missing if name not in SIGNAL_TYPES]
    if unknown:
        return UsageError(f"no signal is called {', '.join(unknown)}", f"known: {', '.join(SIGNAL_TYPES)}")
    present = list(present)
    known, running = _providers(registered_experts().values()), {original(expert).name for expert in present}
    able = {name: known[name].name for name in missing if name in known and known[name].name not in running}
    hopeless = {name for name in missing if name not in able}
    readers = sorted(expert.name for expert in present if expert.needs & hopeless)
    remedy = [f"add to --experts: {expert} (provides {name})" for name, expert in able.items()]
    remedy += [f"leave out of --experts: {', '.join(readers)}"] if readers else []
    return UsageError(f"nothing provides {', '.join(missing)}", "; ".join(remedy))
