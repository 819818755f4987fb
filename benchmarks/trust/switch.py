"""Turning a gate off: settings at dotted paths, signals as they would be without it, and what follows from them."""

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
from spatial_engine.store.run_key import declared_view

Found = dict[str, Signal | NoEstimate]


def set_at(settings: Any, path: str, value: object) -> Any:
    """Settings with another value at a dotted path through dataclasses and mappings. Raises `LookupError` where there
    is no such field, and where the value is what it was."""
    name, _, rest = path.partition(".")
    held = settings.get(name, settings) if isinstance(settings, Mapping) else getattr(settings, name, settings)
    if held is settings:
        raise LookupError(f"no {name!r} in {type(settings).__name__}")
    new = set_at(held, rest, value) if rest else value
    if not rest and held == value:
        raise LookupError(f"{name!r} is {value} already")
    return {**settings, name: new} if isinstance(settings, Mapping) else replace(settings, **{name: new})


def switched_setup(setup: Setup, gate: Gate) -> Setup:
    """How questions are asked without the gate."""
    for path, value in gate.off.items():
        if path.partition(".")[0] not in EXPERTS.targets():
            setup = set_at(setup, path, value)
    return replace(setup, templates={**setup.templates, **gate.templates})


def switched_expert(expert: Expert, gate: Gate) -> Expert:
    """The expert without the gate; itself where the gate is not one of its own."""
    settings = expert.settings
    for path, value in gate.off.items():
        owner, _, rest = path.partition(".")
        if owner == expert.name:
            settings = set_at(settings, rest, value)
    if settings is expert.settings:
        return expert
    made: Expert = type(expert)(settings)  # type: ignore[call-arg]
    return made


def signals_without(gate: Gate, clip: Clip, base: Found, experts: Sequence[Expert]) -> tuple[Found, set[str]]:
    """Signals without the gate, and names of those that it changed. Experts run only where something they read
    changed; needs come first in `experts`. An expert that fails says nothing, as in a store."""
    signals, changed = dict(base), set[str]()
    for expert in experts:
        switched, reads = switched_expert(expert, gate), expert.needs | may_use(expert)
        if switched is expert and not changed & reads:
            continue
        try:
            found = switched(declared_view(clip, switched), {name: signals[name] for name in reads & signals.keys()})
        except Exception as error:  # a gate may also be what keeps an expert from numbers it cannot bear
            failed = NoEstimate(reason=f"{expert.name} failed", detail=str(error))
            found = dict.fromkeys(expert.provides, failed)
        _take(found, signals, changed)
    if gate.signals is not None:
        left = gate.signals(signals)
        changed |= signals.keys() - left.keys()
        signals = {name: signal for name, signal in signals.items() if name in left}
        _take(left, signals, changed)
    return signals, changed


def _take(found: Mapping[str, Signal | NoEstimate], signals: Found, changed: set[str]) -> None:
    other = {name: signal for name, signal in found.items() if not same(signal, signals.get(name))}
    signals.update(other)
    changed.update(other)


def concerned(setup: Setup, gate: Gate, changed: Iterable[str]) -> list[str]:
    """Templates whose questions may be others without the gate."""
    changed = {name.removesuffix("_check") for name in changed}
    own = [path.split(".") for path in gate.off]
    if any(first in ("ask", "outliers") for first, *_ in own):
        return list(setup.templates)
    switched = {path[1] for path in own if path[0] == "templates"} | gate.templates.keys()
    return [name for name, template in setup.templates.items() if name in switched or template.reads & changed]


def same(a: object, b: object) -> bool:
    """Whether two signals say the same, whoever made them."""
    if isinstance(a, NoEstimate) and isinstance(b, NoEstimate):
        return True
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if is_dataclass(a) and type(a) is type(b):
        names = [f.name for f in fields(a) if f.name != "provenance"]
        return all(same(getattr(a, name), getattr(b, name)) for name in names)
    return bool(a == b)
