"""KITTI odometry: image_0 (or image_2, image_l), calib.txt, poses.txt or ../../poses/NN.txt, times.txt."""

from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import Camera, Manifest, Poses, Scale, Times
from spatial_engine.sequences.presets import Preset, single

_CAMERAS = {"image_2": "P2", "image_0": "P0", "image_l": "P0"}
"""Folders of left cameras, and the row of calib.txt that is their projection."""


def _fits(folder: Path) -> bool:
    return (folder / "calib.txt").is_file() and _images(folder) is not None and _poses(folder) is not None


def _images(folder: Path) -> str | None:
    return next((name for name in _CAMERAS if (folder / name).is_dir()), None)


def _poses(folder: Path) -> str | None:
    candidates = ("poses.txt", f"../../poses/{folder.resolve().name}.txt")
    return next((name for name in candidates if (folder / name).is_file()), None)


def _manifest(folder: Path) -> Manifest:
    images, poses = _images(folder), _poses(folder)
    if images is None or poses is None:
        raise UsageError(
            f"{folder} is no sequence of KITTI odometry", "it has image_0 or image_2, calib.txt and poses.txt"
        )
    projection = _projection(folder / "calib.txt", _CAMERAS[images])
    return Manifest(
        name=folder.resolve().name,
        images=f"{images}/*.png",
        licence="KITTI (CC BY-NC-SA 3.0)",
        upright=True,
        times=Times(file="times.txt") if (folder / "times.txt").is_file() else None,
        camera=Camera(fx=projection[0, 0], fy=projection[1, 1], cx=projection[0, 2], cy=projection[1, 2]),
        poses=Poses(file=poses, form="kitti", match="name", rotation_sigma_deg=0.1, direction_sigma_deg=0.5),
        scale=Scale(kind="metric", relative_sigma=0.01, source="GPS/IMU"),
        notes=(
            "poses are those of camera 0; another left camera stands beside it",
            "forward motion: weak test of rotation",
        ),
    )


def _projection(path: Path, row: str) -> np.ndarray:
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, numbers = line.partition(":") if ":" in line else line.partition(" ")
        if name.strip() == row:
            return np.array([float(number) for number in numbers.split()]).reshape(3, 4)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if len(line.split()) == 12]
    if lines:  # rows without names, in the order of cameras
        return np.array([float(number) for number in lines[int(row[1:])].split()]).reshape(3, 4)
    raise UsageError(f"{path} has no row {row}", "rows are P0: to P3:, 12 numbers each")


KITTI_ODOMETRY = Preset(
    fits=_fits,
    layouts=single(_manifest),
    source="Geiger et al., Are we ready for autonomous driving?, CVPR 2012, and the development kit's readme",
    checked=True,
)
