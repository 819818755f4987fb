"""CO3Dv2: CATEGORY/SEQUENCE/{images, depths}, and CATEGORY/frame_annotations.jgz (PyTorch3D's cameras).

Poses and depth come from COLMAP on the same pictures: they can agree, they cannot prove.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import Camera, DepthImages, Manifest, Poses, Scale
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset

_FRAMES = "frame_annotations.jgz"
_OPENCV_FROM_PYTORCH3D = np.diag([-1.0, -1.0, 1.0])
"""PyTorch3D: x left, y up, z forward."""


def _fits(folder: Path) -> bool:
    return (folder.resolve().parent / _FRAMES).is_file() and (folder / "images").is_dir()


def _layouts(folder: Path) -> tuple[Layout, ...]:
    path = folder.resolve().parent / _FRAMES
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            frames = [one for one in json.load(file) if one["sequence_name"] == folder.resolve().name]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error!r}", "it is the gzipped JSON of the category") from error
    return (Layout(manifest=_manifest(folder, frames), overrides=lambda images: _overrides(path, frames, images)),)


def _manifest(folder: Path, frames: list[dict[str, Any]]) -> Manifest:
    factors = {float(one["depth"]["scale_adjustment"]) for one in frames if one.get("depth")}
    if len(factors) > 1:
        raise UsageError(f"{folder}: depth has {len(factors)} scales", "write .npy in one unit, and a sequence.yaml")
    depth = DepthImages(
        images="depths/*.geometric.png", unit_m=next(iter(factors), 1.0), bits="half_float", match="name",
        relative_sigma=0.05,
    )  # fmt: skip
    return Manifest(
        name=folder.resolve().name,
        images="images/*.jpg",
        licence="CO3Dv2 (CC BY-NC 4.0)",
        truth="agreement",
        poses=Poses(match="name"),
        depth=depth if factors and any(folder.glob(depth.images)) else None,
        scale=Scale(kind="relative"),
        notes=("poses are COLMAP's, of the same pictures",),
    )


def _overrides(path: Path, frames: list[dict[str, Any]], images: Images) -> Overrides:
    known = {Path(str(one["image"]["path"])).name: one for one in frames if one.get("viewpoint")}
    missing = [image.name for image in images if image.name not in known]
    if missing:
        raise UsageError(f"{path} says nothing of {len(missing)} images ({missing[0]})", "leave those images out")
    rows = [known[image.name] for image in images]
    return Overrides(
        cameras=tuple(_camera(one["viewpoint"], *one["image"]["size"]) for one in rows),
        world_from_cam=np.stack([_world_from_cam(one["viewpoint"]) for one in rows]),
        times_s=_times(rows),
    )


def _times(rows: list[dict[str, Any]]) -> np.ndarray | None:
    stamps = np.array([float(one.get("frame_timestamp", -1.0)) for one in rows])
    return stamps if len(stamps) > 1 and np.all(np.diff(stamps) > 0) else None


def _camera(viewpoint: dict[str, Any], height: int, width: int) -> Camera:
    """Pixels of what is stated in halves of the shorter side, or of each side (the older format)."""
    halves = np.array([width, height]) / 2
    unit = halves if viewpoint.get("intrinsics_format") != "ndc_isotropic" else np.full(2, halves.min())
    fx, fy = np.array(viewpoint["focal_length"]) * unit
    cx, cy = halves - np.array(viewpoint["principal_point"]) * unit - 0.5
    return Camera(fx=float(fx), fy=float(fy), cx=float(cx), cy=float(cy), focal_relative_sigma=0.01)


def _world_from_cam(viewpoint: dict[str, Any]) -> np.ndarray:
    """Rows are multiplied from the left there: x_cam = x_world R + T."""
    cam_from_world = np.eye(4)
    cam_from_world[:3, :3] = _OPENCV_FROM_PYTORCH3D @ np.array(viewpoint["R"], dtype=np.float64).T
    cam_from_world[:3, 3] = _OPENCV_FROM_PYTORCH3D @ np.array(viewpoint["T"], dtype=np.float64)
    return np.linalg.inv(cam_from_world)


CO3DV2 = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Reizenstein et al., CO3D, ICCV 2021, and data_types.py of its repository",
    checked=False,
)
