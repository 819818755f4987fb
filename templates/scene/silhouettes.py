"""What a photo shows of the form of objects: tangents of their outlines, and points on their surfaces."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Float64, Int64
from scipy import ndimage
from scipy.spatial import ConvexHull

from experts.intrinsics import Intrinsics
from templates.columns import Columns, Texts
from templates.scene.scene import Scene, find_rows

TANGENTS, POINTS = 24, 48
"""Tangents and points of each object."""
_EXACT_PX, _ESTIMATED_PX = 0.7, 1.5
"""σ of an outline in pixels of the mask: of a dataset, and of a detector."""
_LEAST_SIGMA = 0.005
"""Relative, of depth: what σ of exact depth leaves out."""
_LEAST_AREA_PX, _LEAST_INNER_PX = 80, 30
"""Of a mask in its pixels, and of what is left of it without its border."""
_LEAST_SIGMAS = 6.0
"""Least mean width of an outline in σ of depth."""
_MOST_HOLLOW = 0.04
"""Largest share of its convex hull, without its border, that a mask may leave open."""
_MOST_COVERED = 0.05
"""Largest share of the hull where something nearer is seen. What hides more may hide corners that no tangent shows."""
_MOST_HIDDEN = 0.3
"""Largest share of the tangents of an outline where something nearer may hide it."""
_NEARER = 0.04
"""By what share of its distance something is nearer than an object that it hides."""
_BESIDE_PX = 3
"""How far from an outline things may hide it, in pixels of the mask."""
_BEYOND_PX = 0.3
"""How far an outline runs beyond the centres of the outermost pixels."""


@dataclass(frozen=True, kw_only=True)
class Silhouettes(Columns):
    """Objects in photos. Camera axes, in units of the distance of each object."""

    why: Texts
    """Why the form of an object cannot be told; "" where it can."""
    points: Float64[np.ndarray, "n p 3"]
    """On the surface, away from the outline."""
    sigma: Float64[np.ndarray, "n"]
    """Of the depth of the points, relative."""
    tangents: Float64[np.ndarray, "n t 3"]
    """Normals of planes through the camera that touch the outline; they point away from the object."""
    tangent_sigma: Float64[np.ndarray, "n t"]
    """Of these planes, at the distance of the object; inf where something may hide the outline."""

    def thinned(self) -> "Silhouettes":
        """With every third point and every second tangent."""
        points, tangents = np.s_[:, ::3], np.s_[:, ::2]
        return replace(
            self,
            points=self.points[points],
            tangents=self.tangents[tangents],
            tangent_sigma=self.tangent_sigma[tangents],
        )


def silhouettes(scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]) -> Silhouettes:
    """Of objects in photos; those without a mask or depth have a reason."""
    nothing = (np.full((POINTS, 3), np.nan), np.nan, np.full((TANGENTS, 3), np.nan), np.full(TANGENTS, np.nan))
    found = [_found(scene, f, k) for f, k in zip(frame.tolist(), object.tolist(), strict=True)]
    rows = [(each, *nothing) if isinstance(each, str) else ("", *each) for each in found]
    if not rows:
        return Silhouettes.concatenated([])
    why, points, sigma, tangents, tangent_sigma = (np.array(column) for column in zip(*rows, strict=True))
    return Silhouettes(why=why, points=points, sigma=sigma, tangents=tangents, tangent_sigma=tangent_sigma)


def size_of(tangents: Float64[np.ndarray, "*n t 3"]) -> Float64[np.ndarray, "*n"]:
    """Mean width of outlines: tangents of opposite directions are so far from each other."""
    return np.asarray(-2 * tangents[..., 2].mean(axis=-1))


_Found = tuple[np.ndarray, float, np.ndarray, np.ndarray]
"""Points and their σ, tangents and theirs."""


@dataclass(frozen=True, kw_only=True)
class _Cutout:
    """The part of a photo that shows an object."""

    mask: Bool[np.ndarray, "h w"]
    z: Float[np.ndarray, "h w"]
    inner: Bool[np.ndarray, "h w"]
    """The mask without its border and without unknown depth."""
    offset: Int64[np.ndarray, "2"]
    """x, y of its first pixel."""
    camera: Intrinsics
    """Of the whole mask."""
    distance: float
    nearer: float
    """Something at less than this share of the distance of an object may hide it."""


def _found(scene: Scene, frame: int, object: int) -> str | _Found:
    """What a photo shows of an object, or why nothing can be told."""
    objects, depth, path = scene.objects, scene.depth, scene.path
    if objects is None or depth is None or path is None or object < 0 or not scene.has_depth(frame):
        return "the surface of the object is not known"
    ids, row = objects.ids[int(find_rows(objects.frames, frame))], int(find_rows(depth.frames, frame))
    mask = ids == object
    if mask.sum() < _LEAST_AREA_PX:
        return "the object is small"
    sides = ndimage.find_objects(mask.astype(np.uint8))[0]
    around = tuple(slice(max(0, side.start - _BESIDE_PX), side.stop + _BESIDE_PX) for side in sides)
    mask, (z, sigmas) = (
        mask[around],
        (_resampled(each[row], ids.shape)[around] for each in (depth.z, depth.relative_sigma)),
    )
    inner = ndimage.binary_erosion(mask, iterations=2) & np.isfinite(z)
    if inner.sum() < _LEAST_INNER_PX:
        return "the object is small"
    sigma = max(float(np.median(sigmas[inner])), _LEAST_SIGMA)
    cutout = _Cutout(
        mask=mask,
        z=z,
        inner=inner,
        offset=np.array([around[1].start, around[0].start]),
        camera=path.intrinsics.scaled(ids.shape[1], ids.shape[0]),
        distance=float(np.median(z[inner])),
        nearer=1 - max(_NEARER, 3 * sigma),
    )
    border_px = _EXACT_PX if scene.exact_objects is not None else _ESTIMATED_PX
    tangents = _tangents(cutout, border_px)
    if isinstance(tangents, str):
        return tangents
    planes, hidden = tangents
    if size_of(planes) < _LEAST_SIGMAS * sigma:
        return "the depth of the object is known too roughly"
    return _points(cutout), sigma, planes, np.where(hidden, np.inf, border_px / cutout.camera.fx_px)


def _tangents(seen: _Cutout, border_px: float) -> str | tuple[Float64[np.ndarray, "t 3"], Bool[np.ndarray, "t"]]:
    """Normals, and which may be wrong because something hides the outline. Holes that nothing hides mean that the
    object is not convex."""
    import cv2

    outline = np.argwhere(seen.mask & ~ndimage.binary_erosion(seen.mask))[:, ::-1]
    corners = outline[ConvexHull(outline).vertices]
    hull = cv2.fillConvexPoly(np.zeros(seen.mask.shape, np.uint8), corners.astype(np.int32), 1) > 0
    within = ndimage.binary_erosion(hull, iterations=round(border_px))
    unfilled, hidden = within & ~seen.mask, seen.z < seen.nearer * seen.distance
    if (unfilled & ~hidden).sum() > _MOST_HOLLOW * within.sum():
        return "the object has no convex outline"
    if (unfilled & hidden).sum() > _MOST_COVERED * within.sum():
        return "something hides a part of the object"
    angle = np.linspace(0, 2 * np.pi, TANGENTS, endpoint=False)
    ways = np.column_stack([np.cos(angle), np.sin(angle)])
    touched = corners[(corners @ ways.T).argmax(axis=0)]
    rays = seen.camera.rays(touched + seen.offset + _BEYOND_PX * ways)
    column, row = touched.T
    others = np.where(seen.mask | ~np.isfinite(seen.z), np.inf, seen.z)
    beside = ndimage.minimum_filter(others, 2 * _BESIDE_PX + 1)[row, column]
    hidden = beside < seen.nearer * np.fmin(seen.z[row, column], seen.distance)
    if hidden.mean() > _MOST_HIDDEN:
        return "something hides a part of the object"
    return np.column_stack([ways, -np.sum(ways * (rays / rays[:, 2:])[:, :2], axis=1)]), hidden


def _points(seen: _Cutout) -> Float64[np.ndarray, "p 3"]:
    """Evenly among the inner pixels, in the order of rows."""
    row, column = np.argwhere(seen.inner)[np.linspace(0, seen.inner.sum() - 1, POINTS).round().astype(int)].T
    rays = seen.camera.rays(np.column_stack([column, row]) + seen.offset.astype(float))
    return np.asarray(rays / rays[:, 2:] * seen.z[row, column, None] / seen.distance, dtype=float)


def _resampled(values: Float[np.ndarray, "a b"], shape: tuple[int, ...]) -> np.ndarray:
    """The nearest value at each pixel of a map of another size."""
    rows, columns = ((np.arange(n) + 0.5) * m / n for n, m in zip(shape, values.shape, strict=True))
    return np.asarray(values[rows.astype(int)[:, None], columns.astype(int)])
