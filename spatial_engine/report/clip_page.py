"""What one clip's page shows: frames, camera path, tracks, horizon, and every signal or the reason why it is none."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from experts.sigma_calibration import SigmaCalibration, with_sigma_calibration
from experts.signals import SIGNAL_TYPES, NoEstimate
from spatial_engine.dataset import drawing
from spatial_engine.report.figures import camera_views, horizon, trails
from spatial_engine.report.summaries import summary
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store
from templates.scene.marks import spread_frames
from templates.scene.scene import Scene, scenes_of

_STRIP = 8
_PICTURE_SIDE_PX = 720


def clip_page(store: Store, clip_id: str, pictures: Path, maps: SigmaCalibration) -> dict[str, Any]:
    """The content of a clip's page; its pictures go to the folder `pictures`, named by the clip's id. `maps`: those
    that its questions were asked with."""
    clip = clip_from_json(store.record(clip_id).clip)
    signals = with_sigma_calibration(store.signals(clip_id), maps)
    scene = scenes_of(clip, signals)[0]
    frame = _busiest_frame(scene)
    shown = sorted({*spread_frames(_keyframes(scene), _STRIP), frame})
    files = _draw(clip, shown, pictures)
    return {
        "clip": clip,
        "name": clip.name,
        "seconds": None if clip.times_s is None else float(clip.times_s[-1] - clip.times_s[0]),
        "strip": [{"frame": f, "time_s": clip.time_s(f), "file": files.get(f)} for f in shown],
        "views": camera_views(scene),
        "levelled": scene.up_world is not None,
        "horizons": [
            {"frame": f, "file": files[f], "line": line} for f in shown if f in files and (line := horizon(scene, f))
        ],
        "trails": trails(scene.tracks, frame) if scene.tracks is not None else (),
        "trails_file": files.get(frame),
        "signals": _signals(signals),
        "failures": [(failure.expert, failure.error) for failure in store.present_failures(clip_id)],
    }


def _signals(signals: Any) -> list[dict[str, str]]:
    """Every signal in the order of `SIGNAL_TYPES`: what it says, or why there is none."""
    rows = []
    for name in (name for name in SIGNAL_TYPES if name in signals):
        signal = signals[name]
        row = {"name": name.replace("_", " "), "expert": "", "says": "", "reason": "", "detail": "", "remedy": ""}
        if isinstance(signal, NoEstimate):
            row |= {"reason": signal.reason, "detail": signal.detail, "remedy": signal.remedy}
        else:
            row |= {"says": summary(signal), "expert": f"{signal.provenance.expert} {signal.provenance.version}"}
        rows.append(row)
    return rows


def _keyframes(scene: Scene) -> np.ndarray:
    path = scene.path
    if path is not None and path.keyframe.any():
        return path.frames[path.keyframe]
    return scene.clip.frames


def _busiest_frame(scene: Scene) -> int:
    """The frame with most visible tracks, moving ones first; the middle frame without tracks."""
    tracks = scene.tracks
    if tracks is None or not tracks.visible.any():
        return int(scene.clip.frames[len(scene.clip.frames) // 2])
    weight = np.where(tracks.motion == 1, 20, 1)
    return int(tracks.frames[int(np.argmax(weight @ tracks.visible))])


def _draw(clip: Clip, frames: Sequence[int], folder: Path) -> dict[int, str]:
    """File names by frame; empty from where the footage can no longer be read."""
    files: dict[int, str] = {}
    try:
        for frame, picture in clip.read(frames):
            name = f"{clip.id}-{frame}.jpg"
            drawing.plain_photo(picture, _PICTURE_SIDE_PX).save(folder / name, quality=85)
            files[frame] = name
    except (DecodingError, OSError):
        pass  # the page says which pictures are missing
    return files
