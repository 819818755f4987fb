"""A gripper of a wrist and two fingers, and how it goes from stop to stop."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.rendering.boxes import MovingBox, Piece, standing
from spatial_engine.rendering.camera_paths import Poses
from spatial_engine.rendering.textures import Material

FINGER_M = 0.10
OPEN_M = 0.11
"""Gap between the open fingers."""
_STEEL = Material(kind="plaster", colour=(120, 124, 130), seed=21)


@dataclass(frozen=True, kw_only=True)
class Motion:
    """A motion with a rest at every stop."""

    at: Float64[np.ndarray, "n 3"]
    """Place between the tips of the fingers, in the world."""
    opening: Float64[np.ndarray, "n"]
    first: Int64[np.ndarray, "s"]
    """First frame of each part: from that stop to the next one."""

    def wrist(self, axes: Float64[np.ndarray, "3 3"]) -> Poses:
        """Poses of the wrist with these axes in the world; z points along the fingers."""
        poses = np.tile(np.eye(4), (len(self.at), 1, 1))
        poses[:, :3, :3], poses[:, :3, 3] = axes, self.at - FINGER_M * axes[:, 2]
        return poses


def moved(stops: np.ndarray, openings: Sequence[float], shares: Sequence[float], frames: int) -> Motion:
    """From stop to stop (s + 1, 3), with the opening at each, in parts of the time (s) that add up to 1."""
    times = (np.cumsum([0.0, *shares]) * (frames - 1)).round().astype(np.int64)
    now = np.arange(frames)
    part = np.clip(np.searchsorted(times, now, side="right") - 1, 0, len(shares) - 1)
    share = (now - times[part]) / np.maximum(1, np.diff(times)[part])
    eased = (1 - np.cos(np.pi * np.clip(share, 0, 1))) / 2
    states = np.column_stack([stops, openings])
    state = states[part] * (1 - eased[:, None]) + states[part + 1] * eased[:, None]
    return Motion(at=state[:, :3], opening=state[:, 3], first=times[:-1])


def gripper_boxes(wrist: Poses, opening: Float64[np.ndarray, "n"]) -> list[MovingBox]:
    """A wrist and two fingers; the gap between these is that of the opening."""
    whole, size = Piece(name="gripper", fronts=0), (0.02, 0.03, FINGER_M)
    palm = standing("wrist", (0.17, 0.06, 0.08), (0, 0, 0), side=_STEEL, of=whole)
    finger = replace(palm, name="finger", size_m=size)
    out = [MovingBox(box=palm, world_from_box=_shifted(wrist, np.zeros(len(wrist)), -0.04))]
    for side in (-1, 1):
        across = side * (opening * OPEN_M + size[0]) / 2
        out.append(MovingBox(box=finger, world_from_box=_shifted(wrist, across, FINGER_M / 2)))
    return out


def _shifted(wrist: Poses, x_m: Float64[np.ndarray, "n"], z_m: float) -> Poses:
    """Poses at places along the wrist's x and z axes."""
    offset = np.tile(np.eye(4), (len(wrist), 1, 1))
    offset[:, 0, 3], offset[:, 2, 3] = x_m, z_m
    return wrist @ offset
