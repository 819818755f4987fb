"""Fits one oriented box, with σ, to the visible surface of an object in several frames.

From a few viewpoints most objects show only part of their faces. An end of the box is *known* where a frame sees the
face itself (the camera is beyond it), or sees the surface end there: not accumulating on a face turned to the camera,
not at the picture's border, and not behind a nearer surface. Other ends are unknown: the side has σ = inf, and σ of the
centre includes the unseen part. Weak points: round objects seen from one side, objects whose hidden part is larger than
the visible one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64
from scipy import ndimage
from scipy.spatial.transform import Rotation

from experts.depth.depth_views import UnprojectionSettings, View, looked_up
from experts.objects.mask_points import MaskPoints
from experts.objects.object_ends import End, EndSettings, end_of


@dataclass(frozen=True, kw_only=True)
class AxesSettings:
    """Chosen; checked on rendered rooms."""

    cells: int = 60
    """Cells along a footprint, which determine its direction."""
    symmetric_ratio: float = 1.15
    """A footprint whose box area varies by less than this factor with its direction has no direction; without gravity,
    a point cloud whose largest variance is less than this many times the smallest."""


def axes_of(
    xyz: Float64[np.ndarray, "p 3"], up_world: Float64[np.ndarray, "3"] | None, settings: AxesSettings
) -> tuple[Float64[np.ndarray, "3 3"], bool]:
    """Columns: directions of the sides; and whether they are arbitrary because the object is symmetric."""
    if up_world is None:
        ascending, vectors = np.linalg.eigh(np.cov((xyz - xyz.mean(axis=0)).T))
        variance, axes = ascending[::-1], vectors[:, ::-1]
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)
        axes = axes * np.where(largest < 0, -1, 1)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        return axes, bool(variance[0] < settings.symmetric_ratio * variance[2])
    level = Rotation.align_vectors(up_world[None], [[0, 0, 1]])[0].as_matrix()
    flat = _cells((xyz @ level)[:, :2], settings.cells)
    angle = np.deg2rad(np.arange(0, 90, 1.0))
    edged, sides = _footprint(flat, angle)
    near = angle[np.argmax(edged)] + np.deg2rad(np.arange(-1, 1.01, 0.1))
    fine, _ = _footprint(flat, near)
    yaw = near[np.argmax(fine)]
    length = _footprint(flat, np.array([yaw]))[1][0]
    yaw += np.pi / 2 if length[1] > length[0] else 0
    yaw = (yaw + np.pi / 2) % np.pi - np.pi / 2  # of both directions along the longer side, the one nearer to x
    yaw_rotation = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    area = sides.prod(axis=1)
    return level @ yaw_rotation, bool(area.max() < settings.symmetric_ratio * area.min())


def _cells(flat: Float64[np.ndarray, "p 2"], count: int) -> Float64[np.ndarray, "c 2"]:
    """Centres of the occupied cells: a face counts by its area, not by its pixels."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    cell = max(float((high - low).max()) / count, 1e-9)
    taken, points = np.unique(np.floor((flat - low) / cell), axis=0, return_counts=True)
    return (taken[points > 1] + 0.5) * cell + low if (points > 1).sum() > 10 else flat


def _footprint(
    flat: Float64[np.ndarray, "p 2"], angle: Float64[np.ndarray, "g"]
) -> tuple[Float64[np.ndarray, "g"], Float64[np.ndarray, "g 2"]]:
    """How close the points are to the edges of the box around most of them, per direction, and its sides: the closeness
    criterion (Zhang et al., "Efficient L-shape fitting", IV 2017)."""
    directions = np.stack([np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)]).reshape(2, 2, -1)
    at = np.einsum("pi,jig->pgj", flat, directions)
    low, high = np.percentile(at, [1, 99], axis=0)
    distance = np.minimum(np.abs(at - low), np.abs(high - at)).min(axis=2)
    least = 0.02 * float(np.ptp(flat, axis=0).max())
    return (1 / np.maximum(distance, least)).sum(axis=0), high - low


@dataclass(frozen=True, kw_only=True)
class BoxSettings:
    """Chosen; checked on rendered rooms (`tests/experts/objects/test_object_boxes.py`)."""

    points: int = 1500
    """Largest number of points per frame (cost)."""
    min_points: int = 60
    """Smallest number of points of a box."""
    bending: float = 0.5
    """A face bent by depth errors protrudes at both ends, by about this multiple of σ each (measured on imitated
    experts: `tests/spatial_engine/rendering/test_imitated.py`)."""
    unseen: float = 0.5
    """A side continues behind the face that is seen by up to this share of the largest side seen ..."""
    cut: float = 1.5
    """... and beyond the picture's border or behind another object by up to this share (both measured on the same)."""
    axes: AxesSettings = field(default_factory=AxesSettings)
    ends: EndSettings = field(default_factory=EndSettings)
    moved_share: float = 0.25
    """The object has moved if each of two frames sees a farther surface at more than this share of the other's
    points."""
    absent_share: float = 0.6
    """It has also moved if a frame without its detection sees a farther surface at more than this share of its
    points."""
    moved_frames: int = 5
    """Number of frames compared for that."""
    cluster: float = 0.02
    """Separate parts smaller than this share of the largest are not part of the object."""


