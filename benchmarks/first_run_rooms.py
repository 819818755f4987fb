"""Rendered rooms for `gpu_first_run`: what each model is shown, what it reads, and which check judges it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.first_run_checks import (
    Results,
    Row,
    judge_boxes,
    judge_depth,
    judge_front,
    judge_path_and_depth,
    judge_tracks,
    judge_up,
)
from experts.clip import Clip, OpeningOptions
from experts.signals import Objects
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.boxes import Box
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, OAK, WHITE, armchair, room
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import camera


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Footage for an expert, and what its signals must say."""

    clip: Clip
    signals: Results
    judge: Callable[[Results], list[Row]]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Of rendered footage."""

    side_px: int = 640
    """Longer side."""
    frames: int = 24


def probes(expert: str, sizes: Sizes) -> list[Probe]:
    """What an expert is tried on; `expert` without its variant, but "depth_anything_3:metric"."""
    wide = sizes.side_px, sizes.side_px * 3 // 4 // 2 * 2
    match expert:
        case "geocalib":
            return [_tilted(wide, *angles) for angles in ((20, 0), (-20, 0), (0, 20), (0, -20))]
        case "depth_anything_3":
            return [_walked(wide, sizes.frames, known_camera=False, judge=judge_path_and_depth)]
        case "depth_anything_3:metric":
            return [_walked(wide, sizes.frames, known_camera=True, judge=judge_depth)]
        case "open_vocabulary":
            short = sizes.side_px * 9 // 16 // 2 * 2
            return [_furnished((sizes.side_px, short), "16:9"), _furnished((short, sizes.side_px), "9:16")]
        case "orient_anything":
            turned = [_chair(wide, azimuth, 0) for azimuth in (0, 90, 180, 270)]
            return [*turned, *(_chair(wide, 0, off_axis) for off_axis in (-30, 30))]
    return [_walked(wide, sizes.frames, known_camera=False, judge=judge_tracks)]


def _tilted(size: tuple[int, int], roll_deg: float, pitch_deg: float) -> Probe:
    """A room, seen with roll (clockwise) and pitch (up)."""

    def path(n: int, start: Stance) -> Any:
        return camera_paths.static(
            n, replace(start, roll_rad=float(np.deg2rad(roll_deg)), pitch_rad=float(np.deg2rad(pitch_deg)))
        )

    scene = random_room(np.random.default_rng(3), frames=2, width_px=size[0], height_px=size[1], path=path)
    return Probe(clip=as_clip(scene), signals={}, judge=partial(judge_up, scene, roll_deg, pitch_deg))


def _walked(
    size: tuple[int, int], frames: int, *, known_camera: bool, judge: Callable[[RenderedScene, Results], list[Row]]
) -> Probe:
    """A short walk through a room."""
    scene = random_room(np.random.default_rng(7), frames=frames, width_px=size[0], height_px=size[1])
    clip = as_clip(scene, options=OpeningOptions(intrinsics=scene.intrinsics) if known_camera else None)
    truth = true_signals(scene, clip)
    read = {} if known_camera else {name: truth[name] for name in ("camera_path", "depth")}
    return Probe(clip=clip, signals=read, judge=partial(judge, scene))


def _furnished(size: tuple[int, int], aspect: str) -> Probe:
    scene = random_room(
        np.random.default_rng(11), frames=2, width_px=size[0], height_px=size[1], path=camera_paths.static
    )
    return Probe(clip=as_clip(scene), signals={}, judge=partial(judge_boxes, scene, aspect))


def _chair(size: tuple[int, int], azimuth_deg: float, off_axis_deg: float) -> Probe:
    """An armchair alone in a room, at an angle to the right of the camera's axis. Its azimuth is that of Orient
    Anything at 0 off axis: 0 faces the camera, 90° the picture's left."""
    place, turn = np.eye(4), Rotation.from_euler("z", -azimuth_deg, degrees=True).as_matrix()
    place[:3, :3], place[:3, 3] = turn, (3.0, 3.4, 0.0)
    parts: list[Box] = [
        replace(box, world_from_box=place @ box.world_from_box)
        for box in armchair((0.0, 0.0), (150, 60, 50), (110, 40, 36), 5)
    ]
    start = Stance(at_m=(3.0, 0.6, 1.2), yaw_rad=float(np.deg2rad(off_axis_deg)), pitch_rad=float(np.deg2rad(-12)))
    scene = RenderedScene(
        intrinsics=camera(*size, vfov_deg=70.0),
        room=room((6.0, 6.0, 2.6), OAK, (WHITE,) * 4, CEILING),
        boxes=tuple(parts),
        world_from_cam=camera_paths.static(2, start),
        fps=10.0,
    )
    clip = as_clip(scene)
    truth = true_signals(scene, clip)
    shown = truth["objects"]
    assert isinstance(shown, Objects)
    chair = replace(
        shown,
        labels=("armchair",),
        ids=np.where(shown.ids >= 0, 0, -1).astype(np.int32),
        world_from_object=np.tile(place, (2, 1, 1, 1)),
        size=None,
    )
    front = scene.world_from_cam[0, :3, :3].T @ turn @ [0.0, -1.0, 0.0]
    limit_deg = 15 if off_axis_deg else 30  # an angle taken from the axis instead of the ray is wrong by 30°
    name = f"azimuth {azimuth_deg:g}°" if not off_axis_deg else f"azimuth {azimuth_deg:g}°, {off_axis_deg:+g}° off axis"
    signals: Results = {"objects": chair, "camera_path": truth["camera_path"]}
    return Probe(clip=clip, signals=signals, judge=partial(judge_front, front, name, limit_deg))
