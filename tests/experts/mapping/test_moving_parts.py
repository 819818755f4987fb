"""Moving parts of pictures from exact tracks."""

import numpy as np
import pytest

from experts.mapping.moving_parts import MovingPartsSettings, moving_parts
from tests.experts.scenes import CAMERA, cloud, projected, translating

FRAMES, SIZE = 12, (640, 480)
EVERY = np.arange(FRAMES)


def tracks(mover_m: float = 0.0, pace: float = 1.5) -> np.ndarray:
    """Pixels (t, n, 2): a static cloud before a camera that goes to the right and pans; before it points within
    `mover_m` metres of an axis 3 m ahead, which go to the right at `pace` times the speed of the camera."""
    rng = np.random.default_rng(0)
    way = np.linspace(0, 1.2, FRAMES)
    poses = translating([(x, 0.0, 0.0) for x in way], [(0.0, 4.0 * x, 0.0) for x in way])
    static = projected(cloud(rng), poses)
    if not mover_m:
        return static
    count = round(400 * mover_m**2)
    points = np.c_[rng.uniform(-mover_m, mover_m, (count, 2)), rng.uniform(2.9, 3.1, count)]
    moved = points[:, None] + pace * way[:, None] * [1.0, 0.0, 0.0]
    in_cam = np.einsum("nij,tnj->tni", poses[:, :3, :3], moved) + poses[:, :3, 3]
    return np.concatenate([static, CAMERA.project(in_cam)])


def parts(xy: np.ndarray) -> np.ndarray | None:
    return moving_parts(xy, EVERY, SIZE, MovingPartsSettings())


def test_what_overtakes_the_camera_is_covered_and_little_else() -> None:
    xy = tracks(mover_m=0.6)
    found = parts(xy)
    assert found is not None and found.shape == (FRAMES, 480, 640)
    mover, static = xy[400:], xy[:400]
    for n in EVERY:
        x, y = np.rint(mover[:, n]).astype(int).T
        assert found[n, y, x].mean() > 0.9
        seen = static[np.isfinite(static[:, n, 0]), n]
        low, high = mover[:, n].min(axis=0) - 40, mover[:, n].max(axis=0) + 40
        beside = seen[np.any((seen < low) | (seen > high), axis=1)]
        x, y = np.rint(beside).astype(int).T
        assert not found[n, y, x].any()


@pytest.mark.parametrize(
    "xy",
    [
        pytest.param(tracks(), id="nothing moves"),
        pytest.param(tracks(mover_m=0.1), id="what moves is small"),
        pytest.param(tracks(mover_m=1.2), id="what moves may be the background"),
        pytest.param(tracks(mover_m=0.6, pace=0.0), id="a static object"),
        pytest.param(np.repeat(tracks(mover_m=0.6)[:, :1], FRAMES, axis=1), id="a static camera"),
        pytest.param(tracks(mover_m=0.6)[:20], id="few tracks"),
    ],
)
def test_nothing_is_covered_where(xy: np.ndarray) -> None:
    assert parts(xy) is None
