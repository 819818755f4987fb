"""Rendered rooms with exact truth: furniture, camera, path, moving object and image noise are drawn by seed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experts.clip import Clip
from experts.signals import CameraPath
from spatial_engine.rendering import Effects, RenderedScene, camera_paths, true_signals
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.rooms import random_room
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

FRAMES, FPS = 48, 12.0
SIZES = ((480, 360), (640, 360), (360, 480), (640, 480))
VFOV_DEG = (35.0, 65.0)
_READOUT = 0.35
"""Largest share of the frame interval for reading out a rolling shutter: 29 ms, as in slow phones."""
_ATTEMPTS = 20
_ANY_FOCAL = 0.5
"""σ of ln focal length during a zoom, when it is not one number."""

Path = Callable[[int, Stance], Poses]


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


@dataclass(frozen=True, kw_only=True)
class Room:
    """A drawn room and its video settings."""

    path: str
    """One of `PATHS`."""
    scene: RenderedScene
    crf: int
    """Strength of the video's compression."""

    @property
    def conditions(self) -> dict[str, str]:
        """Conditions in words, by which verdicts are grouped."""
        effects = self.scene.effects
        return {
            "path": self.path,
            "moving object": "yes" if self.scene.moving_boxes else "no",
            "rolling shutter": "yes" if effects.rolling_shutter else "no",
            "noise": "above 2 grey levels" if effects.noise_grey > 2 else "up to 2 grey levels",
        }


def room(seed: int) -> Room:
    """The room of a seed. Equal seeds give equal rooms."""
    name = list(PATHS)[seed % len(PATHS)]
    for attempt in range(_ATTEMPTS):
        rng = np.random.default_rng([seed, attempt])
        try:
            return _drawn(rng, name)
        except ValueError as error:  # the camera leaves the room
            failure = error
    raise ValueError(f"no room of seed {seed} holds its path") from failure


def _drawn(rng: np.random.Generator, name: str) -> Room:
    width, height = SIZES[rng.integers(len(SIZES))]
    effects = Effects(
        noise_grey=float(rng.uniform(0, 4)),
        blur_px=float(rng.uniform(0, 0.7)),
        exposure_drift=float(rng.uniform(0, 0.2)),
        rolling_shutter=float(rng.integers(2) * rng.uniform(0.1, _READOUT)),
    )
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
    return Room(path=name, scene=scene, crf=int(rng.integers(16, 27)))


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
