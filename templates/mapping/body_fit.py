"""L2/Understanding/Affordance: whether somebody of a stated reach can touch the top of an object."""

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
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.misleading import paired, taking_turns
from templates.scene.object_boxes import Number, Row, boxes_of, outliers
from templates.scene.objects import found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_REACHES_CM = np.arange(70, 245, 5)
"""How high hands reach: from those of a toddler to those of a tall person."""
_LEAST_APART_M, _LEAST_SHARE = 0.08, 0.12
"""Least difference of the top from the reach: in metres, and as a share of the reach."""
_MOST_SHARE = 0.6
"""Largest one that is worth asking about."""
_SURE = 2.33
"""Least margin of a fact that is proposed, in σ."""


@dataclass(frozen=True, kw_only=True)
class WithinReach(Facts):
    """An object of a photo, and how high somebody reaches."""

    object: ObjectRefs
    reach_cm: Int64[np.ndarray, "n"]
    """Above the floor."""


@dataclass(frozen=True, kw_only=True)
class BodyFit(Template):
    """Whether somebody who stands on the floor and reaches up to a stated height can touch the top of an object, for
    clips with metric scale. Measures its height above the floor, in metres."""

    name: str = "body_fit"
    version: str = "1"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("yes_no",)
    facts: ClassVar[type[Facts]] = WithinReach
    needs: frozenset[str] = frozenset({"camera_path", "objects", "room"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "room"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> WithinReach:
        """Objects whose top is somewhat higher or lower than the hands; every reach is asked with yes as often as with
        no as far as possible, and objects whose own height misleads come first."""
        seen = shown_objects(seen_objects(scene), scene)
        rows, reach = (
            each.ravel()
            for each in np.meshgrid(rng.permutation(len(seen)), rng.permutation(_REACHES_CM), indexing="ij")
        )
        shown = seen.take(rows)
        facts = WithinReach(object=shown.refs(), reach_cm=reach)
        measured = _measured(scene, facts, shown.object)
        assert measured.label is not None and measured.margin is not None
        near = np.abs(measured.value[:, 0]) <= _MOST_SHARE * reach / 100
        known = np.flatnonzero((measured.why == "") & (measured.margin >= _SURE) & near)
        known = rng.permutation(known)
        misled = measured.traps["the object's own height"][known] != measured.label[known]
        known = known[np.argsort(~misled, kind="stable")]
        chosen = known[paired(reach[known], measured.label[known], ("yes", "no"))]
        named = np.char.add(shown.name[chosen], measured.label[chosen])
        return facts.take(chosen[taking_turns(named)][:count])

    def measure(self, facts: WithinReach, scene: Scene) -> Measured:
        """How far the top is above the reach; σ of the object's place and sides, of the floor and of the metre."""
        return _measured(scene, facts, found_again(scene, facts.object))

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The word."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box."""
        values = {"name": fact["object"]["name"], "reach": fact["reach_cm"]}
        return Phrasing(media=(Photo.boxed({"1": fact["object"]}),), values=values)


def _measured(scene: Scene, facts: WithinReach, object: Row) -> Measured:
    """The measurements of facts about objects."""
    top, own, sigma = _heights(scene, facts.object.frame, object)
    reach, metre = facts.reach_cm / 100, scene.metre_relative_sigma
    above = top - reach
    sigma = np.hypot(sigma, top * metre)
    cases = {
        "scale is not metric": np.full(len(facts), np.isnan(metre)),
        "the floor is not known": np.full(len(facts), scene.room is None),
        "an object is not found again": object < 0,
        "the box of an object is not known": ~np.isfinite(above + sigma),
        "the top is about as high as the hands": ~(np.abs(above) >= np.maximum(_LEAST_APART_M, _LEAST_SHARE * reach)),
    }
    with np.errstate(invalid="ignore", divide="ignore"):
        margin = np.abs(above) / sigma
    return Measured(
        why=first_reason(len(facts), cases),
        value=above[:, None],
        sigma=sigma[:, None],
        label=np.where(above <= 0, "yes", "no"),
        margin=margin,
        outlier_probability=outliers(scene, object),
        evidence={"top_m": top.round(3)},
        traps={"the object's own height": np.where(own <= reach, "yes", "no")},
    )


def _heights(scene: Scene, frame: Row, object: Row) -> tuple[Number, Number, Number]:
    """Height of the top of the box of each object above the floor, from its lowest to its highest corner, and σ of the
    first, in path units; NaN where unknown."""
    known, pose, size, centre_sigma, side_sigma = boxes_of(scene, frame, object)
    if scene.room is None:
        nan = np.full(len(frame), np.nan)
        return nan, nan, nan
    z = box_corners(np.linalg.inv(scene.room.world_from_floor) @ pose, size)[..., 2]
    sigma = np.sqrt(centre_sigma**2 + (side_sigma.max(axis=1) / 2) ** 2 + scene.room.floor_sigma**2)
    return tuple(np.where(known, each, np.nan) for each in (z.max(axis=1), np.ptp(z, axis=1), sigma))  # type: ignore[return-value]
