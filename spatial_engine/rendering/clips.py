"""Rendered scenes as clips in memory and as video files."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip, OpeningOptions, Picture
from experts.footage.encoding import write_mp4
from spatial_engine.rendering.scene import RenderedScene


@dataclass(frozen=True, kw_only=True)
class SceneReader:
    """Renders frames when they are read."""

    scene: RenderedScene

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """Pictures of frame indices."""
        for frame in frames:
            yield self.scene.picture(int(frame))


def as_clip(scene: RenderedScene, *, name: str = "rendered", options: OpeningOptions | None = None) -> Clip:
    """The scene as one shot, rendered lazily; its id is the hash of all that the scene is made of."""
    parts = json.dumps(asdict(scene), sort_keys=True, default=np.ndarray.tolist)
    return Clip(
        id=hashlib.sha256(parts.encode()).hexdigest()[:16],
        name=name,
        frames=np.arange(len(scene)),
        times_s=np.arange(len(scene)) / scene.fps,
        width_px=scene.intrinsics.width_px,
        height_px=scene.intrinsics.height_px,
        licence="Apache-2.0",
        options=options or OpeningOptions(),
        reader=SceneReader(scene=scene),
    )


def write_video(
    scenes: RenderedScene | Sequence[RenderedScene],
    path: Path,
    *,
    crf: int = 20,
    times_s: Float64[np.ndarray, "n"] | None = None,
    rotation_deg: int = 0,
) -> None:
    """H.264 in MP4. Several scenes make a video with cuts; sizes must agree and be even.

    `times_s` (of all frames) makes a variable frame rate. With `rotation_deg` (90, 180, 270, clockwise) frames are
    stored turned the other way, and the file tells players to turn them upright.
    """
    shots = [scenes] if isinstance(scenes, RenderedScene) else list(scenes)
    frames = [(scene, i) for scene in shots for i in range(len(scene))]
    times = np.arange(len(frames)) / shots[0].fps if times_s is None else times_s
    pictures = (np.rot90(scene.picture(i), rotation_deg // 90) for scene, i in frames)
    write_mp4(path, pictures, times.tolist(), fps=shots[0].fps, crf=crf)
    if rotation_deg:
        _mark_rotated(path, rotation_deg)


def _mark_rotated(path: Path, rotation_deg: int) -> None:
    """Writes the display matrix of the track header (ISO 14496-12, version 0), which PyAV leaves as identity."""
    cos, sin = round(np.cos(np.deg2rad(rotation_deg))), round(np.sin(np.deg2rad(rotation_deg)))
    matrix = np.array([cos, sin, 0, -sin, cos, 0, 0, 0, 1 << 14]) << 16
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 44
    data[at : at + 36] = matrix.astype(">i4").tobytes()
    path.write_bytes(bytes(data))
