"""Hypersim: per camera cam_XX tone-mapped previews, range in HDF5 (metres), poses in HDF5 (asset units).

Boxes stand upright (z up) and have no heading. An instance's name is the class that most of its pixels have.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.association import NONE, by_row
from spatial_engine.sequences.depth_images import read_hdf5
from spatial_engine.sequences.known_objects import KnownObjects, box
from spatial_engine.sequences.manifest import Camera, DepthImages, Gravity, Manifest, Poses, Scale
from spatial_engine.sequences.poses import in_opencv_axes
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset

_FOCAL = 512 / float(np.tan(np.pi / 6))
_CAMERA = Camera(fx=_FOCAL, fy=_FOCAL, cx=511.5, cy=383.5, focal_relative_sigma=1e-4)
"""60 degrees over 1024 pixels, square pixels."""
_CLASSES = (
    "", "", "", "cabinet", "bed", "chair", "sofa", "table", "door", "window", "bookshelf", "picture", "counter",
    "blinds", "desk", "shelf", "curtain", "dresser", "pillow", "mirror", "floor mat", "clothes", "", "books", "fridge",
    "television", "paper", "towel", "shower curtain", "box", "whiteboard", "person", "nightstand", "toilet", "sink",
    "lamp", "bathtub", "bag",
)  # fmt: skip
"""Of NYU40, by number; those without a name here are no objects (walls, floors, ceilings, "other")."""
_BOXES = "_detail/mesh/metadata_semantic_instance_bounding_box_object_aligned_2d_{}.hdf5"
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
                overrides=lambda images, camera=camera: _overrides(folder, camera, metres, images),  # type: ignore[misc]
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
        notes=(
            "some scenes have a shifted lens, which their files do not state: findings show it",
            "no name is complete: instances are named by people, in part",
        ),
    )  # fmt: skip


def _overrides(folder: Path, camera: Path, metres: float, images: Images) -> Overrides:
    turns = read_hdf5(camera / "camera_keyframe_orientations.hdf5")
    matrices = np.tile(np.eye(4), (len(turns), 1, 1))
    matrices[:, :3, :3] = turns
    matrices[:, :3, 3] = metres * read_hdf5(camera / "camera_keyframe_positions.hdf5")
    rows = by_row(images, len(turns), "poses")
    return Overrides(
        world_from_cam=np.where((rows == NONE)[:, None, None], np.nan, in_opencv_axes(matrices, _POSES)[rows]),
        objects=_objects(folder, camera.name, metres, images),
    )


def _objects(folder: Path, camera: str, metres: float, images: Images) -> KnownObjects | None:
    """The instances with a name and a box; row i of the boxes is instance i."""
    if not (folder / _BOXES.format("extents")).is_file():
        return None
    size, turns, middles = (
        read_hdf5(folder / _BOXES.format(name)) for name in ("extents", "orientations", "positions")
    )
    masks = [_beside(folder, camera, image, "semantic_instance") for image in images]
    seen: dict[int, Counter[int]] = {}
    for mask, kinds in zip(masks, (_beside(folder, camera, image, "semantic") for image in images), strict=True):
        if mask is not None and kinds is not None:
            pairs = np.stack([read_hdf5(mask).ravel(), read_hdf5(kinds).ravel()], axis=1).astype(np.int64)
            for (instance, kind), count in zip(*np.unique(pairs, axis=0, return_counts=True), strict=True):
                seen.setdefault(int(instance), Counter())[int(kind)] += int(count)
    names = {instance: kinds.most_common(1)[0][0] for instance, kinds in sorted(seen.items())}
    kept = [
        (instance, _CLASSES[kind])
        for instance, kind in names.items()
        if 0 < instance < len(size)
        and 0 < kind < len(_CLASSES)
        and _CLASSES[kind]
        and np.isfinite(size[instance]).all()
    ]
    poses = np.array([box(turns[instance], metres * middles[instance]) for instance, _ in kept]).reshape(-1, 4, 4)
    return KnownObjects(
        labels=tuple(name for _, name in kept),
        world_from_object=np.tile(poses, (len(images), 1, 1, 1)),
        size=metres * np.array([size[instance] for instance, _ in kept]).reshape(-1, 3),
        masks=masks,
        of_value={instance: k for k, (instance, _) in enumerate(kept)},
        read=read_hdf5,
        others_stand_still=True,
        lists_every_value=False,
    )


def _beside(folder: Path, camera: str, image: Path, what: str) -> Path | None:
    """The map of an image's instances or classes, if it is there."""
    path = folder / f"images/scene_{camera}_geometry_hdf5/{image.name.split('.tonemap')[0]}.{what}.hdf5"
    return path if path.is_file() else None


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
