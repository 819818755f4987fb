"""One star of axes per level: a leaf an axis, a model an outline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spatial_engine.report.evaluation.standing import Standing
from templates.ability import LEVELS, TREE

WIDTH, HEIGHT, RADIUS = 500, 290, 112
FEWEST = 3
"""With fewer axes there is no area: the page shows bars."""
FEW_FACTS = 10
"""An axis that rests on fewer says so."""

XY = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A leaf."""

    name: str
    facts: int
    """That the models were asked, at most."""
    end: XY
    label: XY
    anchor: str
    """start | middle | end, of the label."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A model, or chance."""

    name: str
    ink: int
    points: tuple[XY, ...]
    """Leaves without a score are passed over."""
    scores: tuple[tuple[str, float], ...]
    """The same in words: leaf and score."""


@dataclass(frozen=True, kw_only=True)
class Radar:
    """One level."""

    level: str
    meaning: str
    axes: tuple[Axis, ...]
    outlines: tuple[Outline, ...]
    """Of the models in their order, each only if it has a score here."""
    chance: Outline | None
    rings: tuple[tuple[float, str], ...]
    """Radius and what it stands for."""

    @property
    def star(self) -> bool:
        """Whether there are axes enough for a star."""
        return len(self.axes) >= FEWEST


def radars(models: Sequence[Standing], chance: dict[str, float]) -> list[Radar]:
    """One per level of which anything was asked. `chance`: by leaf."""
    found = []
    for level, branches in TREE.items():
        paths = [f"{level}/{branch}/{leaf}" for branch, leaves in branches.items() for leaf in leaves]
        asked = [path for path in paths if any(model.leaf(path) for model in models)]
        if asked:
            found.append(_radar(level, asked, models, chance))
    return found


def _radar(level: str, asked: Sequence[str], models: Sequence[Standing], chance: dict[str, float]) -> Radar:
    scores = [{path: measure["score"] for path in asked if (measure := model.leaf(path))} for model in models]
    return Radar(
        level=level,
        meaning=LEVELS[level],
        axes=tuple(_axis(path, index, len(asked), models) for index, path in enumerate(asked)),
        outlines=tuple(
            _outline(model.name, ink, asked, of_model)
            for ink, (model, of_model) in enumerate(zip(models, scores, strict=True))
            if of_model
        ),
        chance=_outline("chance", 0, asked, {path: chance[path] for path in asked if path in chance}),
        rings=tuple((RADIUS * share, f"{100 * share:.0f}") for share in (0.25, 0.5, 0.75, 1.0)),
    )


def _axis(path: str, index: int, count: int, models: Sequence[Standing]) -> Axis:
    facts = max(measure["facts"] for model in models if (measure := model.leaf(path)))
    x, _ = label = _at(index, count, 1.13)
    side = x - WIDTH / 2
    anchor = "middle" if abs(side) < 12 else "start" if side > 0 else "end"
    return Axis(name=path.split("/")[2], facts=facts, end=_at(index, count, 1.0), label=label, anchor=anchor)


def _outline(name: str, ink: int, asked: Sequence[str], scores: dict[str, float]) -> Outline:
    places = [(path, index) for index, path in enumerate(asked) if path in scores]
    return Outline(
        name=name,
        ink=ink,
        points=tuple(_at(index, len(asked), scores[path]) for path, index in places),
        scores=tuple((path.split("/")[2], scores[path]) for path, _ in places),
    )


def _at(index: int, count: int, share: float) -> XY:
    angle = 2 * math.pi * index / count - math.pi / 2
    x, y = WIDTH / 2 + RADIUS * share * math.cos(angle), HEIGHT / 2 + RADIUS * share * math.sin(angle)
    return round(x, 1), round(y, 1)
