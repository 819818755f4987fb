"""A path cut where its motion changes name."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64, Int8, Int64

from action_mapping.camera_rates import checked_durations, gaps, warn_impossible_speed
from action_mapping.dead_zones import (
    SegmentSettings,
    active_signs,
    relative_threshold,
    smoothing_residual,
    window_lengths,
)
from action_mapping.primitives import COMPONENTS, STAY, Component, Primitive, primitive_of
from action_mapping.reading import camera_motion, levelled_motion
from action_mapping.rigid import PoseError, checked_rotations

PathScale = Literal["metric", "relative"]

_NAMES: tuple[Component, ...] = (*COMPONENTS, "zoom")


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A stretch of path with one name, or with several at once."""

    first: int
    """Index of its first pose."""
    last: int
    """Index of its last pose, which is the first of the next segment."""
    t0_s: float
    """Time of the first pose."""
    t1_s: float
    """Time of the last pose."""
    primitives: tuple[Primitive, ...]
    """What the camera does, in its own axes: (STAY,) if nothing, () across a gap."""
    levelled: tuple[Primitive, ...] | None
    """The same in levelled axes. None without up, where a camera is pitched above 75°, and across a gap."""


def motion_segments(
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    times_s: Float64[np.ndarray, "n"],
    *,
    scale: PathScale,
    up_world: Float64[np.ndarray, "3"] | None = None,
    rotation_sigma_rad: float | None = None,
    position_sigma: float | None = None,
    focal_px: Float64[np.ndarray, "n"] | None = None,
    settings: SegmentSettings | None = None,
) -> list[Segment]:
    """Cut a path into segments, in order and without holes.

    `scale`: "metric" (thresholds in m/s) or "relative" (fractions of the path's own speed, after it is decided that
    it travels at all). σ are those of each pose, per axis; None: what smoothing leaves of the path itself.
    `focal_px`: focal length of each frame, where known: a zoom then has its own name. Positions may be NaN, and then
    no translation is named. Raises PoseError on bad poses, times or focal lengths; warns (PathWarning) on gaps and
    on impossible speeds.
    """
    settings = settings or SegmentSettings()
    durations_s = checked_durations(times_s)
    checked_rotations(world_from_cam)
    steps = camera_motion(world_from_cam[:-1], world_from_cam[1:])
    if scale == "metric":
        length, span_s = window_lengths(steps[:, 3:], durations_s, settings.max_window_s)
        warn_impossible_speed(length / span_s)
    seams = gaps(durations_s)
    clock_s = durations_s.copy()
    clock_s[seams] = np.median(durations_s)  # a gap counts as one usual step without motion
    zoom = _zoom_steps(focal_px, len(times_s))
    sigmas = (rotation_sigma_rad, position_sigma)
    signs = _signs(np.column_stack([steps, zoom]), seams, clock_s, scale, sigmas, settings)
    edges = _edges(signs, clock_s, seams, settings.min_duration_s)
    codes = _majority(signs, edges, clock_s)
    levelled = None
    if up_world is not None:
        level_steps = levelled_motion(world_from_cam[:-1], world_from_cam[1:], up_world)
        steep = np.isnan(level_steps[:, 0])
        level_steps[steep] = 0.0
        level_signs = _signs(np.column_stack([level_steps, zoom]), seams, clock_s, scale, sigmas, settings)
        levelled = (_majority(level_signs, edges, clock_s), np.logical_or.reduceat(steep, edges[:-1]))
    return _segments(codes, levelled, edges, times_s, seams)


def _zoom_steps(focal_px: Float64[np.ndarray, "n"] | None, count: int) -> Float64[np.ndarray, "m"]:
    if focal_px is None:
        return np.zeros(count - 1)
    if len(focal_px) != count or not (np.isfinite(focal_px) & (focal_px > 0)).all():
        raise PoseError(f"focal_px needs one positive, finite focal length for each of {count} poses")
    return np.diff(np.log(focal_px))


