"""The state of one clip during annotation: keys, failures, durations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

import numpy as np
from jaxtyping import jaxtyped

from experts.clip import Clip
from experts.expert import Expert, may_use
from experts.signals import SIGNAL_TYPES, NoEstimate, Signal
from spatial_engine.store.run_key import run_key
from spatial_engine.store.store import Failure


def check_results(expert: Expert, clip: Clip, results: Mapping[str, Any]) -> None:
    """Raises `TypeError` if results are not what the expert provides, `ValueError` for frames outside the clip."""
    if set(results) != set(expert.provides):
        raise TypeError(f"{expert.name} returned {sorted(results)} and provides {sorted(expert.provides)}")
    for name, value in results.items():
        if isinstance(value, NoEstimate):
            continue
        if not isinstance(value, SIGNAL_TYPES[name]):
            raise TypeError(f"{expert.name} returned {type(value).__name__} as {name!r}: not a {SIGNAL_TYPES[name]}")
        if odd := _odd_arrays(value):
            raise TypeError(f"{expert.name} returned a {name!r} whose arrays do not fit each other: {odd}")
        if (frames := getattr(value, "frames", None)) is not None and not _are_of(clip, frames):
            raise ValueError(f"{expert.name} returned a {name!r} whose frames are not rising numbers of the clip's")


def _odd_arrays(value: Any) -> str:
    """The first array whose dtype or shape contradicts its declaration or another array; "" if there is none."""
    hints = get_type_hints(type(value))
    with jaxtyped("context"):  # one name, one length
        for name, part in vars(value).items():
            if isinstance(part, np.ndarray) and not isinstance(part, hints[name]):
                declared = getattr(hints[name], "__name__", hints[name])
                return f"{name} is {part.dtype}{list(part.shape)}, declared {declared}"
    return ""


def _are_of(clip: Clip, frames: np.ndarray) -> bool:
    return bool(np.all(np.diff(frames) > 0) and np.isin(frames, clip.frames).all())


_RETRY = "--retry-failed"

Results = Mapping[str, Signal | NoEstimate]


@dataclass(kw_only=True)
class ClipWork:
    """The state of a clip during annotation."""

    clip: Clip
    failures: dict[str, Failure]
    """Failures by key, including those of earlier settings."""
    keys: dict[str, str] = field(default_factory=dict)
    """Keys of the signals so far, by name."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Durations of the experts that ran, by name."""
    made_from: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By name of an expert that ran, the experts whose signals it read (`Provenance.made_from`)."""

    def read_by(self, expert: Expert) -> list[str]:
        """Signals that the expert reads: those that it needs, and available ones that it may use."""
        return sorted(expert.needs | (may_use(expert) & self.keys.keys()))

    def add_key(self, expert: Expert, weights: str | None) -> str:
        """The key of the expert, which becomes that of its signals. The keys of its needs must exist."""
        needs = {name: self.keys[name] for name in self.read_by(expert)}
        failed = {name for name in needs if needs[name] in self.failures}
        key = run_key(self.clip, expert, needs, failed=failed, weights=weights)
        self.keys.update(dict.fromkeys(expert.provides, key))
        return key

    def with_makers(self, result: Signal | NoEstimate, expert: Expert) -> Signal | NoEstimate:
        """A result of an expert, whose provenance names the experts whose signals it was computed from."""
        if isinstance(result, NoEstimate):
            return result
        return replace(result, provenance=replace(result.provenance, made_from=self.made_from[expert.name]))

    def refusal(self, expert: Expert) -> Results | None:
        """The result of the expert if a signal that it needs failed; None if it can run."""
        broken = [name for name in sorted(expert.needs) if self.keys[name] in self.failures]
        if not broken:
            return None
        remedy = self.failures[self.keys[broken[0]]].remedy or _RETRY
        refused = NoEstimate(reason=f"needs {broken[0]}, which failed", remedy=remedy)
        return dict.fromkeys(expert.provides, refused)
