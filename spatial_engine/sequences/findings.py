"""Common mistakes in ground truth, each reported with the measurement that shows it.

Truth is compared with pixels that were matched without it: they must lie on the epipolar lines of the poses, and, with
depth, on their reprojection. A mistake is reported only if correcting it improves the numbers clearly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, Gravity, Signal
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.finding import Finding, Quantity
from spatial_engine.sequences.inconsistent_frames import (
    FramePair,
    Tolerance,
    contradicting_depth,
    contradicting_poses,
    frames_beside,
    inconsistent,
    sampled_pairs,
    samples,
    smallest_cover,
)
from spatial_engine.sequences.manifest import Manifest, Poses
from spatial_engine.sequences.matched_pixels import (
    NEAR_PX,
    Pair,
    Unprojected,
    epipolar_errors_px,
    pairs,
    reprojection_errors_px,
    unprojected,
)
from spatial_engine.sequences.truth import Truth

_PAIRS = 10
_BETTER = 0.2
"""A variant is better if its inlier share is larger by this."""
_GOOD = 0.6
_POOR = 0.5
"""Poses do not fit if fewer matches lie near their epipolar lines: within 2 px, or within the stated σ."""
_EXACT = Tolerance()
_FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
_FOCALS = (0.5, 0.8, 0.9, 1.1, 1.25, 2.0)
_SIZES = (0.5, 2.0)
"""Cameras are stated for pictures of half or twice the size."""
_SHAPE = 0.02
"""Largest |ln| of the ratio of the aspect ratios of depth and colour of one view."""
_UPRIGHT_DEG = 60.0
_NEAR, _FAR = 4, 8
"""Frames between the two of a pair: for poses, and for depth, which needs more parallax."""


def examine(clip: Clip, truth: Truth, manifest: Manifest) -> tuple[Finding, ...]:
    """The mistakes in the ground truth of a clip. Reads about fifty frames."""
    camera = truth.camera
    if camera is not None and min(camera.fx, camera.fy) <= 0:
        number = f"fx = {camera.fx:g}, fy = {camera.fy:g}"
        remedy = "take both positive, and state axes: opengl if y points up"
        return (Finding(what="a focal length is negative", number=number, remedy=remedy, severe=True),)
    signals = truth.signals(clip)
    found, up = list(_of_shape(clip, truth)), list(_of_up(manifest, signals.get("gravity")))
    path = signals.get("camera_path")
    if not isinstance(path, CameraPath) or not path.registered.any():
        return (*found, *up)
    near, far, chain = _spread(path, _NEAR), _spread(path, _FAR), sampled_pairs(samples(path))
    seen = {(pair.a, pair.b): pair for pair in pairs(clip, sorted({*near, *far, *chain}))}
    allowed = _allowed(truth, manifest)
    found += [*_of_poses(path, [seen[pair] for pair in near if pair in seen], allowed), *up]
    spoilt = {quantity for finding in found if finding.severe for quantity in finding.of}
    if path.motion != "general" or "poses" in spoilt:
        return tuple(found)
    bad, good = contradicting_poses(path, [seen[pair] for pair in chain if pair in seen], allowed)
    wrong = inconsistent(samples(path), bad, good)
    found += _of_some_frames(path, bad, good, "poses of some frames contradict the others", wrong, "poses")
    depth, sound = truth.depth, _sound_frames(path, found)
    if depth is None or not depth.stated.registered or "depth" in spoilt or not sound:
        return tuple(found)
    kept = [pair for pair in seen.values() if {pair.a, pair.b} <= sound]
    return (*found, *_of_depth(path, depth, kept, set(far), allowed))


def _allowed(truth: Truth, manifest: Manifest) -> Tolerance:
    stated, depth = manifest.poses or Poses(), truth.depth
    return Tolerance(
        rotation_rad=float(np.radians(stated.rotation_sigma_deg)),
        direction_rad=float(np.radians(stated.direction_sigma_deg)),
        depth_relative=0.0 if depth is None else depth.stated.relative_sigma,
    )


def _spread(path: CameraPath, gap: int) -> list[tuple[int, int]]:
    """Pairs of registered frames over the whole clip."""
    frames = path.frames[path.registered]
    gap = max(1, min(gap, len(frames) // 4))
    starts = np.unique(np.linspace(0, max(0, len(frames) - 1 - gap), _PAIRS).astype(int))
    return [(int(frames[k]), int(frames[k + gap])) for k in starts if k + gap < len(frames)]


def _of_shape(clip: Clip, truth: Truth) -> Iterator[Finding]:
    """Depth whose aspect ratio is not that of the colour images."""
    depth = truth.depth
    first = next((int(frame) for frame in clip.frames if depth is not None and depth.has(int(frame))), None)
    if depth is None or first is None or not depth.stated.registered:
        return
    height, width = depth.read(first).shape
    if abs(np.log(width / height * clip.height_px / clip.width_px)) > _SHAPE:
        number = f"depth {width}x{height}, pictures {clip.width_px}x{clip.height_px}"
        remedy = "depth.registered: false, or crop to the same view"
        what = "depth has another shape than the pictures"
        yield Finding(what=what, number=number, remedy=remedy, severe=True, of=("depth",))


def _of_poses(path: CameraPath, seen: list[Pair], allowed: Tolerance) -> Iterator[Finding]:
    if not seen or path.motion != "general":
        return
    shares = {name: _share(variant, seen) for name, variant in _variants(path).items()}
    best, stated = max(shares, key=lambda name: shares[name]), shares["as stated"]
    shown = {name: share for name, share in shares.items() if not name.startswith(("focal", "camera")) or name == best}
    number = f"matched pixels within {NEAR_PX:g} px of their epipolar lines: " + ", ".join(
        f"{share:.0%} {name}" for name, share in shown.items()
    )
    remedies = {
        "inverted": ("poses look inverted", "direction: w2c if c2w was stated, and the other way round"),
        "with y and z flipped": ("camera axes look like OpenGL's", "axes: opengl (opencv, if opengl was stated)"),
        "inverted, with y and z flipped": ("poses look inverted, in OpenGL's axes", "change direction and axes"),
    }
    if best != "as stated" and shares[best] > stated + _BETTER and shares[best] > _GOOD:
        what, remedy = remedies.get(best, (f"the {best} fits better", "state the camera for pictures of this size"))
        of: tuple[Quantity, ...] = ("poses",) if best in remedies else Finding.of
        yield Finding(what=what, number=number, remedy=remedy, severe=True, of=of)
    elif stated < _POOR and not _fits(path, seen, allowed):
        remedy = "check camera, match, and whether the poses are of this camera"
        yield Finding(what="poses do not fit the pictures", number=number, remedy=remedy, severe=True, of=("poses",))


def _fits(path: CameraPath, seen: list[Pair], allowed: Tolerance) -> bool:
    """Whether most matches lie within the stated σ, and clearly more than with the poses read another way."""
    poses = {name: variant for name, variant in _variants(path).items() if not name.startswith(("focal", "camera"))}
    stated, *others = (_share(variant, seen, allowed) for variant in poses.values())
    return stated > max(_POOR, *(share + _BETTER for share in others))


def _variants(path: CameraPath) -> dict[str, CameraPath]:
    """The path with each common mistake corrected."""
    known = np.where(path.registered[:, None, None], path.world_from_cam, np.eye(4))
    inverted = np.linalg.inv(known)
    poses = {
        "as stated": known,
        "inverted": inverted,
        "with y and z flipped": known @ _FLIP,
        "inverted, with y and z flipped": inverted @ _FLIP,
    }
    camera = path.intrinsics
    focals = {
        f"focal length times {factor:g}": replace(camera, fx_px=factor * camera.fx_px, fy_px=factor * camera.fy_px)
        for factor in _FOCALS
    } | {f"camera times {factor:g}": _of_size(camera, factor) for factor in _SIZES}
    return {name: replace(path, world_from_cam=matrices) for name, matrices in poses.items()} | {
        name: replace(path, intrinsics=other) for name, other in focals.items()
    }


def _of_size(camera: Intrinsics, factor: float) -> Intrinsics:
    other = camera.scaled(round(factor * camera.width_px), round(factor * camera.height_px))
    return replace(other, width_px=camera.width_px, height_px=camera.height_px)


def _share(path: CameraPath, seen: list[Pair], allowed: Tolerance = _EXACT) -> float:
    """Share of matched pixels that lie within 2 px ⊕ one σ of the poses from their epipolar lines."""
    weights = [len(pair.xy_a_px) for pair in seen]
    shares = [np.mean(epipolar_errors_px(path, pair) < allowed.px(path, pair, 1.0)) for pair in seen]
    return float(np.average(shares, weights=weights))


def _of_up(manifest: Manifest, gravity: Signal | None) -> Iterator[Finding]:
    if not isinstance(gravity, Gravity) or not len(gravity.frames) or not manifest.upright:
        return
    off_deg = float(np.degrees(np.median(np.arccos(np.clip(-gravity.up_cam[:, 1], -1, 1)))))
    if off_deg > _UPRIGHT_DEG:
        number = f"{off_deg:.0f} degrees between up and the pictures' upper edge (median)"
        what, remedy = "up points elsewhere, although the manifest says upright", "check gravity and axes"
        yield Finding(what=what, number=number, remedy=remedy, severe=True, of=("up",))


def _of_some_frames(
    path: CameraPath,
    bad: set[FramePair],
    good: set[FramePair],
    what: str,
    wrong: set[int],
    of: Quantity,
) -> Iterator[Finding]:
    """A severe finding about the inconsistent frames; about all frames if more than half are inconsistent."""
    frames = samples(path)
    if not wrong:
        return
    named = frames_beside(path, frames, wrong)
    number = f"{len(bad)} of {len(bad) + len(good)} pairs contradict the pictures by more than three of their sigmas"
    yield Finding(
        what=what,
        number=f"{number}: {_ranges(named)}",
        remedy="mend their poses or depth, or leave them out",
        severe=True,
        of=(of,),
        frames=() if 2 * len(wrong) > len(frames) else named,
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


def _sound_frames(path: CameraPath, found: Sequence[Finding]) -> set[int]:
    """Frames without a severe finding about their poses or depth."""
    severe = [finding for finding in found if finding.severe and {"poses", "depth"} & {*finding.of}]
    if any(not finding.frames for finding in severe):
        return set()
    return {int(frame) for frame in path.frames} - {frame for finding in severe for frame in finding.frames}


_SCALES = (0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0, 5.0, 10.0, 100.0, 1000.0)
_CLEARLY = 0.7
"""z and range: the other is right if its error is smaller by this factor."""
_BY_HALF = 0.5
"""The same for a scale factor, of which several are tried."""
_OFF_SHARE = 0.004
"""Median reprojection error, as a share of the frame's width, above which depth does not belong to the colour pixels.
Over eight frames a registered sensor shows 0.0023 (HoloLens), colour and depth of two cameras 0.0054 (7-Scenes)."""


def _of_depth(
    path: CameraPath,
    depth: DepthSource,
    seen: list[Pair],
    far: set[FramePair],
    allowed: Tolerance,
) -> list[Finding]:
    """Findings about depth: one mistake in all images, some wrong images, or an error of unknown cause."""
    distant = [pair for pair in seen if (pair.a, pair.b) in far]
    points = [one for pair in distant if (one := unprojected(path, depth, pair)) is not None]
    if points and (mistaken := list(_mistaken_depth(path, depth, points))):
        return mistaken
    bad, good = contradicting_depth(path, depth, seen, allowed)
    what = "depth of some frames does not belong to them"
    some = list(_of_some_frames(path, bad, good, what, smallest_cover(bad), "depth"))
    sound = _sound_frames(path, some)
    rest = [one for one in points if {one.pair.a, one.pair.b} <= sound]
    return some + (list(_foreign_depth(path, rest)) if rest else [])


def _mistaken_depth(path: CameraPath, depth: DepthSource, points: list[Unprojected]) -> Iterator[Finding]:
    """A unit, or range instead of z, that makes depth fit."""
    errors = {scale: _median_offset(path, points, scale) for scale in _SCALES}
    stated, best = errors[1.0], min(errors, key=lambda scale: errors[scale])
    fits_px = 2 * _OFF_SHARE * path.intrinsics.width_px
    is_range = depth.stated.along == "range"
    other = _median_offset(path, [one.with_other_length(is_range) for one in points], 1.0)
    if best != 1.0 and errors[best] < min(_BY_HALF * stated, fits_px):
        number = f"matched pixels lie {stated:.1f} px off as stated, {errors[best]:.1f} px with depth times {best:g}"
        remedy = f"unit_m: {depth.stated.unit_m * best:g}, or the scale of the poses"
        what = "depth and poses have different scales"
        yield Finding(what=what, number=number, remedy=remedy, severe=True, of=("depth", "scale"))
    elif other < min(_CLEARLY * stated, fits_px):
        number = f"matched pixels lie {stated:.2f} px off as stated, {other:.2f} px as {'z' if is_range else 'range'}"
        what = "depth looks like z, not range" if is_range else "depth looks like range, not z"
        yield Finding(
            what=what, number=number, remedy=f"depth.along: {'z' if is_range else 'range'}", severe=True, of=("depth",)
        )


def _foreign_depth(path: CameraPath, points: list[Unprojected]) -> Iterator[Finding]:
    """Depth that no correction makes fit."""
    stated, limit_px = _median_offset(path, points, 1.0), _OFF_SHARE * path.intrinsics.width_px
    if stated > limit_px:
        number = f"matched pixels lie {stated:.1f} px off (limit {limit_px:.1f})"
        remedy = "depth.registered: false, if it comes from another camera; else check camera and match"
        what = "depth does not belong to the colour pixels"
        yield Finding(what=what, number=number, remedy=remedy, severe=True, of=("depth",))


def _median_offset(path: CameraPath, points: list[Unprojected], scale: float) -> float:
    return float(np.median(np.concatenate([reprojection_errors_px(path, one, scale) for one in points])))
