"""The path of a camera that zooms, from pictures of rendered rooms."""

from collections.abc import Callable

import numpy as np
import pytest

from experts.mapping.zooming import ZoomExpert
from experts.signals import CameraPath, NoEstimate, Signal
from experts.tracking.klt import KltExpert
from spatial_engine.rendering import as_clip, camera_paths
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import Effects, RenderedScene

NO_PATH = NoEstimate(reason="focal length changes")


def room(path: Callable[..., np.ndarray], zoom: float, seed: int = 5) -> RenderedScene:
    rng = np.random.default_rng(seed)
    return random_room(rng, frames=8, width_px=320, height_px=240, path=path, effects=Effects(zoom=zoom))


def found_in(scene: RenderedScene, camera_path: Signal | NoEstimate = NO_PATH) -> Signal | NoEstimate:
    clip = as_clip(scene)
    signals = {**KltExpert()(clip, {}), "camera_path": camera_path, "valid_area": NoEstimate(reason="not asked")}
    return ZoomExpert()(clip, signals)["zooming_path"]


def panned(n: int, start: camera_paths.Stance) -> np.ndarray:
    """To the right, by 14 degrees."""
    return camera_paths.primitive("pan", 0.25, n, start)


@pytest.mark.parametrize(
    ("path", "motions"),
    [(camera_paths.static, {"static"}), (panned, {"rotation_only", "unresolved"})],
)
def test_the_zoom_of_every_frame_is_within_sigma(path: Callable[..., np.ndarray], motions: set[str]) -> None:
    found = found_in(room(path, 1.3))
    assert isinstance(found, CameraPath) and found.registered.all() and found.motion in motions
    assert found.magnification is not None and found.magnification_sigma is not None
    error = np.log(found.magnification) - np.log(1.3) * np.linspace(0, 1, 8)
    assert np.all(np.abs(error) < 2 * found.magnification_sigma)


def test_a_walk_that_zooms_is_refused() -> None:
    assert isinstance(found_in(room(camera_paths.walk, 1.3)), NoEstimate)


def test_a_walk_towards_a_wall_is_refused() -> None:
    scene = room(lambda n, start: camera_paths.primitive("dolly", 1.2, n, start), 1.0)
    assert isinstance(found_in(scene), NoEstimate)


def test_a_clip_with_a_camera_path_is_not_looked_at() -> None:
    path = found_in(room(camera_paths.static, 1.3))
    assert isinstance(path, CameraPath)
    found = found_in(room(camera_paths.static, 1.3), path)
    assert isinstance(found, NoEstimate) and found.reason == "one camera explains the whole clip"
