"""In which photos each object can be seen."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.objects.object_names import folded
from templates.columns import Texts
from templates.scene.intervals import random_videos
from templates.scene.objects import seen_objects
from templates.scene.scene import Scene, find_rows

_CLEAR_AREA, _CLEAR_AREA_CUT = 0.003, 0.01
"""Least area of what is visible of an object that nobody overlooks, as a share of the photo; and of one that the border
cuts."""


@dataclass(frozen=True, kw_only=True)
class Sightings:
    """Objects (columns) in the photos of a scene (rows)."""

    frames: Int64[np.ndarray, "f"]
    area: Float64[np.ndarray, "f k"]
    """Of what is visible, as a share of the photo; 0 where nothing is, NaN where that is not known."""
    clear: Bool[np.ndarray, "f k"]
    """Whether nobody overlooks it."""

    def of(self, frames: Int64[np.ndarray, "v"]) -> "Sightings":
        """In a video of these frames; -1 ends it. Raises `LookupError` for a frame without objects."""
        shown = frames[frames >= 0]
        rows = find_rows(self.frames, shown)
        if (rows < 0).any():
            raise LookupError(f"frame {shown[rows < 0][0]} has no objects")
        return Sightings(frames=shown, area=self.area[rows], clear=self.clear[rows])


def object_names(scene: Scene) -> Texts:
    """The folded name of each object of the scene."""
    labels = () if scene.objects is None else scene.objects.labels
    return np.array([folded(label) for label in labels], dtype=np.str_)


def one_identity(scene: Scene) -> bool:
    """Whether each object is surely the same one in all photos, and no two are one: ground truth says so."""
    return scene.objects is not None and scene.objects.outlier_probability is None


def sightings(scene: Scene) -> Sightings:
    """All objects in all photos with objects; computed once per scene."""
    return scene.once("sightings", lambda: _sightings(scene))


def videos_of_objects(scene: Scene, rng: np.random.Generator, count: int) -> Int64[np.ndarray, "n v"]:
    """Random intervals, as videos of photos whose objects are known; -1 ends a row."""
    return random_videos(sightings(scene).frames, rng, count)


def _sightings(scene: Scene) -> Sightings:
    seen, objects = seen_objects(scene), scene.objects
    frames = np.empty(0, dtype=np.int64) if objects is None else objects.frames
    count = 0 if objects is None else len(objects.labels)
    area, cut = np.zeros((len(frames), count)), np.zeros((len(frames), count), dtype=bool)
    at = find_rows(frames, seen.frame), seen.object
    area[at] = seen.area_px / (scene.clip.width_px * scene.clip.height_px)
    cut[at] = seen.is_cut
    with np.errstate(invalid="ignore"):
        clear = area >= np.where(cut, _CLEAR_AREA_CUT, _CLEAR_AREA)
    return Sightings(frames=frames, area=area, clear=clear)
