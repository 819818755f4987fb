"""A camera that turns in place is measured by its turns; one that translates is not taken for one that turns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.intrinsics import Intrinsics
from experts.mapping.focal import KnownCamera
from experts.mapping.motion_kind import MotionSettings, pair_geometries
from experts.mapping.pure_rotation import PureRotationSettings
from experts.mapping.turns import Turns, TurnSettings, turning_pairs, turns_of
from tests.experts.scenes import CAMERA, cloud, matches, projected, rotating, translating

SETTINGS = TurnSettings()
UNKNOWN = KnownCamera(camera=Intrinsics.centred(640, 480, 430.0), relative_sigma=0.33)
PAN = [(1.0 * (k % 3), 4.0 * k, 0.5 * k) for k in range(9)]


def turns(
    poses: np.ndarray, xyz: np.ndarray, camera: Intrinsics = CAMERA, known: KnownCamera = UNKNOWN
) -> Turns | None:
    xy = projected(xyz, poses, camera)
    xy = xy + np.random.default_rng(1).normal(scale=0.3, size=xy.shape)
    return turns_of(pair_geometries(matches(xy), 640, MotionSettings()), known, SETTINGS, PureRotationSettings())


def around() -> np.ndarray:
    """Points in all directions ahead, at 2 to 8 m."""
    rng = np.random.default_rng(0)
    xyz = cloud(rng, 6000, near=2.0, far=8.0)
    return xyz * [2.0, 1.5, 1.0]


@settings(max_examples=8, deadline=None)
@given(st.floats(330, 800), st.floats(-0.03, 0.03), st.floats(-0.03, 0.03), st.floats(-0.08, 0.08))
def test_a_pan_measures_the_camera_within_sigma(focal_px: float, right: float, down: float, k1: float) -> None:
    camera = Intrinsics.centred(640, 480, focal_px)
    camera = replace(camera, cx_px=camera.cx_px + right * focal_px, cy_px=camera.cy_px + down * focal_px, k1=k1)
    found = turns(rotating(PAN), around(), camera)
    assert found is not None and found.fitting >= 0.95 and found.are_sure(SETTINGS)
    measured = found.camera.camera
    assert abs(np.log(measured.fx_px / focal_px)) < 3 * found.camera.relative_sigma <= 0.12
    error = np.abs([measured.cx_px - camera.cx_px, measured.cy_px - camera.cy_px]) / focal_px
    assert np.all(error < 3 * np.array(found.camera.centre_relative_sigma))


def test_what_is_known_counts() -> None:
    known = KnownCamera(camera=CAMERA, relative_sigma=0.002)
    found = turns(rotating(PAN), around(), CAMERA, known)
    assert found is not None and abs(np.log(found.camera.camera.fx_px / CAMERA.fx_px)) < 0.003


def test_a_small_turn_measures_nothing() -> None:
    assert turns(rotating([(0.0, 1.0 * k, 0.0) for k in range(9)]), around()) is None


def test_a_roll_measures_nothing() -> None:
    assert turns(rotating([(0.0, 0.0, 5.0 * k) for k in range(9)]), around()) is None


@pytest.mark.parametrize("step", [(0.25, 0.0, 0.0), (0.2, 0.0, 0.2), (0.0, 0.0, 0.3)])
def test_a_camera_that_walks_is_not_taken_for_one_that_turns(step: tuple[float, float, float]) -> None:
    centres = [tuple(k * s for s in step) for k in range(9)]
    for turned in (PAN, [(0.0, 0.0, 0.0)] * 9):
        found = turns(translating(centres, turned), around())
        assert found is None or not found.are_sure(SETTINGS)


def test_a_walk_along_a_wall_is_not_taken_for_turns() -> None:
    wall = cloud(np.random.default_rng(0), 4000, near=4, far=4) * [2.0, 1.5, 1.0]
    found = turns(translating([(0.25 * k, 0.0, 0.0) for k in range(9)], PAN), wall)
    assert found is None or not found.are_sure(SETTINGS)


def test_a_look_round_before_a_walk_measures_the_camera() -> None:
    poses = np.concatenate([rotating(PAN), translating([(0.0, 0.0, 0.3 * k) for k in (1, 2)], [PAN[-1]] * 2)])
    found = turns(poses, around())
    assert found is not None and found.are_sure(SETTINGS)
    assert abs(np.log(found.camera.camera.fx_px / CAMERA.fx_px)) < 3 * found.camera.relative_sigma


def test_only_keyframes_that_turn_in_place_are_used() -> None:
    centres = [(0.0, 0.0, 0.0)] * 9 + [(0.0, 0.0, 0.3 * k) for k in (1, 2, 3)]
    xy = projected(around(), translating(centres, [*PAN, *[PAN[-1]] * 3]))
    pairs = pair_geometries(matches(xy), 640, MotionSettings())
    used = turning_pairs(pairs, CAMERA, SETTINGS, PureRotationSettings())
    assert {place for pair in used for place in (pair.pair.first, pair.pair.second)} == set(range(9))


def test_without_pairs_nothing_is_measured() -> None:
    assert turns_of([], UNKNOWN, SETTINGS, PureRotationSettings()) is None
