"""Rendered rooms with exact truth: furniture, camera, path, what moves and image noise are drawn by seed.

Three styles: rooms with furniture along the walls; furnished rooms with about fifty objects and a doorway; rooms in
which an animal or a person goes about before a hand-held camera, as in ordinary videos.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import RigidTransform, Rotation

from benchmarks.trust.creatures import Kind, Way, creature
from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath
from spatial_engine.rendering import Effects, RenderedScene, camera_paths, true_signals
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.furnished_paths import PathKind
from spatial_engine.rendering.rooms import random_room
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

FRAMES, FPS = 48, 12.0
SIZES = ((480, 360), (640, 360), (360, 480), (640, 480))
FURNISHED_SIZES = ((400, 300), (480, 360), (300, 400))
VFOV_DEG = (35.0, 65.0)
_READOUT = 0.35
"""Largest share of the frame interval for reading out a rolling shutter: 29 ms, as in slow phones."""
_CENTRE, _MOST_OFF = 0.016, 0.042
"""Standard deviation and maximum of the principal point's offset in each coordinate, over the focal length: as of 13
real cameras (docs/sigma_calibration.md)."""
_ATTEMPTS = 20
_ANY_FOCAL = 0.5
"""σ of ln focal length during a zoom, when it is not one number."""

Path = Callable[[int, Stance], Poses]
Style = Literal["room", "furnished", "visited"]
_MOVERS: tuple[Kind, Kind] = ("animal", "person")


def _walk(rng: np.random.Generator) -> Path:
    length, turn = rng.uniform(0.8, 1.6), rng.uniform(-0.6, 0.6)
    return lambda n, start: camera_paths.walk(n, start, length_m=length, turn_rad=turn)


def _forward(rng: np.random.Generator) -> Path:
    length = rng.uniform(0.8, 1.4)
    return lambda n, start: camera_paths.forward_drive(n, start, length_m=length)


def _turn(rng: np.random.Generator) -> Path:
    amounts = {"pan": signed_uniform(rng, 0.4, 0.8), "tilt": rng.uniform(-0.2, 0.2), "roll": rng.uniform(-0.15, 0.15)}
    return lambda n, start: camera_paths.performed([(n, amounts)], start)


def _arc(rng: np.random.Generator) -> Path:
    """Sideways motion with a rotation that keeps the middle of the room in view."""
    truck = signed_uniform(rng, 0.6, 1.0)
    amounts = {"truck": truck, "pan": -truck * rng.uniform(0.3, 0.5)}
    return lambda n, start: camera_paths.performed([(n, amounts)], start)


def _move(name: str, low: float, high: float) -> Callable[[np.random.Generator], Path]:
    def drawn(rng: np.random.Generator) -> Path:
        amount = signed_uniform(rng, low, high)
        return lambda n, start: camera_paths.primitive(name, amount, n, start)

    return drawn


def signed_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A uniform number of random sign."""
    return float(rng.choice([-1, 1]) * rng.uniform(low, high))


PATHS: dict[str, Callable[[np.random.Generator], Path]] = {
    "walk": _walk,
    "arc": _arc,
    "static": lambda rng: camera_paths.static,
    "truck": _move("truck", 0.5, 1.0),
    "forward": _forward,
    "turn": _turn,
    "pedestal": _move("pedestal", 0.4, 0.7),
    "tilt": _move("tilt", 0.25, 0.45),
    "roll": _move("roll", 0.25, 0.45),
}
"""Paths by name; consecutive seeds take them by turns."""


def _shaken(steady: Callable[[np.random.Generator], Path], held_m: float) -> Callable[[np.random.Generator], Path]:
    """The same path, shaken by a hand: smooth noise of `held_m` in position and of half a degree in attitude."""

    def drawn(rng: np.random.Generator) -> Path:
        path, noise = steady(rng), gaussian_filter1d(rng.normal(size=(FRAMES, 6)), 3.0, axis=0)
        noise *= np.array([held_m] * 3 + [np.deg2rad(0.5)] * 3) / noise.std(axis=0)
        shake = RigidTransform.from_components(noise[:, :3], Rotation.from_rotvec(noise[:, 3:])).as_matrix()
        return lambda n, start: path(n, start) @ shake[:n]

    return drawn


