"""Sets of the data folder laid out for `open_sequence`."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform, Rotation

from benchmarks.trust.layouts import MANIFESTS, WRITTEN, laid_out
from spatial_engine.sequences import open_sequence
from spatial_engine.sequences.manifest import read_manifest


def picture(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(len(path.name)).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    assert cv2.imwrite(str(path), noise)


def turned(deg: float) -> np.ndarray:
    return RigidTransform.from_components([deg, 0.0, 1.0], Rotation.from_euler("y", deg, degrees=True)).as_matrix()


@pytest.mark.parametrize("path", sorted(MANIFESTS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_manifest_can_be_read_and_bears_the_name_of_its_set(path: Path) -> None:
    assert read_manifest(path).name == path.stem


def test_what_is_written_belongs_to_a_manifest() -> None:
    assert {*WRITTEN} <= {path.stem for path in MANIFESTS.glob("*.yaml")}


def test_poses_of_truth_json_become_those_of_the_sequence(tmp_path: Path) -> None:
    poses = [turned(10.0 * k) for k in range(3)]
    for k in range(3):
        picture(tmp_path / f"data/temple_ring/templeR000{k}.png")
    frames = [{"world_from_cam": pose.tolist()} for pose in poses]
    (tmp_path / "data/temple_ring/truth.json").write_text(json.dumps({"frames": frames}))
    (folder,) = laid_out(tmp_path / "data", "temple_ring", tmp_path / "out")
    (found,) = open_sequence(folder)
    assert found.truth.world_from_cam == pytest.approx(np.stack(poses), abs=1e-6)
    assert not list((tmp_path / "data").glob("**/sequence.yaml"))


def test_the_second_photo_of_a_pair_has_the_inverse_of_the_stated_pose(tmp_path: Path) -> None:
    folder, second_from_first = tmp_path / "data/scannet_pairs", turned(40.0)
    for name in ("b.jpg", "a.jpg"):
        picture(folder / "images" / name)
    camera = "150 0 80 0 150 60 0 0 1"
    numbers = " ".join(map(str, second_from_first.ravel()))
    (folder / "pairs_with_gt.txt").write_text(f"b.jpg a.jpg 0 0 {camera} {camera} {numbers}\n")
    (pair,) = laid_out(tmp_path / "data", "scannet_pairs", tmp_path / "out")
    (found,) = open_sequence(pair)
    assert [path.name for path in found.clip.reader.paths] == ["0.jpg", "1.jpg"]  # type: ignore[attr-defined]
    assert found.truth.world_from_cam is not None
    assert np.linalg.inv(found.truth.world_from_cam[1]) == pytest.approx(second_from_first, abs=1e-6)


def test_a_set_with_a_preset_stays_where_it_is(tmp_path: Path) -> None:
    assert laid_out(tmp_path, "kitti_odom_a", tmp_path / "out") == [tmp_path / "kitti_odom_a"]
