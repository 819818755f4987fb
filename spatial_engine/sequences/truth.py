"""Ground truth of a dataset as signals: their provenance is the dataset, their σ are those of its manifest."""

from collections.abc import Sequence as Items
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from experts.provenance import Provenance, allows_commercial_use
from experts.signals import CameraPath, Depth, EffectorPath, Gravity, MotionKind, Room, Scale, Signal, Task
from spatial_engine.sequences.cameras import intrinsics_of
from spatial_engine.sequences.depth_images import DepthSource, PartialDepth, closed, widened
from spatial_engine.sequences.effector import of_frames, task_in
from spatial_engine.sequences.finding import Quantity
from spatial_engine.sequences.known_objects import KnownObjects
from spatial_engine.sequences.manifest import Camera, Manifest, Poses
from spatial_engine.sequences.optical_flow import KnownFlow

_STILL = 1e-6


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Ground truth of all images of a sequence."""

    manifest: Manifest
    camera: Camera | None
    """Of all images."""
    world_from_cam: Float64[np.ndarray, "n 4 4"] | None
    """Per image of the sequence; NaN where there is none; the position is NaN where only the rotation is known."""
    depth: DepthSource | None
    objects: KnownObjects | None = None
    up_cam: Float64[np.ndarray, "n 3"] | None = None
    """Towards the sky, per image, where it is stated so; NaN where it is not known."""
    room: Room | None = None
    flow: KnownFlow | None = None
    effector: EffectorPath | None = None
    """Of all images."""
    task: Task | None = None
    times_s: Float64[np.ndarray, "n"] | None = None

    def only(self, image: int, camera: Camera | None) -> "Truth":
        """That of one image, a scene of its own: without a pose its camera is the world."""
        poses = np.eye(4)[None] if self.world_from_cam is None else self.world_from_cam[image : image + 1]
        return replace(
            self,
            camera=camera,
            world_from_cam=poses,
            depth=None if self.depth is None else self.depth.only(image),
            objects=None if self.objects is None else self.objects.only(image),
            up_cam=None if self.up_cam is None else self.up_cam[image : image + 1],
            flow=None,
            effector=None,
            task=None,
            times_s=None,
        )

    def without(self, quantities: Items[Quantity], frames: Items[int] = ()) -> "Truth":
        """Without these quantities of these images; of all images if none is named. The scale is one for all."""
        images, stated, world_from_cam, depth = (
            list(frames) or slice(None),
            self.manifest,
            self.world_from_cam,
            self.depth,
        )
        if "poses" in quantities and world_from_cam is not None:
            world_from_cam = world_from_cam.copy()
            world_from_cam[images] = np.nan
        if "depth" in quantities and depth is not None:
            depth = PartialDepth(source=depth, missing=frozenset(frames)) if frames else None
        up_cam = self.up_cam
        if "up" in quantities and up_cam is not None:
            up_cam = up_cam.copy()
            up_cam[images] = np.nan
        if not frames:
            stated = replace(
                stated,
                gravity=None if "up" in quantities else stated.gravity,
                scale=None if "scale" in quantities else stated.scale,
            )
        room = None if "poses" in quantities and not frames else self.room
        return replace(self, manifest=stated, world_from_cam=world_from_cam, depth=depth, up_cam=up_cam, room=room)

    def signals(self, clip: Clip, dense: Items[int] = ()) -> dict[str, Signal]:
        """The signals of a clip's frames; depth of the frames `dense` only."""
        path = self.camera_path(clip)
        depth = self.depth_of(clip, dense)
        found: dict[str, Signal | None] = {
            "camera_path": path,
            "gravity": self._gravity(clip, path),
            "depth": depth,
            "room": self.room,
            "matches": None if self.flow is None else self.flow.signal(clip.frames, self.provenance),
            "effector_path": None if self.effector is None else of_frames(self.effector, clip.frames),
            "task": None if self.task is None else task_in(self.task, self.effector, clip.frames),
        }
        if self.objects is not None:
            objects = self.objects.signal(dense, self.provenance, path, depth)
            if objects is not None:
                found |= {"objects": objects, "parts": self.objects.parts_signal(objects)}
                found["object_orientation"] = None if path is None else self.objects.orientation(objects, path)
        return {name: signal for name, signal in found.items() if signal is not None}

    @property
    def provenance(self) -> Provenance:
        """The dataset, with its licence."""
        licence = self.manifest.licence
        return Provenance(
            expert=self.manifest.name,
            version=self.manifest.truth,
            code_licence=licence,
            commercial_ok=allows_commercial_use(licence),
        )

    @property
    def scale(self) -> Scale:
        """What lengths are."""
        stated = self.manifest.scale
        if stated is None or stated.kind == "relative":
            return Scale(kind="relative", relative_sigma=0.0, source=self.manifest.name)
        return Scale(kind="metric", relative_sigma=stated.relative_sigma, source=stated.source or "data set")

    def camera_path(self, clip: Clip) -> CameraPath | None:
        """The path of a clip, if it is known."""
        if self.world_from_cam is None or self.camera is None:
            return None
        camera, poses = self.camera, self.world_from_cam[clip.frames]
        placed, turned = (np.isfinite(poses[:, :3, part]).all(axis=(1, 2)) for part in (slice(None), slice(3)))
        known, n = placed if placed.any() else turned, len(poses)
        stated = self.manifest.poses or Poses()
        intrinsics, missed_px = intrinsics_of(camera, clip.width_px, clip.height_px)
        missed = 2 * missed_px / np.hypot(clip.width_px, clip.height_px)
        return CameraPath(
            frames=clip.frames,
            world_from_cam=poses,
            registered=known,
            keyframe=known,
            intrinsics=intrinsics,
            focal_relative_sigma=float(np.hypot(camera.focal_relative_sigma, missed)),
            motion=_motion(poses[known]) if placed.any() else "unresolved",
            rotation_sigma_rad=np.full(n, np.radians(stated.rotation_sigma_deg)),
            position_sigma=np.full(n, stated.position_relative_sigma * _median_step(poses[known])),
            direction_sigma_rad=float(np.radians(stated.direction_sigma_deg)),
            scale=self.scale,
            provenance=self.provenance,
        )

    def _gravity(self, clip: Clip, path: CameraPath | None) -> Gravity | None:
        """Up of the images' own, or that of the world in the camera of each pose."""
        stated = self.manifest.gravity
        if stated is None:
            return None
        if self.up_cam is not None:
            frames = clip.frames[np.isfinite(self.up_cam[clip.frames]).all(axis=1)]
            up_cam = self.up_cam[frames]
        elif stated.up_world is not None and path is not None:
            frames = path.frames[path.registered]
            up_cam = np.einsum("nij,i->nj", path.world_from_cam[path.registered, :3, :3], np.array(stated.up_world))
        else:
            return None
        if not len(frames):
            return None
        return Gravity(
            frames=frames,
            up_cam=up_cam / np.linalg.norm(up_cam, axis=1, keepdims=True),
            sigma_rad=np.full(len(frames), np.radians(stated.sigma_deg)),
            decided_by="data set",
            provenance=self.provenance,
        )

    def depth_of(self, clip: Clip, dense: Items[int]) -> Depth | None:
        """Depth of those of the frames that have any; None without any that counts."""
        if self.depth is None or not self.depth.stated.counts:
            return None
        frames = sorted({int(frame) for frame in dense if self.depth.has(int(frame))})
        if not frames:
            return None
        stated = self.depth.stated
        z = np.stack([self.depth.read(frame) for frame in frames])
        sigma = np.full_like(z, stated.relative_sigma)
        if stated.close_gaps:
            z, spread = closed(z)
            sigma = np.hypot(sigma, spread)
        if not stated.registered:
            z, spread = widened(z, stated, self.camera, clip.width_px)
            sigma = np.hypot(sigma, spread)
        return Depth(
            frames=np.array(frames, dtype=np.int64),
            z=z,
            relative_sigma=sigma.astype(np.float32),
            scale=self.scale,
            provenance=self.provenance,
        )


def _median_step(poses: Float64[np.ndarray, "n 4 4"]) -> float:
    steps = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    return float(np.median(steps)) if len(steps) else 0.0


def _motion(poses: Float64[np.ndarray, "n 4 4"]) -> MotionKind:
    """The true kind of camera motion."""
    if len(poses) and np.ptp(poses[:, :3, 3], axis=0).max() > _STILL:
        return "general"
    return "rotation_only" if len(poses) and np.ptp(poses[:, :3, :3], axis=0).max() > _STILL else "static"
