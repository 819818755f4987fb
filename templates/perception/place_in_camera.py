"""L1/Localization/3D Grounding: where a marked point lies in space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Numbers
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.marks import frames_with_surface, markable, spread_frames
from templates.scene.pictures import MIN_DISTANCE, Pictures
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_FRAMES = 8


@dataclass(frozen=True, kw_only=True)
class MeasuredPlaces(Facts):
    """A point of a photo, and another one whose distance is the unit."""

    frame: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]
    unit_px: Float64[np.ndarray, "n 2"]
    """NaN: the unit is the metre."""


@dataclass(frozen=True, kw_only=True)
class PlaceInCamera(Template):
    """Where a marked point lies in camera axes (x right, y down, z ahead): in metres, or in distances of another marked
    point. Measures x, y and z."""

    name: str = "place_in_camera"
    version: str = "2"
    ability: str = "L1/Localization/3D Grounding"
    formats: tuple[FormatName, ...] = ("json",)
    facts: ClassVar[type[Facts]] = MeasuredPlaces
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MeasuredPlaces:
        """Pairs of distant markable points in frames spread over the clip; with metric scale every other one in
        metres."""
        frame, xy = markable(scene, spread_frames(frames_with_surface(scene), max(_FRAMES, count // 50)))
        frames, start, points = np.unique(frame, return_index=True, return_counts=True)
        if not len(frames):
            return MeasuredPlaces.none()
        at = rng.integers(len(frames), size=4 * count)
        a, b = (start[at] + (rng.random(len(at)) * points[at]).astype(np.int64) for _ in "ab")
        apart = np.linalg.norm(xy[a] - xy[b], axis=1) >= MIN_DISTANCE * scene.diagonal_px
        a, b = a[apart][:count], b[apart][:count]
        in_metres = np.isfinite(scene.metre_relative_sigma) & (np.arange(len(a)) % 2 == 0)
        return MeasuredPlaces(frame=frame[a], a_px=xy[a], unit_px=np.where(in_metres[:, None], np.nan, xy[b]))

    def measure(self, facts: MeasuredPlaces, scene: Scene) -> Measured:
        """x, y and z; σ of the point's distance and of the unit along the line of sight, of the focal length and the
        principal point across it."""
        a, unit = scene.surface(facts.frame, facts.a_px), scene.surface(facts.frame, facts.unit_px)
        in_metres = np.isnan(facts.unit_px).any(axis=1)
        xyz = a.xyz_cam / np.where(in_metres, 1.0, unit.range)[:, None]
        relative = np.hypot(
            a.range_relative_sigma, np.where(in_metres, scene.metre_relative_sigma, unit.range_relative_sigma)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ray = xyz / np.linalg.norm(xyz, axis=1, keepdims=True)
        ahead = ray[:, 2:] ** 2
        by_focal = scene.focal_relative_sigma * xyz * np.column_stack([ahead, ahead, 1 - ahead])
        across = (np.eye(3)[:, :2] - ray[:, :, None] * ray[:, None, :2]) * scene.centre_relative_sigma
        by_centre = xyz[:, 2:] * np.linalg.norm(across, axis=2)
        doubt = np.where(in_metres, 0.0, unit.outlier_probability)
        cases = {
            "scale is not metric": in_metres & np.isnan(scene.metre_relative_sigma),
            "distance of a marked point is not known": ~np.isfinite(xyz).all(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=xyz,
            sigma=np.sqrt((xyz * relative[:, None]) ** 2 + by_focal**2 + by_centre**2),
            outlier_probability=1 - (1 - a.outlier_probability) * (1 - doubt),
            evidence={
                "relative_sigma": relative.round(4),
                "distance": np.linalg.norm(xyz, axis=1).round(3),
                "right_deg": np.degrees(np.arctan2(xyz[:, 0], xyz[:, 2])).round(1),
                "down_deg": np.degrees(np.arctan2(xyz[:, 1], np.hypot(xyz[:, 0], xyz[:, 2]))).round(1),
            },
        )

    def answer(self, format: FormatName, facts: MeasuredPlaces, measured: Measured) -> Answers:
        """x, y and z, each with a tolerance of 15 % of the distance."""
        distance = np.linalg.norm(measured.value, axis=1, keepdims=True)
        tolerance = np.floor(self.max_tolerances.range_ratio * distance * 100) / 100
        in_metres, in_units = (
            Numbers(
                names=("x", "y", "z"),
                value=measured.value,
                sigma=measured.sigma,
                tolerance=np.repeat(tolerance, 3, axis=1),
                unit=unit,
                decimals=2,
                outlier_probability=measured.outliers,
            )
            for unit in ("m", "")
        )
        return Answers.either(np.isnan(facts.unit_px).any(axis=1), in_metres, in_units, measured.why)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with the point, and the point whose distance is the unit."""
        unit = fact["unit_px"]
        marks = {"P": fact["a_px"]} if unit is None else {"P": fact["a_px"], "Q": unit}
        wording = "json.metres" if unit is None else "json.units"
        return Phrasing(media=(Photo.marked(fact["frame"], marks),), wording=wording)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two corners of one picture."""
        drawn = pictures.points(rng, 2)
        return drawn and {"frame": drawn[0], "a_px": drawn[1][0], "unit_px": drawn[1][1]}
