"""Real sets with ground truth. Skipped unless SPATIAL_ENGINE_DATA names their folder."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.signals import CameraPath, Depth, ObjectOrientation, Objects
from spatial_engine.sequences import Sequence, open_sequence
from tests.spatial_engine.sequences.layouts import placed, write

DATA = Path(os.environ.get("SPATIAL_ENGINE_DATA", ""))
MANIFESTS = Path(__file__).parents[3] / "benchmarks/trust/manifests"
pytestmark = [
    pytest.mark.skipif("SPATIAL_ENGINE_DATA" not in os.environ, reason="SPATIAL_ENGINE_DATA is not set"),
    pytest.mark.long(sample=True),
]


def one_of(name: str) -> Sequence:
    """By its manifest, where it has one."""
    manifest = MANIFESTS / f"{name}.yaml"
    (one,) = open_sequence(DATA / name, manifest=manifest if manifest.is_file() else None)
    return one


@pytest.mark.parametrize("name", ["hololens_indoor", "mobilebrick", "strecha_fountain", "adt_apartment"])
def test_sound_sets_have_no_findings(name: str) -> None:
    assert one_of(name).findings == ()


def test_poses_of_the_same_features_agree_only() -> None:
    one = one_of("fox_ngp")
    assert one.truth.provenance.version == "agreement"
    assert one.truth.scale.kind == "relative"


def box_on_picture(path: CameraPath, pose: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Left, top, right, bottom."""
    corners = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)]) * size
    cam_from_box = np.linalg.inv(path.world_from_cam[0]) @ pose
    xy = path.intrinsics.project(corners @ cam_from_box[:3, :3].T + cam_from_box[:3, 3])
    return np.concatenate([xy.min(axis=0), xy.max(axis=0)])


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """Intersection over union."""
    both = np.maximum(0, np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])).prod()
    return float(both / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - both))


def test_boxes_of_kitti_lie_on_their_labels() -> None:
    for one in open_sequence(DATA / "kitti_object"):
        found = one.truth.signals(one.clip, [0])
        path, objects = found["camera_path"], found["objects"]
        assert isinstance(path, CameraPath) and isinstance(objects, Objects) and objects.size is not None
        lines = (DATA / "kitti_object/training/label_2" / f"{Path(one.clip.name).name}.txt").read_text().splitlines()
        labels = [
            np.array(line.split()[4:8], dtype=float) for line in lines if not line.startswith(("DontCare", "Misc"))
        ]
        shares = [
            overlap(box_on_picture(path, pose, size), label)
            for pose, size, label in zip(objects.world_from_object[0], objects.size, labels, strict=True)
        ]
        assert min(shares) > 0.85
        if isinstance(depth := found.get("depth"), Depth):
            for pose, label in zip(objects.world_from_object[0], labels, strict=True):
                left, top, right, bottom = label.astype(int)
                laser = float(np.nanmedian(depth.z[0, top:bottom, left:right]))
                assert abs(laser - pose[2, 3]) < 7.0  # a truck of 12 m is hit at its near end


def test_fronts_of_kitti_tracking_are_its_observation_angles() -> None:
    """Azimuth of a car: its alpha, which the file states beside the box, less 270 degrees."""
    lines = [line.split() for line in (DATA / "kitti_tracking_a/label_02/0001.txt").read_text().splitlines()]
    for one in open_sequence(DATA / "kitti_tracking_a"):
        facing = one.truth.signals(one.clip, [0])["object_orientation"]
        assert isinstance(facing, ObjectOrientation)
        frame = int(Path(one.clip.name).name)
        own = [line for line in lines if int(line[0]) == frame and line[2] not in ("DontCare", "Misc")]
        off = facing.azimuth_rad[0] - (np.array([float(line[5]) for line in own]) - np.pi / 2)
        assert len(own) > 5
        error_rad = 2 * np.abs(np.sin(off / 2))  # the angle of a close car depends on which point counts as its middle
        assert np.median(error_rad) < 0.01 and error_rad.max() < 0.1


