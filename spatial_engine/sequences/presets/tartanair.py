"""TartanAir: image_left/*.png, depth_left/*.npy (m), pose_left.txt (x y z qx qy qz qw, north-east-down axes)."""

from pathlib import Path

from spatial_engine.sequences.manifest import Camera, DepthImages, Gravity, Manifest, Poses, Scale
from spatial_engine.sequences.presets import Preset, single


def _fits(folder: Path) -> bool:
    return (folder / "pose_left.txt").is_file() and (folder / "image_left").is_dir()


def _manifest(folder: Path) -> Manifest:
    return Manifest(
        name=folder.resolve().name,
        images="image_left/*.png",
        licence="TartanAir (BSD-3-Clause)",
        camera=Camera(fx=320.0, fy=320.0, cx=320.0, cy=240.0, focal_relative_sigma=1e-6),
        poses=Poses(
            file="pose_left.txt", form="quaternions", axes="ned", rotation_sigma_deg=0.01,
            direction_sigma_deg=0.05, position_relative_sigma=0.001,
        ),
        depth=DepthImages(images="depth_left/*.npy", unit_m=1.0, relative_sigma=0.001),
        gravity=Gravity(up_world=(0.0, 0.0, -1.0), sigma_deg=0.01),
        scale=Scale(kind="metric", relative_sigma=1e-6, source="simulator"),
    )  # fmt: skip


TARTANAIR = Preset(
    fits=_fits,
    layouts=single(_manifest),
    source="Wang et al., TartanAir, IROS 2020, and the data type page of its tools",
    checked=False,
)
