"""L1/Relation/Correspondence: the same point in another photo, with coordinates instead of marks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Shaped

from templates.answers import Answer
from templates.chance import Chance
from templates.columns import Json
from templates.distractors import symmetric_points
from templates.measured import Measured
from templates.media import Photo
from templates.offer import Offer
from templates.perception.same_point import Correspondences, SamePoint
from templates.question import FormatName, Phrasing
from templates.scene.named_pixels import GRID, name_of, pixel_of
from templates.scene.scene import Scene

_ROOM = 0.85
"""Largest displacement of a decoy, as a share of the way to the edge."""


@dataclass(frozen=True, kw_only=True)
class SamePointOnGrid(SamePoint):
    """Which coordinates in photo 2 show the point at given coordinates of photo 1: each is two numbers from 0 to 1000,
    and the photos show no marks. Measures as `SamePoint`."""

    name: str = "same_point_on_grid"
    version: str = "2"
    formats: tuple[FormatName, ...] = ("choice",)
    cue_formats: tuple[FormatName, ...] = ()

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Correspondences:
        """As `SamePoint`, at pixels that two whole numbers name."""
        facts = super().propose(scene, rng, count)
        assert isinstance(facts, Correspondences)
        a_px = pixel_of(name_of(facts.a_px, facts.size), facts.size)
        room = _ROOM * np.minimum(a_px, facts.size - a_px)  # decoys have room for symmetric options, as matches do
        decoy_px = a_px + room * rng.choice([-1, 1], room.shape) * rng.uniform(0.2, 1.0, room.shape)
        return replace(facts, a_px=a_px, decoy_px=np.where(np.isnan(facts.decoy_px), np.nan, decoy_px))

    def measure(self, facts: Correspondences, scene: Scene) -> Measured:
        """As `SamePoint`; σ includes the rounding of both points to whole numbers."""
        found = super().measure(facts, scene)
        step_px = facts.size.max(axis=1, keepdims=True) / GRID
        return replace(found, sigma=np.hypot(found.sigma, step_px / np.sqrt(6)))

    def _wrong(
        self,
        xy_px: Float64[np.ndarray, "n 2"],
        tolerance_px: Float64[np.ndarray, "n"],
        facts: Correspondences,
        chance: Chance,
    ) -> tuple[Float64[np.ndarray, "n c 2"], Shaped[np.ndarray, "n c"]]:
        """Coordinates are read, not only looked at: they lie symmetrically about those of photo 1."""
        return symmetric_points(xy_px, tolerance_px, facts.a_px, facts.size, chance)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos without marks; the options are coordinates in photo 2."""
        assert offer is not None
        size = np.array(fact["size"])
        x, y = name_of(np.array(fact["a_px"]), size).tolist()
        options = tuple(str(name) for name in name_of(np.array(offer.values(0)), size).tolist())
        return Phrasing(
            media=(Photo(frame=fact["frame_a"]), Photo(frame=fact["frame_b"])), values={"x": x, "y": y}, options=options
        )
