"""Signals in a few words and numbers, for people."""

import numpy as np

from experts.signals import (
    CameraPath,
    Depth,
    Gravity,
    ImageTracks,
    Matches,
    Objects,
    PointTracks,
    Signal,
    SparsePoints,
    ValidArea,
)

_MOTION = {
    "static": "the camera stands still",
    "rotation_only": "the camera turns on the spot",
    "unresolved": "the camera turns; whether it travels is not known",
    "general": "the camera travels",
}
_SCALE = {"metric": "in metres", "relative": "up to one unknown factor", "per_frame": "one unknown factor per frame"}


def summary(signal: Signal) -> str:
    """One line on what was measured and how well."""
    match signal:
        case CameraPath():
            return _camera_path(signal)
        case SparsePoints():
            middle = _median(100 * signal.range_relative_sigma)
            return f"{len(signal.xyz_world)} points, range ±{middle:.1f} % (median σ)"
        case PointTracks():
            counts = [int(np.sum(signal.motion == kind)) for kind in (1, 0, -1)]
            return f"{len(signal.xy_px)} tracks: {counts[0]} move, {counts[1]} do not, {counts[2]} cannot be told"
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
    return type(signal).__name__


def _camera_path(path: CameraPath) -> str:
    parts = [
        _MOTION[path.motion],
        f"{int(path.registered.sum())} of {len(path.frames)} frames registered",
        f"focal length {path.intrinsics.fx_px:.0f} px ± {100 * path.focal_relative_sigma:.1f} %",
        f"rotation ±{_median(np.degrees(path.rotation_sigma_rad)):.1f}°",
    ]
    if path.motion == "general":
        parts.append(_SCALE[path.scale.kind])
    return ", ".join(parts)


def _median(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")
