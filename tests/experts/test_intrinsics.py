"""Rays are the inverse of projection; scaling converts pixels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experts.intrinsics import Intrinsics

cameras = st.builds(
    lambda w, h, f, aspect, dx, dy, k1: Intrinsics(
        width_px=w, height_px=h, fx_px=f * w, fy_px=f * w * aspect, cx_px=w / 2 + dx, cy_px=h / 2 + dy, k1=k1
    ),
    st.integers(64, 4000),
    st.integers(64, 4000),
    st.floats(0.6, 3.0),
    st.floats(0.9, 1.1),
    st.floats(-20, 20),
    st.floats(-20, 20),
    st.floats(-0.05, 0.05),
)
places = st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4), st.floats(0.1, 100))


@given(cameras, places)
def test_the_ray_of_a_projected_point_points_at_it(camera: Intrinsics, place: tuple[float, float, float]) -> None:
    xyz = np.array([place[0] * place[2], place[1] * place[2], place[2]])
    ray = camera.rays(camera.project(xyz))
    np.testing.assert_allclose(ray, xyz / np.linalg.norm(xyz), atol=1e-6)


@given(cameras, places, st.integers(32, 4000), st.integers(32, 4000))
def test_a_scaled_camera_projects_to_scaled_pixels(
    camera: Intrinsics, place: tuple[float, float, float], width: int, height: int
) -> None:
    xyz = np.array([place[0] * place[2], place[1] * place[2], place[2]])
    small = camera.scaled(width, height)
    full = (small.project(xyz) + 0.5) * [camera.width_px / width, camera.height_px / height] - 0.5
    np.testing.assert_allclose(full, camera.project(xyz), atol=1e-6)
    assert small.vfov_rad == pytest.approx(camera.vfov_rad)


def test_the_field_of_view_spans_the_edges_of_the_outer_pixels() -> None:
    camera = Intrinsics.centred(640, 480, 525.0)
    top, bottom = camera.rays(np.array([[319.5, -0.5], [319.5, 479.5]]))
    assert np.arccos(top @ bottom) == pytest.approx(camera.vfov_rad)


def test_points_behind_the_camera_have_no_pixel() -> None:
    camera = Intrinsics.centred(640, 480, 525.0)
    assert np.isnan(camera.project(np.array([[0.1, 0.1, -1.0], [0.0, 0.0, 0.0]]))).all()
    inside = camera.contains(np.array([[0, 0], [639, 479], [639.1, 0], [np.nan, 3]]))
    assert inside.tolist() == [True, True, False, False]
