"""Different objects in photos that share their views, though none of the photos shows all of them."""

import numpy as np
from jaxtyping import Bool, Int64

from templates.scene.marks import spread_frames
from templates.scene.objects import SeenObjects, projected_boxes, seen_objects
from templates.scene.scene import Scene, find_rows
from templates.scene.shared_view import shared_views

_PHOTOS = 24
"""Photos in which objects are looked for."""


def scattered(
    scene: Scene, seen: SeenObjects, rng: np.random.Generator, tries: int, count: int
) -> Int64[np.ndarray, "n k"]:
    """Rows of `seen`, `count` different objects each, from `tries` draws: the photo of each is that of the one before,
    or shares part of its view; no photo among them shows all. `seen`: the objects photo by photo."""
    none = np.empty((0, count), dtype=np.int64)
    frames = np.array(spread_frames(np.unique(seen.frame), _PHOTOS), dtype=np.int64)
    if not len(frames):
        return none
    first, end = (np.searchsorted(seen.frame, frames, side) for side in ("left", "right"))
    near = shared_views(scene, frames).mutual | np.eye(len(frames), dtype=bool)
    photo, rows = rng.integers(len(frames), size=tries), []
    for _ in range(count):
        rows.append(first[photo] + (rng.random(tries) * (end - first)[photo]).astype(np.int64))
        photo = np.where(near[photo], rng.random((tries, len(frames))), -1.0).argmax(axis=1)
    found = np.stack(rows, axis=1)
    different = (np.diff(np.sort(seen.object[found], axis=1), axis=1) > 0).all(axis=1)
    found = found[different & ~shown_together(scene, seen.frame[found], seen.object[found])]
    return np.asarray(found[np.sort(np.unique(np.sort(found, axis=1), axis=0, return_index=True)[1])])


def shown_together(
    scene: Scene, frames: Int64[np.ndarray, "n f"], objects: Int64[np.ndarray, "n k"]
) -> Bool[np.ndarray, "n"]:
    """Whether any of the photos of a row may show something of all its objects; -1 for an unknown one."""
    if scene.objects is None or not len(scene.objects.frames) or not scene.objects.labels:
        return np.zeros(len(frames), dtype=bool)
    shows = scene.once("may be shown", lambda: _may_be_shown(scene))
    row = find_rows(scene.objects.frames, frames)
    each = shows[row[:, :, None], objects[:, None]] & (row >= 0)[:, :, None] & (objects >= 0)[:, None]
    return np.asarray(each.all(axis=2).any(axis=1))


def _may_be_shown(scene: Scene) -> Bool[np.ndarray, "f k"]:
    """By masks and detected boxes; a detector also overlooks objects, whose boxes reach into the photo."""
    objects, seen = scene.objects, seen_objects(scene)
    assert objects is not None
    shows = np.zeros((len(objects.frames), len(objects.labels)), dtype=bool)
    shows[find_rows(objects.frames, seen.frame), seen.object] = True
    if scene.exact_objects is None:
        size = np.array([scene.clip.width_px, scene.clip.height_px])
        for row in range(len(shows)):
            box = projected_boxes(scene, objects, row)
            shows[row] |= (box[:, 1] > 0).all(axis=1) & (box[:, 0] < size - 1).all(axis=1)
    return shows