HELD: dict[str, Callable[[np.random.Generator], Path]] = {
    "held still": _shaken(PATHS["static"], 0.004),
    "held, walking": _shaken(_walk, 0.01),
    "held, following": _shaken(_turn, 0.01),
    "held, sideways": _shaken(_arc, 0.01),
}
"""Paths of the hand-held camera."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """A drawn room and its video settings."""

    path: str
    """Name of the camera's path."""
    scene: RenderedScene
    crf: int
    """Strength of the video's compression."""
    style: Style = "room"
    mover: str = "no"
    """What moves: no, box, animal or person."""

    @property
    def conditions(self) -> dict[str, str]:
        """Conditions in words, by which verdicts are grouped."""
        effects, camera = self.scene.effects, self.scene.intrinsics
        off_px = np.hypot(camera.cx_px - (camera.width_px - 1) / 2, camera.cy_px - (camera.height_px - 1) / 2)
        return {
            "style": self.style,
            "path": self.path,
            "moving object": self.mover,
            "principal point": f"{'more than' if off_px > 0.02 * camera.fx_px else 'up to'} 2 % off the centre",
            "rolling shutter": "yes" if effects.rolling_shutter else "no",
            "noise": "above 2 grey levels" if effects.noise_grey > 2 else "up to 2 grey levels",
        }


def room(seed: int, style: Style = "room") -> Room:
    """The room of a seed. Equal seeds give equal rooms."""
    draw = {"room": _room, "furnished": _furnished, "visited": _visited}[style]
    for attempt in range(_ATTEMPTS):
        rng = np.random.default_rng([seed, attempt])
        try:
            drawn = draw(rng, seed)
            return replace(drawn, scene=replace(drawn.scene, intrinsics=_real_lens(rng, drawn.scene.intrinsics)))
        except ValueError as error:  # the camera leaves the room
            failure = error
    raise ValueError(f"no {style} of seed {seed} holds its path") from failure


def _room(rng: np.random.Generator, seed: int) -> Room:
    name = list(PATHS)[seed % len(PATHS)]
    width, height = SIZES[rng.integers(len(SIZES))]
    effects = _effects(rng)
    scene = random_room(
        rng,
        frames=FRAMES,
        width_px=width,
        height_px=height,
        fps=FPS,
        vfov_deg=float(rng.uniform(*VFOV_DEG)),
        path=PATHS[name](rng),
        moving_object=bool(rng.integers(2)),
        effects=effects,
    )
    return Room(path=name, scene=scene, crf=int(rng.integers(16, 27)), mover="box" if scene.moving_boxes else "no")


