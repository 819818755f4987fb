"""L1/Relation/Relative Direction: the direction of one camera position as seen from another."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.eight_directions import bearings, offered_directions
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.offsets import POSITION_UNKNOWN, offsets
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.scene.shared_view import shared_views
from templates.settings import MaxTolerances
from templates.template import Template

_PLACES = 14
_MAX_ELEVATION_RAD = np.radians(60)
"""Largest elevation of a position whose horizontal direction is asked for."""


@dataclass(frozen=True, kw_only=True)
class FramePairs(Facts):
    """Two photos: the place of `frame_from` as seen from `frame_seen_from`."""

    frame_from: Int64[np.ndarray, "n"]
    frame_seen_from: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class PlaceDirection(Template):
    """Where photo 1 was taken, seen from photo 2. Measures the unit direction in photo 2's camera axes."""

    name: str = "place_direction"
    version: str = "4"
    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = FramePairs
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FramePairs:
        """Ordered pairs of frames spread over the path that share their view."""
        frames = places(scene, max(_PLACES, int(np.sqrt(count)) + 2))
        a, b = np.nonzero(shared_views(scene, frames).mutual & ~np.eye(len(frames), dtype=bool))
        rows = rng.permutation(len(a))[:count]
        return FramePairs(frame_from=frames[a[rows]], frame_seen_from=frames[b[rows]])

    def measure(self, facts: FramePairs, scene: Scene) -> Measured:
        """Unit directions; σ = systematic ⊕ relative rotation ⊕ positions over the baseline."""
        offset = offsets(scene, np.column_stack([facts.frame_seen_from, facts.frame_from]))
        cases = {
            POSITION_UNKNOWN: np.isnan(offset.length),
            "both photos were taken at the same place": offset.length < 1e-9,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=offset.direction,
            sigma=np.repeat(offset.sigma_rad[:, None], 3, axis=1),
            evidence={
                "direction_sigma_deg": np.degrees(offset.sigma_rad).round(2),
                "to_the_right": (offset.length * offset.direction[:, 0]).round(3),
                "ahead": (offset.length * offset.direction[:, 2]).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """Azimuth in degrees (clockwise from ahead) with a tolerance of 15°, or one of eight directions."""
        x, y, z = (measured.value / np.linalg.norm(measured.value, axis=1, keepdims=True)).T
        elevation = np.arcsin(np.clip(-y, -1, 1))
        azimuth, sigma = np.degrees(np.arctan2(x, z)), np.degrees(measured.sigma.max(axis=1)) / np.cos(elevation)
        steep = np.abs(elevation) > _MAX_ELEVATION_RAD
        why = first_reason(len(facts), {"the place lies too far above or below the camera": steep})
        found = bearings(
            format, azimuth, sigma, measured.outliers, self.max_tolerances.direction_deg, from_border_deg=0.0
        )
        return found.refused(why)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Four directions a quarter turn apart."""
        return offered_directions(answers) if format == "choice" else None

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos; directions refer to the axes of photo 2."""
        return Phrasing(media=(Photo(frame=fact["frame_from"]), Photo(frame=fact["frame_seen_from"])))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two frames."""
        drawn = pictures.distinct_frames(rng, 2)
        return None if drawn is None else {"frame_from": drawn[0], "frame_seen_from": drawn[1]}
