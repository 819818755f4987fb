"""ScanNet as its SensReader writes it: color/N.jpg, depth/N.png (mm), pose/N.txt, intrinsic/intrinsic_color.txt."""

from pathlib import Path

from spatial_engine.sequences.cameras import read_numbers
from spatial_engine.sequences.manifest import Camera, DepthImages, Gravity, Manifest, Poses, Scale, Times
from spatial_engine.sequences.presets import Preset, single


def _fits(folder: Path) -> bool:
    return (folder / "intrinsic/intrinsic_color.txt").is_file() and (folder / "pose").is_dir()


def _manifest(folder: Path) -> Manifest:
    colour, depth = (_camera(folder / f"intrinsic/intrinsic_{what}.txt") for what in ("color", "depth"))
    return Manifest(
        name=folder.resolve().name,
        images="color/*.jpg",
        licence="ScanNet terms of use (non-commercial research)",
        upright=True,
        times=Times(fps=30.0, from_names="frames"),
        camera=colour,
        poses=Poses(files="pose/*.txt", match="name", rotation_sigma_deg=0.5, direction_sigma_deg=3.0),
        depth=DepthImages(images="depth/*.png", unit_m=0.001, match="name", camera=depth),
        gravity=Gravity(up_world=(0.0, 0.0, 1.0), sigma_deg=3.0),
        scale=Scale(kind="metric", relative_sigma=0.02, source="structured light"),
        notes=("poses are -inf where tracking was lost: those frames have no truth",),
    )


def _camera(path: Path) -> Camera:
    matrix = read_numbers(path)
    return Camera(fx=matrix[0, 0], fy=matrix[1, 1], cx=matrix[0, 2], cy=matrix[1, 2])


SCANNET = Preset(
    fits=_fits,
    layouts=single(_manifest),
    source="Dai et al., ScanNet, CVPR 2017, and the readme of SensReader",
    checked=False,
)
