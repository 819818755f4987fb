"""The page of a clip: frames, objects, camera path, tracks, horizon, every signal or the reason why it is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from experts.sigma_calibration import SigmaCalibration, with_sigma_calibration
from experts.signals import (
    SIGNAL_TYPES,
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    ImageTracks,
    Matches,
    NoEstimate,
    ObjectOrientation,
    Objects,
    Parts,
    PathOnTracks,
    PointTracks,
    Room,
    Signal,
    SparsePoints,
    ValidArea,
)
from spatial_engine.dataset import drawing, photo_marks
from spatial_engine.report.figures import camera_views, horizon, trails
from spatial_engine.report.objects import MarkedFrame, marked_frames, object_rows, plan_picture
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store
from templates.scene.marks import spread_frames
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

_STRIP = 8
_PICTURE_SIDE_PX = 720


def clip_page(store: Store, clip_id: str, pictures: Path, calibration: SigmaCalibration) -> dict[str, Any]:
    """The content of a clip's page. Its pictures go to the folder `pictures`, named by the clip's id.

    `calibration`: the σ calibration that its questions were made with.
    """
    clip = clip_from_json(store.record(clip_id).clip)
    signals = with_sigma_calibration(store.signals(clip_id), calibration)
    scene = scenes_of(clip, signals)[0]
    frame = _busiest_frame(scene)
    shown = sorted({*spread_frames(_keyframes(scene), _STRIP), frame})
    marked = marked_frames(scene)
    files = _draw(clip, shown, marked, pictures)
    return {
        "clip": clip,
        "name": clip.name,
        "seconds": None if clip.times_s is None else float(clip.times_s[-1] - clip.times_s[0]),
        "strip": [{"frame": f, "time_s": clip.time_s(f), "file": files.plain.get(f)} for f in shown],
        "views": camera_views(scene),
        "levelled": scene.up_world is not None,
        "horizons": [
            {"frame": f, "file": files.plain[f], "line": line}
            for f in shown
            if f in files.plain and (line := horizon(scene, f))
        ],
        "trails": trails(scene.tracks, frame) if scene.tracks is not None else (),
        "trails_file": files.plain.get(frame),
        "marked": [
            {"frame": f, "file": file, "marked": len(marked[f].names), "count": marked[f].count}
            for f, file in files.marked.items()
        ],
        "objects": object_rows(scene),
        "objects_total": 0 if scene.objects is None else len(scene.objects.labels),
        "plan": _draw_plan(scene, pictures),
        "signals": _signals(signals),
        "failures": [(failure.expert, failure.error) for failure in store.present_failures(clip_id)],
    }


def _signals(signals: Any) -> list[dict[str, str]]:
    """A summary of every signal in the order of `SIGNAL_TYPES`, or the reason why it is missing."""
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


@dataclass(frozen=True)
class _Files:
    """Names of pictures by frame; those from the first frame that cannot be read are missing."""

    plain: dict[int, str]
    marked: dict[int, str]


def _draw(clip: Clip, frames: Sequence[int], marked: Mapping[int, MarkedFrame], folder: Path) -> _Files:
    """Pictures of `frames`, and of frames with marked objects."""
    files, size = _Files({}, {}), photo_marks.stored_size(clip.width_px, clip.height_px, _PICTURE_SIDE_PX)
    try:
        for frame, picture in clip.read(sorted({*frames, *marked})):
            small = photo_marks.scaled(picture, size)
            if frame in frames:
                files.plain[frame] = f"{clip.id}-{frame}.jpg"
                Image.fromarray(small).save(folder / files.plain[frame], quality=85)
            if frame in marked:
                files.marked[frame] = f"{clip.id}-{frame}-objects.jpg"
                scale = size[0] / clip.width_px, size[1] / clip.height_px
                small = photo_marks.marked(small, marked[frame].outlines, scale)
                small = photo_marks.marked(small, marked[frame].names, scale)  # names may cover outlines
                Image.fromarray(small).save(folder / files.marked[frame], quality=85)
    except (DecodingError, OSError):
        pass  # the page says which pictures are missing
    return files


def _draw_plan(scene: Scene, folder: Path) -> str:
    """File name of the floor plan; "" without a room."""
    picture = plan_picture(scene, _PICTURE_SIDE_PX)
    if picture is None:
        return ""
    name = f"{scene.clip.id}-plan.png"
    drawing.with_palette(picture).save(folder / name)
    return name


_MOTION = {
    "static": "the camera stands still",
    "rotation_only": "the camera turns on the spot",
    "unresolved": "the camera turns; whether it travels is not known",
    "general": "the camera travels",
}
_SCALE = {"metric": "in metres", "relative": "up to one unknown factor", "per_frame": "one unknown factor per frame"}


def summary(signal: Signal) -> str:
    """One line on the measured values and their errors."""
    match signal:
        case CameraPath():
            return _camera_path(signal)
        case Calibration():
            return _focal_length(signal)
        case SparsePoints():
            middle = _median(100 * signal.range_relative_sigma)
            return f"{len(signal.xyz_world)} points, range ±{middle:.1f} % (median σ)"
        case PointTracks():
            counts = [int(np.sum(signal.motion == kind)) for kind in (1, 0, -1)]
            return f"{len(signal.xy_px)} tracks: {counts[0]} move, {counts[1]} do not, {counts[2]} cannot be told"
        case PathOnTracks():
            return (
                f"focal length {signal.intrinsics.fx_px:.0f} px, tracks {signal.residual_px:.1f} px off at 640 px width"
            )
        case ImageTracks():
            return f"{len(signal.xy_px)} tracks over {len(signal.frames)} frames"
        case Matches():
            confirmed = int(np.sum(signal.outlier_probability < 0.005))
            return f"{len(signal.xy_a_px)} matches, {confirmed} confirmed by a second method"
        case Gravity():
            known = np.isfinite(signal.up_cam).all(axis=1)
            sigma = _median(np.degrees(signal.sigma_rad[known]))
            return f"{int(known.sum())} frames, ±{sigma:.1f}° (median σ), which axis is up: {signal.decided_by}"
        case ValidArea():
            return f"{100 * float(np.mean(signal.valid)):.0f} % of the picture shows the scene"
        case Depth():
            middle = _median(100 * signal.relative_sigma)
            return f"{len(signal.frames)} frames, ±{middle:.0f} % (median σ), {_SCALE[signal.scale.kind]}"
        case Objects():
            return f"{len(signal.labels)} objects in {len(signal.frames)} frames"
        case ObjectOrientation():
            count = int(np.isfinite(signal.azimuth_rad).any(axis=0).sum())
            return f"the front of {count} objects, ±{_median(np.degrees(signal.sigma_rad[..., 0])):.0f}° (median σ)"
        case Parts():
            return f"{len(signal.names)} parts of {len(set(signal.object.tolist()))} objects"
        case Room():
            walls = int(np.isfinite(signal.wall_sigma).sum())
            share = 100 * float(np.mean(signal.cells > 0)) if signal.cells.size else 0.0
            return f"{walls} of {len(signal.outline)} walls seen, {share:.0f} % of the floor"
    return type(signal).__name__


def _camera_path(path: CameraPath) -> str:
    parts = [
        _MOTION[path.motion],
        f"{int(path.registered.sum())} of {len(path.frames)} frames registered",
        _focal_length(path),
        f"rotation ±{_median(np.degrees(path.rotation_sigma_rad)):.1f}°",
    ]
    if path.motion == "general":
        parts.append(_SCALE[path.scale.kind])
    if path.magnification is not None and path.magnification_sigma is not None:
        least, most = np.nanmin(path.magnification), np.nanmax(path.magnification)
        parts.append(f"focal length × {least:.2f} to {most:.2f} (±{100 * np.nanmax(path.magnification_sigma):.1f} %)")
    return ", ".join(parts)


def _focal_length(signal: CameraPath | Calibration) -> str:
    return f"focal length {signal.intrinsics.fx_px:.0f} px ± {100 * signal.focal_relative_sigma:.1f} %"


def _median(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")
