"""Microsoft 7-Scenes: frame-000000.{color.png,depth.png,pose.txt}.

The depth camera (f = 585) and the colour camera (f near 525) are not registered in the original files: depth may lie
10 px beside its colour pixel, and the poses are those of the depth camera. KinectFusion's poses drift:
in 50 pictures of an example, two reconstructions from different features agree to 0.3 degrees in all pairs, but differ
from the poses by 0.6 degrees per axis between pictures 20 frames apart and by 1.2 between ones 80 apart, and in
direction by 14 degrees between ones 8 apart and by 8 between ones 80 apart (medians). For one pair (frames 100 and
124), the essential matrix of the matches with the stated focal length differs from the poses by 2.5 degrees, too. See
Brachmann et al., On the Limits of Pseudo Ground Truth in Visual Camera Re-localisation, ICCV 2021.
"""

from pathlib import Path

from spatial_engine.sequences.manifest import Camera, DepthImages, Manifest, Poses, Scale
from spatial_engine.sequences.presets import Preset, single


def _fits(folder: Path) -> bool:
    return any(folder.glob("frame-*.pose.txt")) and any(folder.glob("frame-*.color.*"))


def _manifest(folder: Path) -> Manifest:
    return Manifest(
        name=folder.name,
        images="frame-*.color.*",
        licence="7-Scenes (Microsoft Research, non-commercial)",
        upright=True,
        static=True,
        camera=Camera(fx=525.0, fy=525.0, cx=319.5, cy=239.5, focal_relative_sigma=0.01),
        poses=Poses(
            files="frame-*.pose.txt",
            match="name",
            rotation_sigma_deg=1.0,
            direction_sigma_deg=8.0,
            position_relative_sigma=1.0,  # 1.5 cm: the colour camera stands 2.5 cm beside the depth camera
        ),
        depth=DepthImages(
            images="frame-*.depth.png",
            unit_m=0.001,
            invalid=(0.0, 65535.0),
            registered=False,
            off_px=10.0,
            camera=Camera(fx=585.0, fy=585.0, cx=320.0, cy=240.0),
            match="name",
        ),
        scale=Scale(kind="metric", relative_sigma=0.02, source="Kinect"),
        notes=("poses are KinectFusion's, of the depth camera", "the world is not level"),
    )


SEVEN_SCENES = Preset(
    fits=_fits,
    layouts=single(_manifest),
    source="Shotton et al., Scene Coordinate Regression Forests, CVPR 2013, and the readme of the data",
    checked=True,
)
