"""Hypersim: per camera cam_XX tone-mapped previews, range in HDF5 (metres), poses in HDF5 (asset units)."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.association import NONE, by_row
from spatial_engine.sequences.depth_images import read_hdf5
from spatial_engine.sequences.manifest import Camera, DepthImages, Gravity, Manifest, Poses, Scale
from spatial_engine.sequences.poses import in_opencv_axes
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset

_FOCAL = 512 / float(np.tan(np.pi / 6))
_CAMERA = Camera(fx=_FOCAL, fy=_FOCAL, cx=511.5, cy=383.5, focal_relative_sigma=1e-4)
"""60 degrees over 1024 pixels, square pixels."""
_POSES = Poses(
    axes="opengl", rotation_sigma_deg=0.01, direction_sigma_deg=0.05, position_relative_sigma=0.001, match="name"
)


def _fits(folder: Path) -> bool:
    return (folder / "_detail/metadata_scene.csv").is_file() and (folder / "images").is_dir()


def _layouts(folder: Path) -> Iterator[Layout]:
    metres = _metres_per_unit(folder / "_detail/metadata_scene.csv")
    for camera in sorted(folder.glob("_detail/cam_*")):
        if any(folder.glob(f"images/scene_{camera.name}_final_preview/*.tonemap.jpg")):
            yield Layout(
                manifest=_manifest(folder.resolve().name, camera.name),
                overrides=lambda images, camera=camera: _overrides(camera, metres, images),  # type: ignore[misc]
            )


def _manifest(name: str, camera: str) -> Manifest:
    return Manifest(
        name=f"{name}/{camera}",
        images=f"images/scene_{camera}_final_preview/*.tonemap.jpg",
        licence="Hypersim (CC BY-SA 3.0)",
        camera=_CAMERA,
        poses=_POSES,
        depth=DepthImages(
            images=f"images/scene_{camera}_geometry_hdf5/*.depth_meters.hdf5", unit_m=1.0, along="range", match="name",
            relative_sigma=0.001,
        ),
        gravity=Gravity(up_world=(0.0, 0.0, 1.0), sigma_deg=0.01),
        scale=Scale(kind="metric", relative_sigma=1e-3, source="metadata_scene.csv"),
        notes=("some scenes have a shifted lens, which their files do not state: findings show it",),
    )  # fmt: skip


def _overrides(camera: Path, metres: float, images: Images) -> Overrides:
    turns = read_hdf5(camera / "camera_keyframe_orientations.hdf5")
    matrices = np.tile(np.eye(4), (len(turns), 1, 1))
    matrices[:, :3, :3] = turns
    matrices[:, :3, 3] = metres * read_hdf5(camera / "camera_keyframe_positions.hdf5")
    rows = by_row(images, len(turns), "poses")
    return Overrides(
        world_from_cam=np.where((rows == NONE)[:, None, None], np.nan, in_opencv_axes(matrices, _POSES)[rows])
    )


def _metres_per_unit(path: Path) -> float:
    for row in csv.reader(path.read_text(encoding="utf-8").splitlines()):
        if row and row[0].strip() == "meters_per_asset_unit":
            return float(row[1])
    raise UsageError(f"{path} has no meters_per_asset_unit", "its rows are parameter_name,parameter_value")


HYPERSIM = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Roberts et al., Hypersim, ICCV 2021, and the readme of its toolkit",
    checked=False,
)