@dataclass(frozen=True, kw_only=True)
class ObjectBox:
    """A box in the world of the camera path."""

    world_from_object: Float64[np.ndarray, "4 4"]
    """Its centre and axes: with known gravity z is up and x along the longer side. The rotation is NaN for a symmetric
    object."""
    axes: Float64[np.ndarray, "3 3"]
    """Columns: directions of the sides, also where they are arbitrary because the object is symmetric."""
    size: Float64[np.ndarray, "3"]
    """Side lengths along the axes; the visible length where σ is inf."""
    size_sigma: Float64[np.ndarray, "3"]
    centre_sigma: float
    """Per axis."""


def is_static(
    parts: Sequence[MaskPoints],
    views: Sequence[View],
    settings: BoxSettings,
    unprojection: UnprojectionSettings,
    unseen: Sequence[View] = (),
) -> bool:
    """Whether the object is at one position in all frames.

    Args:
        parts: its visible surface per frame.
        views: of the same frames: no two of them see through each other's surface.
        settings: thresholds.
        unprojection: thresholds of depth.
        unseen: views of frames without its detection: they do not see through its position either.
    """
    chosen = np.unique(np.linspace(0, len(parts) - 1, settings.moved_frames).round().astype(int))
    inside = {i: parts[i].of(parts[i].inner_px > views[i].rim_px + 2).at_most(300) for i in chosen}
    through = {(i, j): _through(inside[i], views[j], settings, unprojection) for i in chosen for j in chosen if i != j}
    if any(min(through[i, j], through[j, i]) > settings.moved_share for i, j in through):
        return False
    return not any(
        _through(part, view, settings, unprojection) > settings.absent_share
        for part in inside.values()
        for view in unseen
    )


def _through(part: MaskPoints, view: View, settings: BoxSettings, unprojection: UnprojectionSettings) -> float:
    """Share of an object's points that a view sees through; 0 where most are undecided."""
    place = looked_up(part.xyz, view, unprojection)
    decided = place.seen | place.through
    enough = decided.sum() >= max(settings.min_points // 2, len(part) // 2)
    return float(place.through.sum() / decided.sum()) if enough else 0.0


def fitted(
    parts: Sequence[MaskPoints],
    views: Sequence[View],
    up_world: Float64[np.ndarray, "3"] | None,
    settings: BoxSettings,
    *,
    focal_relative_sigma: float = 0.0,
    tilt_sigma_rad: float = 0.0,
) -> ObjectBox | None:
    """The box of a static object; None if it is undetermined.

    Args:
        parts: its visible surface per frame.
        views: of the same frames.
        up_world: unit vector upwards; None: principal axes of the points.
        settings: thresholds and σ.
        focal_relative_sigma: σ_f / f of the cameras.
        tilt_sigma_rad: σ per axis of `up_world`.
    """
    thinned = [part.at_most(settings.points) for part in parts]
    kept, separate = _largest(thinned, settings)
    seen = [(part, view) for part, view in zip(kept, views, strict=True) if len(part) >= settings.min_points // 2]
    if sum(len(part) for part, _ in seen) < settings.min_points:
        return None
    xyz = np.concatenate([part.xyz for part, _ in seen])
    below = (2, -1) if up_world is not None else None
    axes, symmetric_ratio = axes_of(xyz, up_world, settings.axes)
    ends = [
        [end_of(seen, separate, sign * axes[:, a], (a, sign) == below, settings.ends) for sign in (-1, 1)]
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
        + (settings.bending * np.array([low.depth_sigma + high.depth_sigma for low, high in ends])) ** 2
        + turn_sigma**2
        + (focal_relative_sigma * size) ** 2
    )
    return ObjectBox(
        world_from_object=_pose(np.full((3, 3), np.nan) if symmetric_ratio else axes, middle),
        axes=axes,
        size=size,
        size_sigma=np.where(known, size_sigma, np.inf),
        centre_sigma=_centre_sigma(seen, middle, ends, size, known, focal_relative_sigma, settings),
    )


def _pose(axes: Float64[np.ndarray, "3 3"], middle: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "4 4"]:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = axes, middle
    return pose


def _largest(parts: Sequence[MaskPoints], settings: BoxSettings) -> tuple[list[MaskPoints], Float64[np.ndarray, "d 3"]]:
    """The points without separate parts, and those parts: connected cells of 5 % of the extent (at least four
    pixels)."""
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
    settings: BoxSettings,
) -> float:
    """σ of the worst axis: depth (it shifts both ends together), borders, the unseen part, the camera's own σ."""
    worst = 0.0
    largest = float(size[known].max()) if known.any() else float(size.max())
    for a, (low, high) in enumerate(ends):
        depth = (low.depth_sigma + high.depth_sigma) / 2
        edges = np.hypot(low.edge_sigma, high.edge_sigma) / 2
        unknown = low if not low.known else high
        # The length of the unseen part is uniformly distributed; half of it shifts the middle.
        longest = largest * (settings.cut if unknown.hidden_by_others else settings.unseen)
        unseen = 0.0 if known[a] else longest / (2 * np.sqrt(3))
        worst = max(worst, float(np.sqrt(depth**2 + edges**2 + unseen**2)))
    distance = [middle - view.world_from_cam[:3, 3] for _, view in seen]
    across = [
        float(np.linalg.norm(np.cross(v.world_from_cam[:3, 2], d))) for d, (_, v) in zip(distance, seen, strict=True)
    ]
    yaw_rotation = [
        view.rotation_sigma_rad * float(np.linalg.norm(d)) for d, (_, view) in zip(distance, seen, strict=True)
    ]
    camera = float(np.median([view.position_sigma for _, view in seen]))
    return float(
        np.sqrt(worst**2 + camera**2 + np.median(yaw_rotation) ** 2 + (focal_relative_sigma * np.median(across)) ** 2)
    )
