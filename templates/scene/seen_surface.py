"""Places in the world on what a photo shows of an object."""

import numpy as np
from jaxtyping import Float64
from scipy import ndimage

from templates.scene.scene import Scene, find_rows

_PLACES = 300
"""Most of an object."""


def seen_places(scene: Scene, frame: int, object: int) -> Float64[np.ndarray, "p 3"]:
    """Evenly among the pixels of its mask without its border, in the world; none where mask or surface is not known.
    Computed once."""
    return scene.once(("seen places", frame, object), lambda: _seen_places(scene, frame, object))


def _seen_places(scene: Scene, frame: int, object: int) -> Float64[np.ndarray, "p 3"]:
    objects = scene.objects
    row = -1 if objects is None or object < 0 else int(find_rows(objects.frames, [frame])[0])
    if objects is None or row < 0:
        return np.empty((0, 3))
    inner = ndimage.binary_erosion(objects.ids[row] == object)
    at = np.argwhere(inner)[:, ::-1]
    at = at[np.linspace(0, len(at) - 1, min(_PLACES, len(at))).round().astype(np.int64)]
    scale = np.array([scene.clip.width_px, scene.clip.height_px]) / inner.shape[::-1]
    seen, pose = scene.surface(frame, (at + 0.5) * scale - 0.5).xyz_cam, scene.world_from_cam(frame)
    return np.asarray(seen[np.isfinite(seen).all(axis=1)] @ pose[:3, :3].T + pose[:3, 3])
