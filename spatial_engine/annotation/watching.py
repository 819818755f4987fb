"""Tells the user what the experts are at, and how long it will take."""

import time
from collections.abc import Mapping, Sequence

from experts.clip import Clip
from experts.expert import Expert
from spatial_engine.annotation.annotation import AnnotatedClip
from spatial_engine.annotation.forecast import Forecast
from spatial_engine.annotation.stages import Stages
from spatial_engine.progress import Progress

_EVERY_S = 0.2


class Watcher:
    """Reads the stages of the workers and hands them to the progress."""

    def __init__(
        self,
        clips: Sequence[Clip],
        due: Mapping[str, Sequence[Expert]],
        experts: Sequence[Expert],
        forecast: Forecast,
        workers: int,
        progress: Progress,
    ) -> None:
        """`due`: experts that must run, by id of the clip."""
        self.clips = {clip.id: clip for clip in clips}
        self.due = {clip: list(waiting) for clip, waiting in due.items()}
        self.experts, self.forecast, self.workers, self.progress = experts, forecast, workers, progress
        self.stages = Stages(workers, self if workers == 0 else None)
        self._began: dict[str, tuple[str, float]] = {}  # expert at work and since when, by id of the clip
        self._told_s = 0.0

    def __call__(self) -> None:
        """Tells what is being done, at most a few times a second."""
        now = time.monotonic()
        if now - self._told_s < _EVERY_S:
            return
        self._told_s = now
        running_s = 0.0
        for stage in self.stages.now():
            if (clip := self.clips.get(stage.clip_id)) is None:
                continue
            name, frames = self.experts[stage.expert].name, len(clip.frames)
            self._begin(clip, name, now)
            running_s += min(now - self._began[clip.id][1], self.forecast.seconds(name, frames))
            self.progress.stage(clip.name, name, min(stage.frames_read, frames), frames)
        self.progress.left(self._left_s(running_s))

    def finish(self, clip: Clip, done: AnnotatedClip) -> None:
        """Takes what a clip really took."""
        taken = {entry.expert: entry.seconds for entry in done.entries if entry.seconds is not None}
        for expert, seconds in taken.items():
            self.forecast.learn(expert, seconds, len(clip.frames))
        self.due.pop(clip.id, None)
        self._began.pop(clip.id, None)
        self.progress.left(self._left_s(0.0))

    def _begin(self, clip: Clip, expert: str, now: float) -> None:
        """Notes which expert is at work; those before it are no longer due."""
        before, _ = self._began.get(clip.id, ("", 0.0))
        if before == expert:
            return
        self._began[clip.id] = (expert, now)
        waiting = self.due.get(clip.id, [])
        names = [each.name for each in waiting]
        if expert in names:
            self.due[clip.id] = waiting[names.index(expert) :]

    def _left_s(self, running_s: float) -> float:
        frames = {clip: len(self.clips[clip].frames) for clip in self.due}
        parallel = min(max(1, self.workers), len(self.due))
        return max(0.0, self.forecast.total_s(self.due, frames, parallel) - running_s / max(1, parallel))
