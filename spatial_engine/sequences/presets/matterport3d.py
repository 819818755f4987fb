"""Matterport3D: undistorted_{color,depth}_images and undistorted_camera_parameters/HOUSE.conf.

Six photos of one camera on one tripod, 60 degrees apart, are a sequence. The .conf counts pixels from the lower edge.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import of_matrix
from spatial_engine.sequences.manifest import Camera, DepthImages, Gravity, Manifest, Poses, Scale
from spatial_engine.sequences.poses import in_opencv_axes
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset
from spatial_engine.sources.image_groups import read_header

_NAME = re.compile(r"(?P<panorama>.+)_i(?P<camera>\d)_(?P<turn>\d)\.jpg")
_POSES = Poses(axes="opengl", rotation_sigma_deg=0.5, direction_sigma_deg=3.0)
_COLOUR, _DEPTH = "undistorted_color_images", "undistorted_depth_images"


@dataclass(frozen=True)
class _Scan:
    image: str
    depth: str
    world_from_cam: np.ndarray
    matrix: np.ndarray


def _fits(folder: Path) -> bool:
    return any(folder.glob("undistorted_camera_parameters/*.conf")) and (folder / _COLOUR).is_dir()


def _layouts(folder: Path) -> Iterator[Layout]:
    stands: dict[str, list[_Scan]] = defaultdict(list)
    for scan in _scans(next(folder.glob("undistorted_camera_parameters/*.conf"))):
        named = _NAME.fullmatch(scan.image)
        if named and (folder / _COLOUR / scan.image).is_file():
            stands[f"{named['panorama']}/i{named['camera']}"].append(scan)
    for stand, scans in sorted(stands.items()):
        if len(scans) > 1:
            scans.sort(key=lambda scan: scan.image)
            yield Layout(
                manifest=_manifest(f"{folder.resolve().name}/{stand}", folder, scans),
                overrides=lambda images, scans=scans: _overrides(scans, images),  # type: ignore[misc]
            )


def _manifest(name: str, folder: Path, scans: list[_Scan]) -> Manifest:
    panorama, camera = scans[0].depth.rsplit("_", 2)[:2]
    has_depth = (folder / _DEPTH / scans[0].depth).is_file()
    return Manifest(
        name=name,
        images=tuple(f"{_COLOUR}/{scan.image}" for scan in scans),
        licence="Matterport3D terms of use (non-commercial research)",
        upright=True,
        camera=_camera(scans[0].matrix, read_header(folder / _COLOUR / scans[0].image).height_px),
        poses=_POSES,
        depth=DepthImages(
            images=f"{_DEPTH}/{panorama}_{camera}_*.png", unit_m=0.00025, match="name", relative_sigma=0.02
        )
        if has_depth
        else None,
        gravity=Gravity(up_world=(0.0, 0.0, 1.0), sigma_deg=2.0),
        scale=Scale(kind="metric", relative_sigma=0.02, source="structured light"),
        notes=("six photos around a tripod, 60 degrees apart: no video",),
    )


def _camera(matrix: np.ndarray, height_px: int) -> Camera:
    """The camera of a matrix that counts rows from the lower edge."""
    upside = matrix.copy()
    upside[1, 2] = height_px - matrix[1, 2]
    return of_matrix(upside, corner=True)


def _overrides(scans: list[_Scan], images: Images) -> Overrides:
    poses = {scan.image: scan.world_from_cam for scan in scans}
    return Overrides(world_from_cam=in_opencv_axes(np.stack([poses[image.name] for image in images]), _POSES))


def _scans(path: Path) -> Iterator[_Scan]:
    matrix = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        word, *rest = line.split() or [""]
        try:
            if word == "intrinsics_matrix":
                matrix = np.array(rest, dtype=np.float64).reshape(3, 3)
            elif word == "scan" and matrix is not None:
                yield _Scan(rest[1], rest[0], np.array(rest[2:], dtype=np.float64).reshape(4, 4), matrix)
        except (ValueError, IndexError) as error:
            raise UsageError(f"{path}, line {number}: {error}", "scan DEPTH COLOUR and sixteen numbers") from error


MATTERPORT3D = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Chang et al., Matterport3D, 3DV 2017, and data_organization.md of its repository",
    checked=False,
)
