"""The usual mistakes in ground truth, named with the number that shows them.

Truth is held against pixels that were matched without it: they must lie on each other's epipolar lines, and with depth
on each other. A mistake is named only where correcting it makes the numbers much better.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from experts.signals import CameraPath
from spatial_engine.sequences import partly
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.epipolar import NEAR_PX, share_on_lines
from spatial_engine.sequences.lifted import Lifted, lifted, offsets_px
from spatial_engine.sequences.manifest import Poses
from spatial_engine.sequences.seen_twice import Pair, pairs
from spatial_engine.sequences.sequence import Sequence

_PAIRS = 10
_BETTER = 0.2
"""A share this much larger is no chance."""
_GOOD = 0.6
_POOR = 0.5
_CLEARLY = 0.7
"""An error this much smaller is no chance."""
_FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
_SCALES = (0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0, 5.0, 10.0, 100.0, 1000.0)
_FOCALS = (0.5, 0.8, 0.9, 1.1, 1.25, 2.0)
_OFF_SHARE = 0.004
"""Median reprojection error, as a share of the frame's width, above which depth does not belong to the colour pixels.
Over eight frames a registered sensor shows 0.0023 (HoloLens), colour and depth of two cameras 0.0054 (7-Scenes)."""
_SHAPE = 0.02
"""Widths over heights of depth and colour that differ by more are two views."""
_UPRIGHT_DEG = 60.0
_NEAR, _FAR = 4, 8
"""Frames between the pictures of a pair: for the poses, and for depth, which wants more parallax."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about the ground truth that a number shows."""

    what: str
    """Short and countable: "poses look inverted"."""
    number: str
    """The measurement."""
    remedy: str
    """What to change in the manifest."""
    grave: bool
    """Whether the truth counts neither for nor against a label because of it."""
    frames: tuple[int, ...] = ()
    """Those concerned, ascending; empty: all."""


def examine(sequence: Sequence) -> tuple[Finding, ...]:
    """What is wrong with a sequence's truth. Reads some fifty pictures."""
    camera = sequence.truth.camera
    if camera is not None and min(camera.fx, camera.fy) <= 0:
        number = f"fx = {camera.fx:g}, fy = {camera.fy:g}"
        remedy = "take both positive, and state axes: opengl if y points up"
        return (Finding(what="a focal length is negative", number=number, remedy=remedy, grave=True),)
    found = list(_of_shape(sequence))
    path = sequence.truth.signals(sequence.clip).get("camera_path")
    if not isinstance(path, CameraPath) or not path.registered.any():
        return tuple(found)
    near, far, chain = _spread(path, _NEAR), _spread(path, _FAR), partly.sampled_pairs(partly.samples(path))
    seen = {(pair.a, pair.b): pair for pair in pairs(sequence.clip, sorted({*near, *far, *chain}))}
    found += [*_of_poses(path, [seen[pair] for pair in near if pair in seen]), *_of_up(sequence, path)]
    if path.motion != "general" or any(finding.grave for finding in found):
        return tuple(found)
    allowed = _allowed(sequence)
    bad, good = partly.off_their_lines(path, [seen[pair] for pair in chain if pair in seen], allowed)
    apart = partly.apart(partly.samples(path), bad, good)
    found += _of_some(path, bad, good, "poses of some frames do not go with the others", apart)
    depth, sound = sequence.truth.depth, _sound(path, found)
    if depth is None or not depth.stated.registered or not sound:
        return tuple(found)
    kept = [pair for pair in seen.values() if {pair.a, pair.b} <= sound]
    return (*found, *_of_all_depth(path, depth, kept, set(far), allowed))


def _of_all_depth(
    path: CameraPath, depth: DepthSource, seen: list[Pair], far: set[partly.Pair2], allowed: partly.Allowed
) -> list[Finding]:
    """One mistake in all of it, or some wrong images, or no reason that can be named."""
    distant = [pair for pair in seen if (pair.a, pair.b) in far]
    points = [one for pair in distant if (one := lifted(path, depth, pair)) is not None]
    if points and (mistaken := list(_mistaken_depth(path, depth, points))):
        return mistaken
    bad, good = partly.off_their_places(path, depth, seen, allowed)
    what = "depth of some frames does not belong to them"
    some = list(_of_some(path, bad, good, what, partly.to_blame(bad)))
    sound = _sound(path, some)
    rest = [one for one in points if {one.pair.a, one.pair.b} <= sound]
    return some + (list(_foreign_depth(path, rest)) if rest else [])


