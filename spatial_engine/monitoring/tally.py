"""What a run has done so far: its stages, their seconds, their outcomes, and what went wrong."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from spatial_engine.progress import in_trouble

_SHOWN_FAILURES = 100
"""Failures that are kept with their reasons; all are in the log."""


@dataclass(kw_only=True)
class Stage:
    """One kind of work of a run ("annotating")."""

    name: str
    total: int
    began_s: float
    """On the clock of the run."""
    seconds: float = 0.0
    done: int = 0
    failed: int = 0
    parts: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds of its parts (experts) in all workers."""

    def longest_first(self) -> list[tuple[str, float]]:
        """Its parts with their seconds."""
        return sorted(self.parts.items(), key=lambda part: -part[1])

    def to_json(self) -> dict[str, Any]:
        """For the state file of the run."""
        return {
            "name": self.name,
            "total": self.total,
            "done": self.done,
            "failed": self.failed,
            "seconds": round(self.seconds, 1),
            "parts": {part: round(seconds, 3) for part, seconds in self.longest_first()},
        }

    def __str__(self) -> str:
        parts = ", ".join(f"{part} {seconds:.1f}" for part, seconds in self.longest_first())
        return f"{self.name} {self.seconds:.1f}{f' ({parts})' if parts else ''}"


@dataclass(kw_only=True)
class Tally:
    """Counts what a `Monitor` hears. Times are seconds on a clock that never goes back."""

    stages: list[Stage] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    """Names and reasons of the first pieces of work that failed."""
    left_s: float | None = None
    """Expected seconds until the present stage ends."""

    def begin(self, name: str, total: int, now_s: float) -> None:
        """A stage begins, and the one before it ends."""
        self.at(now_s)
        self.stages.append(Stage(name=name, total=total, began_s=now_s))
        self.left_s = None

    def part(self, name: str, seconds: float) -> None:
        """A part of the present stage took that long."""
        if self.stages:
            self.stages[-1].parts[name] += seconds

    def step(self, name: str, outcome: str, now_s: float) -> None:
        """A piece of work of the present stage is done."""
        self.at(now_s)
        failed = in_trouble(outcome)
        if failed and len(self.failures) < _SHOWN_FAILURES:
            self.failures.append((name, outcome))
        if self.stages:
            self.stages[-1].done += 1
            self.stages[-1].failed += failed

    def at(self, now_s: float) -> None:
        """The present stage has lasted until now."""
        if self.stages:
            self.stages[-1].seconds = now_s - self.stages[-1].began_s

    @property
    def summary(self) -> str:
        """The seconds of the stages: "opening 0.4, annotating 12.1 (colmap 10.2, klt 1.1)"; "" before the first."""
        return ", ".join(str(stage) for stage in self.stages if stage.total)
