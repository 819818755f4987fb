from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.signals import Calibration, NoEstimate, PathOnTracks
from spatial_engine.report.clip_page import summary
from spatial_engine.report.figures import camera_views, horizon, trails
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from tests.spatial_engine.drafts import clip
from tests.spatial_engine.measured_store import COUNT, PITCH, WALK, camera_path, signals


def scene(**changes) -> Scene:
    found = {name: value for name, value in signals().items() if not name.endswith("_check")} | changes
    found["camera_path_check"] = found["camera_path"]
    return scenes_of(clip(), found)[0]


def test_the_path_from_above_is_the_path():
    above, side = camera_views(scene())
    walked = 2 * np.stack([np.sin(WALK), 1 - np.cos(WALK)], axis=1)
    np.testing.assert_allclose(above.path, walked - walked[0], atol=1e-9)
    np.testing.assert_allclose(side.path[:, 1], 0.2 * np.sin(2 * WALK), atol=1e-9)
    np.testing.assert_allclose(above.looks, np.stack([np.sin(WALK), np.cos(WALK)], axis=1) * np.cos(PITCH), atol=1e-9)
    assert not above.metric and len(above.points)
    for view in (above, side):
        for shown in (view.path, view.points):
            assert (shown > view.limits[0]).all() and (shown < view.limits[1]).all()


def test_points_that_would_dwarf_the_path_are_not_shown():
    far = replace(signals()["sparse_points"], xyz_world=signals()["sparse_points"].xyz_world * 100)
    above, _ = camera_views(scene(sparse_points=far))
    assert np.ptp(above.limits[:, 0]) < 2 * np.ptp(above.path, axis=0).max() and len(above.points) < 20


def test_lengths_have_a_unit_only_where_it_is_known():
    above, _ = camera_views(scene())
    assert "no scale: lengths are relative" in above.svg() and "metres" not in above.svg()
    assert "metres" in replace(above, metric=True).svg()


@settings(max_examples=20, deadline=None)
@given(turn=st.tuples(*[st.floats(-3, 3)] * 3), shift=st.tuples(*[st.floats(-9, 9)] * 3), scale=st.floats(0.2, 5))
def test_views_do_not_depend_on_the_choice_of_world(turn, shift, scale):
    path = camera_path()
    other = np.eye(4)
    other[:3, :3], other[:3, 3] = Rotation.from_rotvec(turn).as_matrix(), shift
    moved = path.world_from_cam.copy()
    moved[:, :3, 3] *= scale
    moved = other @ moved
    plain = camera_views(scene(sparse_points=NoEstimate(reason="none")))
    turned = camera_views(
        scene(camera_path=replace(path, world_from_cam=moved), sparse_points=NoEstimate(reason="none"))
    )
    for a, b in zip(plain, turned, strict=True):
        np.testing.assert_allclose(scale * a.path, b.path, atol=1e-6)
        np.testing.assert_allclose(a.looks, b.looks, atol=1e-9)


@pytest.mark.parametrize("motion", ["static", "rotation_only", "unresolved"])
def test_no_views_where_positions_are_not_known(motion):
    assert camera_views(scene(camera_path=replace(camera_path(), motion=motion))) == ()
    assert camera_views(scene(camera_path=NoEstimate(reason="none"))) == ()


def test_the_horizon_of_a_camera_that_looks_down_is_above_the_middle():
    (x0, y0), (x1, y1) = horizon(scene(), 0)
    camera = camera_path().intrinsics
    assert y0 == pytest.approx(y1, abs=0.2) == pytest.approx(camera.cy_px + camera.fy_px * np.tan(PITCH), abs=0.2)
    assert x0 * x1 < 0


def test_a_camera_turned_clockwise_sees_the_horizon_rise_to_the_left():
    roll = np.radians(20)  # up_cam = (-sin, -cos, 0)
    gravity = signals()["gravity"]
    up = np.tile([-np.sin(roll), -np.cos(roll), 0.0], (COUNT, 1))
    (x0, y0), (x1, y1) = sorted(horizon(scene(gravity=replace(gravity, up_cam=up)), 0))
    assert (y1 - y0) / (x1 - x0) == pytest.approx(-np.tan(roll), abs=1e-3)


def test_no_horizon_where_it_is_not_known_or_far_outside():
    gravity = signals()["gravity"]
    straight_down = replace(gravity, up_cam=np.tile([0.0, 0.0, -1.0], (COUNT, 1)))
    assert horizon(scene(gravity=straight_down), 0) is None
    assert horizon(scene(gravity=NoEstimate(reason="none")), 0) is None
    assert horizon(scene(camera_path=NoEstimate(reason="none")), 0) is None


def test_trails_end_on_their_frame():
    tracks = signals()["tracks"]
    found = trails(tracks, 7)
    assert {trail.kind for trail in found} == {"moving", "static", "unknown"}
    np.testing.assert_allclose([trail.end for trail in found], tracks.xy_px[:, 7], atol=0.051)
    assert trails(tracks, 999) == ()


def test_every_signal_has_words():
    for name, signal in signals().items():
        text = summary(signal)
        assert text != type(signal).__name__ and "nan" not in text, name
    path = signals()["camera_path"]
    camera = Calibration(intrinsics=path.intrinsics, focal_relative_sigma=0.02, provenance=path.provenance)
    assert summary(camera) == f"focal length {path.intrinsics.fx_px:.0f} px ± 2.0 %"
    kept = {name: getattr(path, name) for name in ("frames", "world_from_cam", "intrinsics", "provenance")}
    said = summary(PathOnTracks(**kept, residual_px=0.62))
    assert said == f"focal length {path.intrinsics.fx_px:.0f} px, tracks 0.6 px off at 640 px width"
    assert "23" not in summary(signals()["camera_path"])
    assert "the camera travels, 24 of 24 frames registered" in summary(signals()["camera_path"])
    zooming = replace(path, magnification=np.linspace(1, 1.5, 24), magnification_sigma=np.full(24, 0.005))
    assert summary(zooming).endswith("focal length × 1.00 to 1.50 (±0.5 %)")