def _allowed(sequence: Sequence) -> partly.Allowed:
    stated, depth = sequence.manifest.poses or Poses(), sequence.truth.depth
    return partly.Allowed(
        rotation_rad=float(np.radians(stated.rotation_sigma_deg)),
        direction_rad=float(np.radians(stated.direction_sigma_deg)),
        depth_relative=0.0 if depth is None else depth.stated.relative_sigma,
    )


def _sound(path: CameraPath, found: list[Finding]) -> set[int]:
    """Frames against which nothing grave was found."""
    grave = [finding for finding in found if finding.grave]
    if any(not finding.frames for finding in grave):
        return set()
    return {int(frame) for frame in path.frames} - {frame for finding in grave for frame in finding.frames}


def _spread(path: CameraPath, gap: int) -> list[tuple[int, int]]:
    """Pairs of registered frames over the whole clip."""
    frames = path.frames[path.registered]
    gap = max(1, min(gap, len(frames) // 4))
    starts = np.unique(np.linspace(0, max(0, len(frames) - 1 - gap), _PAIRS).astype(int))
    return [(int(frames[k]), int(frames[k + gap])) for k in starts if k + gap < len(frames)]


def _of_shape(sequence: Sequence) -> Iterator[Finding]:
    """Depth of another width over height."""
    depth, clip = sequence.truth.depth, sequence.clip
    first = next((int(frame) for frame in clip.frames if depth is not None and depth.has(int(frame))), None)
    if depth is None or first is None or not depth.stated.registered:
        return
    height, width = depth.read(first).shape
    if abs(np.log(width / height * clip.height_px / clip.width_px)) > _SHAPE:
        number = f"depth {width}x{height}, pictures {clip.width_px}x{clip.height_px}"
        remedy = "depth.registered: false, or crop to the same view"
        yield Finding(what="depth has another shape than the pictures", number=number, remedy=remedy, grave=True)


def _of_poses(path: CameraPath, seen: list[Pair]) -> Iterator[Finding]:
    if not seen or path.motion != "general":
        return
    shares = {name: _share(variant, seen) for name, variant in _variants(path).items()}
    best, stated = max(shares, key=lambda name: shares[name]), shares["as stated"]
    shown = {name: share for name, share in shares.items() if not name.startswith("focal") or name == best}
    number = f"matched pixels within {NEAR_PX:g} px of their epipolar lines: " + ", ".join(
        f"{share:.0%} {name}" for name, share in shown.items()
    )
    remedies = {
        "inverted": ("poses look inverted", "direction: w2c if c2w was stated, and the other way round"),
        "with y and z turned": ("camera axes look like OpenGL's", "axes: opengl (opencv, if opengl was stated)"),
        "inverted, with y and z turned": ("poses look inverted, in OpenGL's axes", "change direction and axes"),
    }
    if best != "as stated" and shares[best] > stated + _BETTER and shares[best] > _GOOD:
        what, remedy = remedies.get(best, (f"the {best} fits better", "state the camera for pictures of this size"))
        yield Finding(what=what, number=number, remedy=remedy, grave=True)
    elif stated < _POOR:
        remedy = "check camera, match, and whether the poses are of this camera"
        yield Finding(what="poses do not fit the pictures", number=number, remedy=remedy, grave=True)


def _variants(path: CameraPath) -> dict[str, CameraPath]:
    """The path as it would be without the usual mistakes."""
    known = np.where(path.registered[:, None, None], path.world_from_cam, np.eye(4))
    inverted = np.linalg.inv(known)
    poses = {
        "as stated": known,
        "inverted": inverted,
        "with y and z turned": known @ _FLIP,
        "inverted, with y and z turned": inverted @ _FLIP,
    }
    camera = path.intrinsics
    focals = {
        f"focal length times {factor:g}": replace(camera, fx_px=factor * camera.fx_px, fy_px=factor * camera.fy_px)
        for factor in _FOCALS
    }
    return {name: replace(path, world_from_cam=matrices) for name, matrices in poses.items()} | {
        name: replace(path, intrinsics=other) for name, other in focals.items()
    }


def _share(path: CameraPath, seen: list[Pair]) -> float:
    weights = [len(pair.xy_a_px) for pair in seen]
    return float(np.average([share_on_lines(path, pair) for pair in seen], weights=weights))


def _of_up(sequence: Sequence, path: CameraPath) -> Iterator[Finding]:
    stated = sequence.manifest.gravity
    if stated is None or not sequence.manifest.upright:
        return
    up = np.array(stated.up_world) / np.linalg.norm(stated.up_world)
    image_up = -path.world_from_cam[path.registered, :3, 1] @ up
    off_deg = float(np.degrees(np.median(np.arccos(np.clip(image_up, -1, 1)))))
    if off_deg > _UPRIGHT_DEG:
        number = f"{off_deg:.0f} degrees between up and the pictures' upper edge (median)"
        what, remedy = "up points elsewhere, and the footage is said to be upright", "check gravity.up_world and axes"
        yield Finding(what=what, number=number, remedy=remedy, grave=True)


def _mistaken_depth(path: CameraPath, depth: DepthSource, points: list[Lifted]) -> Iterator[Finding]:
    """A unit or a length that makes it fit."""
    errors = {scale: _median_offset(path, points, scale) for scale in _SCALES}
    stated, best = errors[1.0], min(errors, key=lambda scale: errors[scale])
    fits_px = 2 * _OFF_SHARE * path.intrinsics.width_px
    is_range = depth.stated.along == "range"
    other = _median_offset(path, [one.with_other_length(is_range) for one in points], 1.0)
    if best != 1.0 and errors[best] < min(0.5 * stated, fits_px):
        number = f"matched pixels lie {stated:.1f} px off as stated, {errors[best]:.1f} px with depth times {best:g}"
        remedy = f"unit_m: {depth.stated.unit_m * best:g}, or the scale of the poses"
        yield Finding(what="depth and poses have different scales", number=number, remedy=remedy, grave=True)
    elif other < min(_CLEARLY * stated, fits_px):
        number = f"matched pixels lie {stated:.2f} px off as stated, {other:.2f} px as {'z' if is_range else 'range'}"
        what = "depth looks like z, not range" if is_range else "depth looks like range, not z"
        yield Finding(what=what, number=number, remedy=f"depth.along: {'z' if is_range else 'range'}", grave=True)


def _foreign_depth(path: CameraPath, points: list[Lifted]) -> Iterator[Finding]:
    """Depth that nothing makes fit."""
    stated, limit_px = _median_offset(path, points, 1.0), _OFF_SHARE * path.intrinsics.width_px
    if stated > limit_px:
        number = f"matched pixels lie {stated:.1f} px off (limit {limit_px:.1f})"
        remedy = "depth.registered: false, if it comes from another camera; else check camera and match"
        yield Finding(what="depth does not belong to the colour pixels", number=number, remedy=remedy, grave=True)


def _median_offset(path: CameraPath, points: list[Lifted], scale: float) -> float:
    return float(np.median(np.concatenate([offsets_px(path, one, scale) for one in points])))


def _of_some(
    path: CameraPath, bad: set[partly.Pair2], good: set[partly.Pair2], what: str, apart: set[int]
) -> Iterator[Finding]:
    """Grave for the frames that do not go with the others; for all, where they are more than half."""
    frames = partly.samples(path)
    if not apart:
        return
    named = partly.between(path, frames, apart)
    number = f"{len(bad)} of {len(bad) + len(good)} pairs contradict the pictures by more than three of their sigmas"
    yield Finding(
        what=what,
        number=f"{number}: {_ranges(named)}",
        remedy="mend their poses or depth, or leave them out",
        grave=True,
        frames=() if 2 * len(apart) > len(frames) else named,
    )


def _ranges(frames: tuple[int, ...]) -> str:
    """ "frames 3-7, 12"."""
    parts: list[list[int]] = []
    for frame in frames:
        if parts and parts[-1][1] == frame - 1:
            parts[-1][1] = frame
        else:
            parts.append([frame, frame])
    return "frames " + ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
