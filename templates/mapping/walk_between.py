"""L2/Understanding/Affordance: whether something of a stated width fits between two objects on the floor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from experts.objects.box_corners import box_corners
from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import any_moves
from templates.scene.misleading import paired, taking_turns
from templates.scene.object_boxes import Number, Row, boxes_of, outliers
from templates.scene.object_gaps import gaps, passages
from templates.scene.object_groups import object_groups
from templates.scene.objects import found_again
from templates.scene.scene import Scene
from templates.template import Template

_WIDTHS_CM = np.arange(30, 155, 5)
"""From a narrow cart to a broad one."""
_LEAST_APART_M, _LEAST_SHARE = 0.05, 0.12
"""Least difference of the gap from the width: in metres, and as a share of the width."""
_MOST_SHARE = 0.6
"""Largest one that is worth asking about."""
_SURE = 2.33
"""Least margin of a fact that is proposed, in σ."""
_ON_FLOOR_M, _LEAST_HEIGHT_M = 0.05, 0.3
"""Largest height of the bottom of what stands on the floor; least height of its top, so that nobody steps over it."""


@dataclass(frozen=True, kw_only=True)
class Between(Facts):
    """Two objects of a photo, and how wide something is."""

    first: ObjectRefs
    second: ObjectRefs
    width_cm: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class WalkBetween(Template):
    """Whether something of a stated width can be moved straight through between two objects that stand on the floor,
    for clips with metric scale. Measures by how much the passage is wider, in
    metres, at least or at most."""

    name: str = "walk_between"
    version: str = "1"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[Facts]] = Between
    needs: frozenset[str] = frozenset({"camera_path", "objects", "room"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Between:
        """Pairs of objects with a passage that is somewhat wider or narrower; every width is asked with yes as often as
        with no, and passages that look wider or narrower than they are come first."""
        groups = object_groups(scene, rng, count, 2, known="sides")
        pair, width = (
            each.ravel()
            for each in np.meshgrid(np.arange(len(groups.rows)), rng.permutation(_WIDTHS_CM), indexing="ij")
        )
        first, second = (refs.take(pair) for refs in groups.refs())
        facts = Between(first=first, second=second, width_cm=width)
        measured = _measured(scene, facts, [each[pair] for each in groups.objects])
        assert measured.label is not None and measured.margin is not None
        near = np.abs(measured.value[:, 0]) <= _MOST_SHARE * width / 100
        known = rng.permutation(np.flatnonzero((measured.why == "") & (measured.margin >= _SURE) & near))
        looks = measured.traps["as wide as it looks"][known]
        known = known[np.argsort(looks == measured.label[known], kind="stable")]
        chosen = known[paired(width[known], measured.label[known], ("yes", "no"))]
        words = measured.label[chosen]
        order = taking_turns(np.char.add(np.char.add(first.name[chosen], second.name[chosen]), words))
        return facts.take(chosen[order[taking_turns(words[order])]][:count])

    def measure(self, facts: Between, scene: Scene) -> Measured:
        """By how much the passage is wider; σ of the places and sides of the objects, and of the metre."""
        return _measured(scene, facts, [found_again(scene, each) for each in (facts.first, facts.second)])

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The word."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two boxes."""
        a, b = fact["first"], fact["second"]
        values = {"a": a["name"], "b": b["name"], "width": fact["width_cm"]}
        return Phrasing(media=(Photo.boxed({"1": a, "2": b}),), values=values)


def _measured(scene: Scene, facts: Between, objects: list[Row]) -> Measured:
    """The measurements of facts about objects."""
    frame, metre = facts.first.frame, scene.metre_relative_sigma
    least, largest, sigma = passages(scene, frame, *objects)
    width, sigma = facts.width_cm / 100, np.hypot(sigma, largest * metre)
    stands = np.all([_stands(scene, frame, each) for each in objects], axis=0)
    wider = np.where(least >= width, least, np.minimum(largest, width)) - width
    cases = {
        "scale is not metric": np.full(len(facts), np.isnan(metre)),
        "the floor is not known": np.full(len(facts), scene.room is None),
        "an object is not found again": np.any([each < 0 for each in objects], axis=0),
        "the box of an object is not known": ~np.isfinite(wider + sigma),
        "an object moves": any_moves(scene, *objects),
        "an object does not clearly stand on the floor": ~stands,
        "no passage between the objects": ~(least > 0),
        "the passage is about as wide": ~(np.abs(wider) >= np.maximum(_LEAST_APART_M, _LEAST_SHARE * width)),
    }
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = np.abs(wider) / sigma
    return Measured(
        why=first_reason(len(facts), cases),
        value=wider[:, None],
        sigma=sigma[:, None],
        label=np.where(least >= width, "yes", "no"),
        margin=margin,
        outlier_probability=outliers(scene, *objects),
        evidence={"least_m": least.round(3), "largest_m": largest.round(3)},
        traps={
            "centre to centre": np.where(gaps(scene, frame, *objects)[2] >= width, "yes", "no"),
            "as wide as it looks": np.where(_looks(scene, facts, objects) >= width, "yes", "no"),
        },
    )


def _stands(scene: Scene, frame: Row, object: Row) -> np.ndarray:
    """Whether objects stand on the floor, and are too high to be stepped over."""
    known, pose, size, centre_sigma, side_sigma = boxes_of(scene, frame, object)
    if scene.room is None:
        return np.zeros(len(frame), dtype=bool)
    z = box_corners(np.linalg.inv(scene.room.world_from_floor) @ pose, size)[..., 2]
    sigma = np.sqrt(centre_sigma**2 + (side_sigma.max(axis=1) / 2) ** 2 + scene.room.floor_sigma**2)
    with np.errstate(invalid="ignore"):
        return known & (np.abs(z.min(axis=1)) <= _ON_FLOOR_M + sigma) & (z.max(axis=1) >= _LEAST_HEIGHT_M + sigma)


def _looks(scene: Scene, facts: Between, objects: list[Row]) -> Number:
    """How far apart the objects seem to be from side to side, were both as far away as they are on average; in path
    units."""
    boxes, camera = [facts.first.box_px, facts.second.box_px], scene.world_from_cam(facts.first.frame)[:, :3, 3]
    away = [np.linalg.norm(boxes_of(scene, facts.first.frame, each)[1][:, :3, 3] - camera, axis=1) for each in objects]
    apart = np.maximum(boxes[0][:, 0, 0] - boxes[1][:, 1, 0], boxes[1][:, 0, 0] - boxes[0][:, 1, 0])
    focal = np.nan if scene.path is None else scene.path.intrinsics.fx_px
    return np.asarray(np.maximum(apart, 0) / focal * np.mean(away, axis=0))
