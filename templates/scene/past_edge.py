"""What lies beyond an edge of a photo: angles from a point there to places and to boxes outside."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float64, Int64

from experts.objects.box_corners import box_corners
from templates.columns import Columns, Texts
from templates.scene.marks import Frame, Pixel
from templates.scene.object_boxes import boxes_of
from templates.scene.offsets import offsets
from templates.scene.scene import Scene

EDGES = ("left", "right", "upper", "lower")
_OPPOSITE = ("right", "left", "lower", "upper")
SIDE_OF_EDGE = dict(zip(EDGES, ("to the left of", "to the right of", "above", "below"), strict=True))
"""In words, where what is beyond an edge lies."""
_OUTWARDS = np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0]])
"""In camera axes."""
_AT_EDGE = 0.02
"""Distance of a point at an edge from that edge, as a share of the side of the photo."""
_BOX_EDGES = np.array([(a, b) for a, b in combinations(range(8), 2) if bin(a ^ b).count("1") == 1])
"""Pairs of corners."""
_PAIRS = np.array([*combinations(range(8 + len(_BOX_EDGES)), 2)])


def at_edge(edge: Texts, along: Float64[np.ndarray, "n"], size: Int64[np.ndarray, "2"]) -> Pixel:
    """Pixels at edges of photos; `along`: how far along the edge, from 0 to 1, from the left or from the top."""
    near = np.where(np.isin(edge, EDGES[::2]), _AT_EDGE, 1 - _AT_EDGE)
    aside = np.isin(edge, EDGES[:2])
    share = np.column_stack([np.where(aside, near, along), np.where(aside, along, near)])
    return np.asarray(share * size - 0.5)


def mirrored(xy_px: Pixel, edge: Texts, size: Int64[np.ndarray, "n 2"]) -> tuple[Float64[np.ndarray, "n 2"], Texts]:
    """The pixels at the opposite edges, and these edges."""
    aside = np.isin(edge, EDGES[:2])[:, None] == [True, False]
    opposite = np.array(_OPPOSITE)[np.argmax(edge[:, None] == np.array(EDGES), axis=1)]
    return np.where(aside, size - 1 - xy_px, xy_px), opposite


def in_axes_of(
    scene: Scene, frame: Frame, shown_in: Frame, xyz_cam: Float64[np.ndarray, "n k 3"]
) -> Float64[np.ndarray, "n k 3"]:
    """Places in the camera axes of the photos that show them, in those of other photos."""
    here, there = scene.world_from_cam(frame), scene.world_from_cam(shown_in)
    world = np.einsum("nij,nkj->nki", there[:, :3, :3], xyz_cam) + there[:, None, :3, 3]
    return np.asarray(np.einsum("nji,nkj->nki", here[:, :3, :3], world - here[:, None, :3, 3]))


def beside_edge(
    scene: Scene, xy_px: Pixel, edge: Texts, ways: Float64[np.ndarray, "n *k 3"]
) -> tuple[Float64[np.ndarray, "n *k"], Float64[np.ndarray, "n *k"]]:
    """Of directions in camera axes, the angle from a pixel's ray outwards, in the plane of the rays of its row (left
    and right edge) or column, -π to π; and the angle from that plane."""
    assert scene.path is not None
    ray = scene.path.intrinsics.rays(xy_px)
    outwards = _OUTWARDS[np.argmax(edge[:, None] == np.array(EDGES), axis=1)]
    out = outwards - np.einsum("ni,ni->n", outwards, ray)[:, None] * ray
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    axes = np.stack([ray, out, np.cross(ray, out)], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        unit = ways / np.linalg.norm(ways, axis=-1, keepdims=True)
    ahead, outward, aside = np.moveaxis(np.einsum("n...i,nij->n...j", unit, axes), -1, 0)
    return np.arctan2(outward, ahead), np.arcsin(np.clip(aside, -1, 1))


def away(along: Float64[np.ndarray, "*n"], aside: Float64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    """The angle between a pixel's ray and directions given by the two angles of `beside_edge`."""
    return np.arccos(np.clip(np.cos(aside) * np.cos(along), -1, 1))


def edge_normals(scene: Scene) -> Float64[np.ndarray, "4 3"]:
    """Outward unit normals, in camera axes, of the planes through the camera and the edges of its photo."""
    assert scene.path is not None
    camera = scene.path.intrinsics
    right, bottom = camera.width_px - 0.5, camera.height_px - 0.5
    corners = camera.rays(np.array([[-0.5, -0.5], [right, -0.5], [right, bottom], [-0.5, bottom]]))
    normals = np.cross(corners[[0, 1, 1, 2]], corners[[3, 2, 0, 3]])
    normals *= np.sign(np.einsum("ei,ei->e", normals, _OUTWARDS))[:, None]
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


def beyond_rad(scene: Scene, ways: Float64[np.ndarray, "*n p 3"]) -> Float64[np.ndarray, "*n"]:
    """Angle by which all of some directions lie beyond one edge of the photo; < 0 where some may lie inside."""
    with np.errstate(invalid="ignore", divide="ignore"):
        sine = ways @ edge_normals(scene).T / np.linalg.norm(ways, axis=-1, keepdims=True)
    return np.asarray(np.arcsin(np.clip(sine, -1, 1)).min(axis=-2).max(axis=-1))


