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
from templates.distractors import shape_distractors
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import MAX_FRAMES, intervals
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_PLACES = 8
_MIN_SHARE = 0.25
"""Least length of an interval, as a share of the registered frames."""
_MIN_IN_PLANE = 0.8
"""Smallest ratio of the path's extent on the map to that in space: a floor plan does not show vertical motion."""
_MAX_PITCH_FOR_HEADING = np.radians(60.0)
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
    version: str = "2"
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
        shortest = max(4, round(_MIN_SHARE * min(int(scene.path.registered.sum()), MAX_FRAMES)))
        shown = intervals(scene, rng, count, _PLACES, shortest)
        return Paths(frames=shown, plane=np.full(len(shown), "camera" if scene.up_world is None else "floor"))

    def measure(self, facts: Paths, scene: Scene) -> Measured:
        """Normalised positions; σ = (systematic direction ⊕ relative rotation) · radius ⊕ positions."""
        if scene.path is None:
            return Measured.none(len(facts), "the camera position of a photo is not known")
        frames, shown = facts.frames, facts.frames >= 0
        poses = scene.world_from_cam(frames)
        known = (np.isfinite(poses).all(axis=(2, 3)) | ~shown).all(axis=1)
        axes = _map_axes(scene, poses[:, 0], facts.plane)
        offsets = poses[..., :3, 3] - poses[:, :1, :3, 3]
        places = np.where(shown[..., None], offsets @ axes.swapaxes(1, 2), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            extent = _largest(np.linalg.norm(places, axis=2))
            in_space = _largest(np.where(shown, np.linalg.norm(offsets, axis=2), np.nan))
            formal = np.sqrt(2) * _median(np.where(shown, scene.position_sigma(frames), np.nan)) / extent
            sigma_rad = np.hypot(scene.path.direction_sigma_rad, scene.relative_rotation_sigma_rad(frames))
            square = np.nansum(np.sum(places**2, axis=2), axis=1) / np.maximum(shown.sum(axis=1), 1)
            sigma = np.hypot(sigma_rad * np.sqrt(square) / extent, formal)  # an angle θ moves positions by θ · radius
            value = (places / extent[:, None, None]).reshape(len(facts), 2 * frames.shape[1])
        cases = {
            "the camera position of a photo is not known": ~known,
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
        known = ~np.isnan(measured.value)
        square = np.where(known, measured.sigma, 0.0) ** 2
        return Shape(
            points=measured.value.reshape(len(facts), measured.value.shape[1] // 2, 2),
            sigma=np.sqrt(2 * square.sum(axis=1) / np.maximum(known.sum(axis=1), 1)),
            tolerance=np.full(len(facts), self.max_tolerances.map_rms),
            outlier_probability=measured.outliers,
        )

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Four maps, or one map that is right or wrong."""
        if not answers.stacks:
            return None
        ((_, shapes),) = answers.stacks
        assert isinstance(shapes, Shape)
        needed = _OPTIONS - 1 if format == "choice" else 1
        wrong, found = shape_distractors(shapes.points, 2 * self.max_tolerances.map_rms, chance, needed)
        cases = {
            "the path has no bend": _bend(shapes.points) < _MIN_BEND,
            "the path is too simple: wrong maps look like the right one": found < needed,
        }
        simple = first_reason(len(found), cases)
        if format == "choice":
            maps, right = np.concatenate([shapes.points[:, None], wrong], axis=1), np.zeros(len(found), dtype=np.int64)
        else:
            right = chance.index("true or false", 2)
            maps = np.where(right[:, None, None, None] == 0, shapes.points[:, None], wrong)
        return Offer(why=simple, options=maps.round(3) + 0.0, right=right)

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
    right, forward = world_from_first[:, :3, 0], world_from_first[:, :3, 2]
    camera = np.stack([right, forward], axis=1)
    if scene.up_world is None:
        return np.where((plane == "camera")[:, None, None], camera, np.nan)
    up = scene.up_world
    along = forward @ up
    heading = forward - along[:, None] * up
    with np.errstate(divide="ignore", invalid="ignore"):
        heading /= np.linalg.norm(heading, axis=1, keepdims=True)
        heading[np.abs(along) > np.sin(_MAX_PITCH_FOR_HEADING)] = np.nan
    floor = np.stack([np.cross(heading, up), heading], axis=1)
    return np.where((plane == "camera")[:, None, None], camera, floor)


def _bend(points: Float64[np.ndarray, "n k 2"]) -> Float64[np.ndarray, "n"]:
    """Largest distance of a path from the straight line between its ends."""
    last = (~np.isnan(points[..., 0])).sum(axis=1) - 1
    end = points[np.arange(len(points)), last]
    along = end / np.maximum(np.linalg.norm(end, axis=1, keepdims=True), 1e-9)
    return _largest(np.abs(points[..., 0] * along[:, None, 1] - points[..., 1] * along[:, None, 0]))


def _largest(rows: Float64[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
    """The largest number of each row, without NaN; NaN if there is none."""
    return np.asarray(np.fmax.reduce(rows, axis=1, initial=np.nan))


def _median(rows: Float64[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
    """The median of each row, without NaN; NaN if there is none."""
    ordered, count = np.sort(rows, axis=1), (~np.isnan(rows)).sum(axis=1)
    every, upper = np.arange(len(rows)), np.maximum(count, 1) // 2
    lower = np.maximum(count - 1, 0) // 2
    return (ordered[every, lower] + ordered[every, np.where(count > 0, upper, 0)]) / 2
