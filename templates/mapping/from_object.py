"""L2/Understanding/Perspective Taking: which object is on a side of another one, as that one faces."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.perception.object_gap import Neighbours
from templates.question import FormatName, Phrasing
from templates.scene.bearings import Bearings, bearings, from_side
from templates.scene.elsewhere import movers
from templates.scene.marks import spread_frames
from templates.scene.misleading import misleading_first
from templates.scene.object_boxes import Row, fronts_of, outliers
from templates.scene.object_groups import shared_share
from templates.scene.objects import UNNAMED, SeenObjects, boxed, found_again, seen_objects
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

SIDES = ("in front of you", "on your right", "behind you", "on your left")
"""Clockwise from above, 90° each."""
_ANCHOR, _MARKS = "P", ("1", "2", "3")
_FRAMES, _ANCHORS = 12, 60
"""Photos in which objects are looked for, and objects that others are seen from."""
_ON_SIDE_RAD, _REACH_RAD = np.radians(30), np.radians(75)
"""Largest angle from the middle of a side to the middle of the object that is there, and to its corners."""
_OFF_SIDE_RAD, _OFF_REACH_RAD = np.radians(60), np.radians(40)
"""Least angle from the middle of a side to the middle of an object that is not there, and to its corners."""
_BORDER_RAD = np.pi / 4
_LITTLE = 0.3
"""Largest overlap of two boxes in a photo, as a share of the smaller one."""
_SURE = 2.33
"""Least margin of an object that is proposed, in σ."""
_MISLEADING = 0.6
"""Least share of facts in which neither camera has the same object on that side."""


@dataclass(frozen=True, kw_only=True)
class OnSide(Neighbours):
    """An object of one photo, three objects of another one, and a side of the first object."""

    side: Texts


@dataclass(frozen=True, kw_only=True)
class FromObject(Template):
    """Which of three objects is on a side of someone who stands at another object and faces as it does. Measures their
    horizontal bearings: 0 straight ahead, clockwise from above, in rad."""

    name: str = "from_object"
    version: str = "1"
    ability: str = "L2/Understanding/Perspective Taking"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = OnSide
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation"})
    reads: frozenset[str] = SURFACE | {"gravity", "object_orientation", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> OnSide:
        """Objects of one photo, and three of another one that shares its view: one of them is on the side. In most
        groups it is another one for both cameras."""
        seen = boxed(seen_objects(scene), scene)
        seen = seen.take(found_again(scene, seen.refs()) == seen.object)
        groups = list(_groups(scene, seen, rng))
        groups = [groups[k] for k in rng.permutation(len(groups))[: 4 * count]]
        if not groups:
            return OnSide.none()
        each = (seen.take(np.array([rows[k] for rows, _ in groups])).refs() for k in range(4))
        anchor, first, second, third = each
        side = np.array([SIDES[side] for _, side in groups])
        facts = OnSide(anchor=anchor, first=first, second=second, third=third, side=side)
        measured = self.measure(facts, scene)
        label, known = measured.as_label().text, measured.why == ""
        misled = np.all([label != measured.traps[name] for name in _CAMERAS], axis=0)[known]
        return facts.take(np.flatnonzero(known)[misleading_first(misled, rng, _MISLEADING)[:count]])

    def measure(self, facts: OnSide, scene: Scene) -> Measured:
        """The mark of the only object on the side. σ: the front ⊕ all places ⊕ gravity ⊕ rotations of the photos."""
        frame, there, anchor = facts.anchor.frame, facts.first.frame, found_again(scene, facts.anchor)
        objects = [found_again(scene, refs) for refs in facts.others]
        each, front = [bearings(scene, frame, anchor, object) for object in objects], fronts_of(scene, frame, anchor)
        side = np.argmax(facts.side[:, None] == np.array(SIDES), axis=1)
        middle, sigma, from_camera = (np.column_stack([getattr(one, name) for one in each]) for name in _COLUMNS)
        sigma = np.hypot(sigma, scene.relative_rotation_sigma_rad(np.column_stack([frame, there]))[:, None])
        on, off = (np.column_stack([decide(one, side) for one in each]) for decide in (_is_on, _is_off))
        deviation = np.abs(from_side(middle, side))
        cases = {
            "an object moves": np.any([_moves(scene, k) for k in (anchor, *objects)], axis=0),
            "the photos share too little of their view": ~_share_view(scene, frame, there),
            "not exactly one object is on the side": (on.sum(axis=1) != 1) | ~(on | off).all(axis=1),
        }
        lacking = np.select([one.why != "" for one in each], [one.why for one in each], "")
        return Measured(
            why=np.where(lacking == "", first_reason(len(facts), cases), lacking),
            value=middle,
            sigma=sigma,
            label=np.array(_MARKS)[on.argmax(axis=1)],
            margin=margin_of_all(np.where(on, _BORDER_RAD - deviation, deviation - _BORDER_RAD), sigma),
            outlier_probability=1 - (1 - outliers(scene, anchor, *objects)) * (1 - front.outlier_probability),
            evidence={"side": facts.side, "bearings_deg": np.degrees(middle).round()},
            traps={
                _CAMERAS[0]: _nearest(np.abs(from_side(from_camera, side))),
                _CAMERAS[1]: _nearest(_in_photo(facts, side)),
                "the opposite side": _nearest(np.abs(from_side(middle, side + 2))),
                "left side taken for front": _nearest(np.abs(from_side(middle, side - 1))),
                "right side taken for front": _nearest(np.abs(from_side(middle, side + 1))),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A photo with one box and another with three."""
        others = (fact[name] for name in ("first", "second", "third"))
        media = Photo.boxed({_ANCHOR: fact["anchor"]}), Photo.boxed(dict(zip(_MARKS, others, strict=True)))
        return Phrasing(media=media, values={"name": fact["anchor"]["name"], "side": fact["side"]})