@dataclass(frozen=True, kw_only=True)
class Parts(Columns):
    """All k objects of a scene by their boxes, as they lie around a photo; NaN where a box is not known."""

    near: Float64[np.ndarray, "k m"]
    """Angle from each of m points at edges to the nearest part beyond that edge; inf where no part is."""
    beyond_rad: Float64[np.ndarray, "k"]
    """By how much all of the object is out of view; < 0 where the photo may show a part."""
    distance: Float64[np.ndarray, "k"]
    """From the camera to the nearest corner."""
    place_sigma: Float64[np.ndarray, "k"]
    """Of the corners, along each axis."""


def parts_around(scene: Scene, frame: int, xy_px: Float64[np.ndarray, "m 2"], edge: Texts) -> Parts:
    """All objects around a photo, as seen from points at its edges."""
    assert scene.path is not None
    corners, sigma = scene.once(("corners of all", frame), lambda: _corners(scene, frame))
    rays, near = scene.path.intrinsics.rays(xy_px), np.full((len(corners), len(xy_px)), np.nan)
    for number, (name, normal) in enumerate(zip(EDGES, edge_normals(scene), strict=True)):
        rows = np.flatnonzero(edge == name)
        if len(rows):
            cones = scene.once(("beyond", frame, number), lambda normal=normal: _clipped(corners, normal))  # type: ignore[misc]
            near[:, rows] = _angle_to_cones(cones, rays[rows])
    return Parts(
        near=np.where(np.isfinite(corners).all(axis=(1, 2))[:, None], near, np.nan),
        beyond_rad=beyond_rad(scene, corners),
        distance=np.linalg.norm(corners, axis=2).min(axis=1),
        place_sigma=sigma,
    )


def _corners(scene: Scene, frame: int) -> tuple[Float64[np.ndarray, "k 8 3"], Float64[np.ndarray, "k"]]:
    """Corners of the boxes of all objects in the camera axes of a photo, and their σ."""
    count = 0 if scene.objects is None else len(scene.objects.labels)
    known, pose, size, centre_sigma, side_sigma = boxes_of(scene, np.full(count, frame), np.arange(count))
    world, camera = box_corners(pose, size), scene.world_from_cam(frame)
    sides = np.where(np.isinf(side_sigma), 0.0, side_sigma).max(axis=1, initial=0.0)
    corners = np.where(known[:, None, None], (world - camera[:3, 3]) @ camera[:3, :3], np.nan)
    return corners, np.hypot(centre_sigma, sides / 2)


def _clipped(corners: Float64[np.ndarray, "k 8 3"], normal: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "k c 3"]:
    """Unit directions that span what of each box lies on the side of a plane through the camera to which its normal
    points: corners, and where edges meet the plane. NaN for others."""
    height = corners @ normal
    (a, b), (low, high) = (np.moveaxis(each[:, _BOX_EDGES], 2, 0) for each in (corners, height))
    with np.errstate(invalid="ignore", divide="ignore"):
        met = np.where((low * high < 0)[..., None], a + (low / (low - high))[..., None] * (b - a), np.nan)
        ways = np.concatenate([np.where((height >= 0)[..., None], corners, np.nan), met], axis=1)
        return np.asarray(ways / np.linalg.norm(ways, axis=2, keepdims=True))


def _angle_to_cones(
    cones: Float64[np.ndarray, "k c 3"], rays: Float64[np.ndarray, "m 3"]
) -> Float64[np.ndarray, "k m"]:
    """Angle between rays and the convex cones around directions, outside of which they lie: the least one to the arcs
    between any two of these; inf for none."""
    a, b = (cones[:, ends] for ends in _PAIRS.T)
    with np.errstate(invalid="ignore", divide="ignore"):
        normal = np.cross(a, b)
        normal /= np.linalg.norm(normal, axis=2, keepdims=True)
        height = normal @ rays.T
        foot = rays - height[..., None] * normal[:, :, None]
        on_arc = (np.einsum("kpmi,kpi->kpm", np.cross(a[:, :, None], foot), normal) >= 0) & (
            np.einsum("kpmi,kpi->kpm", np.cross(foot, b[:, :, None]), normal) >= 0
        )
    to_arcs = np.where(on_arc, np.arcsin(np.clip(np.abs(height), 0, 1)), np.inf).min(axis=1, initial=np.inf)
    to_ends = np.arccos(np.clip(np.nan_to_num(cones @ rays.T, nan=-2.0), -1, 1))
    to_ends = np.where(np.isnan(cones[..., :1]), np.inf, to_ends).min(axis=1, initial=np.inf)
    return np.asarray(np.minimum(to_arcs, to_ends))


def between_photos(
    scene: Scene, frame: Frame, other: Frame
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """σ per axis of the translation between two photos, in path units, and of the rotation between them."""
    frames = np.column_stack([frame, other])
    return offsets(scene, frames).shift_sigma, scene.relative_rotation_sigma_rad(frames)
