"""The visible surface of a thing in several frames into one oriented box, with σ.

Seen from a few places only, most things show a part of their faces. An end of the box is *known* where a frame sees
the face itself (the camera stands beyond it), or sees the surface run out there without piling up on a face that
turns to the camera, without the picture's border and without anything nearer in the way. Other ends lie anywhere
behind: the side has σ = inf, and σ of the middle takes the unseen part into account. Bad at: round things seen from
one side, things of several parts whose hidden part is larger than the seen one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64
from scipy import ndimage

from experts.depth.depth_views import UnprojectionSettings, View, looked_up
from experts.objects.mask_points import MaskPoints
from experts.objects.object_axes import AxesSettings, axes_of
from experts.objects.object_ends import End, EndSettings, end_of


@dataclass(frozen=True, kw_only=True)
class BoxSettings:
    """Choices, held against rendered rooms (`tests/experts/objects/test_object_boxes.py`)."""

    points: int = 1500
    """At most so many points of a frame (cost)."""
    least_points: int = 60
    """With fewer there is no box."""
    bent: float = 0.7
    """A face that depth errors bend sticks out at both ends, by about this share of σ each."""
    axes: AxesSettings = field(default_factory=AxesSettings)
    ends: EndSettings = field(default_factory=EndSettings)
    moved: float = 0.25
    """It has moved if each of two frames looks through more than this share of its places in the other."""
    gone: float = 0.6
    """... or if a frame in which it was not found looks through more than this share of them."""
    moved_frames: int = 5
    """Frames that are compared for it."""
    cluster: float = 0.02
    """Parts that are smaller than this share of the largest and stand apart are no part of the thing."""


@dataclass(frozen=True, kw_only=True)
class ObjectBox:
    """A box in the world of the camera path."""

    world_from_object: Float64[np.ndarray, "4 4"]
    """Its middle and axes: with gravity known z up and x along the longer side; the rotation is NaN where the thing
    looks alike from all sides."""
    size: Float64[np.ndarray, "3"]
    """Sides along the axes; what is seen of them where σ is inf."""
    size_sigma: Float64[np.ndarray, "3"]
    centre_sigma: float
    """Per axis."""


def stands_still(
    parts: Sequence[MaskPoints],
    views: Sequence[View],
    settings: BoxSettings,
    lift: UnprojectionSettings,
    unseen: Sequence[View] = (),
) -> bool:
    """Whether the thing is at one place in all frames.

    Args:
        parts: its visible surface, frame by frame.
        views: of the same frames: no two of them look through each other's surface.
        settings: thresholds.
        lift: thresholds of depth.
        unseen: views of frames in which it was not found: they do not look through its place either.
    """
    chosen = np.unique(np.linspace(0, len(parts) - 1, settings.moved_frames).round().astype(int))
    inside = {i: parts[i].of(parts[i].inner_px > views[i].rim_px + 2).at_most(300) for i in chosen}
    through = {(i, j): _through(inside[i], views[j], settings, lift) for i in chosen for j in chosen if i != j}
    if any(min(through[i, j], through[j, i]) > settings.moved for i, j in through):
        return False
    return not any(_through(part, view, settings, lift) > settings.gone for part in inside.values() for view in unseen)


def _through(part: MaskPoints, view: View, settings: BoxSettings, lift: UnprojectionSettings) -> float:
    """Share of a thing's places that a view looks through; 0 where it cannot tell of most."""
    place = looked_up(part.xyz, view, lift)
    told = place.seen | place.through
    enough = told.sum() >= max(settings.least_points // 2, len(part) // 2)
    return float(place.through.sum() / told.sum()) if enough else 0.0


def fitted(
    parts: Sequence[MaskPoints],
    views: Sequence[View],
    up_world: Float64[np.ndarray, "3"] | None,
    settings: BoxSettings,
    *,
    focal_relative_sigma: float = 0.0,
    tilt_sigma_rad: float = 0.0,
) -> ObjectBox | None:
    """The box of a thing that stands still; None where it cannot be told.

    Args:
        parts: its visible surface, frame by frame.
        views: of the same frames.
        up_world: unit vector upwards; None: axes by the spread of the points.
        settings: thresholds and σ.
        focal_relative_sigma: σ_f / f of the cameras.
        tilt_sigma_rad: σ per axis of `up_world`.
    """
    thinned = [part.at_most(settings.points) for part in parts]
    kept, apart = _largest(thinned, settings)
    seen = [(part, view) for part, view in zip(kept, views, strict=True) if len(part) >= settings.least_points // 2]
    if sum(len(part) for part, _ in seen) < settings.least_points:
        return None
    xyz = np.concatenate([part.xyz for part, _ in seen])
    below = (2, -1) if up_world is not None else None
    axes, alike = axes_of(xyz, up_world, settings.axes)
    ends = [
        [end_of(seen, apart, sign * axes[:, a], (a, sign) == below, settings.ends) for sign in (-1, 1)]
        for a in range(3)
    ]
    if any(not low.known and not high.known for low, high in ends):
        return None
    size = np.array([low.at + high.at for low, high in ends])
    if not np.all(size > 0):
        return None
    known = np.array([low.known and high.known for low, high in ends])
    middle = axes @ [(high.at - low.at) / 2 for low, high in ends]
    tilt_sigma_rad = tilt_sigma_rad if up_world is not None else settings.ends.yaw_sigma_rad
    turn_sigma = np.array(
        [settings.ends.yaw_sigma_rad * size[1], settings.ends.yaw_sigma_rad * size[0], tilt_sigma_rad * size[0]]
    )
    size_sigma = np.sqrt(
        [low.depth_sigma**2 + high.depth_sigma**2 + low.edge_sigma**2 + high.edge_sigma**2 for low, high in ends]
        + (settings.bent * np.array([low.depth_sigma + high.depth_sigma for low, high in ends])) ** 2
        + turn_sigma**2
        + (focal_relative_sigma * size) ** 2
    )
    return ObjectBox(
        world_from_object=_pose(np.full((3, 3), np.nan) if alike else axes, middle),
        size=size,
        size_sigma=np.where(known, size_sigma, np.inf),
        centre_sigma=_centre_sigma(seen, middle, ends, size, known, focal_relative_sigma),
    )


def _pose(axes: Float64[np.ndarray, "3 3"], middle: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "4 4"]:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, middle
    return pose


def _largest(parts: Sequence[MaskPoints], settings: BoxSettings) -> tuple[list[MaskPoints], Float64[np.ndarray, "d 3"]]:
    """Without what stands apart, and that: cells of 5 % of the whole (at least four pixels) that hang together."""
    xyz = np.concatenate([part.xyz for part in parts])
    if not len(xyz):
        return list(parts), xyz
    low, high = np.percentile(xyz, [5, 95], axis=0)
    pixel = np.median(np.concatenate([np.linalg.norm(part.step, axis=1).max(axis=1) for part in parts]))
    cell = max(0.05 * float(np.linalg.norm(high - low)), 4 * float(pixel), 1e-9)
    at = np.clip(np.floor((xyz - low) / cell), -60, 60 + np.ceil((high - low) / cell)).astype(int) + 60
    taken = np.zeros(at.max(axis=0) + 2, dtype=bool)
    taken[tuple(at.T)] = True
    groups, _ = ndimage.label(taken, np.ones((3, 3, 3)))
    group = groups[tuple(at.T)]
    count = np.bincount(group)
    kept = count[group] >= settings.cluster * count.max()
    borders = np.cumsum([0, *(len(part) for part in parts)])
    whole = [part.of(kept[a:b]) for part, a, b in zip(parts, borders[:-1], borders[1:], strict=True)]
    return whole, xyz[~kept]


def _centre_sigma(
    seen: Sequence[tuple[MaskPoints, View]],
    middle: Float64[np.ndarray, "3"],
    ends: Sequence[Sequence[End]],
    size: Float64[np.ndarray, "3"],
    known: np.ndarray,
    focal_relative_sigma: float,
) -> float:
    """The worst axis: depth (it moves both ends together), borders, the unseen part, the camera's own σ."""
    worst = 0.0
    largest = float(size[known].max()) if known.any() else float(size.max())
    for a, (low, high) in enumerate(ends):
        depth = (low.depth_sigma + high.depth_sigma) / 2
        edges = np.hypot(low.edge_sigma, high.edge_sigma) / 2
        unknown = low if not low.known else high
        # An unseen part as long as the largest side seen, uniformly: half of it shifts the middle.
        unseen = 0.0 if known[a] else largest / (2 * np.sqrt(3)) * (2 if unknown.hidden_by_others else 1)
        worst = max(worst, float(np.sqrt(depth**2 + edges**2 + unseen**2)))
    away = [middle - view.world_from_cam[:3, 3] for _, view in seen]
    across = [float(np.linalg.norm(np.cross(v.world_from_cam[:3, 2], d))) for d, (_, v) in zip(away, seen, strict=True)]
    turn = [view.rotation_sigma_rad * float(np.linalg.norm(d)) for d, (_, view) in zip(away, seen, strict=True)]
    camera = float(np.median([view.position_sigma for _, view in seen]))
    return float(np.sqrt(worst**2 + camera**2 + np.median(turn) ** 2 + (focal_relative_sigma * np.median(across)) ** 2))
