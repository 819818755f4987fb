"""One clip on its way through the experts: keys, failures, seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import numpy as np
from jaxtyping import jaxtyped

from experts.clip import Clip
from experts.expert import Expert, may_use
from experts.signals import SIGNAL_TYPES, NoEstimate, Signal
from spatial_engine.store.run_key import run_key
from spatial_engine.store.store import Failure


def check_results(expert: Expert, clip: Clip, results: Mapping[str, Any]) -> None:
    """Raises `TypeError` for what is not what the expert provides, `ValueError` for frames that the clip lacks."""
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
    """The first array whose dtype or shape contradicts its declaration or another array; "" if none does."""
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
    """A clip on its way through the experts."""

    clip: Clip
    failures: dict[str, Failure]
    """By key, former settings included."""
    keys: dict[str, str] = field(default_factory=dict)
    """Of each signal whose expert had its turn, by name."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each expert that ran, by name."""

    def read_by(self, expert: Expert) -> list[str]:
        """Signals that the expert reads: what it needs, and what it may use and somebody provides."""
        return sorted(expert.needs | (may_use(expert) & self.keys.keys()))

    def add_key(self, expert: Expert, weights: str | None) -> str:
        """The expert's key, from now on that of each signal that it provides. Its needs come first."""
        needs = {name: self.keys[name] for name in self.read_by(expert)}
        failed = {name for name in needs if needs[name] in self.failures}
        key = run_key(self.clip, expert, needs, failed=failed, weights=weights)
        self.keys.update(dict.fromkeys(expert.provides, key))
        return key

    def refusal(self, expert: Expert) -> Results | None:
        """What stands for the expert's signals where one that it needs failed; None where it can run."""
        broken = [name for name in sorted(expert.needs) if self.keys[name] in self.failures]
        if not broken:
            return None
        remedy = self.failures[self.keys[broken[0]]].remedy or _RETRY
        refused = NoEstimate(reason=f"needs {broken[0]}, which failed", remedy=remedy)
        return dict.fromkeys(expert.provides, refused)
