"""Predicts the duration of experts and the remaining time, from estimates at first and then from measured times."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from experts.expert import Expert
from spatial_engine.annotation.plan import FIXED_SHARE, SECONDS_PER_CLIP

GUESSED_FRAMES = 300
"""Number of frames that `SECONDS_PER_CLIP` refers to."""
_UNKNOWN_S = 10.0
"""Seconds of an unknown expert for so many frames."""


class Forecast:
    """Seconds of experts, by the number of frames of a clip."""

    def __init__(self, measured: Iterable[tuple[str, float, int]] = ()) -> None:
        """`measured`: expert, seconds and frames of earlier calls."""
        self._seconds: dict[str, float] = defaultdict(float)
        self._clips: dict[str, float] = defaultdict(float)
        """In clips of `GUESSED_FRAMES` frames, as which those that were measured count."""
        for call in measured:
            self.learn(*call)

    def learn(self, expert: str, seconds: float, frames: int) -> None:
        """Adds a measured duration for a clip with that number of frames."""
        self._seconds[expert] += seconds
        self._clips[expert] += _as_clips(expert, frames)

    def knows(self, expert: str) -> bool:
        """Whether the expert has a measured or an estimated duration."""
        return bool(self._clips[expert]) or expert in SECONDS_PER_CLIP

    def seconds(self, expert: str, frames: int) -> float:
        """Expected seconds of an expert for a clip."""
        if self._clips[expert]:
            return _as_clips(expert, frames) * self._seconds[expert] / self._clips[expert]
        return _as_clips(expert, frames) * SECONDS_PER_CLIP.get(expert, _UNKNOWN_S)

    def total_s(self, due: Mapping[str, Sequence[Expert]], frames: Mapping[str, int], workers: int) -> float:
        """Seconds until all due experts are done; at least those of the longest clip."""
        each = [sum(self.seconds(expert.name, frames[clip]) for expert in experts) for clip, experts in due.items()]
        return max(sum(each) / max(1, workers), max(each, default=0.0))


def _as_clips(expert: str, frames: int) -> float:
    """As how many clips of `GUESSED_FRAMES` frames a clip counts."""
    fixed = FIXED_SHARE.get(expert, 0.0)
    return fixed + (1 - fixed) * frames / GUESSED_FRAMES
