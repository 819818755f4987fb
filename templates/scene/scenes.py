"""The scenes of a clip: which of its experts' signals count, with what σ, and the scene of a second reconstruction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.comparing.agreement_paths import median_range, scale_between
from experts.provenance import Provenance
from experts.signals import (
    CHECKED,
    MADE_ON_BOTH_PATHS,
    WORLD_BOUND,
    Agreement,
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    Matches,
    NoEstimate,
    Objects,
    PathOnTracks,
    PointTracks,
    Room,
    Scale,
    Signal,
    Signals,
    SparsePoints,
)
from templates.scene.episode import Episode
from templates.scene.scene import Scene, find_rows

Known = Mapping[str, Signal | NoEstimate]


def scenes_of(clip: Clip, signals: Signals) -> tuple[Scene, ...]:
    """The scene of the main signals and, if the experts made a second reconstruction, its scene.

    Facts are proposed on the first scene and measured on both. A translating path whose second reconstruction failed
    counts as unknown; so does one camera for a clip that zooms. Where experts disagree (`Agreement`), signals are
    refused, or their σ grows.
    """
    main = {name: s for name, s in signals.items() if not name.endswith("_check")}
    if isinstance(main.get("zooming_path"), CameraPath):
        main |= dict.fromkeys(("camera_path", "calibration"), NoEstimate(reason="the camera zooms"))
    path, check = main.get("camera_path"), signals.get("camera_path_check")
    if isinstance(check, NoEstimate) and isinstance(path, CameraPath) and path.motion == "general":
        refusal = NoEstimate(reason="there is no second reconstruction to compare the first with", detail=check.reason)
        main |= {name: refusal for name in ("camera_path", "sparse_points") if name in main}
    agreement = signals.get("agreement")
    agreement = agreement if isinstance(agreement, Agreement) else None
    main = dict(_in_metres(main, agreement))
    judges = _judges(signals, agreement)
    first = _scene(clip, _agreed(main, agreement), judges)
    if not isinstance(check, CameraPath):
        return (first if _path_confirmed(first) else _scene(clip, {**main, "camera_path": _UNCONFIRMED}, judges),)
    second = _scene(clip, _agreed(_second_opinion(main, signals, check), agreement), judges)
    return (replace(first, second=second) if _independent(first, second) else first, second)


_UNCONFIRMED = NoEstimate(
    reason="nothing confirms the model's camera path",
    detail="a path without σ calibration counts only where point tracks or a second reconstruction confirm it",
    remedy="add tracks (klt or tapir) or a second reconstruction (colmap) to --experts",
)
"""With simulated models that were wrong on purpose, a path alone gave up to 109 wrong answers in 4 rooms; with tracks,
none."""


def _path_confirmed(scene: Scene) -> bool:
    """False for a translating path without σ calibration that does not explain the tracks."""
    path = scene.path
    raw = path is not None and path.motion == "general" and path.provenance.sigma == "raw"
    return not raw or scene.fitted_path is not None


def _judges(signals: Signals, agreement: Agreement | None) -> dict[str, Provenance]:
    """Provenance of the signals that the agreement compared, of the tracks, and the path fitted to them, that confirm
    an uncalibrated path, and of the depth that gives a path its metres."""
    path, depth = signals.get("camera_path"), signals.get("depth")
    names = {"tracks", "fitted_path"} if isinstance(path, CameraPath) and path.provenance.sigma == "raw" else set()
    names |= {"depth"} if isinstance(depth, Depth) and depth.scale.metres_per_unit is not None else set()
    if agreement is not None:
        names |= {*CHECKED, *(f"{name}_check" for name in CHECKED), "calibration", "tracks"}
    found = {name: signals[name] for name in sorted(names & signals.keys())}
    return {name: signal.provenance for name, signal in found.items() if not isinstance(signal, NoEstimate)}


def _independent(first: Scene, second: Scene) -> bool:
    """Whether different experts made the two reconstructions: those of one expert share its wrong matches."""
    if first.path is None or second.path is None:
        return False
    return first.path.provenance.expert != second.path.provenance.expert


def _scene(clip: Clip, signals: Signals, judges: Mapping[str, Provenance]) -> Scene:
    known = {name: _known_rows(s) for name, s in signals.items() if not isinstance(s, NoEstimate)}
    kind = Episode if known.keys() & {"effector_path", "task"} else Scene
    return kind(
        clip=clip,
        signals=known,
        no_estimates={name: s for name, s in signals.items() if isinstance(s, NoEstimate)},
        judged_by=judges,
    )


def _known_rows(signal: Signal) -> Signal:
    """The signal without matches and observations of points whose pixel or σ is not known."""
    match signal:
        case Matches():
            xy_px = np.column_stack([signal.xy_a_px, signal.xy_b_px])
            known = np.isfinite(xy_px).all(axis=1) & ~np.isnan(signal.sigma_px)
            return signal if known.all() else signal.take(known)
        case SparsePoints():
            sigma = signal.range_relative_sigma[signal.observation_point]
            known = np.isfinite(signal.observation_xy_px).all(axis=1) & ~np.isnan(sigma)
            return signal if known.all() else signal.with_observations(known)
    return signal


def _agreed(signals: Known, agreement: Agreement | None) -> Known:
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


def _second_opinion(main: Known, signals: Signals, check: CameraPath) -> Known:
    """The main signals, with those of the second reconstruction in place of their counterparts.

    Signals with positions come from the expert of the check path alone, because each expert has its own world frame;
    what is made on both paths has its own counterpart.
    Where the main path is metric, the check path is scaled to metres. A check without an estimate replaces nothing.
    """
    shared = {name: s for name, s in main.items() if name not in WORLD_BOUND}
    own: dict[str, Signal | NoEstimate] = {}
    for name, signal in signals.items():
        if name.endswith("_check") and not isinstance(signal, NoEstimate):
            plain = name.removesuffix("_check")
            same_expert = signal.provenance.expert == check.provenance.expert
            if plain not in WORLD_BOUND or same_expert or plain in MADE_ON_BOTH_PATHS:
                own[plain] = signal
    path = main.get("camera_path")
    if isinstance(path, CameraPath) and path.scale.kind == "metric" and check.scale.kind == "relative":
        factor = scale_between(path, check)
        own = dict(_rescaled(own, path.scale, factor)) if np.isfinite(factor) else own
    second = own.get("camera_path")
    if isinstance(path, CameraPath) and isinstance(second, CameraPath):
        moved = {name: _carried(main[name], path, second) for name in ("objects", "tracks", "room") if name in main}
        own = {**moved, **own}
    return {**shared, **own}


def _carried(signal: Signal | NoEstimate, path: CameraPath, second: CameraPath) -> Signal | NoEstimate:
    """Objects, tracks and room in the world and unit of the second path: all is where the camera of each frame has
    it."""
    if not isinstance(signal, (Objects, PointTracks, Room)):
        return signal
    factor = scale_between(path, second)
    factor = 1 / factor if np.isfinite(factor) else 1.0
    frames = path.frames if isinstance(signal, Room) else signal.frames
    cam_from_world = np.linalg.inv(_poses(path, frames))
    second_from_world = _poses(second, frames) @ _moved(cam_from_world, factor)
    match _times(signal, factor, second.scale):
        case Objects() as scaled:
            return replace(scaled, world_from_object=second_from_world[:, None] @ scaled.world_from_object)
        case PointTracks(xyz_world=np.ndarray() as xyz) as scaled:
            moved = np.einsum("nij,tnj->tni", second_from_world[:, :3, :3], xyz) + second_from_world[:, :3, 3]
            return replace(scaled, xyz_world=moved.astype(np.float32))
        case Room() as scaled:
            return _placed(scaled, second_from_world)
    return signal


def _placed(room: Room, second_from_world: Float64[np.ndarray, "n 4 4"]) -> Room | NoEstimate:
    """The room where most frames have it. σ grows by how far they have its floor and its walls elsewhere."""
    placed = second_from_world @ room.world_from_floor
    placed = placed[np.isfinite(placed).all(axis=(1, 2))]
    if not len(placed):
        return NoEstimate(reason="the second reconstruction does not place the room")
    low = room.cells_from
    plan = room.outline if len(room.outline) else np.stack([low, low + room.cell * np.array(room.cells.shape)[::-1]])
    corners = np.column_stack([plan, np.zeros(len(plan)), np.ones(len(plan))]).T
    world_from_floor = np.eye(4)
    world_from_floor[:3, :3] = Rotation.from_matrix(placed[:, :3, :3]).mean().as_matrix()
    world_from_floor[:3, 3] = np.median(placed[:, :3, 3], axis=0)
    off = (np.linalg.inv(world_from_floor) @ placed - np.eye(4)) @ corners
    across, up = np.sqrt(np.mean(off[:, :2] ** 2)), np.sqrt(np.mean(off[:, 2] ** 2))
    return replace(
        room,
        world_from_floor=world_from_floor,
        floor_sigma=float(np.hypot(room.floor_sigma, up)),
        wall_sigma=np.hypot(room.wall_sigma, across),
    )


def _poses(path: CameraPath, frames: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n 4 4"]:
    """Those of the frames; NaN where they are not known."""
    rows = find_rows(path.frames, frames)
    known = (rows >= 0) & path.registered[rows]
    return np.where(known[:, None, None], path.world_from_cam[rows], np.nan)


def _in_metres(signals: Known, agreement: Agreement | None) -> Known:
    """The signals in metres, if the depth says how many of them a unit of the path has."""
    path, depth = signals.get("camera_path"), signals.get("depth")
    refused = {} if agreement is None else agreement.refused
    if not isinstance(path, CameraPath) or path.scale.kind != "relative" or refused.keys() & {"camera_path", "depth"}:
        return signals
    if not isinstance(depth, Depth) or (metres := depth.scale.metres_per_unit) is None:
        return signals
    scale = Scale(kind="metric", relative_sigma=depth.scale.relative_sigma, source=depth.scale.source)
    return _rescaled(signals, scale, metres)


def _rescaled(signals: Known, scale: Scale, factor: float) -> Known:
    """The signals with all lengths times `factor`, and with this scale."""
    return {name: _times(signal, factor, scale) for name, signal in signals.items()}


def _times(signal: Signal | NoEstimate, factor: float, scale: Scale) -> Signal | NoEstimate:
    match signal:
        case CameraPath():
            lengths = _lengths(signal, ("position_sigma", "systematic_position_sigma", "position_by_camera"), factor)
            return replace(signal, world_from_cam=_moved(signal.world_from_cam, factor), scale=scale, **lengths)
        case PathOnTracks():
            return replace(signal, world_from_cam=_moved(signal.world_from_cam, factor))
        case SparsePoints():
            return replace(signal, xyz_world=signal.xyz_world * factor)
        case Depth():
            return replace(signal, z=signal.z * np.float32(factor), scale=scale)
        case PointTracks():
            known = _lengths(signal, ("xyz_world", "xyz_sigma"), factor)
            return replace(signal, **known)
        case Objects():
            known = _lengths(signal, ("size", "centre_sigma", "size_sigma"), factor)
            return replace(signal, world_from_object=_moved(signal.world_from_object, factor), **known)
        case Room():
            known = _lengths(signal, _ROOM_LENGTHS, factor)
            return replace(signal, world_from_floor=_moved(signal.world_from_floor, factor), **known)
    return signal


def _lengths(signal: Signal, names: Sequence[str], factor: float) -> dict[str, Any]:
    """The named fields that the signal has, times the factor."""
    held = {name: getattr(signal, name) for name in names}
    return {
        name: each * np.asarray(factor, dtype=np.asarray(each).dtype) for name, each in held.items() if each is not None
    }


_ROOM_LENGTHS = (
    "floor_sigma", "outline", "wall_sigma", "height", "height_sigma", "doorways", "cell", "cells_from"
)  # fmt: skip


def _moved(poses: Float64[np.ndarray, "*n 4 4"], factor: float) -> Float64[np.ndarray, "*n 4 4"]:
    poses = poses.copy()
    poses[..., :3, 3] *= factor
    return poses
