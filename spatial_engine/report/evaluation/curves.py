"""Score over the length of the window that a question shows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spatial_engine.evaluation.fact_scores import measure
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.report.evaluation.standing import Standing

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 1100, 400, 40, 1090, 16, 352
_MOST_BINS, _FEWEST_QUESTIONS, _LABEL = 6, 8, 13.0


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Windows from `low` to below `high` (the last one: to `high`)."""

    low: float
    high: float
    label: str
    questions: int

    def holds(self, size: float) -> bool:
        """Whether a window falls into it."""
        return self.low <= size < self.high or size == self.low == self.high


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A model in one bin, in the drawing's units."""

    x: float
    y: float
    top: float
    bottom: float
    score: float
    facts: int
    label: str


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A model, or a baseline."""

    name: str
    ink: int
    baseline: bool
    marks: tuple[Mark, ...]
    label_y: float | None = None
    """Where a baseline's name stands; models have their colour."""


@dataclass(frozen=True, kw_only=True)
class Curves:
    """All models over the same bins."""

    unit: str
    """s | frames."""
    bins: tuple[Bin, ...]
    places: tuple[float, ...]
    """x of each bin."""
    curves: tuple[Curve, ...]
    without: int
    """Questions whose window has no size in this unit."""


def curves(runs: Sequence[Standing]) -> Curves | None:
    """Seconds if most questions have them, else frames; None where the windows differ too little to be told apart."""
    questions = {item.id: item for run in runs for item in run.items}
    sizes_s = [item.window_s for item in questions.values() if item.window_s is not None]
    frames = [float(item.window_frames) for item in questions.values() if item.window_frames is not None]
    unit, sizes, size = ("s", sizes_s, _seconds) if 2 * len(sizes_s) >= len(frames) else ("frames", frames, _frames)
    bins = _bins(sizes, unit)
    if len(bins) < 2:
        return None
    places = [LEFT + (RIGHT - LEFT) * (index + 0.5) / len(bins) for index in range(len(bins))]
    models = [run for run in runs if not run.baseline]
    found = [_curve(run, ink, bins, places, size, len(models)) for ink, run in enumerate(models)]
    found += _labelled([_curve(run, 0, bins, places, size, 0) for run in runs if run.baseline])
    return Curves(
        unit=unit, bins=tuple(bins), places=tuple(places), curves=tuple(found), without=len(questions) - len(sizes)
    )


def _labelled(baselines: Sequence[Curve]) -> list[Curve]:
    """Names at the right ends, pushed apart where they would lie on one another: from the lowest upwards."""
    floor, found = BOTTOM - 7.0, []
    for curve in sorted((curve for curve in baselines if curve.marks), key=lambda curve: -curve.marks[-1].y):
        floor = min(curve.marks[-1].y, floor)
        found.append(replace(curve, label_y=round(floor, 1)))
        floor -= _LABEL
    return found


def height(score: float) -> float:
    """y of a score."""
    return round(BOTTOM - (BOTTOM - TOP) * score, 1)


def _seconds(item: ScoredItem) -> float | None:
    return item.window_s


def _frames(item: ScoredItem) -> float | None:
    return None if item.window_frames is None else float(item.window_frames)


def _bins(sizes: Sequence[float], unit: str) -> list[Bin]:
    """Single moments apart; the rest in equal shares with round borders."""
    moments = sum(size <= 0 for size in sizes)
    found = [Bin(low=0.0, high=0.0, label="one moment", questions=moments)] if moments >= _FEWEST_QUESTIONS else []
    longer = np.array([size for size in sizes if size > 0])
    count = min(_MOST_BINS - len(found), len(longer) // _FEWEST_QUESTIONS)
    if count < 1:
        return found
    inner = sorted({_round(float(edge)) for edge in np.quantile(longer, np.arange(1, count) / count)})
    ends = [float(longer.min()), *(edge for edge in inner if longer.min() < edge < longer.max()), float(longer.max())]
    for low, high in zip(ends, [*ends[1:-1], math.nextafter(ends[-1], math.inf)], strict=False):
        inside = int(np.sum((longer >= low) & (longer < high)))
        label = f"{low:.2g} – {min(high, ends[-1]):.2g} {unit}"
        found += [Bin(low=low, high=high, label=label, questions=inside)] if inside else []
    return found


def _round(edge: float) -> float:
    """Two significant digits."""
    return float(f"{edge:.2g}")


def _curve(
    run: Standing, ink: int, bins: Sequence[Bin], places: Sequence[float],
    size: Callable[[ScoredItem], float | None], models: int,
) -> Curve:  # fmt: skip
    shift = 0 if models < 2 else (ink - (models - 1) / 2) * min(9, 60 / models)  # so that whiskers do not hide others
    marks = []
    for place, bin in zip(places, bins, strict=True):
        inside = [item for item in run.items if (window := size(item)) is not None and bin.holds(window)]
        if not inside:
            continue
        found = measure(inside, 0)
        low, high = found["interval"] or (found["score"], found["score"])
        mark = Mark(
            x=round(place + shift, 1), y=height(found["score"]), top=height(high), bottom=height(low),
            score=found["score"], facts=found["facts"], label=bin.label,
        )  # fmt: skip
        marks.append(mark)
    return Curve(name=run.name, ink=ink, baseline=run.baseline, marks=tuple(marks))
