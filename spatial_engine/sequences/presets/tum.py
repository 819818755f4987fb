"""TUM RGB-D: rgb/STAMP.png, depth/STAMP.png, groundtruth.txt; stamps in seconds, depth in 1/5000 m."""

from pathlib import Path

from spatial_engine.sequences.manifest import Camera, DepthImages, Manifest, Poses, Scale, Times
from spatial_engine.sequences.presets import Preset, single

_CAMERAS = {
    "freiburg1": Camera(
        fx=517.3, fy=516.5, cx=318.6, cy=255.3, k1=0.2624, k2=-0.9531, p1=-0.0054, p2=0.0026, k3=1.1633
    ),
    "freiburg2": Camera(
        fx=520.9, fy=521.0, cx=325.1, cy=249.7, k1=0.2312, k2=-0.7849, p1=-0.0033, p2=-0.0001, k3=0.9172
    ),
    "freiburg3": Camera(fx=535.4, fy=539.2, cx=320.1, cy=247.6),
}
_DEFAULT = Camera(fx=525.0, fy=525.0, cx=319.5, cy=239.5, focal_relative_sigma=0.03)


def _fits(folder: Path) -> bool:
    return (folder / "rgb").is_dir() and (folder / "groundtruth.txt").is_file()


def _manifest(folder: Path) -> Manifest:
    name = folder.resolve().name
    return Manifest(
        name=name,
        images="rgb/*.png",
        licence="TUM RGB-D (CC BY 4.0)",
        upright=True,
        times=Times(from_names="seconds"),
        camera=next((camera for key, camera in _CAMERAS.items() if key in name), _DEFAULT),
        poses=Poses(file="groundtruth.txt", form="tum", match="time", tolerance_s=0.02, rotation_sigma_deg=0.5),
        depth=DepthImages(images="depth/*.png", unit_m=1 / 5000, match="time", tolerance_s=0.02)
        if (folder / "depth").is_dir()
        else None,
        scale=Scale(kind="metric", relative_sigma=0.01, source="motion capture"),
        notes=("the camera is told by freiburg1, 2 or 3 in the folder's name",),
    )


TUM = Preset(
    fits=_fits,
    layouts=single(_manifest),
    source="Sturm et al., A benchmark for the evaluation of RGB-D SLAM systems, IROS 2012, and the file format page",
    checked=False,
)
