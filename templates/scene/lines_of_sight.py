"""Whether an object can be seen from a point: lines of sight, held against the measured depth of all photos."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns, Texts
from templates.scene.depth_views import DepthViews, depth_views
from templates.scene.elsewhere import movers
from templates.scene.marks import Pixel
from templates.scene.object_boxes import Row, boxes_of
from templates.scene.scene import Scene
from templates.scene.slopes import normals

_SAMPLES = 40
"""Places along a line of sight."""
_MARGIN_M, _MARGIN = 0.1, 0.04
"""How far from both ends, and from the sides of the box, lines are free or blocked: in metres, or as a share of the
distance from the camera."""
_LEAST = 4
"""Least distance of the box from the point, in margins."""
_INNER = 0.7
"""The middle part of each side of a box that must be seen."""
_ENDS = 0.6
"""How near to the box lines must be free, in margins."""
_SPACING, _FINEST = 0.5, 24
"""Distance of lines at the box in margins, and most lines to an edge of it."""
_ABOVE = np.sin(np.radians(10))
"""Sine of the least angle between a free line and the surface on which it begins."""
SEEN, HIDDEN = "yes", "no"


@dataclass(frozen=True, kw_only=True)
class _Sights(Columns):
    """Points, and the boxes that are looked at from there, in the world and in path units."""

    eye: Float64[np.ndarray, "n 3"]
    normal: Float64[np.ndarray, "n 3"]
    """Of the surface that the point lies on."""
    pose: Float64[np.ndarray, "n 4 4"]
    size: Float64[np.ndarray, "n 3"]
    margin: Float64[np.ndarray, "n"]

    @property
    def eye_in_box(self) -> Float64[np.ndarray, "n 3"]:
        """The points in the frames of the boxes."""
        return np.einsum("nji,nj->ni", self.pose[:, :3, :3], self.eye - self.pose[:, :3, 3])

    def steps(self) -> Int64[np.ndarray, "n"]:
        """How many lines end at each edge of the box."""
        return np.clip(np.ceil(self.size.max(axis=1) / (_SPACING * self.margin)), 3, _FINEST).astype(np.int64)


def seen_from_points(scene: Scene, frame: Row, xy_px: Pixel, object: Row) -> Texts:
    """`SEEN` where nothing hides the object from the surface point at a pixel of its photo, `HIDDEN` where all of it is
    hidden; "" where neither is sure."""
    found = likely_seen_from_points(scene, frame, xy_px, object)
    rows = np.flatnonzero(found != "")
    sights = _sights(scene, frame[rows], xy_px[rows], object[rows])
    for k, row in enumerate(rows.tolist()):
        about = int(frame[row]), int(object[row]), str(found[row])
        sure = partial(_is_sure, scene, sights.take(slice(k, k + 1)), *about)
        if not scene.once(("lines of sight", *about, *xy_px[row].tolist()), sure):  # what is proposed is measured again
            found[row] = ""
    return found


def _is_sure(scene: Scene, one: _Sights, frame: int, object: int, answer: str) -> bool:
    """Whether all lines of one sight are so."""
    views, passing = depth_views(scene), _passing_movers(scene, frame, object, one.margin[0])
    if views is None or passing is None:
        return False
    return bool(_all(answer, views, one, int(one.steps()[0]), views.nearest_first(frame), passing).all())


def likely_seen_from_points(scene: Scene, frame: Row, xy_px: Pixel, object: Row) -> Texts:
    """The same by few lines: what it leaves open is never sure, and it takes much less time."""
    found, views = np.full(len(frame), "", dtype="<U3"), depth_views(scene)
    sights = _sights(scene, frame, xy_px, object)
    away = ways_to(scene, frame, xy_px, object)
    if views is None:
        return found
    with np.errstate(invalid="ignore"):
        known = np.flatnonzero(away >= _LEAST * sights.margin)
    to_middle = _places(sights.eye[known], _entry(sights.take(known)), sights.margin[known])
    every = [*range(len(views.z))]
    for answer, decide in ((SEEN, views.free), (HIDDEN, views.blocked)):
        rows = known[decide(to_middle, every)]  # the line to the middle of the box refuses most
        found[rows[_all(answer, views, sights.take(rows), 2, every)]] = answer
    return found


def ways_to(scene: Scene, frame: Row, xy_px: Pixel, object: Row) -> Float64[np.ndarray, "n"]:
    """Distance from the surface point at a pixel to the box of an object; NaN where unknown."""
    sights = _sights(scene, frame, xy_px, object)
    return np.linalg.norm(np.maximum(np.abs(sights.eye_in_box) - sights.size / 2, 0), axis=1)


def _sights(scene: Scene, frame: Row, xy_px: Pixel, object: Row) -> _Sights:
    """NaN where something is not known."""
    known, pose, size, *_ = boxes_of(scene, frame, object)
    surface, turn = scene.surface(frame, xy_px), scene.world_from_cam(frame)
    metric = scene.metre_relative_sigma >= 0
    return _Sights(
        eye=np.einsum("nij,nj->ni", turn[:, :3, :3], surface.xyz_cam) + turn[:, :3, 3],
        normal=np.einsum("nij,nj->ni", turn[:, :3, :3], normals(scene, frame, xy_px)),
        pose=np.where(known[:, None, None], pose, np.nan),
        size=size,
        margin=np.full(len(frame), _MARGIN_M) if metric else _MARGIN * surface.range,
    )


_Boxes = Sequence[tuple[Float64[np.ndarray, "4 4"], Float64[np.ndarray, "3"]]]
"""Poses and half sides."""


def _passing_movers(scene: Scene, frame: int, object: int, margin: np.float64) -> _Boxes | None:
    """The boxes, enlarged, of what moves at the time of a photo; None where the object itself moves, or one is not
    known."""
    moves = np.flatnonzero(movers(scene))
    at = np.full(len(moves), frame)
    known, pose, size, *_ = boxes_of(scene, at, moves)
    known = known & np.isfinite(pose).all(axis=(1, 2)) & np.isfinite(size).all(axis=1)
    return None if object in moves or not known.all() else [*zip(np.linalg.inv(pose), size / 2 + margin, strict=True)]


def _all(
    answer: str, views: DepthViews, sights: _Sights, steps: int, order: list[int], passing: _Boxes = ()
) -> Bool[np.ndarray, "n"]:
    """Whether all lines from each point to the face of its box that shows most of itself are free (`SEEN`), or all to
    an enlarged box are blocked; with so many lines to an edge, none of which meets what is passing."""
    enlarged = 0.0 if answer == SEEN else sights.margin[:, None]
    row, ends = _facing(sights, sights.size / 2 + enlarged, _INNER if answer == SEEN else 1.0, steps, answer == SEEN)
    eye, way = sights.eye[row], ends - sights.eye[row]
    lines = _places(eye, ends, sights.margin[row])
    holds = (views.free if answer == SEEN else views.blocked)(lines, order) & ~_meets(lines, passing)
    if answer == SEEN:
        holds &= np.einsum("ni,ni->n", way, sights.normal[row]) > _ABOVE * np.linalg.norm(way, axis=1)
    lines_of, held = (np.bincount(row, each, minlength=len(sights)) for each in (None, holds))
    return np.asarray((lines_of > 0) & (held == lines_of))


def _entry(sights: _Sights) -> Float64[np.ndarray, "n 3"]:
    """Where the lines from points to the middles of boxes meet these."""
    way = sights.pose[:, :3, 3] - sights.eye
    with np.errstate(divide="ignore"):
        return np.asarray(
            sights.eye + way * np.max(1 - sights.size / 2 / np.abs(sights.eye_in_box), axis=1, keepdims=True)
        )


def _facing(
    sights: _Sights, half: Float64[np.ndarray, "n 3"], part: float, steps: int, one: bool
) -> tuple[Int64[np.ndarray, "m"], Float64[np.ndarray, "m 3"]]:
    """Grids of points on the middle parts of the faces of boxes that face the points, and which box each is of.
    `one`: only of the face that shows most of itself. `half`: half sides."""
    eye, grid = sights.eye_in_box, np.stack(np.meshgrid(*[np.linspace(-part, part, steps)] * 2), axis=-1).reshape(-1, 2)
    faces = np.stack([np.insert(grid, axis, 1.0, axis=1) for axis in range(3)])
    before = np.maximum(np.abs(eye) - half, 0)
    shown = before * half[:, [1, 0, 0]] * half[:, [2, 2, 1]]  # as the areas of the faces seen from there
    largest = np.arange(3) == shown.argmax(axis=1)[:, None]
    row, axis = np.nonzero((before > 0) & largest if one else before > 0)
    side = np.where(np.arange(3) == axis[:, None], np.sign(eye[row]), 1.0)
    in_box = faces[axis] * (side * half[row])[:, None]
    ends = in_box @ np.swapaxes(sights.pose[row, :3, :3], 1, 2) + sights.pose[row, None, :3, 3]
    return np.repeat(row, len(grid)), ends.reshape(-1, 3)


def _places(
    eye: Float64[np.ndarray, "*m 3"], ends: Float64[np.ndarray, "m 3"], margin: Float64[np.ndarray, "m"]
) -> Float64[np.ndarray, "m s 3"]:
    """Places along the lines between points, without their ends."""
    way = ends - eye
    with np.errstate(invalid="ignore", divide="ignore"):
        left_out = margin / np.linalg.norm(way, axis=1)
    share = np.linspace(left_out, 1 - _ENDS * left_out, _SAMPLES, axis=1)
    return np.asarray(ends[:, None] - (1 - share)[..., None] * way[:, None])


def _meets(lines: Float64[np.ndarray, "m s 3"], boxes: _Boxes) -> Bool[np.ndarray, "m"]:
    """Whether lines meet any of the boxes."""
    meets, start, way = np.zeros(len(lines), dtype=bool), lines[:, 0], lines[:, -1] - lines[:, 0]
    for inverse, half in boxes:
        at, along = start @ inverse[:3, :3].T + inverse[:3, 3], way @ inverse[:3, :3].T
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([(side * half - at) / along for side in (-1, 1)])
        enters, leaves = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
        meets |= ~((enters > leaves) | (enters > 1) | (leaves < 0))
    return meets
