"""Signals of several experts about one clip: disagreement widens σ or removes a signal; the second opinion."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from experts.comparing.agreement_paths import median_range, scale_between
from experts.signals import (
    WORLD_BOUND,
    Agreement,
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    Matches,
    NoEstimate,
    Signal,
    Signals,
    SparsePoints,
)

Known = Mapping[str, Signal | NoEstimate]


def agreed(signals: Known, agreement: Agreement | None) -> Known:
    """The signals without the refused ones, with the disagreement of experts added to every σ."""
    if agreement is None:
        return signals
    refused = _refused(signals, agreement)
    kept = {**signals, **{name: NoEstimate(reason=reason) for name, reason in refused.items() if name in signals}}
    scene_range = _median_range(kept)
    return {name: _widened(signal, agreement.disagreement, scene_range) for name, signal in kept.items()}


def _refused(signals: Known, agreement: Agreement) -> dict[str, str]:
    """Reasons of refused signals, by name. A refused signal takes with it the signals that were derived from it."""
    refused = dict(agreement.refused)
    if reason := refused.get("camera_path"):
        refused |= dict.fromkeys([*WORLD_BOUND, "tracks", "matches"], reason)
    if reason := refused.get("depth"):
        matches = signals.get("matches")
        if isinstance(matches, Matches) and (matches.confirmed_by == 4).any():
            refused.setdefault("matches", reason)
    return refused


def _median_range(signals: Known) -> float:
    path, depth, points = (signals.get(name) for name in ("camera_path", "depth", "sparse_points"))
    if not isinstance(path, CameraPath):
        return np.nan
    return median_range(
        path, depth if isinstance(depth, Depth) else None, points if isinstance(points, SparsePoints) else None
    )


def _widened(signal: Signal | NoEstimate, disagreement: Mapping[str, float], scene_range: float) -> Signal | NoEstimate:
    """Adds the disagreement of experts to the σ of a signal, in quadrature."""
    focal = disagreement.get("focal_relative", 0.0)
    match signal:
        case CameraPath():
            return replace(
                signal,
                rotation_sigma_rad=np.hypot(signal.rotation_sigma_rad, disagreement.get("rotation_rad", 0.0)),
                direction_sigma_rad=float(np.hypot(signal.direction_sigma_rad, disagreement.get("direction_rad", 0.0))),
                position_sigma=np.hypot(
                    signal.position_sigma, disagreement.get("position_share", 0.0) * np.nan_to_num(scene_range)
                ),
                focal_relative_sigma=float(np.hypot(signal.focal_relative_sigma, focal)),
            )
        case Calibration():
            return replace(signal, focal_relative_sigma=float(np.hypot(signal.focal_relative_sigma, focal)))
        case Depth():
            relative = np.float32(disagreement.get("depth_relative", 0.0))
            return replace(signal, relative_sigma=np.hypot(signal.relative_sigma, relative))
        case Gravity():
            return replace(signal, sigma_rad=np.hypot(signal.sigma_rad, disagreement.get("up_rad", 0.0)))
    return signal


def second_opinion(main: Known, signals: Signals, check: CameraPath) -> Known:
    """The main signals, with those of the second reconstruction in place of their counterparts.

    Signals with positions come from the expert of the check path alone, because each expert has its own world frame.
    Where the main path is metric, the check path is scaled to metres. A check without an estimate replaces nothing.
    """
    shared = {name: s for name, s in main.items() if name not in WORLD_BOUND}
    own: dict[str, Signal | NoEstimate] = {}
    for name, signal in signals.items():
        if name.endswith("_check") and not isinstance(signal, NoEstimate):
            plain = name.removesuffix("_check")
            if plain not in WORLD_BOUND or signal.provenance.expert == check.provenance.expert:
                own[plain] = signal
    path = main.get("camera_path")
    if isinstance(path, CameraPath) and path.scale.kind == "metric" and check.scale.kind == "relative":
        own = _rescaled(own, path, scale_between(path, check))
    return {**shared, **own}


def _rescaled(own: Known, like: CameraPath, factor: float) -> dict[str, Signal | NoEstimate]:
    """The signals with their positions scaled by `factor` and the scale of `like`: only their shapes are compared."""
    out = dict(own)
    path, points, depth = out["camera_path"], out.get("sparse_points"), out.get("depth")
    if not np.isfinite(factor):
        return out
    assert isinstance(path, CameraPath)
    world_from_cam = path.world_from_cam.copy()
    world_from_cam[:, :3, 3] *= factor
    out["camera_path"] = replace(
        path, world_from_cam=world_from_cam, position_sigma=path.position_sigma * factor, scale=like.scale
    )
    if isinstance(points, SparsePoints):
        out["sparse_points"] = replace(points, xyz_world=points.xyz_world * factor)
    if isinstance(depth, Depth):
        out["depth"] = replace(depth, z=depth.z * np.float32(factor), scale=like.scale)
    return out
