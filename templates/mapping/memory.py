"""L2/Memory/Cognitive Map: which drawn map shows the path of the camera?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Shape
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.distractors import bend, shape_distractors
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import intervals
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_PLACES = 8
_MIN_SHARE = 0.25
"""Least length of an interval, as a share of the registered frames."""
_MIN_IN_PLANE = 0.8
"""Smallest ratio of the path's extent on the map to that in space: a floor plan does not show vertical motion."""
_MAX_PITCH_FOR_HEADING, _MAX_ROLL_FOR_RIGHT = np.radians([60.0, 45.0])
"""Beyond this roll, right on the map is not that of the camera."""
_OPTIONS = 4
_MIN_BEND = 0.08
"""Least distance of the path from the straight line between its ends, over its largest radius (an arc of 37°): a
straight path is the same on every map but for its direction."""


@dataclass(frozen=True, kw_only=True)
class Paths(Facts):
    """Photos along a path, in order of time."""

    frames: Int64[np.ndarray, "n k"]
    plane: Texts
    """Of the map: "floor", or "camera" (right and forward of the first photo) where up is unknown."""


@dataclass(frozen=True, kw_only=True)
class PathMap(Template):
    """The path seen from above. Measures x, y of each position from the first one, scaled to a largest radius of 1."""

    name: str = "path_map"
    version: str = "3"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = Paths
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Intervals of the path, eight positions each; on the floor plane where up is known."""
        if scene.path is None or scene.path.motion != "general":
            return Paths.none()
        shown = intervals(scene, rng, count, _PLACES, shortest=4, least_share=_MIN_SHARE)
        return Paths(frames=shown, plane=np.full(len(shown), "camera" if scene.up_world is None else "floor"))

    def measure(self, facts: Paths, scene: Scene) -> Measured:
        """Normalised positions; σ = (systematic direction ⊕ relative rotation) · radius ⊕ positions."""
        frames, shown = facts.frames, facts.frames >= 0
        poses = scene.world_from_cam(frames)
        axes = _map_axes(scene, poses[:, 0], facts.plane)
        offsets = poses[..., :3, 3] - poses[:, :1, :3, 3]
        places = offsets @ axes.swapaxes(1, 2)
        extent, in_space = (np.fmax.reduce(np.linalg.norm(part, axis=2), axis=1) for part in (places, offsets))
        with np.errstate(divide="ignore", invalid="ignore"):
            first = np.broadcast_to(frames[:, :1], frames.shape)
            known = np.ma.masked_invalid(scene.offset_sigma(np.stack([first, frames], axis=2))[:, 1:])
            formal = np.ma.median(known, axis=1).filled(np.nan) / extent  # type: ignore[no-untyped-call]
            sigma_rad = np.hypot(scene.direction_sigma_rad, scene.relative_rotation_sigma_rad(frames))
            square = np.nansum(np.sum(places**2, axis=2), axis=1) / shown.sum(axis=1)
            sigma = np.hypot(sigma_rad * np.sqrt(square) / extent, formal)  # an angle θ moves positions by θ · radius
            value = (places / extent[:, None, None]).reshape(len(facts), 2 * frames.shape[1])
        cases = {
            POSITION_UNKNOWN: (np.isnan(poses).any(axis=(2, 3)) & shown).any(axis=1),
            "the first photo looks too steeply to have a heading": ~np.isfinite(axes).all(axis=(1, 2)),
            "the path leaves the plane of the map": (extent < _MIN_IN_PLANE * in_space) | (extent <= 0),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=np.repeat(sigma[:, None] / np.sqrt(2), value.shape[1], axis=1),
            evidence={"rms_sigma": sigma.round(3), "plane": facts.plane},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The shape of the path."""
        variance = np.where(np.isnan(measured.value), np.nan, measured.sigma**2)
        return Shape(
            points=measured.value.reshape(len(facts), measured.value.shape[1] // 2, 2),
            sigma=np.sqrt(2 * np.nanmean(variance, axis=1)),
            tolerance=np.full(len(facts), self.max_tolerances.map_rms),
            outlier_probability=measured.outliers,
        )

    def offer(self, format: FormatName, facts: Paths, answers: Answers, chance: Chance) -> Offer | None:
        """Four maps, or one map that is right or wrong."""
        points = answers.column(Shape, "points", np.full((len(facts), facts.frames.shape[1], 2), np.nan))
        needed = _OPTIONS - 1 if format == "choice" else 1
        wrong, found, mistakes = shape_distractors(points, 2 * self.max_tolerances.map_rms, chance, needed)
        cases = {
            "the path has no bend": bend(points) < _MIN_BEND,
            "the path is too simple: wrong maps look like the right one": found < needed,
        }
        right, maps = np.zeros(len(facts), dtype=np.int64), np.concatenate([points[:, None], wrong], axis=1)
        if format != "choice":
            right = chance.index("true or false", 2)
            maps = np.take_along_axis(maps, right[:, None, None, None], axis=1)
        named = np.column_stack([np.full(len(facts), ""), mistakes]) if format == "choice" else None
        return Offer(why=first_reason(len(facts), cases), options=maps.round(3) + 0.0, right=right, mistakes=named)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photos in order of time."""
        return Phrasing(media=tuple(Photo(frame=f) for f in fact["frames"]), wording=f"{format}.{fact['plane']}")

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """An interval of at least three frames, on either plane."""
        frames = pictures.interval(rng, _PLACES)
        if frames is None or len(frames) < 3:
            return None
        return {"frames": frames, "plane": str(rng.choice(["floor", "camera"]))}


def _map_axes(
    scene: Scene, world_from_first: Float64[np.ndarray, "n 4 4"], plane: Texts
) -> Float64[np.ndarray, "n 2 3"]:
    """World directions of right and up on the map; NaN where the first photo has no heading."""
    right, forward, up = world_from_first[:, :3, 0], world_from_first[:, :3, 2], scene.up_world
    camera = np.stack([right, forward], axis=1)
    if up is None:
        return np.where((plane == "camera")[:, None, None], camera, np.nan)
    along = forward @ up
    heading = forward - along[:, None] * up
    with np.errstate(divide="ignore", invalid="ignore"):
        heading /= np.linalg.norm(heading, axis=1, keepdims=True)
        heading[np.abs(along) > np.sin(_MAX_PITCH_FOR_HEADING)] = np.nan
        heading[(np.cross(heading, up) * right).sum(axis=1) < np.cos(_MAX_ROLL_FOR_RIGHT)] = np.nan
    floor = np.stack([np.cross(heading, up), heading], axis=1)
    return np.where((plane == "camera")[:, None, None], camera, floor)
