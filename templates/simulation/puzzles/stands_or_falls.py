"""L3/Causal Reasoning/Dynamics: whether a tower of boxes stays as it is drawn, or to which side it falls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Colour, Line, Polygon, Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.simulation.puzzles.puzzle import Puzzle, Row
from templates.world import Procedural

_STAYS, _LEFT, _RIGHT = "stays", "left", "right"
_FEWEST, _MOST = 3, 5
"""Boxes of a tower."""
_WIDTHS, _HEIGHTS = (3, 10), (1, 4)
"""Smallest and largest sides, in squares."""
_LEAST_CONTACT = 0.2
"""Least part of the narrower of two boxes that touches the other one."""
_LEAST_MARGIN = 0.06
"""Least distance of a centre of mass from the ends of what carries it, in widths of the box above."""
_MISLEADING = 0.7
"""Share of towers whose boxes, each taken by itself, would do something else."""
_DRAWS = 60
_COLOURS: tuple[Colour, ...] = ("blue", "orange", "green", "purple", "white")
Box = tuple[int, int, int]
"""Left end, width and height, in squares."""


@dataclass(frozen=True, kw_only=True)
class Towers(Facts):
    """Boxes on top of each other, each on the one before; the first stands on the floor."""

    lefts: Int64[np.ndarray, "n k"]
    """Left end of each, in squares from that of the first; never negative: the leftmost is at 0."""
    widths: Int64[np.ndarray, "n k"]
    heights: Int64[np.ndarray, "n k"]


@dataclass(frozen=True, kw_only=True)
class StandsOrFalls(Puzzle):
    """What a tower of boxes of one material does.

    It stays if, for every box, the centre of mass of this box and all above it lies over what this box touches of the
    one below. Measures the smallest distance of such a centre from the end of what carries it, in widths of the box:
    negative where the tower falls.
    """

    name: str = "stands_or_falls"
    version: str = "1"
    ability: str = "L3/Causal Reasoning/Dynamics"
    formats: tuple[FormatName, ...] = ("yes_no", "choice")
    facts: ClassVar[type[Facts]] = Towers
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": (_STAYS, _LEFT, _RIGHT)}

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A tower that clearly stays, or clearly falls to one side; mostly not what each box by itself would do."""
        wanted = str(rng.choice([_STAYS, _LEFT, _RIGHT], p=[0.4, 0.3, 0.3]))
        misleading = rng.random() < _MISLEADING
        for _ in range(_DRAWS):
            boxes = _random_tower(rng)
            if boxes and outcome(boxes) == wanted and (alone(boxes) != wanted) == misleading:
                lefts, widths, heights = map(list, zip(*boxes, strict=True))
                return {"lefts": lefts, "widths": widths, "heights": heights}
        return None

    def key(self, row: Row) -> object:
        """The boxes, whichever side is which."""
        boxes = _boxes(row)
        end = max(left + width for left, width, _ in boxes)
        return min(tuple(boxes), tuple((end - left - width, width, height) for left, width, height in boxes))

    def solution(self, row: Row) -> str:
        """stays | left | right."""
        return outcome(_boxes(row)) or ""

    def working(self, row: Row) -> str:
        """For each box above the first: the centre of mass of it and all above, and what it lies on."""
        boxes, texts = _boxes(row), []
        for k in range(1, len(boxes)):
            low, high = _contact(boxes, k)
            texts.append(f"from box {k + 1} up {_centre(boxes, range(k, len(boxes))):.2f} over {low} to {high}")
        return "; ".join(texts)

    def measure(self, facts: Facts, world: Procedural) -> Measured:
        """What the tower does; traps are those of who looks at one box at a time."""
        towers = [_boxes(row) for row in facts.to_json()]
        each = np.array([alone(boxes) for boxes in towers], dtype=np.str_)
        least = np.array([min(_margins(boxes, [*range(len(boxes))]).values()) for boxes in towers], dtype=np.float64)
        traps = {
            "each box by itself": np.where(each == _STAYS, "yes", "no"),
            "each box by itself, side": each,
        }
        return replace(super().measure(facts, world), value=least.reshape(-1, 1), traps=traps)

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """Whether it stays, or what it does."""
        label = measured.as_label()
        return label if format == "choice" else replace(label, text=np.where(label.text == _STAYS, "yes", "no"))

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The tower from the side, on squared paper."""
        boxes, polygons, z = _boxes(row), [], 0
        for number, (left, width, height) in enumerate(boxes):
            corners = ((left, z), (left + width, z), (left + width, z + height), (left, z + height))
            polygons.append(Polygon(corners=corners, fill=_COLOURS[number % len(_COLOURS)]))
            z += height
        end = max(left + width for left, width, _ in boxes)
        squares = [Line(points=((x, 0), (x, z)), colour="light") for x in range(end + 1)]
        squares += [Line(points=((0, y), (end, y)), colour="light") for y in range(1, z + 1)]
        edges = [Line(points=(*polygon.corners, polygon.corners[0])) for polygon in polygons]
        floor = Line(points=((-1, 0), (end + 1, 0)))
        return (Sheet(polygons=tuple(polygons), lines=(*squares, *edges, floor), extent=(-1, -0.5, end + 1, z + 0.5)),)

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The tower; the words of the options."""
        return Phrasing(media=self.shown(fact))


