"""L1/Relation/Correspondence: which object of photo 2 is the one that is boxed in photo 1."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer, Region
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed
from templates.scene.named import seen_rows
from templates.scene.object_boxes import Row, boxes_of, outliers
from templates.scene.objects import SeenObjects, found_again, overlap, seen_objects
from templates.scene.outlines import VERTICES, outline_sigma_px, outlines
from templates.scene.scene import Scene
from templates.template import Template

_MARKS = ("1", "2", "3")
_TRIES = 8
"""Pairs of sights tried for each fact that is asked for."""
_MOST_OVERLAP = 0.2
"""Largest overlap of two boxes that can still be told apart well."""
_LEAST_SIDE, _LEAST_CUT_SIDE = 0.04, 0.08
"""Least side of a box that is drawn, as a share of the diagonal: of a whole object, and of one that is cut."""
_LEAST_FILLED = 0.25
"""Least share of its box that shows the object, not what is before it."""
_LEAST_SHOWN = 0.5
"""Least overlap of what a photo shows of an object with where its place says it is: the place confirms its identity."""
_APART = 0.5
"""Least distance of another object, as a share of the longest side of this one: one object may be listed twice."""


@dataclass(frozen=True, kw_only=True)
class SeenAgain(Facts):
    """An object of one photo, and three objects of another one, of which one is the same."""

    object: ObjectRefs
    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photos."""

    @property
    def options(self) -> tuple[ObjectRefs, ...]:
        """In the order of their marks."""
        return self.first, self.second, self.third


