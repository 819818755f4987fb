"""Segmentation of a path: one segment for each motion with its own name."""

from collections.abc import Iterator, Sequence
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
    """Part of a path in which the camera moves in one way, described by one or several simultaneous primitives."""

    first: int
    """Index of its first pose."""
    last: int
    """Index of its last pose, which is the first of the next segment."""
    t0_s: float
    """Time of the first pose."""
    t1_s: float
    """Time of the last pose."""
    primitives: tuple[Primitive, ...]
    """Motion in camera axes: (STAY,) at rest, () across a gap in time."""
    levelled: tuple[Primitive, ...] | None
    """Motion in levelled axes. None if up is unknown, if a camera is pitched by more than 75°, and across a gap."""


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
    """Cut a path into consecutive segments, each of one motion.

    Args:
        world_from_cam: camera poses, OpenCV axes. If a position is NaN, no translation is named.
        times_s: time of each pose, increasing.
        scale: "metric" (thresholds in m/s), or "relative" (thresholds as fractions of the path's own speed).
        up_world: direction of the sky in world axes; None: no names in levelled axes.
        rotation_sigma_rad: σ of each pose, per axis; None: estimated from the path.
        position_sigma: σ of each position, per axis, in path units; None: estimated from the path.
        focal_px: focal length of each frame; None: no zoom is named.
        settings: thresholds.

    Raises:
        PoseError: invalid poses, times or focal lengths.

    Warns (PathWarning) of gaps in time and of impossible speeds.
    """
    (segments,) = motion_segments_at(
        world_from_cam,
        times_s,
        [settings or SegmentSettings()],
        scale=scale,
        up_world=up_world,
        sigmas=(rotation_sigma_rad, position_sigma),
        focal_px=focal_px,
    )
    return segments


def motion_segments_at(
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    times_s: Float64[np.ndarray, "n"],
    thresholds: Sequence[SegmentSettings],
    *,
    scale: PathScale,
    up_world: Float64[np.ndarray, "3"] | None = None,
    sigmas: tuple[float | None, float | None] = (None, None),
    focal_px: Float64[np.ndarray, "n"] | None = None,
) -> Iterator[list[Segment]]:
    """The segments at each of several thresholds. What does not depend on these is computed once. `sigmas`: of rotation
    and position. All else as for `motion_segments`; errors and warnings come when the first segments are taken."""
    durations_s = checked_durations(times_s)
    checked_rotations(world_from_cam)
    steps = camera_motion(world_from_cam[:-1], world_from_cam[1:])
    gap_steps = gaps(durations_s)
    clock_s = durations_s.copy()
    clock_s[gap_steps] = np.median(durations_s)  # a gap counts as one median step without motion
    zoom = _zoom_steps(focal_px, len(times_s))
    moves, level, steep = _Moves.of(steps, zoom, gap_steps, sigmas), None, np.empty(0)
    if up_world is not None:
        level_steps = levelled_motion(world_from_cam[:-1], world_from_cam[1:], up_world)
        steep = np.isnan(level_steps[:, 0])
        level_steps[steep] = 0.0
        level = _Moves.of(level_steps, zoom, gap_steps, sigmas)
    for settings in thresholds:
        if scale == "metric":
            length, span_s = window_lengths(steps[:, 3:], durations_s, settings.max_window_s)
            warn_impossible_speed(length / span_s)
        signs, levelled = _signs(moves, clock_s, scale, settings), None
        edges = _edges(signs, clock_s, gap_steps, settings.min_duration_s)
        if level is not None:
            level_codes = _majority(_signs(level, clock_s, scale, settings), edges, clock_s)
            levelled = (level_codes, np.logical_or.reduceat(steep, edges[:-1]))
        yield _segments(_majority(signs, edges, clock_s), levelled, edges, times_s, gap_steps)


@dataclass(frozen=True, kw_only=True)
class _Moves:
    """The change of each component in each step, none across gaps, and the noise of poses."""

    rotation: Float64[np.ndarray, "m 3"]
    translation: Float64[np.ndarray, "m 3"]
    zoom: Float64[np.ndarray, "m"]
    rotation_sigma: float
    translation_sigma: float

    @classmethod
    def of(
        cls,
        steps: Float64[np.ndarray, "m 6"],
        zoom: Float64[np.ndarray, "m"],
        gap_steps: list[int],
        sigmas: tuple[float | None, float | None],
    ) -> "_Moves":
        """Noise whose σ is None is estimated."""
        steps, zoom = steps.copy(), zoom.copy()
        steps[gap_steps], zoom[gap_steps] = 0.0, 0.0
        rotation, translation = steps[:, :3], steps[:, 3:]
        if np.isnan(translation).any():
            translation = np.zeros_like(translation)
        rotation_sigma, translation_sigma = (
            smoothing_residual(part) if sigma is None else sigma
            for part, sigma in zip((rotation, translation), sigmas, strict=True)
        )
        return cls(
            rotation=rotation,
            translation=translation,
            zoom=zoom,
            rotation_sigma=rotation_sigma,
            translation_sigma=translation_sigma,
        )


def _zoom_steps(focal_px: Float64[np.ndarray, "n"] | None, count: int) -> Float64[np.ndarray, "m"]:
    if focal_px is None:
        return np.zeros(count - 1)
    if len(focal_px) != count or not (np.isfinite(focal_px) & (focal_px > 0)).all():
        raise PoseError(f"focal_px needs one positive, finite focal length for each of {count} poses")
    return np.diff(np.log(focal_px))


def _signs(
    moves: _Moves, clock_s: Float64[np.ndarray, "m"], scale: PathScale, settings: SegmentSettings
) -> Int8[np.ndarray, "m 7"]:
    """Direction of motion of each component in each step."""
    threshold = settings.translation_m_s
    if scale == "relative":
        threshold = relative_threshold(moves.translation, clock_s, moves.translation_sigma, settings)
    parts = (
        (moves.rotation, settings.rotation_rad_s, moves.rotation_sigma),
        (moves.translation, threshold, moves.translation_sigma),
        (moves.zoom[:, None], settings.zoom_per_s, 0.0),
    )
    return np.column_stack(
        [active_signs(part, clock_s, threshold=least, sigma=sigma, settings=settings) for part, least, sigma in parts]
    )  # fmt: skip


def _edges(
    signs: Int8[np.ndarray, "m 7"], clock_s: Float64[np.ndarray, "m"], gap_steps: list[int], min_duration_s: float
) -> Int64[np.ndarray, "e"]:
    """Poses at which segments begin and end. Of changes closer than the minimum duration one is kept."""
    forced = {0, len(signs), *gap_steps, *(step + 1 for step in gap_steps)}
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
    """Direction in which each component moves for more than half of each segment's time."""
    share = np.add.reduceat(signs * clock_s[:, None], edges[:-1]) / np.add.reduceat(clock_s, edges[:-1])[:, None]
    return (np.sign(share) * (np.abs(share) > 0.5)).astype(np.int8)


def _segments(
    codes: Int8[np.ndarray, "s 7"],
    levelled: tuple[Int8[np.ndarray, "s 7"], Bool[np.ndarray, "s"]] | None,
    edges: Int64[np.ndarray, "e"],
    times_s: Float64[np.ndarray, "n"],
    gap_steps: list[int],
) -> list[Segment]:
    """Named segments; neighbours of equal name are joined."""
    gap = np.isin(edges[:-1], gap_steps)
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
