"""Cameras out of files, and lenses with more terms than one."""

import json
from pathlib import Path

import numpy as np
import pytest

from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import Fisheye624, intrinsics_of, read_camera
from spatial_engine.sequences.manifest import Camera, CameraFiles
from tests.spatial_engine.sequences.layouts import write


def test_the_median_of_files_that_agree(tmp_path: Path) -> None:
    for k, focal in enumerate((500.0, 501.0, 505.0)):
        write(tmp_path / f"{k}.txt", [[focal, 0, 320], [0, focal, 240], [0, 0, 1]])
    camera = read_camera(tmp_path, CameraFiles(files="*.txt"))
    assert (camera.fx, camera.cx) == (501.0, 320.0)
    assert camera.focal_relative_sigma == pytest.approx(0.005)


def test_several_cameras_are_refused(tmp_path: Path) -> None:
    for k, focal in enumerate((500.0, 530.0)):
        write(tmp_path / f"{k}.txt", [[focal, 0, 320], [0, focal, 240], [0, 0, 1]])
    with pytest.raises(UsageError, match="from 500 to 530 px"):
        read_camera(tmp_path, CameraFiles(files="*.txt"))


@pytest.mark.parametrize("form", ["colmap", "nerfstudio"])
def test_fisheye_cameras_are_refused(form: str, tmp_path: Path) -> None:
    path = tmp_path / "camera"
    nerfstudio = json.dumps({"camera_model": "OPENCV_FISHEYE", "fl_x": 1, "fl_y": 1, "cx": 1, "cy": 1})
    write(path, nerfstudio if form == "nerfstudio" else "1 OPENCV_FISHEYE 640 480 500 500 320 240 0 0 0 0\n")
    with pytest.raises(UsageError, match="FISHEYE"):
        read_camera(tmp_path, CameraFiles(files="camera", form=form))  # type: ignore[arg-type]


def test_one_radial_term_stands_for_five() -> None:
    """TUM's first Kinect: its first term alone would be 31 px off near the edge."""
    kinect = Camera(fx=517.3, fy=516.5, cx=318.6, cy=255.3, k1=0.2624, k2=-0.9531, p1=-0.0054, p2=0.0026, k3=1.1633)
    held, missed_px = intrinsics_of(kinect, 640, 480)
    assert 0.05 < held.k1 < 0.15
    assert missed_px < 5.0


def test_a_fisheye_map_is_seen_as_by_a_pinhole_camera() -> None:
    """An ideal equidistant lens: a ray at 45 degrees lies f·π/4 from the middle."""
    lens = Fisheye624(params=(100.0, 50.0, 60.0, *[0.0] * 12))
    np.testing.assert_allclose(lens.project(np.array([[1.0, 0, 1], [0, 0, 1]])), [[50 + 25 * np.pi, 60], [50, 60]])
    seen = np.arange(200 * 200).reshape(200, 200)
    camera = Camera(fx=10.0, fy=10.0, cx=10.0, cy=10.0)
    found = lens.undistorted(camera, 21, 21, lambda path: seen)(Path("map"))
    assert found[10, 10] == seen[60, 50]
    assert found[10, 20] == seen[60, 129]
    assert found[0, 0] == 0  # outside of what was seen
