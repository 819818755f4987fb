"""Clips and true cameras of the third-party test footage: one small loader per set."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from experts.clip import Clip, OpeningOptions, Picture
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class PictureFiles:
    """Reads frames from picture files."""

    paths: Sequence[Path]

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            yield np.asarray(Image.open(self.paths[frame]).convert("RGB"))


@dataclass(frozen=True, kw_only=True)
class Video:
    """Reads frames of a video; decodes it from the beginning."""

    path: Path

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        import av

        wanted = iter(frames)
        target = next(wanted, None)
        with av.open(str(self.path)) as container:
            for index, frame in enumerate(container.decode(video=0)):
                while index == target:
                    yield frame.to_ndarray(format="rgb24")
                    target = next(wanted, None)


@dataclass(frozen=True, kw_only=True)
class Footage:
    """A clip and the ground truth of its camera."""

    clip: Clip
    true_focal_px: float | None = None
    """Focal length along x in full-size pixels."""
    true_world_from_cam: np.ndarray | None = None
    """(n, 4, 4), in the order of the clip's frames."""


def of_pictures(paths: Sequence[Path], name: str, options: OpeningOptions | None = None) -> Clip:
    """A clip of picture files, in the order given."""
    with Image.open(paths[0]) as first:
        width, height = first.size
    return Clip(
        id=name, name=name, frames=np.arange(len(paths), dtype=np.int64), times_s=None, width_px=width,
        height_px=height, options=options or OpeningOptions(), reader=PictureFiles(paths=paths),
    )  # fmt: skip


def of_video(path: Path) -> Clip:
    """A clip of a whole video."""
    import av

    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        times = [float(frame.pts * stream.time_base) for frame in container.decode(video=0)]
        width, height = stream.width, stream.height
    return Clip(
        id=path.stem, name=path.name, frames=np.arange(len(times), dtype=np.int64), times_s=np.array(times),
        width_px=width, height_px=height, reader=Video(path=path),
    )  # fmt: skip


def load(root: Path, name: str) -> Footage:
    """Reads one of `SETS` from the folder that contains them."""
    return SETS[name](root)


def _sevenscenes(root: Path) -> Footage:
    paths = sorted((root / "sevenscenes_rgbd").glob("*.color.jpg"))
    poses = [np.loadtxt(p.with_name(p.name.replace("color.jpg", "pose.txt"))) for p in paths]
    return Footage(
        clip=of_pictures(paths, "sevenscenes_rgbd"), true_focal_px=525.0, true_world_from_cam=np.stack(poses)
    )


def _fox(root: Path) -> Footage:
    meta = json.loads((root / "fox_ngp/transforms.json").read_text())
    flip = np.diag([1.0, -1, -1, 1])
    rows = sorted((f["file_path"], np.array(f["transform_matrix"]) @ flip) for f in meta["frames"])
    rows = [(p, m) for p, m in rows if (root / "fox_ngp" / p).is_file()]
    clip = of_pictures([root / "fox_ngp" / p for p, _ in rows], "fox_ngp")
    return Footage(clip=clip, true_focal_px=meta["fl_x"], true_world_from_cam=np.stack([m for _, m in rows]))


def _kitti(root: Path) -> Footage:
    paths = sorted((root / "kitti_odom_a/image_l").glob("*.png"))
    rows = np.loadtxt(root / "kitti_odom_a/poses.txt").reshape(-1, 3, 4)[: len(paths)]
    return Footage(clip=of_pictures(paths, "kitti_odom_a"), true_focal_px=707.09, true_world_from_cam=_square(rows))


def _hololens(root: Path) -> Footage:
    paths = sorted((root / "hololens_indoor/images").glob("*.png"))
    poses = np.loadtxt(root / "hololens_indoor/poses.txt").reshape(-1, 4, 4)
    return Footage(clip=of_pictures(paths, "hololens_indoor"), true_focal_px=495.6, true_world_from_cam=poses)


def _mobilebrick(root: Path) -> Footage:
    paths = sorted((root / "mobilebrick/image").glob("*.jpg"))
    poses = np.stack([np.loadtxt(p) for p in sorted((root / "mobilebrick/pose").glob("*.txt"))])
    return Footage(clip=of_pictures(paths, "mobilebrick"), true_focal_px=1459.5, true_world_from_cam=poses)


def _strecha(root: Path) -> Footage:
    paths = sorted((root / "strecha_fountain/images").glob("*.jpg"))
    poses = []
    for path in paths:
        lines = (root / f"strecha_fountain/gt_dense_cameras/{path.name}.camera").read_text().split("\n")
        rows = [[float(x) for x in line.split()] for line in lines if line.strip()]
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = rows[4:7], rows[7]
        poses.append(pose)
    return Footage(
        clip=of_pictures(paths, "strecha_fountain"), true_focal_px=2759.5, true_world_from_cam=np.stack(poses)
    )


def _euroc(root: Path) -> Footage:
    paths = sorted((root / "euroc_v101/mav0/cam0/data").glob("*.png"))
    still = np.tile(np.eye(4), (len(paths), 1, 1))
    return Footage(clip=of_pictures(paths, "euroc_v101"), true_focal_px=458.65, true_world_from_cam=still)


def _adt(root: Path) -> Footage:
    paths = sorted((root / "adt_apartment/rectified").glob("*.rgb.png"))
    return Footage(clip=of_pictures(paths, "adt_apartment"), true_focal_px=450.0)


def _square(rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows, np.tile([[[0.0, 0, 0, 1]]], (len(rows), 1, 1))], axis=1)


SETS = {
    "sevenscenes_rgbd": _sevenscenes,
    "fox_ngp": _fox,
    "kitti_odom_a": _kitti,
    "hololens_indoor": _hololens,
    "mobilebrick": _mobilebrick,
    "strecha_fountain": _strecha,
    "apple": lambda root: Footage(clip=of_video(root / "videos_plain/apple.mp4")),
    "robot_unitree": lambda root: Footage(clip=of_video(root / "videos_plain/robot_unitree.mp4")),
    "lady_running": lambda root: Footage(
        clip=of_pictures(sorted((root / "videos_plain/lady-running").glob("*.jpg")), "lady_running")
    ),
    "euroc_v101": _euroc,
    "tum_fr3_office": lambda root: Footage(
        clip=of_pictures(sorted((root / "tum_fr3_office/rgb").glob("*.png")), "tum_fr3_office"), true_focal_px=535.4
    ),
    "drone_dji_nadir": lambda root: Footage(
        clip=of_pictures(sorted((root / "drone_dji_nadir").glob("*.JPG")), "drone_dji_nadir")
    ),
    "adt_apartment": _adt,
}


def with_true_camera(footage: Footage) -> Clip:
    """The clip with its true focal length as an option of the user."""
    clip = footage.clip
    assert footage.true_focal_px is not None
    camera = Intrinsics.centred(clip.width_px, clip.height_px, footage.true_focal_px)
    return clip.with_options(intrinsics=camera)
