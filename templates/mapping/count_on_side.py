"""L2/Understanding/Perspective Taking: how many objects of a name are to the left or right of an object that faces a
way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64
from scipy.special import ndtr

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo, Video
from templates.offer import Offer
from templates.perception.object_count import Counted
from templates.question import FormatName, Phrasing
from templates.scene.bearings import bearings
from templates.scene.elsewhere import movers
from templates.scene.misleading import misleading_first
from templates.scene.named_in_videos import named_in_videos
from templates.scene.object_boxes import fronts_of
from templates.scene.objects import UNNAMED, boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.scene.sightings import object_names, videos_of_objects

_SIDES = ("left", "right")
_VIDEOS, _ANCHORS = 12, 12
"""Videos in which names are counted, and objects of each from whose point of view."""
_BESIDE_RAD = np.radians(20)
"""Least angle between the direction of an object and the line along which the other one faces."""
_SURE = 2.33
"""Least such angle in σ."""
_SEVERAL = 2
"""Least number of objects of the name in the video."""
_MISLEADING = 0.6
"""Least share of facts whose count differs from that on the side as the camera has it."""
_LARGEST_SHARE, _FEW = 0.35, 4
"""Largest share of facts with the same count, where there are more than a few."""
_BY_CAMERA = "on the camera's side"


@dataclass(frozen=True, kw_only=True)
class NamedBeside(Facts):
    """All objects of a name in the frames of a video, and an object of one of these frames, of which they are to the
    left or right."""

    anchor: ObjectRefs
    frames: Int64[np.ndarray, "n v"]
    name: Texts
    side: Texts


@dataclass(frozen=True, kw_only=True)
class CountOnSide(Counted):
    """Objects of a name in a video that are to the left or right of an object, as that one faces. Measures their
    number."""

    name: str = "count_on_side"
    version: str = "2"
    ability: str = "L2/Understanding/Perspective Taking"
    facts: ClassVar[type[Facts]] = NamedBeside
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation"})
    least: ClassVar[int] = 0

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedBeside:
        """Names in random videos, with objects that have one front. The camera has another count on that side in most
        facts, and no count is that of most facts."""
        facts = _drawn(scene, rng)
        measured = self.measure(facts, scene)
        rows = np.flatnonzero(measured.why == "")
        number = measured.value[rows, 0]
        rows = rows[misleading_first(number != measured.traps[_BY_CAMERA][rows], rng, _MISLEADING)]
        return facts.take(_levelled(rows, measured.value[rows, 0])[:count])

    def measure(self, facts: NamedBeside, scene: Scene) -> Measured:
        """The count, where every object is clearly on one side."""
        frame, anchor, n = facts.anchor.frame, found_again(scene, facts.anchor), len(facts)
        named = named_in_videos(scene, facts.frames, facts.name)
        row, object = np.nonzero(named.shown)
        seen = bearings(scene, frame[row], anchor[row], object)
        along = np.arcsin(np.abs(np.sin(seen.middle)))
        is_right, corners_right = seen.middle > 0, seen.corners > 0
        one_side = (corners_right == is_right[:, None]).all(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            clear = one_side & (along >= _BESIDE_RAD) & (along >= _SURE * seen.sigma)
            wrong = ndtr(-along / seen.sigma)
        asked_right = facts.side[row] == "right"
        on_side, as_camera = (
            np.bincount(row, right == asked_right, n).astype(float)
            for right in (is_right, np.sin(seen.from_camera) > 0)
        )
        total = named.shown.sum(axis=1, dtype=float)
        moves = movers(scene)
        cases = {
            "the direction of an object is not known": np.bincount(row, seen.why != "", n) > 0,
            "an object of this name is neither clearly left nor right": np.bincount(row, ~clear, n) > 0,
            "an object moves": np.bincount(row, moves[object] | moves[anchor[row]], n) > 0,
            "the object itself has this name": named.shown[np.arange(n), anchor] if len(moves) else anchor < 0,
            "the video shows a single object of this name": total < _SEVERAL,
        }
        front = fronts_of(scene, frame, anchor).outlier_probability
        return Measured(
            why=np.where(named.why == "", first_reason(n, cases), named.why),
            value=on_side[:, None],
            sigma=np.zeros((n, 1)),
            outlier_probability=1 - (1 - np.nan_to_num(front)) * (1 - np.minimum(np.bincount(row, wrong, n), 1)),
            evidence={"name": facts.name, "side": facts.side, "in_the_video": total},
            traps={_BY_CAMERA: as_camera, "on the other side": total - on_side, "on both sides": total},
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """A photo with a box, and a video."""
        media = Photo.boxed({"P": fact["anchor"]}), Video(frames=tuple(fact["frames"]))
        values = {"anchor": fact["anchor"]["name"], "name": fact["name"], "side": fact["side"]}
        return Phrasing(media=media, values=values)


def _drawn(scene: Scene, rng: np.random.Generator) -> NamedBeside:
    """Objects with one front in photos of random videos, with each name of the scene's objects and each side."""
    seen = boxed(seen_objects(scene), scene)
    seen = seen.take((fronts_of(scene, seen.frame, seen.object).fronts == 1) & (seen.called != UNNAMED))
    names, often = np.unique(object_names(scene), return_counts=True)
    names = names[(often >= _SEVERAL) & (names != "")]
    found: list[NamedBeside] = []
    for frames in videos_of_objects(scene, rng, _VIDEOS):
        here = rng.permutation(np.flatnonzero(np.isin(seen.frame, frames)))
        first = np.sort(np.unique(seen.object[here], return_index=True)[1])  # each object in one of its photos
        here = here[first][:_ANCHORS]
        each, name, side = (a.ravel() for a in np.meshgrid(here, names, np.array(_SIDES), indexing="ij"))
        facts = NamedBeside(anchor=seen.take(each).refs(), frames=np.tile(frames, (len(each), 1)), name=name, side=side)
        found.append(facts.take(facts.anchor.name != facts.name))
    if not found:
        return NamedBeside.none()
    return NamedBeside(
        anchor=ObjectRefs.concatenated([facts.anchor for facts in found]),
        frames=np.concatenate([facts.frames for facts in found]),
        name=np.concatenate([facts.name for facts in found]),
        side=np.concatenate([facts.side for facts in found]),
    )


def _levelled(rows: Int64[np.ndarray, "k"], number: np.ndarray) -> Int64[np.ndarray, "j"]:
    """The rows in their order, without those whose number too many others have."""
    kept: list[int] = []
    _, value, often = np.unique(number, return_inverse=True, return_counts=True)
    shares = np.sort(often)[::-1]
    most = max(_FEW, round((len(rows) - shares[:1].sum()) * _LARGEST_SHARE / (1 - _LARGEST_SHARE)))
    have = np.zeros(len(often), dtype=np.int64)
    for row, which in zip(rows.tolist(), value.tolist(), strict=True):
        have[which] += 1
        if have[which] <= most:
            kept.append(row)
    return np.array(kept, dtype=np.int64)
