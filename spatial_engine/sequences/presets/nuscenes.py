"""nuScenes: v1.0-*/*.json tables; a sequence is one camera of one scene ("scene-0061/CAM_FRONT").

The world is the map's (z up); boxes stand at the key frames alone. A box has its length along x, and looks along +x.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from experts.objects.box_orientation import UNKNOWN_FRONT, BoxFront
from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import of_matrix
from spatial_engine.sequences.known_objects import KnownObjects, box
from spatial_engine.sequences.manifest import Gravity, Manifest, Poses, Scale
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset

_SIGMA_M = 0.1
_FRONT = BoxFront(front="+x", up="+z")
_HEADED = ("vehicle.", "human.", "animal")
"""Kinds of objects whose boxes have a heading; cones and barriers have none that counts."""
_NAMES = {
    "trafficcone": "traffic cone",
    "construction": "construction vehicle",
    "emergency": "emergency vehicle",
    "pushable_pullable": "pushable object",
}
"""Second words of categories that are no names."""
_LEVELS = {"1": 0.2, "2": 0.5, "3": 0.7, "4": 0.9}
"""Visible share over all six cameras, by visibility token (0-40, 40-60, 60-80, 80-100 %)."""
_Row = dict[str, Any]


class _Tables:
    """A version's tables, read when asked for."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, next(path for path in sorted(root.glob("v1.0-*")) if path.is_dir())

    def rows(self, name: str) -> list[_Row]:
        """Rows of one table."""
        path = self.folder / f"{name}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"{path} cannot be read: {error}", "unpack the metadata of nuScenes") from error

    def by_token(self, name: str) -> dict[str, _Row]:
        """Rows by their token."""
        return {row["token"]: row for row in self.rows(name)}

    @cached_property
    def egos(self) -> dict[str, _Row]:
        """Poses of the car."""
        return self.by_token("ego_pose")

    @cached_property
    def mounts(self) -> dict[str, _Row]:
        """Calibrated sensors."""
        return self.by_token("calibrated_sensor")

    @cached_property
    def annotations(self) -> dict[str, list[_Row]]:
        """Boxes of each key frame."""
        found: dict[str, list[_Row]] = defaultdict(list)
        for row in self.rows("sample_annotation"):
            found[row["sample_token"]].append(row)
        return found

    @cached_property
    def category_of(self) -> dict[str, str]:
        """Of each instance."""
        names = {row["token"]: str(row["name"]) for row in self.rows("category")}
        return {row["token"]: names[row["category_token"]] for row in self.rows("instance")}

    def sequences(self) -> Iterator[tuple[str, list[_Row]]]:
        """(scene/camera, images in order of time) of what lies on the disk."""
        channels = {row["token"]: str(row["channel"]) for row in self.rows("sensor")}
        scenes = {row["token"]: str(row["name"]) for row in self.rows("scene")}
        scene_of = {row["token"]: scenes[row["scene_token"]] for row in self.rows("sample")}
        found: dict[str, list[_Row]] = defaultdict(list)
        for row in self.rows("sample_data"):
            channel = channels[self.mounts[row["calibrated_sensor_token"]]["sensor_token"]]
            if channel.startswith("CAM") and (self.root / row["filename"]).is_file():
                found[f"{scene_of[row['sample_token']]}/{channel}"].append(row)
        for name, rows in sorted(found.items()):
            if len(rows) > 1:
                yield name, sorted(rows, key=lambda row: int(row["timestamp"]))


def _layouts(folder: Path) -> Iterator[Layout]:
    tables = _Tables(folder)
    for name, rows in tables.sequences():
        manifest = Manifest(
            name=name,
            images=tuple(str(row["filename"]) for row in rows),
            licence="nuScenes (CC BY-NC-SA 4.0)",
            upright=True,
            poses=Poses(rotation_sigma_deg=0.5, direction_sigma_deg=1.0),
            gravity=Gravity(up_world=(0.0, 0.0, 1.0), sigma_deg=1.0),
            scale=Scale(kind="metric", relative_sigma=0.01, source="GPS/IMU"),
            notes=(
                "the height of the car is not measured: its positions lie in one plane",
                "no name is complete: an object without a point of laser or radar is not listed",
            ),
        )
        yield Layout(manifest=manifest, overrides=lambda images, rows=rows: _overrides(tables, rows, images))  # type: ignore[misc]


def _overrides(tables: _Tables, rows: list[_Row], images: Images) -> Overrides:
    mounts = [tables.mounts[row["calibrated_sensor_token"]] for row in rows]
    poses = [_pose(tables.egos[row["ego_pose_token"]]) @ _pose(mount) for row, mount in zip(rows, mounts, strict=True)]
    return Overrides(
        cameras=tuple(of_matrix(np.array(mount["camera_intrinsic"], dtype=np.float64)) for mount in mounts),
        world_from_cam=np.stack(poses),
        times_s=np.array([(int(row["timestamp"]) - int(rows[0]["timestamp"])) / 1e6 for row in rows]),
        objects=_objects(tables, rows),
    )


def _pose(row: _Row) -> np.ndarray:
    return box(_turn(row), row["translation"])


def _turn(row: _Row) -> np.ndarray:
    """Quaternions there begin with w."""
    w, x, y, z = row["rotation"]
    return Rotation.from_quat([x, y, z, w]).as_matrix()


def _objects(tables: _Tables, rows: list[_Row]) -> KnownObjects:
    """Sizes there are width, length, height."""
    keys = [tables.annotations.get(row["sample_token"], []) if row.get("is_key_frame") else [] for row in rows]
    first: dict[str, _Row] = {}
    for boxes in keys:
        for one in boxes:
            first.setdefault(one["instance_token"], one)
    place = {token: k for k, token in enumerate(first)}
    poses = np.full((len(rows), len(place), 4, 4), np.nan)
    visible = np.full((len(rows), len(place)), np.nan)
    for image, boxes in enumerate(keys):
        for one in boxes:
            at = image, place[one["instance_token"]]
            poses[at], visible[at] = _pose(one), _LEVELS.get(str(one.get("visibility_token")), np.nan)
    size = np.array([np.array(one["size"])[[1, 0, 2]] for one in first.values()], dtype=np.float64).reshape(-1, 3)
    kinds = [tables.category_of[token] for token in first]
    return KnownObjects(
        labels=tuple(_name(kind) for kind in kinds),
        world_from_object=poses,
        size=size,
        sigma=_SIGMA_M,
        fronts=tuple(_FRONT if kind.startswith(_HEADED) else UNKNOWN_FRONT for kind in kinds),
        visible=visible,
    )


def _name(category: str) -> str:
    """Of "human.pedestrian.adult": pedestrian."""
    words = category.split(".")
    return _NAMES.get(words[1], words[1].replace("_", " ")) if len(words) > 1 else category


NUSCENES = Preset(
    fits=lambda folder: any(folder.glob("v1.0-*/sample_data.json")),
    layouts=_layouts,
    source="Caesar et al., nuScenes, CVPR 2020, and schema_nuscenes.md of its development kit",
    checked=False,
)
