"""Captions of photos: statements about three points or three named objects, each of them measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers.answers import Answers
from templates.columns import Columns, Json, Texts, column_types
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.perception.object_pointing import NOT_LISTED
from templates.scene.compared import AXES, HEIGHT, SIDEWAYS, Compared, compared_objects, compared_points
from templates.scene.marks import spread_frames
from templates.scene.misleading import misleading_first
from templates.scene.named import all_listed, rows_called, unique_names
from templates.scene.object_boxes import outliers
from templates.scene.objects import SeenObjects, boxed, meet, seen_objects
from templates.scene.point_groups import three_points
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

THINGS = 3
MARKS = ("P", "Q", "R")
PAIRS = np.array([(0, 1), (1, 2), (0, 2)])
SURE = 2.75
"""Least margin of a statement that is proposed, in σ: so that all of a caption are sure."""
_SURE_CAPTION, _MISLEADING = 0.99, 0.3
"""Least P(right) of a caption that is proposed, and least share of captions that the picture contradicts."""
_PICTURED = "as the picture suggests"
_TRIES = 16
"""Threes that are drawn for each caption."""
_FRAMES = 12
"""Photos in which named objects are looked for."""
_MOST_AXIS = 2
"""Statements of one kind in a caption: three of them might contradict each other."""
_SAID = {
    "to the left": ("to the left", "of"),
    "to the right": ("to the right", "of"),
    "higher": ("higher up", "than"),
    "lower": ("lower down", "than"),
    "nearer": ("nearer to the camera", "than"),
    "farther": ("farther from the camera", "than"),
}
"""How a caption says each word of `AXES`, and what comes before the other thing."""


@dataclass(frozen=True, kw_only=True)
class Threes(Facts):
    """Three points of a photo, or three objects, each of which its name alone singles out there."""

    frame: Int64[np.ndarray, "n"]
    points_px: Float64[np.ndarray, "n 3 2"]
    """NaN for objects."""
    first: Texts
    """Names of objects; "" for points."""
    second: Texts
    third: Texts

    @classmethod
    def of_points(cls, frame: Int64[np.ndarray, "n"], points_px: Float64[np.ndarray, "n 3 2"]) -> "Threes":
        """Points."""
        none = np.full(len(frame), "")
        return cls(frame=frame, points_px=points_px, first=none, second=none, third=none)

    @classmethod
    def of_names(cls, frame: Int64[np.ndarray, "n"], names: np.ndarray) -> "Threes":
        """Objects, by their names: (n, 3)."""
        first, second, third = names.reshape(-1, THINGS).T
        points_px = np.full((len(frame), THINGS, 2), np.nan)
        return cls(frame=frame, points_px=points_px, first=first, second=second, third=third)

    @property
    def names(self) -> np.ndarray:
        """Of all three: (n, 3)."""
        return np.column_stack([self.first, self.second, self.third])


@dataclass(frozen=True, kw_only=True)
class Captions(Threes):
    """What the statements of a caption compare."""

    claims: Int64[np.ndarray, "n 3 3"]
    """Of each statement: which of the three it is about, with which of them it compares that one, and the row of
    `AXES`."""


@dataclass(frozen=True, kw_only=True)
class Told(Columns):
    """The statements of n captions, measured: c of each."""

    value: Float64[np.ndarray, "n c"]
    """> 0: the second word of the axis is true."""
    sigma: Float64[np.ndarray, "n c"]
    clear: Bool[np.ndarray, "n c"]
    pictured: Bool[np.ndarray, "n c"]
    """Whether the picture alone suggests the second word."""

    @property
    def second(self) -> Bool[np.ndarray, "n c"]:
        """Whether the second word is true."""
        return np.asarray(self.value > 0)


def told(scene: Scene, threes: Threes, claims: Int64[np.ndarray, "n c 3"]) -> Told:
    """Measures statements about points or objects."""
    n, c = claims.shape[:2]
    found, axis = compared(scene, threes, claims[..., :2]), claims[..., 2].ravel()
    columns = {name: getattr(found, name) for name in ("value", "sigma", "clear", "pictured")}
    return Told(**{name: column[np.arange(n * c), axis].reshape(n, c) for name, column in columns.items()})


def compared(scene: Scene, threes: Threes, pairs: Int64[np.ndarray, "n p 2"]) -> Compared:
    """Compares two of the three with each other: n · p rows. Nothing is clear sideways if the camera is held aslant."""
    n, p = pairs.shape[:2]
    (a, b), row, object = pairs.reshape(-1, 2).T, np.repeat(np.arange(n), p), _objects(scene, threes)
    is_point = (threes.first == "")[row]
    points, objects = np.flatnonzero(is_point), np.flatnonzero(~is_point)
    marks = (threes.points_px[row[points], which[points]] for which in (a, b))
    seen = [object.take(THINGS * row[objects] + which[objects]) for which in (a, b)]
    numbers, boxes = ([getattr(each, name) for each in seen] for name in ("object", "box_px"))
    parts = [
        compared_points(scene, threes.frame[row[points]], *marks),
        compared_objects(scene, threes.frame[row[objects]], *numbers, *boxes),
    ]
    found = Compared.concatenated(parts).take(np.argsort(np.concatenate([points, objects])))
    return replace(found, clear=found.clear & (found.level[:, None] | (np.arange(len(AXES)) != SIDEWAYS)))


def doubt(scene: Scene, threes: Threes) -> Float64[np.ndarray, "n 3"]:
    """Probability that each of the three is an outlier."""
    surface = scene.surface(np.repeat(threes.frame, THINGS), threes.points_px.reshape(-1, 2))
    of_objects = outliers(scene, _objects(scene, threes).object)
    is_point = np.repeat(threes.first == "", THINGS)
    return np.where(is_point, surface.outlier_probability, of_objects).reshape(len(threes), THINGS)


@dataclass(frozen=True, kw_only=True)
class _Named(Columns):
    object: Int64[np.ndarray, "n"]
    """Number in the scene; -1 where there is none."""
    box_px: Float64[np.ndarray, "n 2 2"]
    """In the photo."""


def _objects(scene: Scene, threes: Threes) -> _Named:
    """The objects that the names single out: three for each row."""
    row = rows_called(scene, np.repeat(threes.frame, THINGS), threes.names.ravel())
    known, seen = np.flatnonzero(row >= 0), seen_objects(scene)
    object, box_px = np.full(len(row), -1), np.full((len(row), 2, 2), np.nan)
    object[known], box_px[known] = seen.object[row[known]], seen.box_px[row[known]]
    return _Named(object=object, box_px=box_px)


@dataclass(frozen=True, kw_only=True)
class AboutCaptions(Template):
    """Base of templates about captions. Measures, of each statement, how much the first of the two words of its axis
    fails to hold (`Compared.value`); the label is the true words."""

    version: str = "3"
    ability: str = "L2/Understanding/Spatial Caption"
    facts: ClassVar[type[Captions]] = Captions
    statements: ClassVar[int] = 3
    """In a caption."""
    needs: frozenset[str] = frozenset({"camera_path", "gravity"})
    reads: frozenset[str] = SURFACE | {"gravity", "image_tracks", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Captions:
        """Points and objects by turns; of at least half of the captions the picture suggests a wrong word."""
        parts = [self._proposed(some(scene, rng, _TRIES * count), scene, rng) for some in (some_points, some_objects)]
        turns = np.concatenate([np.arange(len(part)) for part in parts])
        every = self.facts.concatenated(parts)
        return every.take(np.argsort(turns, kind="stable")[:count])

    def _proposed(self, threes: Threes, scene: Scene, rng: np.random.Generator) -> Captions:
        rows, claims = sure_claims(scene, threes, rng, self.statements)
        facts = self.facts(**{name: getattr(threes.take(rows), name) for name in column_types(Threes)}, claims=claims)
        measured = self.measure(facts, scene)
        sure = np.flatnonzero(Answers.of(measured.as_label(), measured.why).p_right >= _SURE_CAPTION)
        misled = np.asarray(measured.label != measured.traps[_PICTURED])[sure]
        return facts.take(sure[misleading_first(misled, rng, _MISLEADING)])

    def measure(self, facts: Captions, scene: Scene) -> Measured:
        """The true word of each statement; all must be clear."""
        axis, found = facts.claims[..., 2], told(scene, facts, facts.claims)
        exchanged = {
            f"{one} and {other} exchanged": words_of(axis, found.second != (axis == k))
            for k, (one, other) in enumerate(AXES)
        }
        cases = {
            NOT_LISTED: (facts.first != "") & ~all_listed(scene, *facts.names.T),
            "the place of a point or an object is not known": ~np.isfinite(found.value + found.sigma).all(axis=1),
            "a statement is neither clearly true nor clearly false": ~found.clear.all(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=found.value,
            sigma=found.sigma,
            label=words_of(axis, found.second),
            margin=margin_of_all(np.abs(found.value), found.sigma),
            outlier_probability=1 - np.prod(1 - doubt(scene, facts), axis=1),
            evidence={"differences": found.value.round(3)},
            traps={_PICTURED: words_of(axis, found.pictured), **exchanged},
        )


def words_of(axis: Int64[np.ndarray, "n c"], second: Bool[np.ndarray, "n c"]) -> Texts:
    """The words of the statements of each caption, as one label."""
    words = np.array(AXES)[axis, second.astype(np.int64)]
    return np.array([", ".join(row) for row in words.tolist()], dtype=np.str_)


def opposites(words: Sequence[str]) -> list[str]:
    """The opposite of each word."""
    other = {a: b for pair in AXES for a, b in (pair, pair[::-1])}
    return [other[word] for word in words]


def some_points(scene: Scene, rng: np.random.Generator, count: int) -> Threes:
    """Three distant points of a photo each."""
    drawn = three_points(scene, rng, count).take(slice(count))
    return Threes.of_points(drawn.frame, drawn.points_px)


def some_objects(scene: Scene, rng: np.random.Generator, count: int) -> Threes:
    """Three objects of a photo each: whole ones with names of their own, whose boxes do not overlap. Every object of
    these names is listed."""
    seen = seen_objects(scene)
    alone = unique_names(scene) & all_listed(scene, seen.called)
    seen = boxed(seen.take(alone & np.array([*map(_is_one, seen.called.tolist())], dtype=bool)), scene)
    rows = [three for frame in spread_frames(np.unique(seen.frame), _FRAMES) for three in _apart(seen, frame)]
    chosen = np.array([rows[k] for k in rng.permutation(len(rows))[:count]], dtype=np.int64).reshape(-1, THINGS)
    return Threes.of_names(seen.frame[chosen[:, 0]], seen.called[chosen])


def _is_one(name: str) -> bool:
    """Whether a name is no plural, for which sentences would need other verbs."""
    return not name.endswith("s") or name.endswith("ss")


def _apart(seen: SeenObjects, frame: int) -> list[tuple[int, ...]]:
    here = np.flatnonzero(seen.frame == frame).tolist()
    overlap = {(a, b) for a, b in combinations(here, 2) if meet(seen.box_px[a], seen.box_px[b])}
    return [three for three in combinations(here, THINGS) if not overlap & {*combinations(three, 2)}]


def sets_of_claims(count: int) -> Int64[np.ndarray, "s c 2"]:
    """All captions of so many statements: the pair and the axis of each. They can be true and false independently."""
    every = [(pair, axis) for pair in range(len(PAIRS)) for axis in range(len(AXES))]
    return np.array([chosen for chosen in combinations(every, count) if _independent(chosen)])


def _independent(chosen: Sequence[tuple[int, int]]) -> bool:
    pairs, axes = zip(*chosen, strict=True)
    most_pair = -(-len(chosen) // len(PAIRS))
    return max(map(axes.count, axes)) <= _MOST_AXIS and max(map(pairs.count, pairs)) <= most_pair


def sure_claims(
    scene: Scene, threes: Threes, rng: np.random.Generator, count: int
) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k c 3"]]:
    """Rows of which so many independent statements are sure, and such statements, drawn at random: their order, and
    which thing comes first. Rather such of which the picture suggests the opposite of one.

    Nothing is said of where points lie sideways, which the photo shows, nor of the heights of objects, which their
    names often tell: windows are higher up than tubs.
    """
    sets, n = sets_of_claims(count), len(threes)
    found = compared(scene, threes, np.tile(PAIRS, (n, 1, 1)))
    with np.errstate(invalid="ignore"):
        sure = (found.clear & (np.abs(found.value) >= SURE * found.sigma)).reshape(n, len(PAIRS), len(AXES))
    is_point = threes.first == ""
    sure[is_point, :, SIDEWAYS] = sure[~is_point, :, HEIGHT] = False
    misled = ((found.value > 0) != found.pictured).reshape(sure.shape)
    able, fooling = (each[:, sets[..., 0], sets[..., 1]] for each in (sure, misled))
    wanted = np.where(able.all(axis=2), rng.random((n, len(sets))) + fooling.any(axis=2), -1)
    rows = np.flatnonzero((wanted >= 0).any(axis=1))
    chosen = sets[wanted[rows].argmax(axis=1)]
    chosen = np.take_along_axis(chosen, rng.random((len(rows), count, 1)).argsort(axis=1), axis=1)
    things = PAIRS[chosen[..., 0]]
    things = np.where(rng.random((len(rows), count, 1)) < 0.5, things[..., ::-1], things)
    return rows, np.concatenate([things, chosen[..., 1:]], axis=2)


def names_of(fact: Mapping[str, Json]) -> list[str]:
    """What a caption calls the three things."""
    if fact["points_px"] is None:
        return [f"the {fact[name]}" for name in ("first", "second", "third")]
    return [f"point {mark}" for mark in MARKS]


def photo_of(fact: Mapping[str, Json]) -> Photo:
    """The photo; points are marked."""
    points_px = fact["points_px"]
    return Photo.marked(fact["frame"], {} if points_px is None else dict(zip(MARKS, points_px, strict=True)))


def sentences(names: Sequence[str], claims: Sequence[Sequence[int]], words: Sequence[str]) -> list[str]:
    """The statements, each as a sentence."""
    return [caption(names, [claim], [word]) for claim, word in zip(claims, words, strict=True)]


def caption(
    names: Sequence[str], claims: Sequence[Sequence[int]], words: Sequence[str], gaps: Sequence[int] = ()
) -> str:
    """The statements as one text; two in a row about the same thing are one sentence. `gaps`: statements whose word is
    left out."""
    said: list[tuple[str, list[str]]] = []
    last = (-1, -1)
    for k, ((a, b, *_), word) in enumerate(zip(claims, words, strict=True)):
        phrase, before = _SAID[word]
        phrase = f"({gaps.index(k) + 1}) ____" if k in gaps else phrase
        if a == last[0] and len(said[-1][1]) == 1:
            other = names[b] if b != last[1] else "it"
            said[-1][1].append(phrase if other == "it" and before == "than" else f"{phrase} {before} {other}")
        else:
            said.append((names[a], [f"{phrase} {before} {names[b]}"]))
        last = (a, b)
    return " ".join(f"{name[0].upper()}{name[1:]} is {' and '.join(parts)}." for name, parts in said)


def phrase_of(word: str) -> str:
    """How a caption says a word of `AXES`."""
    return _SAID[word][0]
