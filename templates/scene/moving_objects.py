"""Where objects of known pose are in several photos, and which of them move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.facts import Facts, ObjectRefs
from templates.scene.objects import SeenObjects, boxed, found_again, seen_objects
from templates.scene.offsets import offsets
from templates.scene.scene import Scene, find_rows

NOT_FOUND = "an object is not found again"
NOT_PLACED = "the place of an object is not known"
DETOUR = "the object does not move straight between the photos"
BARELY = "the object moves too little to see"
_LEAST_SHARE = 0.05
"""Least way of an object that is seen to move, as a share of its distance from the camera ..."""
_LEAST_SIGMAS = 5.0
"""... and in σ of its place."""
_DETOUR = 0.2
"""Largest distance of its places between two photos from the straight line, as a share of that line."""
_MOVING_SHARE = 1e-3
"""An object moves if its places differ by more than this share of their distance from the camera ..."""
_TURNING = 0.05
"""... or a component of its axes by more than this."""


@dataclass(frozen=True, kw_only=True)
class MovedObject(Facts):
    """An object in two photos, in order of time."""

    first: ObjectRefs
    second: ObjectRefs

    @property
    def frames(self) -> Int64[np.ndarray, "n 2"]:
        """Of the photos."""
        return np.column_stack([self.first.frame, self.second.frame])


@dataclass(frozen=True, kw_only=True)
class Way(Columns):
    """How n objects move between two photos, in the axes of a camera; NaN where a place is not known."""

    start_cam: Float64[np.ndarray, "n 3"]
    """Centre of the box in the first of the two photos, in path units."""
    step_cam: Float64[np.ndarray, "n 3"]
    """From there to the centre in the second."""
    sigma: Float64[np.ndarray, "n"]
    """σ per axis of the step, in path units."""
    detour: Float64[np.ndarray, "n"]
    """Largest distance of the places between from the straight line, over the length of the step."""

    @property
    def length(self) -> Float64[np.ndarray, "n"]:
        """Of the step, in path units."""
        return np.linalg.norm(self.step_cam, axis=1)

    def cases(self) -> dict[str, Bool[np.ndarray, "n"]]:
        """Reasons not to ask about the way, and where they hold."""
        least = np.maximum(_LEAST_SHARE * np.linalg.norm(self.start_cam, axis=1), _LEAST_SIGMAS * self.sigma)
        with np.errstate(invalid="ignore"):
            return {
                NOT_PLACED: np.isnan(self.length + self.sigma),
                BARELY: self.length < least,
                DETOUR: self.detour > _DETOUR,
            }


def followed(scene: Scene, refs: Sequence[ObjectRefs]) -> Int64[np.ndarray, "n"]:
    """The object that every photo shows (a reference without a frame counts as any); -1 where they differ."""
    objects = np.column_stack([found_again(scene, each) for each in refs])
    given = np.column_stack([each.frame for each in refs]) >= 0
    same = ((objects == objects[:, :1]) | ~given).all(axis=1)
    return np.where(same, objects[:, 0], -1)


def way(
    scene: Scene,
    object: Int64[np.ndarray, "n"],
    frames: Int64[np.ndarray, "n 2"],
    seen_from: Int64[np.ndarray, "n"],
) -> Way:
    """How objects (-1: unknown) move between two photos, in the camera axes of a third."""
    objects, count = scene.objects, len(object)
    nan = np.full((count, 3), np.nan)
    if objects is None or not objects.labels or not len(objects.frames):
        return Way(start_cam=nan, step_cam=nan, sigma=nan[:, 0], detour=nan[:, 0])
    k, rows = np.maximum(object, 0), find_rows(objects.frames, frames)
    known = (object >= 0) & (rows >= 0).all(axis=1)
    places = objects.world_from_object[..., :3, 3][:, k].swapaxes(0, 1)
    start, end = (np.where(known[:, None], places[np.arange(count), rows[:, column]], np.nan) for column in (0, 1))
    camera = scene.world_from_cam(seen_from)
    cam_from_world = camera[:, :3, :3].swapaxes(1, 2)
    centre_sigma = np.zeros(count) if objects.centre_sigma is None else objects.centre_sigma[k]
    camera_sigma = np.nan_to_num(offsets(scene, frames).shift_sigma)  # NaN for a camera that stands still
    between = (objects.frames > frames[:, :1]) & (objects.frames < frames[:, 1:])
    return Way(
        start_cam=np.einsum("nij,nj->ni", cam_from_world, start - camera[:, :3, 3]),
        step_cam=np.einsum("nij,nj->ni", cam_from_world, end - start),
        sigma=np.hypot(np.sqrt(2) * centre_sigma, camera_sigma),
        detour=_detour(start, end, np.where(between[..., None], places, np.nan)),
    )


def seen_step(
    scene: Scene, object: Int64[np.ndarray, "n"], frames: Int64[np.ndarray, "n 2"]
) -> Float64[np.ndarray, "n 3"]:
    """How objects move for someone who takes the cameras of both photos for one: as if only the objects moved."""
    first, second = (way(scene, object, frames[:, [k, k]], frames[:, k]).start_cam for k in (0, 1))
    return second - first


def _detour(
    start: Float64[np.ndarray, "n 3"], end: Float64[np.ndarray, "n 3"], places: Float64[np.ndarray, "n f 3"]
) -> Float64[np.ndarray, "n"]:
    """Largest distance of places (NaN: none) from the line between start and end, over its length."""
    step, square = end - start, ((end - start) ** 2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.clip(np.einsum("nfi,ni->nf", places - start[:, None], step) / square[:, None], 0, 1)
        off = np.linalg.norm(places - start[:, None] - along[..., None] * step[:, None], axis=2)
        return np.fmax.reduce(off, axis=1, initial=0.0) / np.sqrt(square)


def moving(scene: Scene) -> SeenObjects:
    """Objects that boxes can mark, in the photos that show them, if they move or turn in the clip."""
    seen, objects = boxed(seen_objects(scene), scene), scene.objects
    if objects is None or scene.path is None or not len(seen):
        return seen.take(np.zeros(len(seen), dtype=bool))
    poses = objects.world_from_object
    offset = poses[..., :3, 3] - scene.world_from_cam(objects.frames)[:, None, :3, 3]
    distance = np.fmax.reduce(np.linalg.norm(offset, axis=2), axis=0, initial=0.0)
    reach = np.fmax.reduce(poses, axis=0) - np.fmin.reduce(poses, axis=0)
    with np.errstate(invalid="ignore"):
        moves = np.linalg.norm(reach[:, :3, 3], axis=1) > _MOVING_SHARE * distance
        moves |= reach[:, :3, :3].max(axis=(1, 2), initial=0.0) > _TURNING
    return seen.take(moves[seen.object])


def drawn_photos(seen: SeenObjects, rng: np.random.Generator, count: int, photos: int) -> Int64[np.ndarray, "n p"]:
    """Rows of the same object in different photos, in order of time, drawn at random."""
    _, start, shown = np.unique(np.sort(seen.object), return_index=True, return_counts=True)
    if not (shown >= photos).any():
        return np.empty((0, photos), dtype=np.int64)
    object = rng.choice(np.flatnonzero(shown >= photos), count)
    chosen = np.array([rng.choice(most, photos, replace=False) for most in shown[object].tolist()], dtype=np.int64)
    rows = np.argsort(seen.object, kind="stable")[start[object][:, None] + chosen.reshape(-1, photos)]
    return np.sort(rows, axis=1)  # the photos of `seen` ascend


def moved_objects(scene: Scene, rng: np.random.Generator, count: int) -> MovedObject:
    """At most `count` random objects that move or turn, each in two photos."""
    seen = moving(scene)
    first, second = (seen.take(rows).refs() for rows in drawn_photos(seen, rng, count, 2).T)
    return MovedObject(first=first, second=second)
