"""KITTI object: training/{image_2, calib, label_2, velodyne}. Every image is a scene of its own.

The world is the rectified camera 0 (x right, y down, z forward); camera 2 is 6 cm beside it. A box has its length along
x, its height along y (down), and looks along +x, turned by rotation_y about y.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Float64

from experts.objects.box_orientation import BoxFront
from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import of_matrix
from spatial_engine.sequences.known_objects import KnownObjects, box
from spatial_engine.sequences.manifest import DepthImages, Gravity, Manifest, Scale
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset
from spatial_engine.sources.image_groups import read_header

_HIDDEN_PX = (9, 5)
"""Rows and columns around a laser point within which a nearer one hides it (the laser stands above the camera) ..."""
_HIDDEN = 1.1
"""... by this factor of depth."""
_SIGMA_M = 0.1
_ANGLE_SIGMA_RAD = 0.1
"""Chosen: cars are labelled better, people worse."""
_FRONT, _TWO_FRONTS = BoxFront(front="+x", up="-y"), BoxFront(front="+x", up="-y", fronts=2)
_NO_NAME = ("DontCare", "Misc")
_PARTLY_HIDDEN = 1
"""Largest `occluded` of an object that counts as shown (0: whole, 1: partly, 2: largely hidden, 3: not known)."""
_STATED = DepthImages(images="velodyne/*.bin", unit_m=1.0, relative_sigma=0.005, close_gaps=False)


def _fits(folder: Path) -> bool:
    return all((folder / name).is_dir() for name in ("image_2", "calib", "label_2"))


def _layouts(folder: Path) -> tuple[Layout, ...]:
    inside = folder / "training" if (folder / "training").is_dir() else folder
    manifest = Manifest(
        name="kitti-object",
        images=f"{inside.relative_to(folder) / 'image_2'}/*.png",
        stills=True,
        licence="KITTI (CC BY-NC-SA 3.0)",
        upright=True,
        gravity=Gravity(up_world=(0.0, -1.0, 0.0), sigma_deg=1.5),
        scale=Scale(kind="metric", relative_sigma=0.005, source="laser scanner"),
        notes=(
            "up is the camera's own: the road lay within 1.6 degrees of level in three images",
            "no name is complete: what is far away, or in a DontCare region, is not listed, and vans are not cars",
        ),
    )
    return (Layout(manifest=manifest, overrides=lambda images: _overrides(inside, images)),)


def _overrides(inside: Path, images: Images) -> Overrides:
    calibrations = [_calibration(inside / "calib" / f"{image.stem}.txt") for image in images]
    labels = [_labels(inside / "label_2" / f"{image.stem}.txt") for image in images]
    scans = [inside / "velodyne" / f"{image.stem}.bin" for image in images]
    sizes = [(header.height_px, header.width_px) for header in map(read_header, images)]
    return Overrides(
        cameras=tuple(of_matrix(rows["P2"].reshape(3, 4)) for rows in calibrations),
        world_from_cam=np.stack([world_from_cam(rows["P2"].reshape(3, 4)) for rows in calibrations]),
        depth=LaserDepth(scans=scans, calibrations=calibrations, sizes=sizes),
        objects=joined(labels),
    )


def _calibration(path: Path) -> dict[str, Float64[np.ndarray, "k"]]:
    try:
        lines = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
        rows = {name.strip(): np.array(rest.split(), dtype=np.float64) for name, _, rest in lines if rest.strip()}
        if {name: rows[name].size for name in ("P2", "R0_rect", "Tr_velo_to_cam")} != {
            "P2": 12, "R0_rect": 9, "Tr_velo_to_cam": 12,
        }:  # fmt: skip
            raise ValueError("unexpected row lengths")
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"{path} is not a calibration file: {error}", "it needs P2, R0_rect and Tr_velo_to_cam"
        ) from error
    return rows


def world_from_cam(projection: Float64[np.ndarray, "3 4"]) -> Float64[np.ndarray, "4 4"]:
    """Pose of the camera of a projection matrix in camera 0."""
    pose = np.eye(4)
    pose[:3, 3] = -np.linalg.solve(projection[:, :3], projection[:, 3])
    return pose


@dataclass(frozen=True, kw_only=True)
class ObjectLabel:
    """One line of a label file."""

    name: str
    world_from_box: Float64[np.ndarray, "4 4"]
    size: tuple[float, float, float]
    """Length, height, width."""
    box_px: Float64[np.ndarray, "2 2"]
    """NaN where something hides most of it."""


def _labels(path: Path) -> list[ObjectLabel]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return labels_of(enumerate(lines, start=1), path)


def labels_of(lines: Iterable[tuple[int, str]], path: Path) -> list[ObjectLabel]:
    """What numbered lines of a file label with a name and a box. Raises `UsageError` that names the line."""
    found: list[ObjectLabel] = []
    for number, line in lines:
        name, *rest = line.split()
        try:
            values = [float(value) for value in rest]
            height, width, length, x, y, z, yaw_rad = values[7:14]
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {error}", "a class and fourteen numbers") from error
        if name in _NO_NAME:
            continue
        cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
        axes = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])
        shown = 0 <= values[1] <= _PARTLY_HIDDEN
        found.append(
            ObjectLabel(
                name=name,
                world_from_box=box(axes, (x, y - height / 2, z)),
                size=(length, height, width),
                box_px=np.reshape(values[3:7], (2, 2)) if shown else np.full((2, 2), np.nan),
            )
        )
    return found


def joined(labels: Sequence[list[ObjectLabel]]) -> KnownObjects:
    """Each image has its own objects: they are unknown in the others."""
    every = [(image, one) for image, of_image in enumerate(labels) for one in of_image]
    poses = np.full((len(labels), len(every), 4, 4), np.nan)
    box_px = np.full((len(labels), len(every), 2, 2), np.nan)
    for k, (image, one) in enumerate(every):
        poses[image, k], box_px[image, k] = one.world_from_box, one.box_px
    return KnownObjects(
        labels=tuple(one.name for _, one in every),
        world_from_object=poses,
        size=np.array([one.size for _, one in every], dtype=np.float64).reshape(-1, 3),
        sigma=_SIGMA_M,
        angle_sigma_rad=_ANGLE_SIGMA_RAD,
        fronts=tuple(_TWO_FRONTS if one.name == "Tram" else _FRONT for _, one in every),
        box_px=box_px,
    )


@dataclass(frozen=True, kw_only=True)
class LaserDepth:
    """z of camera 2 at the pixels that a laser scan hits, without those that something nearer hides."""

    scans: Sequence[Path]
    calibrations: Sequence[dict[str, np.ndarray]]
    sizes: Sequence[tuple[int, int]]
    """Height and width of each image."""
    stated: DepthImages = _STATED

    def has(self, frame: int) -> bool:
        """Whether there is a scan."""
        return self.scans[frame].is_file()

    def only(self, image: int) -> "LaserDepth":
        """That of one image."""
        rows = slice(image, image + 1)
        return replace(self, scans=self.scans[rows], calibrations=self.calibrations[rows], sizes=self.sizes[rows])

    def read(self, frame: int) -> Float32[np.ndarray, "h w"]:
        """See `DepthSource`."""
        from scipy.ndimage import minimum_filter

        rows, shape = self.calibrations[frame], self.sizes[frame]
        scanned = np.fromfile(self.scans[frame], dtype=np.float32).reshape(-1, 4)[:, :3].astype(np.float64)
        in_cam0 = (scanned @ rows["Tr_velo_to_cam"].reshape(3, 4)[:, :3].T + rows["Tr_velo_to_cam"][3::4]) @ rows[
            "R0_rect"
        ].reshape(3, 3).T
        projection = rows["P2"].reshape(3, 4)
        seen = in_cam0 @ projection[:, :3].T + projection[:, 3]
        z = in_cam0[:, 2] - world_from_cam(projection)[2, 3]
        ahead = z > 0.5
        xy = np.rint(seen[ahead, :2] / seen[ahead, 2:]).astype(int)
        z = z[ahead]
        inside = np.all((xy >= 0) & (xy < shape[::-1]), axis=1)
        nearest = np.full(shape, np.inf)
        np.minimum.at(nearest, (xy[inside, 1], xy[inside, 0]), z[inside])
        hidden = nearest > _HIDDEN * minimum_filter(nearest, size=_HIDDEN_PX, mode="nearest")
        return np.where(np.isfinite(nearest) & ~hidden, nearest, np.nan).astype(np.float32)


KITTI_OBJECT = Preset(
    fits=lambda folder: _fits(folder) or _fits(folder / "training"),
    layouts=_layouts,
    source="Geiger et al., Are we ready for autonomous driving?, CVPR 2012, and the development kit's readme",
    checked=True,
)
