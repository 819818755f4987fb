"""Mistakes in depth: its unit, what it is measured along, whose pixels it belongs to."""

from collections.abc import Iterator

import numpy as np

from experts.signals import CameraPath
from spatial_engine.sequences import partly
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.finding import Finding
from spatial_engine.sequences.part_findings import of_some, sound_frames
from spatial_engine.sequences.seen_twice import Pair
from spatial_engine.sequences.unprojected import Unprojected, offsets_px, unprojected

_SCALES = (0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0, 5.0, 10.0, 100.0, 1000.0)
_CLEARLY = 0.7
"""An error this much smaller is no chance ..."""
_BY_HALF = 0.5
"""... nor this much, by one of several factors."""
_OFF_SHARE = 0.004
"""Median reprojection error, as a share of the frame's width, above which depth does not belong to the colour pixels.
Over eight frames a registered sensor shows 0.0023 (HoloLens), colour and depth of two cameras 0.0054 (7-Scenes)."""


def of_depth(
    path: CameraPath, depth: DepthSource, seen: list[Pair], far: set[partly.Pair2], allowed: partly.Allowed
) -> list[Finding]:
    """One mistake in all of it, or some wrong images, or no reason that can be named."""
    distant = [pair for pair in seen if (pair.a, pair.b) in far]
    points = [one for pair in distant if (one := unprojected(path, depth, pair)) is not None]
    if points and (mistaken := list(_mistaken_depth(path, depth, points))):
        return mistaken
    bad, good = partly.off_their_places(path, depth, seen, allowed)
    what = "depth of some frames does not belong to them"
    some = list(of_some(path, bad, good, what, partly.to_blame(bad)))
    sound = sound_frames(path, some)
    rest = [one for one in points if {one.pair.a, one.pair.b} <= sound]
    return some + (list(_foreign_depth(path, rest)) if rest else [])


def _mistaken_depth(path: CameraPath, depth: DepthSource, points: list[Unprojected]) -> Iterator[Finding]:
    """A unit or a length that makes it fit."""
    errors = {scale: _median_offset(path, points, scale) for scale in _SCALES}
    stated, best = errors[1.0], min(errors, key=lambda scale: errors[scale])
    fits_px = 2 * _OFF_SHARE * path.intrinsics.width_px
    is_range = depth.stated.along == "range"
    other = _median_offset(path, [one.with_other_length(is_range) for one in points], 1.0)
    if best != 1.0 and errors[best] < min(_BY_HALF * stated, fits_px):
        number = f"matched pixels lie {stated:.1f} px off as stated, {errors[best]:.1f} px with depth times {best:g}"
        remedy = f"unit_m: {depth.stated.unit_m * best:g}, or the scale of the poses"
        yield Finding(what="depth and poses have different scales", number=number, remedy=remedy, severe=True)
    elif other < min(_CLEARLY * stated, fits_px):
        number = f"matched pixels lie {stated:.2f} px off as stated, {other:.2f} px as {'z' if is_range else 'range'}"
        what = "depth looks like z, not range" if is_range else "depth looks like range, not z"
        yield Finding(what=what, number=number, remedy=f"depth.along: {'z' if is_range else 'range'}", severe=True)


def _foreign_depth(path: CameraPath, points: list[Unprojected]) -> Iterator[Finding]:
    """Depth that nothing makes fit."""
    stated, limit_px = _median_offset(path, points, 1.0), _OFF_SHARE * path.intrinsics.width_px
    if stated > limit_px:
        number = f"matched pixels lie {stated:.1f} px off (limit {limit_px:.1f})"
        remedy = "depth.registered: false, if it comes from another camera; else check camera and match"
        yield Finding(what="depth does not belong to the colour pixels", number=number, remedy=remedy, severe=True)


def _median_offset(path: CameraPath, points: list[Unprojected], scale: float) -> float:
    return float(np.median(np.concatenate([offsets_px(path, one, scale) for one in points])))