def _signs(
    steps: Float64[np.ndarray, "m 7"],
    seams: list[int],
    clock_s: Float64[np.ndarray, "m"],
    scale: PathScale,
    sigmas: tuple[float | None, float | None],
    settings: SegmentSettings,
) -> Int8[np.ndarray, "m 7"]:
    """Which way each component moves in each step."""
    steps = steps.copy()
    steps[seams] = 0.0
    turn, way, zoom = steps[:, :3], steps[:, 3:6], steps[:, 6:]
    if np.isnan(way).any():
        way = np.zeros_like(way)
    turn_sigma, way_sigma = (
        smoothing_residual(part) if given is None else given for part, given in zip((turn, way), sigmas, strict=True)
    )
    way_threshold = settings.translation_m_s
    if scale == "relative":
        way_threshold = relative_threshold(way, clock_s, way_sigma, settings)
    parts = (
        (turn, settings.rotation_rad_s, turn_sigma),
        (way, way_threshold, way_sigma),
        (zoom, settings.zoom_per_s, 0.0),
    )
    return np.column_stack(
        [active_signs(part, clock_s, threshold=threshold, sigma=sigma, settings=settings)
         for part, threshold, sigma in parts]
    )  # fmt: skip


def _edges(
    signs: Int8[np.ndarray, "m 7"], clock_s: Float64[np.ndarray, "m"], seams: list[int], min_duration_s: float
) -> Int64[np.ndarray, "e"]:
    """Pose indices where segments begin and end. Changes closer than the minimum duration count as one."""
    forced = {0, len(signs), *seams, *(step + 1 for step in seams)}
    changed = np.flatnonzero((signs[1:] != signs[:-1]).any(axis=1)) + 1
    time_s = np.append(0.0, np.cumsum(clock_s))
    kept: list[int] = [0]
    for edge in sorted(forced.union(changed.tolist()) - {0}):
        too_soon = time_s[edge] - time_s[kept[-1]] < min_duration_s - 1e-9
        if edge in forced:
            if too_soon and kept[-1] not in forced:
                kept.pop()
            kept.append(edge)
        elif not too_soon:
            kept.append(edge)
    return np.array(kept)


def _majority(
    signs: Int8[np.ndarray, "m 7"], edges: Int64[np.ndarray, "e"], clock_s: Float64[np.ndarray, "m"]
) -> Int8[np.ndarray, "s 7"]:
    """The sign that each component has for more than half of each segment's time."""
    share = np.add.reduceat(signs * clock_s[:, None], edges[:-1]) / np.add.reduceat(clock_s, edges[:-1])[:, None]
    return (np.sign(share) * (np.abs(share) > 0.5)).astype(np.int8)


def _segments(
    codes: Int8[np.ndarray, "s 7"],
    levelled: tuple[Int8[np.ndarray, "s 7"], Bool[np.ndarray, "s"]] | None,
    edges: Int64[np.ndarray, "e"],
    times_s: Float64[np.ndarray, "n"],
    seams: list[int],
) -> list[Segment]:
    """Neighbours of equal name joined, names given."""
    gap = np.isin(edges[:-1], seams)
    key = codes if levelled is None else np.column_stack([codes, *levelled])
    fresh = (key[1:] != key[:-1]).any(axis=1) | gap[1:] | gap[:-1]
    chosen = np.append(0, np.flatnonzero(fresh) + 1)
    ends = edges[np.append(chosen[1:], len(codes))]
    segments = []
    for row, first, last in zip(chosen.tolist(), edges[chosen].tolist(), ends.tolist(), strict=True):
        readable = levelled is not None and not gap[row] and not levelled[1][row]
        segments.append(
            Segment(
                first=first,
                last=last,
                t0_s=float(times_s[first]),
                t1_s=float(times_s[last]),
                primitives=() if gap[row] else _named(codes[row]),
                levelled=_named(levelled[0][row]) if levelled is not None and readable else None,
            )
        )
    return segments


def _named(code: Int8[np.ndarray, "7"]) -> tuple[Primitive, ...]:
    names = tuple(primitive_of(name, sign) for name, sign in zip(_NAMES, code.tolist(), strict=True) if sign)
    return names or (STAY,)