@dataclass(frozen=True, kw_only=True)
class SameObject(Template):
    """The object of photo 1 among three of photo 2, at least one other of which is of its kind. Measures the distance
    to the nearest other one, in path units, and the outline of what photo 2 shows of it, in pixels; the label is its
    number."""

    name: str = "same_object"
    version: str = "1"
    ability: str = "L1/Relation/Correspondence"
    formats: tuple[FormatName, ...] = ("choice", "point")
    facts: ClassVar[type[Facts]] = SeenAgain
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> SeenAgain:
        """Random sights of objects in two photos, with like-named objects as far as there are any, and else those
        that look most equally large; in half of them, another one is where the object was in photo 1."""
        seen = _clear(seen_objects(scene), scene)
        rows = np.array([*_sights(seen, rng, _TRIES * count)], dtype=np.int64).reshape(-1, 1 + len(_MARKS))
        rows[:, 1:] = rng.permuted(rows[:, 1:], axis=1)
        refs = [seen.take(each).refs() for each in rows.T]
        facts = SeenAgain(
            **dict(zip(("object", "first", "second", "third"), refs, strict=True)),
            size=np.tile([scene.clip.width_px, scene.clip.height_px], (len(rows), 1)),
        )
        measured = self._measured(facts, scene, [*seen.object[rows].T])
        misleading = measured.traps["at the same place in the photo"] != measured.label
        answers = Answers.of(measured.as_label(), measured.why)
        return facts.take(mixed(np.asarray(misleading), [answers], count, rng))

    def measure(self, facts: SeenAgain, scene: Scene) -> Measured:
        """By identity over the photos, confirmed in both by the place of the object, which is another one than those of
        the others."""
        return self._measured(facts, scene, [found_again(scene, refs) for refs in (facts.object, *facts.options)])

    def _measured(self, facts: SeenAgain, scene: Scene, objects: list[Row]) -> Measured:
        object, options = objects[0], np.column_stack(objects[1:])
        frame_a, frame_b = facts.object.frame, facts.first.frame
        same = options == object[:, None]
        distance, sigma, longest = _away(scene, frame_b, object, options)
        nearest = np.where(same, np.inf, distance).min(axis=1)
        cases = {
            "an object is not found again": np.any([each < 0 for each in objects], axis=0),
            "not one of the objects is the same": same.sum(axis=1) != 1,
            "the photos are one": frame_a == frame_b,
            "the place of an object is not known": ~np.isfinite(distance + sigma).all(axis=1),
            "one object may be listed twice": nearest < _APART * np.nan_to_num(longest),
            "the place of the object does not confirm it": ~(
                _confirmed(scene, frame_a, object) & _confirmed(scene, frame_b, object)
            ),
        }
        outline = outlines(scene, frame_b, object).reshape(len(facts), 2 * VERTICES)
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([nearest, outline]),
            sigma=np.full((len(facts), 1 + 2 * VERTICES), outline_sigma_px(scene)),
            label=np.array(_MARKS)[same.argmax(axis=1)],
            margin=margin_of_all(np.where(same, np.inf, distance), sigma),
            outlier_probability=outliers(scene, object),
            evidence={"apart": distance.round(3), "length_unit": np.full(len(facts), scene.length_unit)},
            traps=_mistakes(facts, same),
        )

    def answer(self, format: FormatName, facts: SeenAgain, measured: Measured) -> Answer | Answers:
        """The number of the box; or any pixel of the object."""
        label = measured.as_label()
        if format == "choice":
            return label
        index = np.atleast_1d(label.text).astype(np.int64) - 1
        inside = np.stack([refs.inside_px for refs in facts.options], axis=1)
        region = Region(
            outline=measured.value[:, 1:].reshape(len(facts), VERTICES, 2),
            xy_px=inside[np.arange(len(facts)), index],
            sigma_px=measured.sigma[:, 1],
            outlier_probability=1 - label.p_right(),
        )
        unknown = np.isnan(measured.value[:, 1])
        return Answers.of(
            region, first_reason(len(facts), {"the outline of an object is not known or too narrow": unknown})
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos: a box in the first one and, for a choice, three in the second one."""
        photo = Photo.boxed({"": fact["object"]})
        if format == "point":
            width, height = fact["size"]
            other = Photo(frame=fact["first"]["frame"])
            return Phrasing(media=(photo, other), values={"width": width, "height": height})
        each = (fact[name] for name in ("first", "second", "third"))
        return Phrasing(media=(photo, Photo.boxed(dict(zip(_MARKS, each, strict=True)))))


def _clear(seen: SeenObjects, scene: Scene) -> SeenObjects:
    """Objects that a box can mark, whether or not the border of the photo cuts them."""
    sides = (seen.box_px[:, 1] - seen.box_px[:, 0]).min(axis=1) / scene.diagonal_px
    large = sides >= np.where(seen.is_cut, _LEAST_CUT_SIDE, _LEAST_SIDE)
    filled = seen.area_px >= _LEAST_FILLED * (seen.box_px[:, 1] - seen.box_px[:, 0]).prod(axis=1)
    return seen.take(large & filled & (seen.shown >= _LEAST_SHOWN))


def _sights(seen: SeenObjects, rng: np.random.Generator, tries: int) -> Iterator[tuple[int, ...]]:
    """Rows of an object in one photo, of the same in another one, and of two others there, the first of which has its
    name."""
    of_object, of_photo = (_rows_by(column) for column in (seen.object, seen.frame))
    named = np.flatnonzero(seen.name != "")
    area = (seen.box_px[:, 1] - seen.box_px[:, 0]).prod(axis=1)
    for row in rng.choice(named, tries if len(named) else 0).tolist():
        again = [other for other in of_object[seen.object[row]] if seen.frame[other] != seen.frame[row]]
        if not again:
            continue
        target = int(rng.choice(again))
        photo = np.array(of_photo[seen.frame[target]])
        others = rng.permutation(photo[photo != target])
        other_name = seen.name[others] != seen.name[row]
        if other_name.all():
            continue
        unlike = np.abs(np.log(area[others] / area[target]))
        order = others[np.lexsort([np.where(other_name, unlike, 0), other_name])]
        chosen = _apart(seen.box_px, target, order.tolist())
        if len(chosen) == len(_MARKS) and seen.name[chosen[1]] == seen.name[row]:
            yield row, *chosen


def _rows_by(column: Int64[np.ndarray, "n"]) -> dict[int, list[int]]:
    rows: dict[int, list[int]] = defaultdict(list)
    for row, value in enumerate(column.tolist()):
        rows[value].append(row)
    return rows


def _apart(box_px: Float64[np.ndarray, "n 2 2"], first: int, order: Sequence[int]) -> list[int]:
    """A row and the next ones whose boxes hardly overlap, until there are as many as marks."""
    chosen = [first]
    for row in order:
        if len(chosen) < len(_MARKS) and (overlap(box_px[chosen], box_px[row]) <= _MOST_OVERLAP).all():
            chosen.append(row)
    return chosen


def _away(
    scene: Scene, frame: Row, object: Row, options: Int64[np.ndarray, "n o"]
) -> tuple[Float64[np.ndarray, "n o"], Float64[np.ndarray, "n o"], Float64[np.ndarray, "n"]]:
    """Distance of each option from the object, its σ, and the longest side of the object; NaN where unknown."""
    (known, pose, size, sigma, _), others = (
        boxes_of(scene, frame, object),
        [boxes_of(scene, frame, k) for k in options.T],
    )
    distance = [np.linalg.norm(other[1][:, :3, 3] - pose[:, :3, 3], axis=1) for other in others]
    distance = [np.where(known & other[0], each, np.nan) for each, other in zip(distance, others, strict=True)]
    return np.column_stack(distance), np.column_stack([np.hypot(sigma, other[3]) for other in others]), size.max(axis=1)


def _confirmed(scene: Scene, frame: Row, object: Row) -> Bool[np.ndarray, "n"]:
    """Whether what a photo shows of each object is where its place says."""
    row = seen_rows(scene, frame, object)
    shown = seen_objects(scene).shown
    return np.array([k >= 0 and bool(shown[k] >= _LEAST_SHOWN) for k in row.tolist()], dtype=bool)


def _mistakes(facts: SeenAgain, same: Bool[np.ndarray, "n o"]) -> dict[str, Texts]:
    """By mistake, the number of the object that it finds."""
    named = np.column_stack([refs.name == facts.object.name for refs in facts.options])
    box, options = facts.object.box_px, np.stack([refs.box_px for refs in facts.options], axis=1)
    middle, middles = box.mean(axis=1), options.mean(axis=2)
    mirrored = np.column_stack([facts.size[:, 0] - 1 - middle[:, 0], middle[:, 1]])
    area, areas = (np.log((each[..., 1, :] - each[..., 0, :]).prod(axis=-1)) for each in (box, options))
    away = {
        "at the same place in the photo": np.linalg.norm(middles - middle[:, None], axis=2),
        "at the mirrored place": np.linalg.norm(middles - mirrored[:, None], axis=2),
        "equally large in the photo": np.abs(areas - area[:, None]),
    }
    marks = np.array(_MARKS)
    found = {name: marks[each.argmin(axis=1)] for name, each in away.items()}
    for kind, which in {"of its kind": named & ~same, "of another kind": ~named & ~same}.items():
        count, last = which.sum(axis=1), len(_MARKS) - 1 - which[:, ::-1].argmax(axis=1)
        found[f"another object {kind}"] = np.where(count > 0, marks[which.argmax(axis=1)], "")
        found[f"a third object {kind}"] = np.where(count > 1, marks[last], "")
    return found
