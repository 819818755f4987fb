"""A scene written in a preset's layout opens as that scene: cameras, poses, depth, up and boxes."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from experts.signals import CameraPath, Depth, Gravity, Objects
from spatial_engine.errors import SetupError, UsageError
from spatial_engine.rendering.scene import RenderedScene
from spatial_engine.sequences import open_sequence
from spatial_engine.sequences.presets import PRESETS, detect
from tests.spatial_engine.sequences import layouts

OWN_CAMERA = {
    "hypersim": (1024, 768, 2 * np.degrees(np.arctan(384 / (512 / np.tan(np.pi / 6))))),
    "tartanair": (640, 480, 2 * np.degrees(np.arctan(240 / 320))),
    "tum": (640, 480, 2 * np.degrees(np.arctan(240 / 539.2))),
    "seven-scenes": (640, 480, 2 * np.degrees(np.arctan(240 / 525))),
}
"""Layouts that state no camera: width, height, vertical field of view."""
STILLS = {"sun-rgbd", "kitti-object", "kitti-tracking"}
LEVEL = {"kitti-object", "kitti-tracking"}
"""Layouts whose boxes and up have no pitch; the cameras here have."""
STILL_SCENES = {"seven-scenes"}
"""Layouts without objects, in which nothing moves; their depth lies beside the pixels (test_depth_images.py)."""
KEPT = {"hypersim": (0, 2)}


def scene_for(name: str) -> RenderedScene:
    """With the camera that the layout has."""
    width, height, vfov = OWN_CAMERA.get(name, (96, 72, 50.0))
    return layouts.scene(frames=3 if name in OWN_CAMERA else 4, width_px=width, height_px=height, vfov_deg=vfov)


class FakeFile(dict[str, np.ndarray]):
    """Reads the one array of a file, as h5py would."""

    def __init__(self, path: Path, mode: str) -> None:
        super().__init__(dataset=np.load(path))

    def __enter__(self) -> "FakeFile":
        return self

    def __exit__(self, *error: object) -> None:
        return None


def test_every_preset_has_a_writer() -> None:
    assert {preset for preset, _ in layouts.WRITERS.values()} == set(PRESETS.targets())


@pytest.mark.parametrize("name", layouts.WRITERS)
def test_layout(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(File=FakeFile))  # type: ignore[arg-type]
    preset, writer = layouts.WRITERS[name]
    scene = scene_for(preset)
    path = writer(tmp_path / "room", scene)
    assert detect(path) == preset
    sequences = open_sequence(path)
    if preset in STILLS:
        assert [len(one.clip.frames) for one in sequences] == [1] * len(sequences)
        for frame, one in enumerate(sequences):
            _same(one.truth.signals(one.clip, [0]), scene, [frame], preset)
        return
    (one,) = sequences
    frames = list(KEPT.get(preset, range(len(scene))))
    _same(one.truth.signals(one.clip, [0, 1]), scene, frames, preset)


def _same(found: dict[str, Any], scene: RenderedScene, frames: list[int], preset: str) -> None:
    """`frames` are those of the scene that the clip's frames show."""
    path = found["camera_path"]
    assert isinstance(path, CameraPath)
    lost = [1] if preset == "scannet" else []
    assert np.flatnonzero(~path.registered).tolist() == lost
    tolerance = 0.01 if preset in OWN_CAMERA else 1e-4
    camera = path.intrinsics
    assert camera.fx_px == pytest.approx(scene.intrinsics.fx_px, rel=tolerance)
    assert (camera.cx_px, camera.cy_px) == pytest.approx((scene.intrinsics.cx_px, scene.intrinsics.cy_px), abs=9)
    own, true = path.world_from_cam, scene.world_from_cam[frames]
    known = path.registered
    np.testing.assert_allclose(np.linalg.inv(own[0]) @ own[known], np.linalg.inv(true[0]) @ true[known], atol=1e-4)
    if isinstance(gravity := found.get("gravity"), Gravity) and preset not in LEVEL:
        np.testing.assert_allclose(gravity.up_cam, true[known, 2, :3], atol=1e-4)
    if isinstance(depth := found.get("depth"), Depth) and preset not in STILL_SCENES:
        for k, frame in enumerate(depth.frames):
            _same_depth(depth.z[k], scene.depth(frames[frame]), preset)
    if isinstance(objects := found.get("objects"), Objects) and preset not in STILL_SCENES:
        _same_boxes(objects, path, scene, frames, preset)


