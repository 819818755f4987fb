"""L1/Localization/3D Grounding: find the one of several like-named objects that a description singles out."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.special import ndtr, ndtri

from templates.answers import Answer, Region
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Photo
from templates.offer import Offer
from templates.perception.object_pointing import NOT_ALONE, NOT_LISTED
from templates.question import FormatName, Phrasing
from templates.scene.named import all_listed, may_be_called, may_be_missed, seen_rows, unique_among, unique_names
from templates.scene.object_boxes import corners_cam, outliers, range_to_boxes
from templates.scene.object_gaps import gaps
from templates.scene.objects import UNNAMED, SeenObjects, boxed, found_again, seen_objects
from templates.scene.outlines import VERTICES, outline_sigma_px, outlines
from templates.scene.relations import RelationMargins, Relations, ranked, towards
from templates.scene.scene import Scene
from templates.template import Template

_MARKS = ("1", "2")
_LEAST_AREA, _LEAST_AREA_OF_OTHERS = 0.003, 0.001
"""What is visible of the object that is meant, and of the others, as a share of the photo."""
_MOST = 4
"""Like-named objects of a photo that are compared."""
_TO_CAMERA = {
    "closest to the camera": "the {name} closest to the camera",
    "second closest to the camera": "the {name} second closest to the camera",
    "farthest from the camera": "the {name} farthest from the camera",
}
_TO_REFERENCE = {
    "closest": "the {name} closest to the {reference}",
    "farthest": "the {name} farthest from the {reference}",
    "left": "the {name} to the left of the {reference}",
    "right": "the {name} to the right of the {reference}",
}
_DESCRIPTIONS = _TO_CAMERA | _TO_REFERENCE
_CAMERA: dict[str, Json] = {"inside_px": None, "box_px": None, "name": ""}
_UNFILLED = 0.25
"""The nearest parts of two objects may lie inside their boxes by this share of the way to the centres."""
_LEAST_P = 1e-12


@dataclass(frozen=True, kw_only=True)
class DescribedObjects(Facts):
    """Up to four objects of one name in a photo, and a relation of one of them."""

    relation: Texts
    """A key of the descriptions."""
    frame_shown: Int64[np.ndarray, "n"]
    name: Texts
    inside_px: Float64[np.ndarray, "n c 2"]
    box_px: Float64[np.ndarray, "n c 2 2"]
    reference: ObjectRefs
    """The object that the relation refers to; without a name and with NaN if that is the camera."""
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photo."""

    @property
    def present(self) -> Bool[np.ndarray, "n c"]:
        """Where a row has an object."""
        return np.isfinite(self.inside_px[:, :, 0])

    def found(self, scene: Scene) -> Int64[np.ndarray, "n c"]:
        """Each of the objects in the scene; -1 where it is not found, or the row has ended."""
        present, found = self.present, np.full(self.present.shape, -1)
        row, column = np.nonzero(present)
        found[row, column] = found_again(
            scene,
            ObjectRefs(
                frame=self.frame_shown[row],
                inside_px=self.inside_px[row, column],
                box_px=self.box_px[row, column],
                name=self.name[row],
            ),
        )
        return found

    def reference_found(self, scene: Scene) -> Int64[np.ndarray, "n"]:
        """The reference in the scene; -1 where it is not found, or is the camera."""
        found, row = np.full(len(self), -1), np.flatnonzero(np.isin(self.relation, [*_TO_REFERENCE]))
        found[row] = found_again(scene, self.reference.take(row))
        return found


