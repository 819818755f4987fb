"""Whether an object can be seen from a point: lines of sight, held against the measured depth of all photos.

A place that some photo looks past is free. A surface that a photo shows without a break hides what is behind it. What
no photo shows stays unknown, so that objects need not all be listed.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Float, Float64, Int64

from experts.intrinsics import Intrinsics
from templates.scene.elsewhere import movers
from templates.scene.marks import spread_frames
from templates.scene.object_boxes import boxes_of
from templates.scene.scene import Scene, find_rows

_PHOTOS = 16
"""Photos whose depth is used."""
_SAMPLES = 40
"""Places along a line of sight."""
_FREE = 0.01
"""By what share of its depth a place must lie before a surface to be free."""
_PASSED, _STEPS, _PARTS, _LARGEST_PART = 0.015, 3, 8, 0.4
"""A line passes a surface if it comes from so far before it to so far behind it, as shares of the depth, in at most so
many steps, and no part of these makes up more than this share of the change: the surface has no break there."""
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
_AROUND = 0.006
"""How far from a pixel its surface is looked at for its slope, as a share of the diagonal."""
SEEN, HIDDEN = "yes", "no"


@dataclass(frozen=True)
class _Views:
    """Measured depth of f photos, and where they were taken."""

    cam_from_world: Float64[np.ndarray, "f 4 4"]
    z: Float[np.ndarray, "f h w"]
    camera: Intrinsics

    def before_surface(self, view: int, xyz: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n"]:
        """By what share of their depth places in the world lie before the surface that a photo shows there; NaN where
        the photo does not show them."""
        pose = self.cam_from_world[view]
        cam = xyz @ pose[:3, :3].T + pose[:3, 3]
        xy = self.camera.project(cam)
        inside = self.camera.contains(xy)
        x, y = np.round(xy[inside]).astype(np.int64).T
        found = np.full(xyz.shape[:-1], np.nan)
        found[inside] = self.z[view, y, x] / cam[inside, 2] - 1
        return found


def seen_from_points(
    scene: Scene, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"], object: Int64[np.ndarray, "n"]
) -> np.ndarray:
    """`SEEN` where nothing hides the object from the surface point at a pixel of its photo, `HIDDEN` where all of it is
    hidden; "" where neither is sure."""
    found = np.full(len(frame), "", dtype="<U3")
    views = scene.once("depth views", lambda: _views(scene))
    known, pose, size, *_ = boxes_of(scene, frame, object)
    surface = scene.surface(frame, xy_px)
    here = scene.world_from_cam(frame)
    eye = np.einsum("nij,nj->ni", here[:, :3, :3], surface.xyz_cam) + here[:, :3, 3]
    margin = np.full(len(frame), _MARGIN_M) if scene.metre_relative_sigma >= 0 else _MARGIN * surface.range
    known &= np.isfinite(eye).all(axis=1) & np.isfinite(pose).all(axis=(1, 2)) & np.isfinite(size).all(axis=1)
    if views is None:
        return found
    normal = np.einsum("nij,nj->ni", here[:, :3, :3], _normals(scene, frame, xy_px))
    to_middle = _places(eye, _entry(eye, pose, size), margin)
    decisions = (SEEN, _free(views, to_middle)), (HIDDEN, _blocked(views, to_middle))
    for answer, likely in decisions:  # the line to the middle of the box decides most
        for row in np.flatnonzero(known & likely).tolist():
            passing = _passing_movers(scene, int(frame[row]), int(object[row]), margin[row])
            if passing is not None and _is(
                answer, views, eye[row], pose[row], size[row], margin[row], passing, normal[row]
            ):
                found[row] = answer
    return found


def _views(scene: Scene) -> _Views | None:
    """Depth of photos spread over the clip; unknown where they show what moves."""
    depth, path = scene.measured_depth, scene.path
    if depth is None or path is None or not len(depth.frames):
        return None
    frames = np.array(spread_frames(depth.frames, _PHOTOS), dtype=np.int64)
    poses, z = scene.world_from_cam(frames), depth.z[find_rows(depth.frames, frames)].astype(np.float32)
    objects, moves = scene.objects, movers(scene)
    if objects is not None and moves.any():
        ids = objects.ids[find_rows(objects.frames, frames)]
        if ids.shape != z.shape or not np.isin(frames, objects.frames).all():
            return None
        z = np.where((ids >= 0) & moves[np.maximum(ids, 0)], np.nan, z)
    known = np.isfinite(poses).all(axis=(1, 2))
    camera = path.intrinsics.scaled(z.shape[2], z.shape[1])
    return _Views(np.linalg.inv(poses[known]), z[known], camera) if known.any() else None


_Boxes = list[tuple[Float64[np.ndarray, "4 4"], Float64[np.ndarray, "3"]]]
"""Poses and half sides."""


def _passing_movers(scene: Scene, frame: int, object: int, margin: float) -> _Boxes | None:
    """The boxes, enlarged, of what moves at the time of a photo; None where the object itself moves, or one is not
    known."""
    moves = np.flatnonzero(movers(scene))
    at = np.full(len(moves), frame)
    known, pose, size, *_ = boxes_of(scene, at, moves)
    known = known & np.isfinite(pose).all(axis=(1, 2)) & np.isfinite(size).all(axis=1)
    return None if object in moves or not known.all() else [*zip(np.linalg.inv(pose), size / 2 + margin, strict=True)]


def _is(
    answer: str,
    views: _Views,
    eye: Float64[np.ndarray, "3"],
    pose: Float64[np.ndarray, "4 4"],
    size: Float64[np.ndarray, "3"],
    margin: float,
    passing: _Boxes,
    normal: Float64[np.ndarray, "3"],
) -> bool:
    """Whether all lines from a point to the face of a box that shows most of itself are free (`SEEN`), or all to an
    enlarged box are blocked."""
    eye_in_box = np.linalg.inv(pose)[:3] @ np.append(eye, 1)
    if np.linalg.norm(np.maximum(np.abs(eye_in_box) - size / 2, 0)) < _LEAST * margin:
        return False
    half, part, decide = (size / 2, _INNER, _free) if answer == SEEN else (size / 2 + margin, 1.0, _blocked)
    for steps in (2, min(_FINEST, max(3, int(np.ceil(size.max() / (_SPACING * margin)))))):  # a few lines refuse most
        faces = _facing(eye_in_box, half, part, steps)
        ends = np.concatenate(faces[:1] if answer == SEEN else faces) @ pose[:3, :3].T + pose[:3, 3]
        lines = _places(eye, ends, np.full(len(ends), margin))
        if _meets(lines, passing) or not decide(views, lines).all():
            return False
        if answer == SEEN and not ((ends - eye) @ normal > _ABOVE * np.linalg.norm(ends - eye, axis=1)).all():
            return False
    return True


def _normals(
    scene: Scene, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"]
) -> Float64[np.ndarray, "n 3"]:
    """Normals of the surfaces at pixels, towards the camera, in its axes."""
    step = _AROUND * scene.diagonal_px * np.eye(2)
    left, right, above, below = (
        scene.surface(frame, xy_px + way).xyz_cam for way in (-step[0], step[0], -step[1], step[1])
    )
    normal = np.cross(right - left, above - below)
    towards = -np.sign(np.einsum("ni,ni->n", normal, right + left))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(towards[:, None] * normal / np.linalg.norm(normal, axis=1, keepdims=True))


def _entry(
    eye: Float64[np.ndarray, "n 3"], pose: Float64[np.ndarray, "n 4 4"], size: Float64[np.ndarray, "n 3"]
) -> Float64[np.ndarray, "n 3"]:
    """Where the lines from points to the middles of boxes meet these."""
    way = pose[:, :3, 3] - eye
    in_box = np.abs(np.einsum("nji,nj->ni", pose[:, :3, :3], way))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(eye + way * np.max(1 - size / 2 / in_box, axis=1, keepdims=True))


def _facing(
    eye: Float64[np.ndarray, "3"], half: Float64[np.ndarray, "3"], part: float, steps: int
) -> list[Float64[np.ndarray, "m 3"]]:
    """Grids of points on the middle parts of the faces of a box that face a point, in the frame of the box; first that
    which shows most of itself."""
    grid = np.stack(np.meshgrid(*[np.linspace(-part, part, steps)] * 2), axis=-1).reshape(-1, 2)
    area = half.prod() / half * (np.abs(eye) - half)
    facing = [axis for axis in np.argsort(-area).tolist() if abs(eye[axis]) > half[axis]]
    return [np.insert(grid, axis, np.sign(eye[axis]), axis=1) * half for axis in facing]


def _places(
    eye: Float64[np.ndarray, "*m 3"], ends: Float64[np.ndarray, "m 3"], margin: Float64[np.ndarray, "m"]
) -> Float64[np.ndarray, "m s 3"]:
    """Places along the lines between points, without their ends."""
    way = ends - eye
    with np.errstate(invalid="ignore", divide="ignore"):
        left_out = margin / np.linalg.norm(way, axis=1)
    share = np.linspace(left_out, 1 - _ENDS * left_out, _SAMPLES, axis=1)
    return np.asarray(ends[:, None] - (1 - share)[..., None] * way[:, None])


def _meets(lines: Float64[np.ndarray, "m s 3"], boxes: _Boxes) -> bool:
    return any(
        bool((np.abs(lines @ inverse[:3, :3].T + inverse[:3, 3]) <= half).all(axis=-1).any()) for inverse, half in boxes
    )


def _free(views: _Views, lines: Float64[np.ndarray, "m s 3"]) -> Bool[np.ndarray, "m"]:
    """Whether photos look past all places of a line."""
    free = np.zeros(lines.shape[:2], dtype=bool)
    for view in range(len(views.z)):
        with np.errstate(invalid="ignore"):
            free |= views.before_surface(view, lines) > _FREE
    return np.asarray(free.all(axis=1) & (len(lines) > 0))


def _blocked(views: _Views, lines: Float64[np.ndarray, "m s 3"]) -> Bool[np.ndarray, "m"]:
    """Whether a line passes a surface that a photo shows without a break."""
    blocked = np.zeros(len(lines), dtype=bool)
    share = np.linspace(0, 1, _PARTS + 1)[:, None]
    for view, steps in product(range(len(views.z)), range(1, _STEPS + 1)):
        left = np.flatnonzero(~blocked)
        before = views.before_surface(view, lines[left])
        with np.errstate(invalid="ignore"):
            line, place = np.nonzero((before[:, :-steps] > _PASSED) & (before[:, steps:] < -_PASSED))
        a, b = lines[left[line], place], lines[left[line], place + steps]
        passing = views.before_surface(view, a[:, None] + share * (b - a)[:, None])
        with np.errstate(invalid="ignore"):
            largest = np.abs(np.diff(passing, axis=1)).max(axis=1)
            smooth = largest <= _LARGEST_PART * (passing[:, 0] - passing[:, -1])
        blocked[left[line[smooth]]] = True
    return blocked