def _same_depth(found: np.ndarray, true: np.ndarray, preset: str) -> None:
    if preset == "kitti-object":  # a scan hits few pixels, and those that something hides are left out
        known = np.isfinite(found)
        assert known.mean() > 0.5
        found, true = found[known], true[known]
    np.testing.assert_allclose(found, true, rtol=2e-3, atol=1e-3)


def _same_boxes(objects: Objects, path: CameraPath, scene: RenderedScene, frames: list[int], preset: str) -> None:
    boxes = scene.boxes
    if preset == "hypersim":  # has those that its masks show, and calls them all chairs here
        boxes = tuple(boxes[k] for k in np.unique([scene.ids(frame) for frame in frames]) if k >= 0)
        assert objects.labels == ("chair",) * len(boxes) and objects.centre_sigma is None
        np.testing.assert_array_equal(objects.ids[0] >= 0, scene.ids(frames[0]) >= 0)
    else:
        space = "_" if preset in LEVEL else " "
        assert objects.labels == tuple(box.name.replace(" ", space) for box in boxes)
        assert objects.centre_sigma is not None
    assert objects.size is not None
    row = int(np.flatnonzero(path.frames == objects.frames[0])[0])
    cam_from_box = np.linalg.inv(path.world_from_cam[row]) @ objects.world_from_object[0]
    for box, pose, size in zip(boxes, cam_from_box, objects.size, strict=True):
        true = np.linalg.inv(scene.world_from_cam[frames[row]]) @ box.world_from_box
        np.testing.assert_allclose(pose[:3, 3], true[:3, 3], atol=2e-3)
        assert sorted(size) == pytest.approx(sorted(box.size_m), abs=1e-6)
        if preset not in LEVEL:
            half = np.array(size) / 2
            reach, wanted = np.abs(pose[:3, :3]) @ half, np.abs(true[:3, :3]) @ box.half_m
            np.testing.assert_allclose(reach, wanted, atol=2e-3)


def test_hypersim_names_the_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    path = layouts.hypersim(tmp_path, layouts.scene())
    with pytest.raises(SetupError, match="h5py"):
        open_sequence(path)


def test_fisheye_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    (tmp_path / "dslr/resized_images").mkdir(parents=True)
    with pytest.raises(UsageError, match="fisheye"):
        open_sequence(tmp_path)
    for name in ("scene_objects.csv", "3d_bounding_box.csv"):
        layouts.write(tmp_path / "adt" / name, "")
    with pytest.raises(UsageError, match="fisheye"):
        open_sequence(tmp_path / "adt")


def test_unknown_preset_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="arkitscenes"):
        open_sequence(tmp_path, preset="arkit")


def test_one_of_several_by_name(tmp_path: Path) -> None:
    path = layouts.kitti_object(tmp_path, layouts.scene())
    assert len(open_sequence(path, only="kitti-*")) == 4
    with pytest.raises(UsageError, match="no sequence called"):
        open_sequence(path, only="other")


@pytest.mark.parametrize("name", ["tum", "scannet", "arkitscenes", "nuscenes", "adt", "co3dv2", "matterport3d"])
def test_emptied_files_are_said_in_words(name: str, tmp_path: Path) -> None:
    preset, writer = layouts.WRITERS[name]
    path = writer(tmp_path / "room", layouts.scene(frames=2))
    for file in [*path.rglob("*"), *path.parent.glob("*.jgz")]:
        if file.is_file() and file.suffix not in (".png", ".jpg"):
            file.write_bytes(b"")
    with pytest.raises(UsageError):
        open_sequence(path, preset=preset)


def test_boxes_that_are_none_have_no_place_or_size(tmp_path: Path) -> None:
    path = layouts.arkitscenes(tmp_path, layouts.scene())
    file = next(path.glob("*_3dod_annotation.json"))
    stated = json.loads(file.read_text())
    stated["data"][0]["segments"]["obbAligned"]["axesLengths"] = [0.0, 1.0, 1.0]
    stated["data"][1]["segments"]["obbAligned"]["normalizedAxes"] = [1, 0.5, 0, 0, 1, 0, 0, 0, 1]
    file.write_text(json.dumps(stated))
    (one,) = open_sequence(path)
    objects = one.truth.signals(one.clip, [0])["objects"]
    assert isinstance(objects, Objects) and objects.size is not None and objects.box_px is not None
    assert np.isnan(objects.size[0]).all() and np.isnan(objects.world_from_object[0, 1]).all()
    assert np.isfinite(objects.size[1:]).all() and np.isfinite(objects.world_from_object[0, 2:]).all()
    assert np.isnan(objects.box_px[0, :2]).all() and np.isfinite(objects.box_px[0, 2:]).any()