def _moves(scene: Scene, object: Row) -> Bool[np.ndarray, "n"]:
    moves = movers(scene)
    return moves[object] if len(moves) else np.zeros(len(object), dtype=bool)


_CAMERAS = ("seen from the camera of photo 1", "as photo 2 shows them")
_COLUMNS = ("middle", "sigma", "from_camera")


def _is_on(seen: Bearings, side: Row) -> Bool[np.ndarray, "n"]:
    off, reach = np.abs(from_side(seen.middle, side)), np.abs(from_side(seen.corners, side)).max(axis=1)
    return np.asarray((off <= _ON_SIDE_RAD) & (reach <= _REACH_RAD))


def _is_off(seen: Bearings, side: Row) -> Bool[np.ndarray, "n"]:
    off, reach = np.abs(from_side(seen.middle, side)), np.abs(from_side(seen.corners, side)).min(axis=1)
    return np.asarray((off >= _OFF_SIDE_RAD) & (reach >= _OFF_REACH_RAD))


def _nearest(off: Float64[np.ndarray, "n 3"]) -> Texts:
    """The mark of the object with the smallest value."""
    return np.array(_MARKS)[np.where(np.isnan(off), np.inf, off).argmin(axis=1)]


def _in_photo(facts: OnSide, side: Row) -> Float64[np.ndarray, "n 3"]:
    """How far each object of photo 2 is from the side of its picture: its left, its right, its bottom or its top."""
    box = np.stack([refs.box_px for refs in facts.others], axis=1)
    (x, y), bottom = np.moveaxis(box.mean(axis=2), 2, 0), box[:, :, 1, 1]
    return np.choose(side[:, None], [-bottom, -x, y, x])


def _share_view(scene: Scene, frame: Row, there: Row) -> Bool[np.ndarray, "n"]:
    """Whether two photos are different ones and show a part of the same place."""
    frames, row = np.unique(np.concatenate([frame, there]), return_inverse=True)
    a, b = row[: len(frame)], row[len(frame) :]
    return np.asarray(shared_views(scene, frames).mutual[a, b] & (frame != there))


def _groups(scene: Scene, seen: SeenObjects, rng: np.random.Generator) -> list[tuple[tuple[int, int, int, int], int]]:
    """Rows of an anchor and three others of another photo, in random order, and a side on which one of these is."""
    frames = np.array(spread_frames(np.unique(seen.frame), _FRAMES), dtype=np.int64)
    mutual = shared_views(scene, frames).mutual
    shown = np.isin(seen.frame, frames)
    facing = shown & (fronts_of(scene, seen.frame, seen.object).fronts == 1) & (seen.called != UNNAMED)
    anchors = rng.permutation(np.flatnonzero(facing))[:_ANCHORS]
    a, b = (each.ravel() for each in np.meshgrid(anchors, np.flatnonzero(shown), indexing="ij"))
    at = np.searchsorted(frames, seen.frame)
    apart = (seen.frame[a] != seen.frame[b]) & mutual[at[a], at[b]] if len(frames) else np.zeros(len(a), dtype=bool)
    a, b = a[apart], b[apart]
    found = bearings(scene, seen.frame[a], seen.object[a], seen.object[b])
    known = found.why == ""
    a, b, found = a[known], b[known], found.take(known)
    groups = []
    for side in range(len(SIDES)):
        quarter = np.full(len(a), side)
        off = np.abs(from_side(found.middle, quarter))
        sure = np.abs(off - _BORDER_RAD) >= _SURE * found.sigma
        on, misled = sure & _is_on(found, quarter), np.abs(from_side(found.from_camera, quarter)) < _BORDER_RAD
        for k in np.flatnonzero(on).tolist():
            others = np.flatnonzero(sure & (a == a[k]) & (seen.frame[b] == seen.frame[b[k]]) & _is_off(found, quarter))
            others = rng.permutation(others)
            others = b[others[np.argsort(~misled[others], kind="stable")]]
            two = _apart_from(seen, int(b[k]), others)
            if len(two) == 2:
                groups.append(((int(a[k]), *rng.permutation([b[k], *two]).tolist()), side))
    return groups


def _apart_from(seen: SeenObjects, row: int, others: Int64[np.ndarray, "k"]) -> list[int]:
    """The first two of other rows whose boxes meet little of each other and of that of a row."""
    chosen: list[int] = []
    for other in others.tolist():
        pairs = combinations([row, *chosen, other], 2)
        if len(chosen) < 2 and all(shared_share(seen.box_px[[i]], seen.box_px[[j]])[0] <= _LITTLE for i, j in pairs):
            chosen.append(other)
    return chosen
