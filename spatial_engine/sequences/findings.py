"""The usual mistakes in ground truth, named with the number that shows them.

Truth is held against pixels that were matched without it: they must lie on each other's epipolar lines, and with depth
on each other. A mistake is named only where correcting it makes the numbers much better.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath
from spatial_engine.sequences import partly
from spatial_engine.sequences.depth_findings import of_depth
from spatial_engine.sequences.epipolar import NEAR_PX, share_on_lines
from spatial_engine.sequences.finding import Finding
from spatial_engine.sequences.manifest import Manifest, Poses
from spatial_engine.sequences.part_findings import of_some, sound_frames
from spatial_engine.sequences.seen_twice import Pair, pairs
from spatial_engine.sequences.truth import Truth

_PAIRS = 10
_BETTER = 0.2
"""A share this much larger is no chance."""
_GOOD = 0.6
_POOR = 0.5
_FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
_FOCALS = (0.5, 0.8, 0.9, 1.1, 1.25, 2.0)
_SIZES = (0.5, 2.0)
"""Cameras are stated for pictures of half or twice the size."""
_SHAPE = 0.02
"""Widths over heights of depth and colour that differ by more are two views."""
_UPRIGHT_DEG = 60.0
_NEAR, _FAR = 4, 8
"""Frames between the pictures of a pair: for the poses, and for depth, which wants more parallax."""


def examine(clip: Clip, truth: Truth, manifest: Manifest) -> tuple[Finding, ...]:
    """What is wrong with the ground truth of a clip. Reads some fifty pictures."""
    camera = truth.camera
    if camera is not None and min(camera.fx, camera.fy) <= 0:
        number = f"fx = {camera.fx:g}, fy = {camera.fy:g}"
        remedy = "take both positive, and state axes: opengl if y points up"
        return (Finding(what="a focal length is negative", number=number, remedy=remedy, severe=True),)
    found = list(_of_shape(clip, truth))
    path = truth.signals(clip).get("camera_path")
    if not isinstance(path, CameraPath) or not path.registered.any():
        return tuple(found)
    near, far, chain = _spread(path, _NEAR), _spread(path, _FAR), partly.sampled_pairs(partly.samples(path))
    seen = {(pair.a, pair.b): pair for pair in pairs(clip, sorted({*near, *far, *chain}))}
    found += [*_of_poses(path, [seen[pair] for pair in near if pair in seen]), *_of_up(manifest, path)]
    if path.motion != "general" or any(finding.severe for finding in found):
        return tuple(found)
    allowed = _allowed(truth, manifest)
    bad, good = partly.off_their_lines(path, [seen[pair] for pair in chain if pair in seen], allowed)
    apart = partly.apart(partly.samples(path), bad, good)
    found += of_some(path, bad, good, "poses of some frames do not go with the others", apart)
    depth, sound = truth.depth, sound_frames(path, found)
    if depth is None or not depth.stated.registered or not sound:
        return tuple(found)
    kept = [pair for pair in seen.values() if {pair.a, pair.b} <= sound]
    return (*found, *of_depth(path, depth, kept, set(far), allowed))


def _allowed(truth: Truth, manifest: Manifest) -> partly.Allowed:
    stated, depth = manifest.poses or Poses(), truth.depth
    return partly.Allowed(
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
    """Depth of another width over height."""
    depth = truth.depth
    first = next((int(frame) for frame in clip.frames if depth is not None and depth.has(int(frame))), None)
    if depth is None or first is None or not depth.stated.registered:
        return
    height, width = depth.read(first).shape
    if abs(np.log(width / height * clip.height_px / clip.width_px)) > _SHAPE:
        number = f"depth {width}x{height}, pictures {clip.width_px}x{clip.height_px}"
        remedy = "depth.registered: false, or crop to the same view"
        yield Finding(what="depth has another shape than the pictures", number=number, remedy=remedy, severe=True)


def _of_poses(path: CameraPath, seen: list[Pair]) -> Iterator[Finding]:
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
        "with y and z turned": ("camera axes look like OpenGL's", "axes: opengl (opencv, if opengl was stated)"),
        "inverted, with y and z turned": ("poses look inverted, in OpenGL's axes", "change direction and axes"),
    }
    if best != "as stated" and shares[best] > stated + _BETTER and shares[best] > _GOOD:
        what, remedy = remedies.get(best, (f"the {best} fits better", "state the camera for pictures of this size"))
        yield Finding(what=what, number=number, remedy=remedy, severe=True)
    elif stated < _POOR:
        remedy = "check camera, match, and whether the poses are of this camera"
        yield Finding(what="poses do not fit the pictures", number=number, remedy=remedy, severe=True)


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
    } | {f"camera times {factor:g}": _of_size(camera, factor) for factor in _SIZES}
    return {name: replace(path, world_from_cam=matrices) for name, matrices in poses.items()} | {
        name: replace(path, intrinsics=other) for name, other in focals.items()
    }


def _of_size(camera: Intrinsics, factor: float) -> Intrinsics:
    other = camera.scaled(round(factor * camera.width_px), round(factor * camera.height_px))
    return replace(other, width_px=camera.width_px, height_px=camera.height_px)


def _share(path: CameraPath, seen: list[Pair]) -> float:
    weights = [len(pair.xy_a_px) for pair in seen]
    return float(np.average([share_on_lines(path, pair) for pair in seen], weights=weights))


def _of_up(manifest: Manifest, path: CameraPath) -> Iterator[Finding]:
    stated = manifest.gravity
    if stated is None or not manifest.upright:
        return
    up = np.array(stated.up_world) / np.linalg.norm(stated.up_world)
    image_up = -path.world_from_cam[path.registered, :3, 1] @ up
    off_deg = float(np.degrees(np.median(np.arccos(np.clip(image_up, -1, 1)))))
    if off_deg > _UPRIGHT_DEG:
        number = f"{off_deg:.0f} degrees between up and the pictures' upper edge (median)"
        what, remedy = "up points elsewhere, and the footage is said to be upright", "check gravity.up_world and axes"
        yield Finding(what=what, number=number, remedy=remedy, severe=True)