@dataclass(frozen=True, kw_only=True)
class PointToDescribed(Template):
    """The one of several like-named objects that a relation to another object or the camera singles out. Measures what
    the relation compares (a distance, or an angle in rad) and its outline in pixels; the label is its number."""

    name: str = "point_to_described"
    version: str = "2"
    ability: str = "L1/Localization/3D Grounding"
    formats: tuple[FormatName, ...] = ("point", "choice")
    facts: ClassVar[type[Facts]] = DescribedObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})
    margins: RelationMargins = field(default_factory=RelationMargins)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> DescribedObjects:
        """Random relations of like-named objects: of all in the photo, or of two whole ones."""
        seen = seen_objects(scene)
        alone = unique_names(scene) & all_listed(scene, seen.called)
        clear, unique = boxed(seen, scene), boxed(seen.take(alone), scene)
        every, whole, references = _by_name(seen), _by_name(clear), unique.refs().to_json()
        more = {key: rows for key, rows in whole.items() if len(every[key]) > len(_MARKS)}
        cases = [(*case, pair) for pair in (False, True) for case in _cases(more if pair else every, unique, pair)]
        rows = []
        for k in rng.permutation(len(cases))[:count]:
            relation, frame, name, reference, pair = cases[k]
            shown, known = (clear, whole) if pair else (seen, every)
            here = rng.permutation(known[frame, name])[: len(_MARKS) if pair else _MOST]
            rows.append(
                {
                    "relation": relation,
                    "frame_shown": frame,
                    "name": name,
                    "inside_px": shown.inside_px[here].tolist(),
                    "box_px": shown.box_px[here].tolist(),
                    "reference": _CAMERA | {"frame": frame} if reference < 0 else references[reference],
                    "size": [scene.clip.width_px, scene.clip.height_px],
                }
            )
        return DescribedObjects.from_json(rows)

    def measure(self, facts: DescribedObjects, scene: Scene) -> Measured:
        """The number of the object, and the outline of what the photo shows of it."""
        found, reference, present = facts.found(scene), facts.reference_found(scene), facts.present
        to_reference = np.isin(facts.relation, [*_TO_REFERENCE])
        relations, length = _relations(facts, scene, found, reference, self.margins)
        index, p_wrong = relations.singled_out()
        index = np.where(p_wrong <= ndtr(-self.margins.sigmas), index, -1)
        target = found[np.arange(len(facts)), np.maximum(index, 0)] if len(facts) else index
        cases = {
            "an object is not found again": (present & (found < 0)).any(axis=1) | (to_reference & (reference < 0)),
            NOT_LISTED: to_reference & ~all_listed(scene, facts.reference.name),
            NOT_ALONE: to_reference & ~unique_among(scene, facts.frame_shown, reference),
            "how the objects lie is not known": (present & np.isnan(length)).any(axis=1),
            "the description does not single out one object": index < 0,
            "an object is too small": ~_visible(scene, facts.frame_shown, target, _LEAST_AREA),
        }
        decided = np.abs(length[np.arange(len(facts)), np.maximum(index, 0)])
        outline = outlines(scene, facts.frame_shown, np.where(index < 0, -1, target)).reshape(len(facts), 2 * VERTICES)
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([decided, outline]),
            sigma=np.full((len(facts), 1 + 2 * VERTICES), outline_sigma_px(scene)),
            label=np.where(index < 0, "", (1 + index).astype(np.str_)),
            margin=-ndtri(np.clip(p_wrong, _LEAST_P, 0.5)),
            outlier_probability=outliers(
                scene, *(np.where(present[:, k], found[:, k], target) for k in range(found.shape[1])),
                np.where(to_reference, reference, target),
            ),
            evidence={
                "name": facts.name,
                "all_shown": _all_shown(facts, scene, found),
                "all_whole": _all_whole(facts, scene, found),
                "compared": np.abs(length).round(3),
            },
            traps=_mistakes(facts, length, index),
        )  # fmt: skip

    def answer(self, format: FormatName, facts: DescribedObjects, measured: Measured) -> Answers:
        """The number of the box, where there are two; or any pixel of the outline, where no other object of that
        name can be seen."""
        label = measured.as_label()
        if format == "choice":
            cases = {
                "more than two objects": facts.present.sum(axis=1) != len(_MARKS),
                "an object is cut, hidden or small": ~measured.evidence["all_whole"],
            }
            return Answers.of(label, first_reason(len(facts), cases))
        index = np.array([int(text) - 1 for text in np.atleast_1d(label.text).tolist()])
        cases = {
            "the photo may show others of that name": ~measured.evidence["all_shown"],
            "the outline of an object is not known or too narrow": np.isnan(measured.value[:, 1]),
        }
        region = Region(
            outline=measured.value[:, 1:].reshape(len(facts), VERTICES, 2),
            xy_px=facts.inside_px[np.arange(len(facts)), index],
            sigma_px=measured.sigma[:, 1],
            outlier_probability=1 - label.p_right(),
        )
        return Answers.of(region, first_reason(len(facts), cases))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo; with boxes for a choice."""
        described = _DESCRIPTIONS[fact["relation"]].format(name=fact["name"], reference=fact["reference"]["name"])
        if format == "point":
            width, height = fact["size"]
            values = {"description": described, "width": width, "height": height}
            return Phrasing(media=(Photo(frame=fact["frame_shown"]),), values=values)
        boxes = zip(_MARKS, fact["box_px"], strict=True)
        marks = tuple(Box(text=text, points_px=tuple(map(tuple, box))) for text, box in boxes)
        return Phrasing(media=(Photo(frame=fact["frame_shown"], marks=marks),), values={"description": described})


def _by_name(seen: SeenObjects) -> dict[tuple[int, str], list[int]]:
    """The rows of the objects of each name in each photo."""
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    for row, key in enumerate(zip(seen.frame.tolist(), seen.called.tolist(), strict=True)):
        found[key].append(row)
    return found


def _cases(
    several: Mapping[tuple[int, str], list[int]], unique: SeenObjects, pair: bool
) -> Iterator[tuple[str, int, str, int]]:
    """Relation, photo, name of two or more objects, and row of the reference in `unique`; -1: the camera."""
    for (frame, name), rows in several.items():
        if len(rows) < 2 or name == UNNAMED:
            continue
        for relation in _TO_CAMERA:
            if (len(rows) > 2 and not pair) or not relation.startswith("second"):
                yield relation, frame, name, -1
        for reference in np.flatnonzero(unique.frame == frame).tolist():
            for relation in _TO_REFERENCE:
                yield relation, frame, name, reference


def _relations(
    facts: DescribedObjects, scene: Scene, found: np.ndarray, reference: np.ndarray, margins: RelationMargins
) -> tuple[Relations, Float64[np.ndarray, "n c"]]:
    """Whether each object is the described one, and how far down it is in the order that decides it."""
    n, c = found.shape
    frame, object, other = np.repeat(facts.frame_shown, c), found.ravel(), np.repeat(reference, c)
    (distance, sigma), (gap, gap_sigma, apart) = range_to_boxes(scene, frame, object), gaps(scene, frame, object, other)
    gap_sigma = np.hypot(gap_sigma, _UNFILLED * (apart - gap))
    angle, angle_sigma = _angle_to_right(scene, frame, object, other)
    to_camera = np.repeat(np.isin(facts.relation, [*_TO_CAMERA]), c)
    length, length_sigma = np.where(to_camera, distance, gap), np.where(to_camera, sigma, gap_sigma)
    last = np.array([relation.startswith("farthest") for relation in facts.relation.tolist()], dtype=bool)
    second = np.array([relation.startswith("second") for relation in facts.relation.tolist()], dtype=bool)
    rank = np.where(last, facts.present.sum(axis=1) - 1, np.where(second, 1, 0))
    length, length_sigma, angle, angle_sigma = (
        each.reshape(n, c) for each in (length, length_sigma, angle, angle_sigma)
    )
    is_metric = bool(np.isfinite(scene.metre_relative_sigma))
    in_order = ranked(length, length_sigma, rank, facts.present, is_metric, margins)
    left, right = facts.relation == "left", facts.relation == "right"
    from_axis = np.where(left[:, None], np.pi - angle, angle)
    beside = towards(from_axis, angle_sigma, margins).among(facts.present)
    order = np.where((left | right)[:, None], from_axis, np.where(last[:, None], -length, length))
    return beside.where(left | right, in_order), np.where(facts.present, order, np.nan)


def _angle_to_right(
    scene: Scene, frame: np.ndarray, object: np.ndarray, other: np.ndarray
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """Angle of the way from the middle of the other object to that of the object from the camera's x axis, and its
    σ."""
    (corners, sigma), (other_corners, other_sigma) = (corners_cam(scene, frame, each) for each in (object, other))
    way = corners.mean(axis=1) - other_corners.mean(axis=1)
    distance = np.linalg.norm(way, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.arccos(np.clip(way[:, 0] / distance, -1, 1)), np.hypot(sigma, other_sigma) / distance


def _visible(scene: Scene, frame: np.ndarray, object: np.ndarray, share: float) -> Bool[np.ndarray, "n"]:
    """Whether at least that share of the photo shows the object; unknown areas are enough."""
    seen, row = seen_objects(scene), seen_rows(scene, frame, object)
    area = np.array([seen.area_px[k] if k >= 0 else 0.0 for k in row.tolist()])
    return ~(area < share * scene.clip.width_px * scene.clip.height_px)


def _all_whole(facts: DescribedObjects, scene: Scene, found: np.ndarray) -> Bool[np.ndarray, "n"]:
    """Whether boxes can mark all objects."""
    clear = boxed(seen_objects(scene), scene)
    whole = {*zip(clear.frame.tolist(), clear.object.tolist(), strict=True)}
    frames = zip(facts.frame_shown.tolist(), found.tolist(), strict=True)
    return np.array([all((frame, k) in whole for k in own if k >= 0) for frame, own in frames], dtype=bool)


def _all_shown(facts: DescribedObjects, scene: Scene, found: np.ndarray) -> Bool[np.ndarray, "n"]:
    """Whether the photo shows no object of the name, or of a like name, but those of the fact."""
    seen, shown = seen_objects(scene), []
    photo_px = scene.clip.width_px * scene.clip.height_px
    listed = all_listed(scene, facts.name).tolist()
    for frame, name, own, every in zip(
        facts.frame_shown.tolist(), facts.name.tolist(), found.tolist(), listed, strict=True
    ):
        here = seen.take(seen.frame == frame)
        same = {*here.object[here.name == name].tolist()} == {*own} - {-1}
        large = bool((here.area_px[here.name == name] >= _LEAST_AREA_OF_OTHERS * photo_px).all())
        sure = (
            large
            and not may_be_called(name, here.name.tolist())
            and name not in may_be_missed(scene, frame, here.object)
        )
        shown.append(same and sure and every)
    return np.array(shown, dtype=bool)


def _mistakes(facts: DescribedObjects, order: Float64[np.ndarray, "n c"], index: np.ndarray) -> dict[str, np.ndarray]:
    """By mistake, the number of the object that it finds. `order`: the described object comes first or second."""
    known = np.where(np.isnan(order), np.inf, order)
    rows = np.arange(len(facts))
    last = np.where(np.isnan(order), -np.inf, order).argmax(axis=1)
    others = known.copy()
    others[rows, np.maximum(index, 0)], others[rows, last] = np.inf, np.inf
    middle = facts.box_px.mean(axis=2)
    lowest = np.where(facts.present, -facts.box_px[:, :, 1, 1], np.inf).argmin(axis=1)
    away = np.linalg.norm(middle - facts.reference.box_px.mean(axis=1)[:, None], axis=2)
    nearest = np.where(np.isnan(away), np.inf, away).argmin(axis=1)
    to_camera = np.isin(facts.relation, [*_TO_CAMERA])
    return {
        "decided by the places in the photo": _number(np.where(to_camera, lowest, nearest)),
        "the opposite": _number(last),
        "next in the order": np.where(np.isfinite(others.min(axis=1)), _number(others.argmin(axis=1)), ""),
    }


def _number(index: np.ndarray) -> Texts:
    return (1 + index).astype(np.str_)
