"""Ground-truth signals of a rendered scene, with negligible σ."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, Gravity, MotionKind, Scale, Signal
from spatial_engine.rendering.scene import RenderedScene
from spatial_engine.rendering.true_objects import true_objects, true_orientation, true_parts
from spatial_engine.rendering.true_room import true_room

VERSION = "2"
EXACT = 1e-6
"""Stands for a σ of zero: metres, radians, and relative."""


def true_signals(
    scene: RenderedScene, clip: Clip, frames: Sequence[int] | None = None, stride: int = 1
) -> dict[str, Signal]:
    """`camera_path` and `gravity` of all frames, the `room`, and of `frames` (default every `stride`-th) `depth`,
    `objects`, `object_orientation` and `parts`. Objects are whole: a table is its top and its legs.

    All in the renderer's own world: metres, z up. `clip` may be the scene itself or a video made of it: its frame
    indices are the scene's. A zooming scene has a `zooming_path` and `gravity` alone.
    """
    source = Provenance(expert="renderer", version=VERSION, settings={"scene": clip.id}, seed=scene.seed)
    if scene.effects.zoom != 1:
        return {"zooming_path": _zooming_path(scene, clip, source), "gravity": _gravity(scene, clip, source)}
    dense = np.asarray(clip.frames[::stride] if frames is None else sorted(frames), dtype=np.int64)
    box_ids, z = map(np.stack, zip(*((scene.ids(int(f)), scene.depth(int(f))) for f in dense), strict=True))
    path, objects = _camera_path(scene, clip, source), true_objects(scene, dense, box_ids, source)
    return {
        "camera_path": path,
        "gravity": _gravity(scene, clip, source),
        "depth": Depth(
            frames=dense,
            z=z,
            relative_sigma=np.full(box_ids.shape, EXACT, dtype=np.float32),
            scale=_METRIC,
            provenance=source,
        ),
        "objects": objects,
        "object_orientation": true_orientation(scene, objects, path, EXACT),
        "parts": true_parts(scene, dense, box_ids, source),
        "room": true_room(scene, source, EXACT),
    }


_METRIC = Scale(kind="metric", relative_sigma=EXACT, source="data set")


def _camera_path(scene: RenderedScene, clip: Clip, source: Provenance) -> CameraPath:
    world_from_cam = scene.world_from_cam[clip.frames]
    n = len(world_from_cam)
    return CameraPath(
        frames=clip.frames,
        world_from_cam=world_from_cam,
        registered=np.ones(n, dtype=bool),
        keyframe=np.ones(n, dtype=bool),
        intrinsics=scene.intrinsics,
        focal_relative_sigma=EXACT,
        motion=motion_kind(world_from_cam),
        rotation_sigma_rad=np.full(n, EXACT),
        position_sigma=np.full(n, EXACT),
        direction_sigma_rad=EXACT,
        scale=_METRIC,
        provenance=source,
    )


def _zooming_path(scene: RenderedScene, clip: Clip, source: Provenance) -> CameraPath:
    focal_px = np.array([scene.camera(int(frame)).fx_px for frame in clip.frames])
    return replace(
        _camera_path(scene, clip, source),
        magnification=focal_px / scene.intrinsics.fx_px,
        magnification_sigma=np.full(len(focal_px), EXACT),
    )


def _gravity(scene: RenderedScene, clip: Clip, source: Provenance) -> Gravity:
    up_cam = np.ascontiguousarray(scene.world_from_cam[clip.frames, 2, :3])  # the world's z in camera axes
    return Gravity(
        frames=clip.frames,
        up_cam=up_cam,
        sigma_rad=np.full(len(up_cam), EXACT),
        decided_by="data set",
        provenance=source,
    )


def motion_kind(world_from_cam: Float64[np.ndarray, "n 4 4"]) -> MotionKind:
    """The true kind of camera motion."""
    if np.ptp(world_from_cam[:, :3, 3], axis=0).max() > EXACT:
        return "general"
    return "rotation_only" if np.ptp(world_from_cam[:, :3, :3], axis=0).max() > EXACT else "static"
