"""A manifest opens a folder as the clip that the folder is; what cannot be read as stated is refused in words."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from experts.signals import CameraPath, Objects
from spatial_engine.errors import UsageError
from spatial_engine.options import OpenOptions
from spatial_engine.sequences import open_sequence
from spatial_engine.sources import find_footage, open_clips
from tests.spatial_engine.sequences import layouts
from tests.spatial_engine.sequences.rendered_set import FRAMES, changed, manifest, walk


def stated(tmp_path: Path, values: Any) -> Path:
    """As a file."""
    path = tmp_path / "stated.yaml"
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values), encoding="utf-8")
    return path


def test_the_clip_is_that_of_the_folder(rendered: Path, tmp_path: Path) -> None:
    (found,) = (one for one in find_footage(rendered / "images").taken)
    (clip,) = open_clips(found)
    (by_folder,) = open_sequence(rendered)
    (by_file,) = open_sequence(rendered / "sequence.yaml")
    (elsewhere,) = open_sequence(rendered, manifest=stated(tmp_path, manifest()))
    assert {clip.id} == {one.clip.id for one in (by_folder, by_file, elsewhere)}


def test_the_clip_is_that_of_the_folder_with_a_preset(tmp_path: Path) -> None:
    folder = layouts.kitti_odometry(tmp_path, layouts.scene())
    (found,) = find_footage(folder / "image_2").taken
    (clip,) = open_clips(found)
    (one,) = open_sequence(folder)
    assert one.clip.id == clip.id
    np.testing.assert_allclose(one.clip.times_s, np.arange(4) / walk().fps)


def test_longer_than_a_minute_is_several_clips(rendered: Path, tmp_path: Path) -> None:
    slow = open_sequence(rendered, manifest=stated(tmp_path, {**manifest(), "times": {"fps": 0.1}}))
    (found,) = find_footage(rendered / "images").taken
    assert [one.clip.id for one in slow] == [clip.id for clip in open_clips(found, OpenOptions(fps=0.1))]
    assert len(slow) > 1
    second = slow[1].truth.signals(slow[1].clip, [int(slow[1].clip.frames[0])])
    path = second["camera_path"]
    assert isinstance(path, CameraPath)
    np.testing.assert_allclose(path.world_from_cam, walk().world_from_cam[slow[1].clip.frames], atol=1e-6)


def test_what_is_not_registered_has_no_truth(tmp_path: Path) -> None:
    (one,) = open_sequence(layouts.scannet(tmp_path, layouts.scene()))
    scene = one.scene([0])
    assert np.isnan(scene.world_from_cam([1])).all()
    assert np.isfinite(scene.world_from_cam([0, 2, 3])).all()


def test_a_part_of_the_images(rendered: Path, tmp_path: Path) -> None:
    """Files one by one, in the order given; poses by name."""
    names = [f"images/{frame:04d}.png" for frame in (2, 5, 9)]
    values = {**changed(poses={"match": "name"}, depth={"match": "name"}), "images": names}
    (one,) = open_sequence(rendered, manifest=stated(tmp_path, values))
    path = one.truth.signals(one.clip)["camera_path"]
    assert isinstance(path, CameraPath)
    np.testing.assert_allclose(path.world_from_cam, walk().world_from_cam[[2, 5, 9]], atol=1e-6)
    assert one.truth.depth is not None
    np.testing.assert_allclose(one.truth.depth.read(1), walk().depth(5), atol=1e-3)


def test_objects_with_masks(rendered: Path, tmp_path: Path) -> None:
    scene, values = walk(), manifest()
    listed = [
        {"label": box.name, "world_from_object": box.world_from_box.tolist(), "size": list(box.size_m)}
        for box in scene.boxes
    ]
    listed[0]["world_from_object"] = [None] + [scene.boxes[0].world_from_box.tolist()] * (FRAMES - 1)
    (rendered / "objects.json").write_text(json.dumps(listed), encoding="utf-8")
    for frame in range(FRAMES):
        layouts.save(rendered / f"ids/{frame:04d}.png", (scene.ids(frame) + 1).astype(np.uint8))
    values["objects"] = {"file": "objects.json", "masks": "ids/*.png"}
    (one,) = open_sequence(rendered, manifest=stated(tmp_path, values))
    objects = one.scene([0, 3]).objects
    assert isinstance(objects, Objects)
    np.testing.assert_array_equal(objects.ids, [scene.ids(0), scene.ids(3)])
    assert np.isnan(objects.world_from_object[0, 0]).all()
    np.testing.assert_allclose(objects.world_from_object[1], scene.world_from_boxes(3))


def test_times_that_do_not_overlap_are_said_with_their_gap(tmp_path: Path) -> None:
    folder = layouts.tum(tmp_path, layouts.scene())
    rows = np.loadtxt(folder / "groundtruth.txt")
    rows[:, 0] -= 3600
    layouts.write(folder / "groundtruth.txt", rows)
    with pytest.raises(UsageError, match=r"none of the poses belongs to an image: the nearest is 3\.6e\+03 s"):
        open_sequence(folder)


BAD: dict[str, tuple[dict[str, Any] | str, str]] = {
    "no YAML": ("name: [", "no YAML"),
    "a list": ("- name", "holds list"),
    "unknown key": ({"pose": {}}, "pose"),
    "a word for a number": (changed(camera={"fx": "wide"}), r"camera\.fx"),
    "another axis name": (changed(poses={"axes": "blender"}), r"poses\.axes"),
    "poses without a camera": ({**manifest(), "camera": None}, "poses without a camera"),
    "two cameras": ({**manifest(), "cameras": {"files": "K.txt"}}, "both camera and cameras"),
    "no camera file": ({**manifest(), "camera": None, "cameras": {"files": "K.txt"}}, "no file matches 'K.txt'"),
    "no images": ({**manifest(), "images": "pictures/*.png"}, "no two images"),
    "missing images": ({**manifest(), "images": ["images/0000.png", "images/9999.png"]}, "1 of 2 images are missing"),
    "other number of poses": ({**manifest(), "images": "images/000?.png"}, "14 poses for 10 images"),
    "no depth": (changed(depth={"images": "z/*.png"}), "no file matches 'z/"),
    "two clocks": ({**manifest(), "times": {"fps": 10, "from_names": "seconds"}}, "state one of"),
    "no objects": ({**manifest(), "objects": {"file": "things.json"}}, "things.json cannot be read as JSON"),
    "a bent lens": (changed(camera={"k2": 4.0, "k3": -9.0}), "no single radial term"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_cannot_be_read_is_refused(what: str, rendered: Path, tmp_path: Path) -> None:
    values, message = BAD[what]
    with pytest.raises(UsageError, match=message) as caught:
        (one,) = open_sequence(rendered, manifest=stated(tmp_path, values))
        one.truth.signals(one.clip)
    assert caught.value.remedy


def test_a_folder_of_no_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no known layout"):
        open_sequence(tmp_path)
    with pytest.raises(UsageError, match="there is no"):
        open_sequence(tmp_path / "nothing")
    with pytest.raises(UsageError, match="both a preset and a manifest"):
        open_sequence(tmp_path, preset="tum", manifest=tmp_path / "a.yaml")


ELSEWHERE = {
    "images": {"images": "/etc/*.png"},
    "a list of images": {"images": ["images/0000.png", "../../secret.png"]},
    "depth": changed(depth={"images": "../../*.png"}),
    "poses": changed(poses={"file": "/etc/passwd"}),
    "up": changed(gravity={"up_world": None, "file": "images/../../secret"}),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_manifest_among_the_data_names_no_other_files(what: str, rendered: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(rendered, tmp_path / "set")
    stated = yaml.safe_dump(manifest() | ELSEWHERE[what])
    (folder / "sequence.yaml").write_text(stated, encoding="utf-8")
    with pytest.raises(UsageError, match="leads out of the folder") as caught:
        open_sequence(folder)
    assert "--manifest" in caught.value.remedy


@pytest.mark.parametrize("pattern", ["", "/etc/*.png"])
def test_what_is_no_pattern_says_so(pattern: str, rendered: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(yaml.safe_dump(changed(depth={"images": pattern})), encoding="utf-8")
    with pytest.raises(UsageError, match="is no pattern of files"):
        open_sequence(rendered, manifest=own)
