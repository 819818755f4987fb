"""Objects whose boxes, and perhaps masks, fronts and parts, a dataset knows."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int32, Int64

from experts.objects.box_orientation import BoxFront, box_orientation
from experts.objects.object_names import folded
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, ObjectOrientation, Objects, Parts
from spatial_engine.errors import UsageError
from spatial_engine.sequences.boxes_in_view import shown_boxes

BOX_SIGMA = 0.05
"""σ of boxes, in the world's unit, where none is stated and there are no masks."""

_RIGID = 1e-2
"""Largest entry of RᵀR - 1 of the axes R of a box. Datasets write them with few decimals."""


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
class KnownParts:
    """Parts of objects."""

    names: tuple[str, ...]
    object: tuple[int, ...]
    affords: tuple[tuple[str, ...], ...]
    masks: Sequence[Path | None]
    """Of each image."""
    of_value: Mapping[int, int]


@dataclass(frozen=True, kw_only=True)
class KnownObjects:
    """Objects of all images of a sequence."""

    labels: tuple[str, ...]
    world_from_object: Float64[np.ndarray, "n k 4 4"]
    """Per image: middle and axes of each box; NaN where it is not known."""
    size: Float64[np.ndarray, "k 3"]
    """Side lengths along those axes; NaN where they are not known."""
    sigma: float = 0.0
    """σ of centres and side lengths, in the world's unit; 0: exact."""
    size_sigma: float = 0.0
    """σ of side lengths where the poses are exact."""
    angle_sigma_rad: float = 0.03
    """σ of the boxes' axes."""
    masks: Sequence[Path | None] = ()
    """Instance mask of each image; empty: there are none."""
    of_value: Mapping[int, int] = field(default_factory=dict)
    """Object of each value in the masks; other values are no object."""
    read: Callable[[Path], np.ndarray] = read_mask
    fronts: tuple[BoxFront, ...] = ()
    """One per object; empty: none is known."""
    visible: Float64[np.ndarray, "n k"] | None = None
    """Stated share of each object that an image shows; NaN where it is not stated."""
    box_px: Float64[np.ndarray, "n k 2 2"] | None = None
    """Stated corners of what an image shows of each object; NaN where it does not show it."""
    complete: tuple[str, ...] = ()
    """Names of which every object is listed; "*": every name."""
    others_stand_still: bool = False
    """Whether everything stands still that is not in a mask."""
    lists_every_value: bool = True
    """Whether a value in the masks that stands for no object, other than 0, is a mistake."""
    parts: KnownParts | None = None

    def only(self, image: int) -> "KnownObjects":
        """The objects of one image, as a scene of its own."""
        rows = slice(image, image + 1)
        here = self._of_images(rows)
        known = np.isfinite(here.world_from_object[0]).all(axis=(1, 2)) | bool(self.masks)
        return here.with_objects(np.flatnonzero(known).tolist())

    def checked(self) -> "KnownObjects":
        """With NaN for boxes that are none: sides that are not above 0, axes that are no rotation."""
        flat = np.asarray(~(self.size > 0).all(axis=1))
        rotations = self.world_from_object[..., :3, :3]
        gram = np.swapaxes(rotations, -1, -2) @ rotations
        skewed = ~(np.abs(gram - np.eye(3)).max(axis=(2, 3)) < _RIGID)
        return replace(
            self,
            size=np.where(flat[:, None], np.nan, self.size),
            world_from_object=np.where(skewed[..., None, None], np.nan, self.world_from_object),
        )

    def without(self, objects: AbstractSet[int]) -> "KnownObjects":
        """Without these; their names are complete no more, and nothing is known to stand still."""
        if not objects:
            return self
        kept = [k for k in range(len(self.labels)) if k not in objects]
        complete = self._complete_without(np.array(sorted(objects), dtype=np.int64))
        return replace(self.with_objects(kept), complete=complete, others_stand_still=False)

    def with_objects(self, kept: Sequence[int]) -> "KnownObjects":
        """With these alone, in this order."""
        place = {int(old): new for new, old in enumerate(kept)}
        return replace(
            self,
            labels=tuple(self.labels[k] for k in kept),
            world_from_object=self.world_from_object[:, kept],
            size=self.size[kept],
            of_value={value: place[k] for value, k in self.of_value.items() if k in place},
            fronts=tuple(self.fronts[k] for k in kept) if self.fronts else (),
            visible=None if self.visible is None else self.visible[:, kept],
            box_px=None if self.box_px is None else self.box_px[:, kept],
            parts=None if self.parts is None else _parts_of(self.parts, place),
        )

    def _of_images(self, rows: slice) -> "KnownObjects":
        return replace(
            self,
            world_from_object=self.world_from_object[rows],
            masks=self.masks[rows],
            visible=None if self.visible is None else self.visible[rows],
            box_px=None if self.box_px is None else self.box_px[rows],
            parts=None if self.parts is None else replace(self.parts, masks=self.parts.masks[rows]),
        )

    def signal(
        self, frames: Sequence[int], provenance: Provenance, path: CameraPath | None = None, depth: Depth | None = None
    ) -> Objects | None:
        """The signal of these frames; if there are masks, of those with a mask. Without masks, `path` and `depth` tell
        which objects a frame shows."""
        shown = sorted({int(frame) for frame in frames if not self.masks or self.masks[frame] is not None})
        if not shown or not (self.labels or self.others_stand_still):
            return None
        count = len(self.labels)
        exact = (bool(self.masks) or not count) and self.others_stand_still and not self.sigma
        sigma = self.sigma or BOX_SIGMA
        size_sigma = None if exact and not self.size_sigma else np.full((count, 3), self.size_sigma or sigma)
        found = Objects(
            frames=np.array(shown, dtype=np.int64),
            labels=self.labels,
            ids=np.stack([self.ids(frame) for frame in shown]),
            world_from_object=self.world_from_object[shown],
            provenance=provenance,
            size=self.size,
            centre_sigma=None if exact else np.full(count, sigma),
            size_sigma=size_sigma,
            complete=self.complete,
        )
        if self.masks or not count:
            return found
        if self.box_px is not None:
            return replace(found, box_px=self.box_px[shown])
        visible = None if self.visible is None else self.visible[shown]
        box_px, unclear = shown_boxes(found, path, depth, visible)
        return replace(found, box_px=box_px, complete=self._complete_without(np.flatnonzero(unclear.any(axis=0))))

    def _complete_without(self, unclear: Int64[np.ndarray, "u"]) -> tuple[str, ...]:
        """The complete names without those of the objects of which nobody knows whether an image shows them."""
        lost = {folded(self.labels[k]) for k in unclear}
        names = sorted(set(self.labels)) if lost and "*" in self.complete else self.complete
        return tuple(name for name in names if folded(name) not in lost)

    def orientation(self, objects: Objects, path: CameraPath) -> ObjectOrientation | None:
        """The fronts of the objects, where any is known."""
        if not any(front.fronts >= 0 for front in self.fronts):
            return None
        return box_orientation(objects, path, self.fronts, self.angle_sigma_rad, objects.provenance)

    def parts_signal(self, objects: Objects) -> Parts | None:
        """The parts in the frames of the objects that have a mask of parts."""
        parts = self.parts
        frames = [] if parts is None else [int(f) for f in objects.frames if parts.masks[int(f)] is not None]
        if parts is None or not frames:
            return None
        return Parts(
            frames=np.array(frames, dtype=np.int64),
            names=parts.names,
            object=np.array(parts.object, dtype=np.int64),
            affords=parts.affords,
            ids=np.stack([_by_value(self.read(path), parts.of_value) for f in frames if (path := parts.masks[f])]),
            provenance=objects.provenance,
        )

    def ids(self, frame: int) -> Int32[np.ndarray, "h w"]:
        """Object of each pixel; -1 for none."""
        return _by_value(self.mask(frame), self.of_value)

    def mask(self, frame: int) -> np.ndarray:
        """Values of an image's mask; one pixel of nothing without a mask."""
        path = self.masks[frame] if self.masks else None
        return np.zeros((1, 1), dtype=np.int32) if path is None else self.read(path)


def _by_value(mask: np.ndarray, of_value: Mapping[int, int]) -> Int32[np.ndarray, "h w"]:
    values, place = np.unique(mask, return_inverse=True)
    return np.array([of_value.get(int(value), -1) for value in values], dtype=np.int32)[place].reshape(mask.shape)


def _parts_of(parts: KnownParts, place: Mapping[int, int]) -> KnownParts:
    """Those of the objects that are left."""
    kept = [p for p, k in enumerate(parts.object) if k in place]
    row = {old: new for new, old in enumerate(kept)}
    return replace(
        parts,
        names=tuple(parts.names[p] for p in kept),
        object=tuple(place[parts.object[p]] for p in kept),
        affords=tuple(parts.affords[p] for p in kept),
        of_value={value: row[p] for value, p in parts.of_value.items() if p in row},
    )


def box(rotation: np.ndarray, centre: Sequence[float] | np.ndarray) -> Float64[np.ndarray, "4 4"]:
    """The pose of a box from its axes (columns) and middle; axes that are no rotation get their last one turned."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, centre
    if np.linalg.det(pose[:3, :3]) < 0:
        pose[:3, 2] *= -1
    return pose
