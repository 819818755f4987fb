"""Objects whose boxes, and perhaps masks, a data set knows."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64, Int32

from experts.provenance import Provenance
from experts.signals import Objects
from spatial_engine.errors import UsageError
from spatial_engine.sequences import manifest
from spatial_engine.sequences.association import NONE, matched
from spatial_engine.sources.image_groups import natural_key


def read_mask(path: Path) -> np.ndarray:
    """Values of an instance image, or of the one array in an .npz."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            return np.asarray(arrays[arrays.files[0]])
    import cv2

    raw = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if raw is None or raw.ndim != 2:
        raise UsageError(f"{path} is not an instance mask", "use one channel; its values count the objects from 1")
    return np.asarray(raw)


@dataclass(frozen=True, kw_only=True)
class KnownObjects:
    """Objects of all images of a sequence."""

    labels: tuple[str, ...]
    world_from_object: Float64[np.ndarray, "n k 4 4"]
    """Per image: middle and axes of each box; NaN where it is not known."""
    size: Float64[np.ndarray, "k 3"]
    """Side lengths along those axes."""
    sigma: float
    """σ of centres and side lengths, in the world's unit; not used if there are masks."""
    masks: Sequence[Path | None] = ()
    """Instance mask of each image; empty: there are none."""
    of_value: Mapping[int, int] = field(default_factory=dict)
    """Object of each value in the masks; other values are no object."""
    read: Callable[[Path], np.ndarray] = read_mask

    def only(self, image: int) -> "KnownObjects":
        """The objects of one image, as a scene of its own."""
        here = np.flatnonzero(np.isfinite(self.world_from_object[image]).all(axis=(1, 2)))
        place = {int(old): new for new, old in enumerate(here)}
        return replace(
            self,
            labels=tuple(self.labels[k] for k in here),
            world_from_object=self.world_from_object[image : image + 1, here],
            size=self.size[here],
            masks=self.masks[image : image + 1],
            of_value={value: place[k] for value, k in self.of_value.items() if k in place},
        )

    def signal(self, frames: Sequence[int], provenance: Provenance) -> Objects | None:
        """The signal of these frames; if there are masks, of those with a mask."""
        shown = sorted({int(frame) for frame in frames if not self.masks or self.masks[frame] is not None})
        if not shown or not self.labels:
            return None
        poses, count = self.world_from_object[shown], len(self.labels)
        exact = bool(self.masks)
        return Objects(
            frames=np.array(shown, dtype=np.int64),
            labels=self.labels,
            ids=np.stack([self._ids(frame) for frame in shown]),
            world_from_object=poses,
            provenance=provenance,
            size=self.size,
            centre_sigma=None if exact else np.full(count, self.sigma),
            size_sigma=None if exact else np.full((count, 3), self.sigma),
        )

    def _ids(self, frame: int) -> Int32[np.ndarray, "h w"]:
        path = self.masks[frame] if self.masks else None
        if path is None:
            return np.full((1, 1), -1, dtype=np.int32)
        values, place = np.unique(self.read(path), return_inverse=True)
        objects = np.array([self.of_value.get(int(value), -1) for value in values], dtype=np.int32)
        return objects[place].reshape(place.shape)


def read_objects(folder: Path, stated: manifest.Objects, images: Sequence[Path]) -> KnownObjects:
    """As the manifest states. Raises `UsageError`, naming the object."""
    path = folder / stated.file
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        labels = tuple(str(one["label"]) for one in listed)
        size = np.array([one["size"] for one in listed], dtype=np.float64).reshape(len(listed), 3)
        poses = [_poses(one["world_from_object"], len(images)) for one in listed]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no list of objects: {error!r}", "see docs/sequences.md") from error
    masks: Sequence[Path | None] = ()
    if stated.masks:
        files = sorted(folder.glob(stated.masks), key=natural_key)
        rows = matched(
            images, None, match=stated.match, count=len(files), names=[file.name for file in files], times_s=None,
            tolerance_s=0.0, what="masks",
        )  # fmt: skip
        masks = tuple(None if row == NONE else files[row] for row in rows)
    return KnownObjects(
        labels=labels,
        world_from_object=np.stack(poses, axis=1) if poses else np.zeros((len(images), 0, 4, 4)),
        size=size,
        sigma=stated.sigma,
        masks=masks,
        of_value={place + 1: place for place in range(len(labels))},
    )


def _poses(stated: Any, count: int) -> Float64[np.ndarray, "n 4 4"]:
    if stated and stated[0] is not None and np.ndim(stated[0]) == 1:
        return np.tile(np.array(stated, dtype=np.float64).reshape(4, 4), (count, 1, 1))
    if len(stated) != count:
        raise ValueError(f"{len(stated)} poses for {count} images")
    none = np.full((4, 4), np.nan)
    return np.stack([none if one is None else np.array(one, dtype=np.float64).reshape(4, 4) for one in stated])


def box(rotation: np.ndarray, centre: Sequence[float] | np.ndarray) -> Float64[np.ndarray, "4 4"]:
    """The pose of a box from its axes (columns) and middle; axes that are no rotation get their last one turned."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, centre
    if np.linalg.det(pose[:3, :3]) < 0:
        pose[:3, 2] *= -1
    return pose
