"""L1/Localization/3D Grounding: point to a named object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer, Region
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.named import all_listed, seen_rows, unique_among, unique_names
from templates.scene.object_boxes import outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.outlines import VERTICES, outline_sigma_px, outlines
from templates.scene.scene import Scene
from templates.template import Template

_LEAST_AREA = 0.003
"""Of an object that is pointed to, as a share of the photo."""
NOT_ALONE = "the name may mean another object in the photo, too"
NOT_LISTED = "not every object of this name is listed"


@dataclass(frozen=True, kw_only=True)
class NamedObjects(Facts):
    """An object of a photo that its name singles out."""

    object: ObjectRefs
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photo."""


@dataclass(frozen=True, kw_only=True)
class PointToObject(Template):
    """A pixel of a named object. Measures the outline of what the photo shows of it, in pixels."""

    name: str = "point_to_object"
    version: str = "2"
    ability: str = "L1/Localization/3D Grounding"
    formats: tuple[FormatName, ...] = ("point",)
    facts: ClassVar[type[Facts]] = NamedObjects
    needs: frozenset[str] = frozenset({"objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedObjects:
        """Random whole objects with outlines whose names single them out."""
        seen = seen_objects(scene)
        alone = unique_names(scene) & all_listed(scene, seen.called)
        seen = boxed(seen.take(alone & np.isfinite(seen.depth_px)), scene)
        rows = rng.permutation(len(seen))[:count]
        size = np.tile([scene.clip.width_px, scene.clip.height_px], (len(rows), 1))
        return NamedObjects(object=seen.take(rows).refs(), size=size)

    def measure(self, facts: NamedObjects, scene: Scene) -> Measured:
        """The outline, and σ of the mask's border."""
        seen, found = seen_objects(scene), found_again(scene, facts.object)
        row = seen_rows(scene, facts.object.frame, found)
        value = outlines(scene, facts.object.frame, found)
        at = np.maximum(row, 0)
        area = seen.area_px[at] if len(seen) else np.full(len(facts), np.nan)
        cases = {
            "an object is not found again": row < 0,
            NOT_LISTED: ~all_listed(scene, facts.object.name),
            NOT_ALONE: ~unique_among(scene, facts.object.frame, found),
            "the outline of an object is not known or too narrow": np.isnan(value[:, 0, 0]),
            "an object is too small": ~(area >= _LEAST_AREA * scene.clip.width_px * scene.clip.height_px),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value.reshape(len(facts), 2 * VERTICES),
            sigma=np.full((len(facts), 2 * VERTICES), outline_sigma_px(scene)),
            outlier_probability=outliers(scene, found),
            evidence={"name": facts.object.name, "area_px": area.round()},
        )

    def answer(self, format: FormatName, facts: NamedObjects, measured: Measured) -> Region:
        """Any pixel of the outline."""
        return Region(
            outline=measured.value.reshape(len(facts), VERTICES, 2),
            xy_px=facts.object.inside_px,
            sigma_px=measured.sigma[:, 0],
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo, with its size in the words."""
        width, height = fact["size"]
        values = {"name": fact["object"]["name"], "width": width, "height": height}
        return Phrasing(media=(Photo(frame=fact["object"]["frame"]),), values=values)
