"""L2/Memory/Cognitive Map: which drawn map shows the path of the camera?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer, Shape
from templates.distractors import shape_distractors
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import Drawing, FormatName, Option, Photo, Phrasing
from templates.scene.pictures import Params, Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_PLACES = 8
_INTERVALS = 24
_MIN_SHARE = 0.25
"""Least length of an interval, as a share of the registered frames."""
_MIN_IN_PLANE = 0.8
"""Smallest ratio of the path's extent on the map to that in space: a floor plan does not show vertical motion."""
_MAX_PITCH_FOR_HEADING = np.radians(60.0)

Plane = Literal["floor", "camera"]


@dataclass(frozen=True, kw_only=True)
class PathMap(Template):
    """The path seen from above. Measures x, y of each position from the first one, scaled to a largest radius of 1."""

    name: str = "path_map"
    version: str = "1"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Intervals of the path, eight positions each; on the floor plane where up is known."""
        if scene.path is None or scene.path.motion != "general":
            return []
        frames = scene.path.frames[scene.path.registered]
        if len(frames) < 4:
            return []
        plane: Plane = "camera" if scene.up_world is None else "floor"
        shortest = max(3, round(_MIN_SHARE * len(frames)))
        facts = {}
        for _ in range(_INTERVALS):
            a = int(rng.integers(0, len(frames) - shortest + 1))
            b = int(rng.integers(a + shortest - 1, len(frames)))
            key = tuple(int(f) for f in frames[np.unique(np.linspace(a, b, _PLACES).round().astype(int))])
            facts[key] = Fact(template=self.name, params={"frames": list(key), "plane": plane})
        return list(facts.values())

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Normalised positions; σ = (systematic direction ⊕ relative rotation) · radius ⊕ positions."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = fact.params["frames"]
        poses = scene.world_from_cam(frames)
        if scene.path is None or not np.isfinite(poses).all():
            return Undecided(reason="the camera position of a photo is not known")
        axes = _map_axes(scene, poses[0], fact.params["plane"])
        if axes is None:
            return Undecided(reason="the first photo looks too steeply to have a heading")
        offsets = poses[:, :3, 3] - poses[0, :3, 3]
        places = offsets @ axes.T
        extent = float(np.linalg.norm(places, axis=1).max())
        if extent < _MIN_IN_PLANE * float(np.linalg.norm(offsets, axis=1).max()) or extent <= 0:
            return Undecided(reason="the path leaves the plane of the map")
        formal = float(np.sqrt(2) * np.median(scene.position_sigma(frames))) / extent
        sigma_rad = float(np.hypot(scene.path.direction_sigma_rad, scene.relative_rotation_sigma_rad(frames)))
        radius = float(np.sqrt(np.mean(np.sum(places**2, axis=1)))) / extent  # an angle θ moves positions by θ · radius
        sigma = float(np.hypot(sigma_rad * radius, formal))
        return Measured(
            value=(places / extent).ravel(),
            sigma=np.full(2 * len(frames), sigma / np.sqrt(2)),
            evidence={"rms_sigma": round(sigma, 3), "plane": fact.params["plane"]},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The shape of the path."""
        return Shape(
            points=measured.value.reshape(-1, 2),
            sigma=float(np.sqrt(2 * np.mean(measured.sigma**2))),
            tolerance=self.max_tolerances.map_rms,
            outlier_probability=measured.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Four maps, or one map that is right or wrong."""
        assert isinstance(answer, Shape)
        wrong = shape_distractors(answer.points, 2 * float(answer.tolerance), rng)
        above = "seen from above" if fact.params["plane"] == "floor" else "seen from above the camera of photo 1"
        setting = (
            f"These photos were taken one after another by one moving camera. A map shows its path {above}: it starts "
            "at the dot and ends at the arrow head; up on the map is where photo 1 looks, right is to its right. "
        )
        photos = tuple(Photo(frame=f) for f in fact.params["frames"])
        if format == "choice":
            if len(wrong) < 3:
                return Undecided(reason="the path is too simple: wrong maps look like the right one")
            return Phrasing(
                prompt=setting + "Which map shows the path?",
                media=photos,
                options=tuple(Option(shown=_drawing(points)) for points in [answer.points, *wrong[:3]]),
                answer=0,
            )
        if not wrong:
            return Undecided(reason="the path is too simple: wrong maps look like the right one")
        true_map = bool(rng.integers(2))
        return Phrasing(
            prompt=setting + "Does the map show the path? Answer yes or no.",
            media=(*photos, _drawing(answer.points if true_map else wrong[0])),
            answer="yes" if true_map else "no",
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """An interval of at least three frames, on either plane."""
        frames = pictures.interval(rng, _PLACES)
        if frames is None or len(frames) < 3:
            return None
        return {"frames": frames, "plane": str(rng.choice(["floor", "camera"]))}


def _map_axes(
    scene: Scene, world_from_first: Float64[np.ndarray, "4 4"], plane: str
) -> Float64[np.ndarray, "2 3"] | None:
    """World directions of right and up on the map; None where the first photo has no heading."""
    right, _, forward = world_from_first[:3, :3].T
    if plane == "camera":
        return np.stack([right, forward])
    up = scene.up_world
    if up is None or abs(float(forward @ up)) > np.sin(_MAX_PITCH_FOR_HEADING):
        return None
    heading = forward - (forward @ up) * up
    heading /= np.linalg.norm(heading)
    return np.stack([np.cross(heading, up), heading])


def _drawing(points: Float64[np.ndarray, "n 2"]) -> Drawing:
    return Drawing(polylines=(tuple((round(float(x), 3), round(float(y), 3)) for x, y in points),))
