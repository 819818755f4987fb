"""KITTI tracking: image_02/SEQ/*.png, label_02/SEQ.txt, calib/SEQ.txt; every image is a scene of its own.

The dataset states no poses of the car. Boxes are as in `kitti_object`; an object keeps its number over the images.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.errors import UsageError
from spatial_engine.sequences.association import number_in
from spatial_engine.sequences.cameras import of_matrix
from spatial_engine.sequences.manifest import Gravity, Manifest, Scale
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset
from spatial_engine.sequences.presets.kitti_object import joined, labels_of, world_from_cam


def _fits(folder: Path) -> bool:
    return all((folder / name).is_dir() for name in ("image_02", "calib", "label_02"))


def _layouts(folder: Path) -> Iterator[Layout]:
    inside = folder / "training" if (folder / "training").is_dir() else folder
    for images in sorted(path for path in (inside / "image_02").iterdir() if path.is_dir()):
        manifest = Manifest(
            name=f"kitti-tracking/{images.name}",
            images=f"{images.relative_to(folder)}/*.png",
            stills=True,
            licence="KITTI (CC BY-NC-SA 3.0)",
            upright=True,
            gravity=Gravity(up_world=(0.0, -1.0, 0.0), sigma_deg=1.5),
            scale=Scale(kind="metric", relative_sigma=0.005, source="laser scanner"),
            notes=("poses of the car are not stated", "no name is complete: see kitti-object"),
        )
        yield Layout(
            manifest=manifest,
            overrides=lambda paths, name=images.name: _overrides(inside, name, paths),  # type: ignore[misc]
        )


def _overrides(inside: Path, sequence: str, images: Images) -> Overrides:
    projection = _projection(inside / "calib" / f"{sequence}.txt")
    of_frame: dict[int, list[tuple[int, str]]] = {}
    path = inside / "label_02" / f"{sequence}.txt"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        frame, _, rest = line.split(maxsplit=2)
        of_frame.setdefault(int(frame), []).append((number, rest))
    return Overrides(
        cameras=(of_matrix(projection),) * len(images),
        world_from_cam=np.tile(world_from_cam(projection), (len(images), 1, 1)),
        objects=joined([labels_of(of_frame.get(number_in(image.name) or 0, []), path) for image in images]),
    )


def _projection(path: Path) -> Float64[np.ndarray, "3 4"]:
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "P2":
            return np.array(numbers.split(), dtype=np.float64).reshape(3, 4)
    raise UsageError(f"{path} has no row P2", "rows are P0: to P3:, 12 numbers each")


KITTI_TRACKING = Preset(
    fits=lambda folder: _fits(folder) or _fits(folder / "training"),
    layouts=_layouts,
    source="Geiger et al., Are we ready for autonomous driving?, CVPR 2012, and the development kit's readme",
    checked=True,
)
