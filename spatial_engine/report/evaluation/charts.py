"""The charts of an evaluation: a radar chart of abilities per level, and scores over the length of the window."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from spatial_engine.evaluation.fact_scores import measure
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.report.chart import CARD, CHANCE, INK, SERIES, chart
from spatial_engine.report.evaluation.run_summary import RunSummary
from templates.ability import LEVELS, TREE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

SHOWN = 6
"""Number of models shown at first."""
_FEWEST_AXES = 3
"""Least abilities of a radar chart; with fewer the page shows bars."""
_FEW_FACTS = 10
"""The number of facts is shown if it is smaller."""
_MOST_BINS, _FEWEST_QUESTIONS = 6, 8
_DASHES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))


@dataclass(frozen=True, kw_only=True)
class Ability:
    """A leaf of the tree with the scores of the models."""

    name: str
    """Its name, with the number of facts if that is small."""
    chance: float | None
    """Mean score of guessing."""
    scores: Sequence[float | None]
    """Score by model; None if it was not asked."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One level of the tree."""

    level: str
    meaning: str
    abilities: Sequence[Ability]
    star: Markup | None
    """None with fewer than three abilities."""


def profiles(models: Sequence[RunSummary], chance: dict[str, float]) -> list[Profile]:
    """One profile per level with questions. `chance`: by leaf."""
    found = []
    for level, branches in TREE.items():
        leaves = [f"{level}/{branch}/{leaf}" for branch, names in branches.items() for leaf in names]
        abilities = [_ability(leaf, models, chance) for leaf in leaves if any(model.leaf(leaf) for model in models)]
        if abilities:
            star = _star(level, abilities, models) if len(abilities) >= _FEWEST_AXES else None
            found.append(Profile(level=level, meaning=LEVELS[level], abilities=abilities, star=star))
    return found


def _ability(leaf: str, models: Sequence[RunSummary], chance: dict[str, float]) -> Ability:
    measures = [model.leaf(leaf) for model in models]
    facts = max(found["facts"] for found in measures if found)
    note = "" if facts >= _FEW_FACTS else f" ({facts} fact{'' if facts == 1 else 's'})"
    scores = [found["score"] if found else None for found in measures]
    return Ability(name=leaf.split("/")[2] + note, chance=chance.get(leaf), scores=scores)


def _star(level: str, abilities: Sequence[Ability], models: Sequence[RunSummary]) -> Markup:
    """A radar chart: one axis per ability, from 0 in the middle to 1, and one outline per model."""
    angles = 2 * math.pi * np.arange(len(abilities)) / len(abilities)
    with chart(500, 300) as drawn:
        axes = drawn.axes(projection="polar", theta_offset=math.pi / 2, theta_direction=-1)
        axes.spines["polar"].set_visible(False)
        axes.set_ylim(0, 1)
        axes.set_yticks([0.25, 0.5, 0.75, 1.0], labels=[])
        axes.set_xticks(angles, labels=[])
        for angle, ability in zip(angles, abilities, strict=True):
            side = "center" if abs(math.sin(angle)) < 0.1 else "left" if math.sin(angle) > 0 else "right"
            axes.text(angle, 1.12, ability.name, ha=side, va="center", color=INK)
        guess = [ability.chance for ability in abilities]
        if sum(share is not None for share in guess) >= _FEWEST_AXES:
            line = _outline(axes, angles, guess, color=CHANCE, linestyle=":", linewidth=1.2, alpha_of_area=0.16)
            drawn.tell(line, "guessing")
        for index, model in enumerate(models):
            scores = [ability.scores[index] for ability in abilities]
            if any(score is not None for score in scores):
                style = {"color": SERIES[index % len(SERIES)], "marker": "o", "markersize": 5, "markeredgecolor": CARD}
                line = _outline(axes, angles, scores, linewidth=2, alpha_of_area=0.05, **style)
                drawn.tell(line, model.name, series=index, hidden=index >= SHOWN)
        words = [f"{model.name}: {_in_words(abilities, index)}" for index, model in enumerate(models)]
        return drawn.svg(f"Scores by ability of {level}. {'. '.join(words)}")


def _outline(
    axes: "Axes", angles: np.ndarray, shares: Sequence[float | None], *, alpha_of_area: float, **style: Any
) -> list["Artist"]:
    """The outline of a model; abilities without a score are skipped."""
    known = [(angle, share) for angle, share in zip(angles, shares, strict=True) if share is not None]
    around = np.array([*known, known[0]]).T
    return [*axes.plot(*around, **style), *axes.fill(*around, color=style["color"], alpha=alpha_of_area, linewidth=0)]


