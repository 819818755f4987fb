"""ScanNet++: dslr/undistorted_images (photos) and iphone/rgb (video), both posed by COLMAP.

The published photos are fisheye, which is not supported: undistort them with the ScanNet++ toolkit first.
"""

from collections.abc import Iterator
from pathlib import Path

from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import CameraFiles, DepthImages, Manifest, Poses, Scale
from spatial_engine.sequences.presets import Layout, Preset

_LICENCE = "ScanNet++ terms of use (non-commercial research)"
_SCALE = Scale(kind="metric", relative_sigma=0.01, source="laser scan")


def _fits(folder: Path) -> bool:
    return ((folder / "dslr").is_dir() and (folder / "scans").is_dir()) or (folder / "iphone/colmap").is_dir()


def _layouts(folder: Path) -> Iterator[Layout]:
    name = folder.resolve().name
    photos = "dslr/undistorted_images"
    if (folder / photos).is_dir():
        yield Layout(manifest=_photos(name, photos))
    if (folder / "iphone/rgb").is_dir():
        yield Layout(manifest=_video(name, (folder / "iphone/depth").is_dir()))
    if not ((folder / photos).is_dir() or (folder / "iphone/rgb").is_dir()):
        raise UsageError(
            f"{folder} has fisheye photos or packed video only",
            "undistort (dslr.undistort) or extract frames (iphone.prepare_iphone_data) with the ScanNet++ toolkit",
        )


def _photos(name: str, photos: str) -> Manifest:
    return Manifest(
        name=f"{name}/dslr",
        images=f"{photos}/*.JPG",
        licence=_LICENCE,
        cameras=CameraFiles(files="dslr/nerfstudio/transforms_undistorted.json", form="nerfstudio"),
        poses=Poses(
            file="dslr/colmap/images.txt", form="colmap", direction="w2c", match="name", rotation_sigma_deg=0.2
        ),
        scale=_SCALE,
        notes=("photos, not a video", "images.txt names the fisheye originals: undistortion keeps poses and names"),
    )


def _video(name: str, has_depth: bool) -> Manifest:
    depth = DepthImages(images="iphone/depth/*.png", unit_m=0.001, match="name", relative_sigma=0.02)
    return Manifest(
        name=f"{name}/iphone",
        images="iphone/rgb/*.jpg",
        licence=_LICENCE,
        cameras=CameraFiles(files="iphone/colmap/cameras.txt", form="colmap"),
        poses=Poses(file="iphone/colmap/images.txt", form="colmap", direction="w2c", match="name"),
        depth=depth if has_depth else None,
        scale=_SCALE,
        notes=("COLMAP registers some of the frames: the others have no truth",),
    )


SCANNETPP = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Yeshwanth et al., ScanNet++, ICCV 2023, and the readme of its toolkit",
    checked=False,
)