def outcome(boxes: Sequence[Box]) -> str | None:
    """What a tower does; None where a centre of mass is too near an end of what carries it, or where the tower could
    fall to both sides."""
    margins = _margins(boxes, [*range(len(boxes))])
    if any(abs(margin) < _LEAST_MARGIN for margin in margins.values()):
        return None
    sides = {_side(boxes, k, [*range(k, len(boxes))]) for k, margin in margins.items() if margin < 0}
    return _STAYS if not sides else sides.pop() if len(sides) == 1 else None


def alone(boxes: Sequence[Box]) -> str:
    """What the tower would do if no box carried another one: the lowest box whose own middle lies beside what it
    touches falls."""
    for k in range(1, len(boxes)):
        if _margin(boxes, k, [k]) < 0:
            return _side(boxes, k, [k])
    return _STAYS


def _random_tower(rng: np.random.Generator) -> list[Box]:
    """Boxes that touch each other; none where two touch too little."""
    count = int(rng.integers(_FEWEST, _MOST + 1))
    widths = rng.integers(_WIDTHS[0], _WIDTHS[1] + 1, count)
    heights = rng.integers(_HEIGHTS[0], _HEIGHTS[1] + 1, count)
    lefts = np.concatenate([[0], np.cumsum(rng.integers(-6, 7, count - 1))])
    rights = lefts + widths
    touching = np.minimum(rights[1:], rights[:-1]) - np.maximum(lefts[1:], lefts[:-1])
    if (touching < np.maximum(1, _LEAST_CONTACT * np.minimum(widths[1:], widths[:-1]))).any():
        return []
    return [*zip((lefts - lefts.min()).tolist(), widths.tolist(), heights.tolist(), strict=True)]


def _margins(boxes: Sequence[Box], rows: Sequence[int]) -> dict[int, float]:
    """By box above the first: how far the centre of mass of it and all above is from the end of what carries it."""
    return {k: _margin(boxes, k, range(k, len(boxes))) for k in rows if k > 0}


def _margin(boxes: Sequence[Box], k: int, load: Sequence[int]) -> float:
    """How far inside what box k touches the centre of mass of some boxes lies, in widths of box k."""
    (low, high), centre = _contact(boxes, k), _centre(boxes, load)
    return min(centre - low, high - centre) / boxes[k][1]


def _side(boxes: Sequence[Box], k: int, load: Sequence[int]) -> str:
    low, high = _contact(boxes, k)
    return _LEFT if _centre(boxes, load) < (low + high) / 2 else _RIGHT


def _contact(boxes: Sequence[Box], k: int) -> tuple[int, int]:
    """Where box k touches the one below."""
    (below, below_width, _), (left, width, _) = boxes[k - 1], boxes[k]
    return max(below, left), min(below + below_width, left + width)


def _centre(boxes: Sequence[Box], load: Sequence[int]) -> float:
    """Of the mass of some boxes: mass is area, as all are equally deep."""
    masses = [boxes[k][1] * boxes[k][2] for k in load]
    return sum(m * (boxes[k][0] + boxes[k][1] / 2) for m, k in zip(masses, load, strict=True)) / sum(masses)


def _boxes(row: Row) -> list[Box]:
    return [*zip(row["lefts"], row["widths"], row["heights"], strict=True)]
