"""L2/Understanding/Affordance: point to the part of an object at which something can be done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from templates.answers import Answer, Region
from templates.answers.region import outside_px
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Photo
from templates.offer import Offer
from templates.perception.object_pointing import NOT_ALONE, NOT_LISTED
from templates.perception.topology import shown_objects
from templates.question import FormatName, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.misleading import misleading_first, taking_turns
from templates.scene.named import all_listed, unique_among
from templates.scene.object_boxes import outliers
from templates.scene.objects import UNNAMED, found_again, seen_objects
from templates.scene.outlines import VERTICES, outline_sigma_px
from templates.scene.parts import DEEDS, deeds_of, serving
from templates.scene.scene import Scene
from templates.template import Template

_POINTED = DEEDS.keys() - {"put in"}
"""What is in a hollow may hide its bottom, and a pixel of a wall or of air in the hollow might be meant."""
_FRAMES = 24
"""Photos in which parts are looked for."""
_LEAST_SHOWN = 0.6
"""Least share of an object with a box that is not hidden: else the box may be taken for that of what is before it."""
_LEAST_AREA_PX = 80.0
"""What a photo shows of the part, at 640 px width."""
_BESIDE_MIDDLE = 0.6
"""Least share of the facts in which the middle of the object is wrong."""


@dataclass(frozen=True, kw_only=True)
class UsedPart(Facts):
    """An object of a photo, and what can be done with a part of it: a word of `Parts.affords`."""

    object: ObjectRefs
    deed: Texts
    marked: Bool[np.ndarray, "n"]
    """Whether a box is drawn around the object: its name alone does not single it out."""
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photo."""


@dataclass(frozen=True, kw_only=True)
class AffordPoint(Template):
    """A pixel of the part of an object on which one can sit, lie, lean, put something or pull. Measures a pixel deep
    inside of what the photo shows of such parts, and its outline, in pixels."""

    name: str = "afford_point"
    version: str = "3"
    ability: str = "L2/Understanding/Affordance"
    formats: tuple[FormatName, ...] = ("point",)
    facts: ClassVar[type[Facts]] = UsedPart
    needs: frozenset[str] = frozenset({"objects", "parts"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "parts"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> UsedPart:
        """Parts that are large enough; mostly beside the middle of their object. Purposes take turns. An object is
        marked where its name may mean another one, or not every object of the name is listed."""
        seen, parts = shown_objects(seen_objects(scene), scene), scene.parts
        if parts is None:
            return UsedPart.none()
        frames = {*spread_frames(parts.frames, _FRAMES)}
        marked = ~(unique_among(scene, seen.frame, seen.object) & all_listed(scene, seen.called))
        clear = (seen.called != UNNAMED) & np.isin(seen.frame, [*frames]) & ~(marked & (seen.shown < _LEAST_SHOWN))
        cases = [
            (row, deed)
            for row in np.flatnonzero(clear)
            for deed in deeds_of(parts, int(seen.object[row]))
            if deed in _POINTED
        ]
        if not cases:
            return UsedPart.none()
        row, deed = np.array([row for row, _ in cases]), np.array([deed for _, deed in cases])
        facts = UsedPart(
            object=seen.take(row).refs(),
            deed=deed,
            marked=marked[row],
            size=np.tile([scene.clip.width_px, scene.clip.height_px], (len(cases), 1)),
        )
        measured = self.measure(facts, scene)
        known = np.flatnonzero(measured.why == "")
        rows = known[misleading_first(measured.evidence["middle_px"][known] > 0, rng, _BESIDE_MIDDLE)]
        return facts.take(rows[taking_turns(deed[rows])][:count])

    def measure(self, facts: UsedPart, scene: Scene) -> Measured:
        """A pixel, the outline, σ of the border of masks, and how far outside of it the middle of the object lies."""
        frame, found = facts.object.frame, found_again(scene, facts.object)
        outline, inside, area = serving(scene, frame, found, facts.deed)
        narrow = np.isnan(outline[:, 0, 0])
        cases = {
            "parts of objects are not known": scene.parts is None,
            "an object is not found again": found < 0,
            NOT_LISTED: ~facts.marked & ~all_listed(scene, facts.object.name),
            NOT_ALONE: ~facts.marked & ~unique_among(scene, frame, found),
            "the part is not seen, or too small": ~(area >= _LEAST_AREA_PX * scene.pixel_scale**2) | narrow,
        }
        middle = facts.object.box_px.mean(axis=1)
        away = np.full(len(facts), np.nan)
        away[~narrow] = outside_px(middle[~narrow], outline[~narrow])
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([inside, outline.reshape(len(facts), 2 * VERTICES)]),
            sigma=np.full((len(facts), 2 + 2 * VERTICES), outline_sigma_px(scene)),
            outlier_probability=outliers(scene, found),
            evidence={"deed": facts.deed, "area_px": area.round(), "middle_px": away.round(1)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Region:
        """Any pixel of the outline."""
        return Region(
            outline=measured.value[:, 2:].reshape(len(measured), VERTICES, 2),
            xy_px=measured.value[:, :2],
            sigma_px=measured.sigma[:, 0],
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo, with a box around an object whose name does not single it out."""
        ref, (width, height) = fact["object"], fact["size"]
        marks = (Box(points_px=tuple(map(tuple, ref["box_px"]))),) if fact["marked"] else ()
        return Phrasing(
            media=(Photo(frame=ref["frame"], marks=marks),),
            wording="point.marked" if fact["marked"] else "point.named",
            values={"name": ref["name"], "deed": DEEDS[fact["deed"]], "width": width, "height": height},
        )
