"""Maps of named objects on a grid, and the format that asks for them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy.special import ndtr

from templates.answers.answer import Answer, Recorded, Rows, finite, listed, numbers_of
from templates.answers.format import Format, OfficialMetric
from templates.answers.registry import recorded_answer
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question

LAST = 9.0
"""The grid has 10 × 10 cells: [0, 0] is the one at the left top, [9, 9] the one at the right bottom."""
NEAREST = 0.5
"""Two objects nearer than this, in cells, lie in no direction from each other (as in MindCube's measure)."""
SIDES = ("right", "left", "below", "above")
_TOWARDS = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
_LETTERS = "ABCD"


@dataclass(frozen=True, kw_only=True)
class FloorMap(Answer):
    """Places of k named objects on a map, x to the right and y down, in cells. Right: every object lies on the right
    side of every other one, of the four sides between the diagonals."""

    name: ClassVar[str] = "floor_map"
    refusal: ClassVar[str] = "a direction is too close to call"

    names: Shaped[np.ndarray, "*n k"]
    xy: Float[np.ndarray, "*n k 2"]
    """NaN for an object that a prediction lacks."""
    sigma: Float[np.ndarray, "*n k"]
    """Per axis."""

    def p_within(self) -> Rows:
        """1 - the probabilities that pairs lie beyond a diagonal, added up."""
        beyond, sigma = self.error(self)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.clip(1 - ndtr(beyond / sigma).sum(axis=-1), 0.0, 1.0)

    @property
    def limits(self) -> Float[np.ndarray, "*n p"]:
        """No pair may lie beyond a diagonal."""
        return np.zeros(self._offsets().shape[:-1])

    def error(self, truth: "FloorMap") -> tuple[Float[np.ndarray, "*n p"], Float[np.ndarray, "... p"]]:
        """For each pair, how far the true offset lies beyond the diagonals that bound the side of this one, in cells;
        less than 0 inside, NaN where this map has no such side."""
        own, true = self._offsets(), truth._offsets()
        towards = _TOWARDS[(own @ _TOWARDS.T).argmax(axis=-1)]
        along = np.sum(true * towards, axis=-1)
        across = np.abs(true).sum(axis=-1) - np.abs(along)
        apart = np.linalg.norm(own, axis=-1) >= NEAREST
        a, b = self._pairs()
        sigma = np.hypot(truth.sigma[..., a], truth.sigma[..., b])
        return np.where(apart, (across - along) / np.sqrt(2), np.nan), sigma

    def _pairs(self) -> tuple[Int[np.ndarray, "p"], Int[np.ndarray, "p"]]:
        a, b = np.triu_indices(self.xy.shape[-2], 1)
        return a, b

    def _offsets(self) -> Float[np.ndarray, "*n p 2"]:
        a, b = self._pairs()
        return np.asarray(self.xy[..., b, :] - self.xy[..., a, :])

    def repeats(self, other: "FloorMap") -> Bool[np.ndarray, "*n"]:
        """The same sides."""
        return np.asarray((self.error(other)[0] <= 0).all(axis=-1))

    def tolerance_in_words(self) -> str:
        """In words of the four sides."""
        return "each object on the right side (left, right, above or below, by the larger offset) of every other one"

    def to_json(self) -> Recorded:
        """{name: {"position": [x, y]}}, rounded to 0.1 cells in the answer."""
        places = dict(zip(self.names.tolist(), self.xy, strict=True))
        return Recorded(
            value={name: {"position": listed(xy)} for name, xy in places.items()},
            answer={name: {"position": (xy.round(1) + 0.0).tolist()} for name, xy in places.items()},
            sigma=dict(zip(places, listed(self.sigma), strict=True)),
        )

    @classmethod
    def from_json(cls, question: Question) -> "FloorMap":
        """Raises `UnscorableError` where a place is missing."""
        names = [*question.value] if isinstance(question.value, Mapping) else []
        found = cls(
            names=np.array(names, dtype=np.str_),
            xy=_places(question.value, names),
            sigma=numbers_of(question.sigma, names),
        )
        if len(names) < 2 or not np.isfinite(found.xy).all():
            raise UnscorableError("no map of two or more objects")
        return found

    def predicted(self, value: Json) -> "FloorMap | None":
        """An object of positions by name; those of other names count nothing."""
        found = _places(value, self.names.tolist())
        return None if np.isnan(found).all() else replace(self, xy=found)

    def score(self, value: Json) -> Score:
        """The share of pairs of objects on the right sides of each other; a pair with a missing object is wrong.
        Detail: `pairs_right`, and the share of objects that are on the map (`coverage`)."""
        prediction = self.predicted(value)
        if prediction is None:
            return Score(value=0.0, detail={"value": None})
        share = float((prediction.error(self)[0] <= 0).mean())
        coverage = float(np.isfinite(prediction.xy).all(axis=1).mean())
        detail = {"value": value, "pairs_right": share, "coverage": coverage}
        return Score(value=share, detail=detail, nearness=share)


class MapOfObjects(Format):
    """A JSON object with the place of each named object on a map."""

    name: ClassVar[str] = "map"
    reader: ClassVar[str] = "places"
    takes: ClassVar[tuple[str, ...]] = ("floor_map",)

    def form(self, question: Question) -> str:
        """With the names."""
        named = ", ".join(f'"{name}"' for name in question.answer)
        return f'one JSON object with {{"position": [x, y]}} for each of {named}'

    def chance(self, question: Question) -> float:
        """A pair at random places has one of four sides."""
        return 0.25

    def possible(self, question: Question) -> Sequence[str]:
        """The right map: there are too many to list."""
        return (json.dumps(question.answer),)

    def no_op(self, question: Question) -> Json:
        """All objects at one place."""
        return _written(question.answer, np.full((len(question.answer), 2), 5.0))

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """Random places."""
        return _written(question.answer, rng.uniform(0, LAST, (len(question.answer), 2)))

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The map in a mirror; turned by 90°."""
        x, y = _places(question.answer, [*question.answer]).T
        yield _written(question.answer, np.column_stack([LAST - x, y]))
        yield _written(question.answer, np.column_stack([LAST - y, x]))

    def official(self, question: Question) -> OfficialMetric:
        """MindCube's measure, which counts a letter too: that of the side of one object from another."""
        recorded = recorded_answer(question)
        if not isinstance(recorded, FloorMap):
            raise UnscorableError("no map")
        a, b = _asked_about(question.answer)
        options = tuple(f"{side} of it" if side in ("right", "left") else side for side in SIDES)
        return OfficialMetric(
            "cogmapeval",
            _letter(question.answer),
            {"cogmap": question.answer, "id_type": "map"},
            asked=f" Then choose the letter of the side of the {a} on which the {b} lies on that map.",
            options=options,
        )

    def official_text(self, value: Json) -> str:
        """The map, and the letter that follows from it."""
        return f"```json\n{json.dumps(value, ensure_ascii=False)}\n```\n<Answer>My answer is {_letter(value)}</Answer>"


def _asked_about(value: Mapping[str, Json]) -> list[str]:
    """The first two names in alphabetical order."""
    return sorted(value)[:2]


def _letter(value: Mapping[str, Json]) -> str:
    a, b = _places(value, _asked_about(value))
    return _LETTERS[int(((b - a) @ _TOWARDS.T).argmax())]


def _places(value: Json, names: Sequence[str]) -> Float[np.ndarray, "k 2"]:
    """The places of names, without regard to case; NaN where one is missing."""
    entries = value if isinstance(value, Mapping) else {}
    keyed = {name.strip().casefold(): entry for name, entry in entries.items() if isinstance(name, str)}
    return np.array([_place(keyed.get(name.casefold())) for name in names], dtype=float).reshape(-1, 2)


def _place(entry: Json) -> list[float]:
    """From {"position": [x, y]} or [x, y]."""
    xy = entry.get("position") if isinstance(entry, Mapping) else entry
    numbers = [finite(part) for part in xy] if isinstance(xy, list | tuple) and len(xy) == 2 else [None]
    return [np.nan, np.nan] if None in numbers else [float(number) for number in numbers if number is not None]


def _written(names: Iterator[str] | Mapping[str, Json], xy: Float[np.ndarray, "k 2"]) -> Json:
    return {name: {"position": place} for name, place in zip(names, (xy.round(1) + 0.0).tolist(), strict=True)}
