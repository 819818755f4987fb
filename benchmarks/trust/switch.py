"""Switches a gate off: changes settings at dotted paths, and runs again what depends on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from benchmarks.trust.asked import Setup
from benchmarks.trust.gates import Gate
from experts.clip import Clip
from experts.expert import Expert, may_use
from experts.registry import EXPERTS
from experts.signals import NoEstimate, Signal
from spatial_engine.annotation.executor import one_line
from spatial_engine.store.run_key import declared_view

Found = dict[str, Signal | NoEstimate]


def set_at(settings: Any, path: str, value: object) -> Any:
    """Settings with another value at a dotted path through dataclasses and mappings. Raises `LookupError` if there is
    no such field, or it has that value already."""
    name, _, rest = path.partition(".")
    old = settings.get(name, settings) if isinstance(settings, Mapping) else getattr(settings, name, settings)
    if old is settings:
        raise LookupError(f"no {name!r} in {type(settings).__name__}")
    new = set_at(old, rest, value) if rest else value
    if not rest and old == value:
        raise LookupError(f"{name!r} is {value} already")
    return {**settings, name: new} if isinstance(settings, Mapping) else replace(settings, **{name: new})


def switched_setup(setup: Setup, gate: Gate) -> Setup:
    """The setup of questions without the gate."""
    for path, value in gate.off.items():
        if path.partition(".")[0] not in EXPERTS.targets():
            setup = set_at(setup, path, value)
    return replace(setup, templates={**setup.templates, **gate.templates})


def switched_expert(expert: Expert, gate: Gate) -> Expert:
    """The expert without the gate; the same object if the gate is not its own."""
    settings = expert.settings
    for path, value in gate.off.items():
        owner, _, rest = path.partition(".")
        if owner == expert.name:
            settings = set_at(settings, rest, value)
    if settings is expert.settings:
        return expert
    made: Expert = type(expert)(settings)  # type: ignore[call-arg]
    return made


def signals_without(
    gate: Gate, clip: Clip, base: Found, experts: Sequence[Expert]
) -> tuple[Found, set[str], dict[str, str]]:
    """Signals without the gate, the names of those that changed, and the error of each expert that failed, which gives
    no estimate. An expert runs again only if its settings or a signal that it reads changed. `experts` are in order of
    dependency."""
    signals, changed, errors = dict(base), set[str](), dict[str, str]()
    for expert in experts:
        switched, reads = switched_expert(expert, gate), expert.needs | may_use(expert)
        if switched is expert and not changed & reads:
            continue
        try:
            found = switched(declared_view(clip, switched), {name: signals[name] for name in reads & signals.keys()})
        except Exception as error:  # without the gate the expert may fail on its input
            errors[expert.name] = one_line(error)
            failed = NoEstimate(reason=f"{expert.name} failed", detail=errors[expert.name])
            found = dict.fromkeys(expert.provides, failed)
        _take(found, signals, changed)
    if gate.signals is not None:
        kept = gate.signals(signals)
        changed |= signals.keys() - kept.keys()
        signals = {name: signal for name, signal in signals.items() if name in kept}
        _take(kept, signals, changed)
    return signals, changed, errors


def _take(found: Mapping[str, Signal | NoEstimate], signals: Found, changed: set[str]) -> None:
    other = {name: signal for name, signal in found.items() if not same(signal, signals.get(name))}
    signals.update(other)
    changed.update(other)


def concerned(setup: Setup, gate: Gate, changed: Iterable[str]) -> list[str]:
    """Templates whose questions may differ without the gate."""
    changed = {name.removesuffix("_check") for name in changed}
    own = [path.split(".") for path in gate.off]
    if any(first in ("ask", "outliers") for first, *_ in own):
        return list(setup.templates)
    switched = {path[1] for path in own if path[0] == "templates"} | gate.templates.keys()
    return [name for name, template in setup.templates.items() if name in switched or template.reads & changed]


def same(a: object, b: object) -> bool:
    """Whether two signals are equal, provenance aside."""
    if isinstance(a, NoEstimate) and isinstance(b, NoEstimate):
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if is_dataclass(a) and type(a) is type(b):
        names = [f.name for f in fields(a) if f.name != "provenance"]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)
