"""Depth of other frames for a pixel without depth: right, or unknown."""

from dataclasses import replace

import numpy as np
import pytest

from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, Scale
from spatial_engine.sequences.depth_elsewhere import DepthElsewhere

CAMERA = Intrinsics(fx_px=80.0, fy_px=80.0, cx_px=39.5, cy_px=29.5, k1=0.0, width_px=80, height_px=60)
SCALE = Scale(kind="metric", relative_sigma=0.0, source="test")
PROVENANCE = Provenance(expert="test", version="1", code_licence="Apache-2.0", commercial_ok=True)
STEP = 0.1
WALL, BOARD = 4.0, 2.0


def path(count: int = 5) -> CameraPath:
    """Sideways, before a wall."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, 0, 3] = STEP * np.arange(count)
    zeros = np.zeros(count)
    return CameraPath(
        frames=np.arange(count),
        world_from_cam=poses,
        registered=np.ones(count, dtype=bool),
        keyframe=np.ones(count, dtype=bool),
        intrinsics=CAMERA,
        focal_relative_sigma=0.0,
        motion="general",
        rotation_sigma_rad=zeros,
        position_sigma=zeros,
        direction_sigma_rad=0.0,
        scale=SCALE,
        provenance=PROVENANCE,
    )


def depth(frame: int, right: float = np.inf) -> Depth:
    """Of the wall, and of a board before it that ends on the right at x = 0. Unknown right of `right`."""
    columns = np.arange(80) + 0.0
    on_board = (columns - CAMERA.cx_px) / CAMERA.fx_px * BOARD + STEP * frame < 0
    z = np.where(on_board, BOARD, WALL)
    z[columns > right] = np.nan
    z = np.tile(z.astype(np.float32), (60, 1))[None]
    sigma = np.where(np.isnan(z), np.nan, 0.01).astype(np.float32)
    return Depth(frames=np.array([frame]), z=z, relative_sigma=sigma, scale=SCALE, provenance=PROVENANCE)


def at(elsewhere: DepthElsewhere, x: float, shows: bool = True) -> tuple[float, float] | None:
    return elsewhere.at(0, np.array([x, 30.0]), lambda view, z: shows)


@pytest.fixture
def others() -> DepthElsewhere:
    """Frame 0 has no depth."""
    return DepthElsewhere(path=path(), depth_of=lambda frame: depth(frame) if frame else None)


def test_other_frames_give_the_distance(others: DepthElsewhere) -> None:
    for x, z in ((20.0, BOARD), (60.0, WALL)):
        found = at(others, x)
        assert found is not None
        assert found[0] == pytest.approx(z, rel=0.02) and 0.01 <= found[1] < 0.04


def test_a_place_that_no_two_frames_show_is_unknown(others: DepthElsewhere) -> None:
    assert at(others, 60.0, shows=False) is None
    assert at(replace(others, depth_of=lambda frame: depth(frame) if frame == 1 else None), 60.0) is None
    narrow = replace(others, depth_of=lambda frame: depth(frame, right=40.0) if frame else None)
    assert at(narrow, 60.0) is None and at(narrow, 20.0) is not None
    empty = replace(others, depth_of=lambda frame: depth(frame, right=-1.0) if frame else None)
    assert at(empty, 20.0) is None


def test_one_frame_and_the_depth_around_the_pixel(others: DepthElsewhere) -> None:
    """The pixel itself and half of its surroundings have no depth. Around x = 39 there are two surfaces."""

    def known(frame: int, factor: float = 1.0) -> Depth | None:
        own = depth(0, right=59.0)
        return {0: replace(own, z=np.float32(factor) * own.z), 1: depth(1)}.get(frame)

    found = at(replace(others, depth_of=known), 60.0)
    assert found is not None and found[0] == pytest.approx(WALL, rel=0.02) and 0.01 <= found[1] < 0.04
    assert at(replace(others, depth_of=lambda frame: known(frame, 0.8)), 60.0) is None
    assert at(replace(others, depth_of=known), 64.0) is None
    one_surface, two = (replace(others, depth_of=known).around(0, np.array([x, 30.0])) for x in (30.0, 39.0))
    assert one_surface == pytest.approx((BOARD, 0.01)) and two is None


def test_frames_that_contradict_each_other_decide_nothing(others: DepthElsewhere) -> None:
    nearer = replace(depth(2), z=0.7 * depth(2).z)
    assert at(replace(others, depth_of=lambda frame: nearer if frame == 2 else depth(frame)), 60.0) is None


def test_a_frame_without_a_pose_gets_nothing(others: DepthElsewhere) -> None:
    lost = path()
    lost.registered[0] = False
    assert at(replace(others, path=lost), 60.0) is None