def _in_words(abilities: Sequence[Ability], index: int) -> str:
    scores = ((ability.name, ability.scores[index]) for ability in abilities)
    return ", ".join(f"{name} {100 * score:.0f}" for name, score in scores if score is not None)


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
class WindowScores:
    """Scores over the length of the window that a question shows."""

    unit: str
    """s | frames."""
    bins: Sequence[Bin]
    without: int
    """Questions whose window has no length in this unit."""
    figure: Markup


def window_scores(runs: Sequence[RunSummary]) -> WindowScores | None:
    """Seconds if most questions have them, else frames; None where the windows differ too little."""
    questions = {item.id: item for run in runs for item in run.items}
    sizes_s = [item.window_s for item in questions.values() if item.window_s is not None]
    frames = [float(item.window_frames) for item in questions.values() if item.window_frames is not None]
    unit, sizes, size = ("s", sizes_s, _seconds) if 2 * len(sizes_s) >= len(frames) else ("frames", frames, _frames)
    bins = _bins(sizes, unit)
    if len(bins) < 2:
        return None
    without = len(questions) - len(sizes)
    return WindowScores(unit=unit, bins=bins, without=without, figure=_curves(runs, bins, size))


def _seconds(item: ScoredItem) -> float | None:
    return item.window_s


def _frames(item: ScoredItem) -> float | None:
    return None if item.window_frames is None else float(item.window_frames)


def _bins(sizes: Sequence[float], unit: str) -> list[Bin]:
    """Windows of length 0 have a bin of their own; the others are binned in equal shares with round borders."""
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


def _curves(runs: Sequence[RunSummary], bins: Sequence[Bin], size: Callable[[ScoredItem], float | None]) -> Markup:
    """Models with their intervals, baselines dashed."""
    models = [run for run in runs if not run.baseline]
    baselines = [run for run in runs if run.baseline]
    words = []
    with chart(1100, 400) as drawn:
        axes = drawn.axes()
        axes.set(xlim=(-0.5, len(bins) - 0.5), ylim=(0, 1.02), ylabel="score, %")
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25", "50", "75", "100"])
        axes.set_xticks(range(len(bins)), labels=[f"{bin.label}\n{bin.questions} questions" for bin in bins])
        axes.grid(axis="x", visible=False)
        for index, run in enumerate(baselines):
            x, scores, _ = _points(run, bins, size)
            dash = _DASHES[index % len(_DASHES)]
            line = axes.plot(x, scores, color=CHANCE, linestyle=dash, linewidth=1.6, label=run.name)
            drawn.tell(line, run.name)
            words.append(_said(run, bins, x, scores))
        for index, run in enumerate(models):
            x, scores, reach = _points(run, bins, size)
            colour, shift = SERIES[index % len(SERIES)], _shift(index, len(models))
            bars = axes.errorbar(
                x + shift, scores, reach, color=colour, marker="o", markersize=6, markeredgecolor=CARD, linewidth=2.2,
                elinewidth=1.4,
            )  # fmt: skip
            said = _said(run, bins, x, scores)
            drawn.tell([bars[0], *bars[2]], said, series=index, hidden=index >= SHOWN)
            words.append(said)
        if baselines:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(baselines), handlelength=3)
        return drawn.svg(f"Score by length of the window. {'. '.join(words)}")


def _shift(index: int, models: int) -> float:
    """Offsets of the models, so that their intervals do not overlap."""
    return 0.0 if models < 2 else (index - (models - 1) / 2) * min(0.05, 0.35 / models)


def _points(
    run: RunSummary, bins: Sequence[Bin], size: Callable[[ScoredItem], float | None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bins with answers of the run, its scores there, and the extent of the intervals below and above."""
    found = []
    for place, bin in enumerate(bins):
        inside = [item for item in run.items if (window := size(item)) is not None and bin.holds(window)]
        if inside:
            known = measure(inside, 0)
            low, high = known["interval"] or (known["score"], known["score"])
            found.append((place, known["score"], known["score"] - low, high - known["score"]))
    table = np.array(found, dtype=np.float64).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2:].T


def _said(run: RunSummary, bins: Sequence[Bin], x: np.ndarray, scores: np.ndarray) -> str:
    places = (f"{bins[int(place)].label} {100 * score:.0f}" for place, score in zip(x, scores, strict=True))
    return f"{run.name}: {', '.join(places)}"