def _furnished(rng: np.random.Generator, seed: int) -> Room:
    """Every second one has an animal or a person, which goes behind a screen and back."""
    path: PathKind = get_args(PathKind)[seed % 3]
    mover: Kind | None = None if seed % 2 else _MOVERS[seed // 2 % 2]
    width, height = FURNISHED_SIZES[rng.integers(len(FURNISHED_SIZES))]
    scene = furnished_room(
        rng,
        frames=FRAMES,
        width_px=width,
        height_px=height,
        fps=FPS,
        path=path,
        movers=0 if mover is None else 1,
        effects=_effects(rng),
    )
    if mover is not None and scene.moving_boxes:
        way = scene.moving_boxes[0].world_from_box[:, :2, 3]
        scene = replace(scene, moving_boxes=creature(rng, mover, way))
    name = "no" if mover is None or not scene.moving_boxes else mover
    return Room(path=path.replace("_", " "), scene=scene, crf=int(rng.integers(16, 27)), style="furnished", mover=name)


def _visited(rng: np.random.Generator, seed: int) -> Room:
    """An animal or a person goes about; the camera is held by hand, stands still, walks, or follows."""
    mover, name = _MOVERS[seed % 2], list(HELD)[seed // 2 % len(HELD)]
    width, height = SIZES[rng.integers(len(SIZES))]
    scene = random_room(
        rng,
        frames=FRAMES,
        width_px=width,
        height_px=height,
        fps=FPS,
        vfov_deg=float(rng.uniform(*VFOV_DEG)),
        path=HELD[name](rng),
        moving_object=True,
        effects=_effects(rng),
    )
    way = _wandering(rng, scene)
    scene = replace(scene, moving_boxes=creature(rng, mover, way))
    return Room(path=name, scene=scene, crf=int(rng.integers(16, 27)), style="visited", mover=mover)


def _wandering(rng: np.random.Generator, scene: RenderedScene) -> Way:
    """A way across the first view, 1.6 to 3 m ahead, with a bend and a rest."""
    n, side = len(scene), rng.choice([-1.0, 1.0])
    first = scene.world_from_cam[0]
    right, ahead = first[:2, 0], first[:2, 2] / np.linalg.norm(first[:2, 2])
    rest, length = rng.uniform(0.3, 0.7), rng.uniform(0.0, 0.25)
    t = np.linspace(0, 1, n)
    t = np.where(t < rest, t, np.maximum(rest, t - length)) / (1 - length)
    away = rng.uniform(1.6, 2.4) + rng.uniform(-0.3, 0.6) * t + 0.15 * np.sin(2 * np.pi * rng.uniform(0.5, 1.5) * t)
    across = side * away * np.interp(t, [0, 1], rng.uniform([-0.45, 0.15], [-0.15, 0.45]))
    way = first[:2, 3] + np.outer(across, right) + np.outer(away, ahead)
    return np.clip(way, 0.5, np.array(scene.room.size_m[:2]) - [0.5, 1.0])


def _real_lens(rng: np.random.Generator, ideal: Intrinsics) -> Intrinsics:
    """The camera with a principal point off the centre, as real ones have."""
    x, y = (np.clip(rng.normal(0, _CENTRE, 2), -_MOST_OFF, _MOST_OFF) * ideal.fx_px).tolist()
    return replace(ideal, cx_px=ideal.cx_px + x, cy_px=ideal.cy_px + y)


def _effects(rng: np.random.Generator) -> Effects:
    return Effects(
        noise_grey=float(rng.uniform(0, 4)),
        blur_px=float(rng.uniform(0, 0.7)),
        exposure_drift=float(rng.uniform(0, 0.2)),
        rolling_shutter=float(rng.integers(2) * rng.uniform(0.1, _READOUT)),
    )


@dataclass(frozen=True, kw_only=True)
class RenderedTruth:
    """The renderer as a `TrueClip`. `clip` is the video of `of`; its frame indices are the scene's."""

    of: RenderedScene
    clip: Clip

    @property
    def unsound(self) -> frozenset[int]:
        """None."""
        return frozenset()

    def scene(self, dense: Sequence[int] = ()) -> Scene:
        """All signals, exactly."""
        frames = list(dense) or [int(self.clip.frames[0])]
        (found,) = scenes_of(self.clip, true_signals(self.of, self.clip, frames))
        return found


@dataclass(frozen=True, kw_only=True)
class ZoomedTruth:
    """Poses of a camera whose lens zooms. No pixel is compared, because `CameraPath` has one focal length for all
    frames."""

    of: RenderedScene
    clip: Clip

    @property
    def unsound(self) -> frozenset[int]:
        """None."""
        return frozenset()

    def scene(self, dense: Sequence[int] = ()) -> Scene:
        """Path and gravity, exactly."""
        steady = replace(self.of, effects=Effects())
        known = true_signals(steady, self.clip, [int(self.clip.frames[0])])
        path = known["camera_path"]
        assert isinstance(path, CameraPath)
        signals = {"camera_path": replace(path, focal_relative_sigma=_ANY_FOCAL), "gravity": known["gravity"]}
        (found,) = scenes_of(self.clip, signals)
        return found