def test_masks_of_adt_lie_in_their_boxes() -> None:
    one = one_of("adt_apartment")
    found = one.truth.signals(one.clip, [0])
    path, depth, objects = found["camera_path"], found["depth"], found["objects"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth) and isinstance(objects, Objects)
    assert objects.size is not None and objects.centre_sigma is None
    y, x = np.mgrid[: one.clip.height_px, : one.clip.width_px]
    rays = path.intrinsics.rays(np.stack([x, y], axis=-1).astype(float))
    points = rays / rays[..., 2:] * depth.z[0][..., None]
    shares = []
    for thing in np.unique(objects.ids[0]):
        mask = objects.ids[0] == thing
        if thing < 0 or mask.sum() < 200:
            continue
        box_from_cam = np.linalg.inv(objects.world_from_object[0, thing]) @ path.world_from_cam[0]
        inside = np.abs(points[mask] @ box_from_cam[:3, :3].T + box_from_cam[:3, 3]) < objects.size[thing] / 2 + 0.02
        shares.append(inside.all(axis=1).mean())
    assert len(shares) > 50
    assert min(shares) > 0.95


_PLAIN = {("numpy", name) for name in ("scalar", "dtype", "_reconstruct", "ndarray")} | {("_codecs", "encode")}


class PlainPickle(pickle.Unpickler):
    """Reads numbers and containers; nothing that could act."""

    def find_class(self, module: str, name: str) -> Any:
        """Numpy's scalars and arrays alone."""
        if (module.split(".")[0], name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def test_boxes_of_a_nuscenes_frame_lie_on_their_labels(tmp_path: Path) -> None:
    """The numbers are real, the tables are written here: the dataset's own are not at hand."""
    with next((DATA / "nuscenes_frame").glob("*.pkl")).open("rb") as file:
        sample = PlainPickle(file).load()["data_list"][0]
    image, ego = sample["images"]["CAM_FRONT"], np.array(sample["ego2global"])
    mount = placed(np.array(image["cam2ego"]))
    lidar2ego = np.array(sample["lidar_points"]["lidar2ego"])
    tables: dict[str, list[dict[str, Any]]] = {
        "sensor": [{"token": "s", "channel": "CAM_FRONT"}],
        "calibrated_sensor": [
            {"token": "c", "sensor_token": "s", "camera_intrinsic": image["cam2img"], **mount}
        ],
        "scene": [{"token": "z", "name": "scene"}],
        "sample": [{"token": "m", "scene_token": "z"}],
        "ego_pose": [{"token": "e", **placed(ego)}],
        "sample_data": [
            {"token": f"d{k}", "sample_token": "m", "ego_pose_token": "e", "filename": f"samples/{k}.jpg",
             "calibrated_sensor_token": "c", "timestamp": 500_000 * k, "is_key_frame": k == 0}
            for k in (0, 1)
        ],
        "category": [{"token": str(k), "name": str(k)} for k in range(-1, 10)],
        "instance": [], "sample_annotation": [],
    }  # fmt: skip
    for k, one in enumerate(sample["instances"]):
        x, y, z, length, width, height, yaw = map(float, one["bbox_3d"])
        pose = np.eye(4)
        pose[:2, :2] = [[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]
        pose[:3, 3] = x, y, z
        tables["instance"].append({"token": f"i{k}", "category_token": str(int(one["bbox_label"]))})
        row = {"sample_token": "m", "instance_token": f"i{k}", "size": [width, length, height]}
        tables["sample_annotation"].append(row | placed(ego @ lidar2ego @ pose))
    for name, rows in tables.items():
        write(tmp_path / f"v1.0-mini/{name}.json", json.dumps(rows))
    for k in (0, 1):
        (tmp_path / "samples").mkdir(exist_ok=True)
        (tmp_path / f"samples/{k}.jpg").write_bytes((DATA / "nuscenes_frame" / image["img_path"]).read_bytes())
    (opened,) = open_sequence(tmp_path)
    found = opened.truth.signals(opened.clip, [0])
    path, objects = found["camera_path"], found["objects"]
    assert isinstance(path, CameraPath) and isinstance(objects, Objects) and objects.size is not None
    shown = [
        box_on_picture(path, pose, size) for pose, size in zip(objects.world_from_object[0], objects.size, strict=True)
    ]
    labels = [np.array(one["bbox"], dtype=float) for one in sample["cam_instances"]["CAM_FRONT"]]
    inside = [one for one in labels if one[0] > 1 and one[1] > 1 and one[2] < 1598 and one[3] < 898]
    assert len(inside) >= 5
    best = [max(overlap(box, label) for box in shown if np.isfinite(box).all()) for label in inside]
    assert np.median(best) > 0.8
