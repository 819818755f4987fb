"""Objects that contradict the images: masks of another shape, values without an object, boxes beside their masks."""

from collections.abc import Iterator

import numpy as np

from experts.clip import Clip
from experts.signals import CameraPath, Objects
from spatial_engine.sequences.boxes_in_view import inside_box
from spatial_engine.sequences.finding import Finding
from spatial_engine.sequences.known_objects import KnownObjects
from spatial_engine.sequences.truth import Truth

_FRAMES = 6
"""Masks that are read, evenly over the clip."""
_SHAPE = 0.02
"""Largest |ln| of the ratio of the aspect ratios of masks and images."""
_LEAST_PX = 40
"""Smaller masks are not compared with their boxes."""
_MARGIN, _SIGMAS = 0.1, 3.0
"""Boxes are enlarged by this share of their longest side, and by so many σ."""
_LEAST_INSIDE = 0.5
"""Share of a mask that must lie on its box. Objects of Aria Digital Twin show at least 0.96."""


def of_objects(clip: Clip, truth: Truth) -> Iterator[Finding]:
    """The mistakes; reads six masks."""
    objects = truth.objects
    if objects is None or not objects.masks or not objects.labels:
        return
    every = tuple(range(len(objects.labels)))
    frames = [int(frame) for frame in clip.frames if objects.masks[int(frame)] is not None]
    frames = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, _FRAMES).astype(int))] if frames else []
    for frame in frames:
        mask = objects.mask(frame)
        height, width = mask.shape
        if abs(np.log(width / height * clip.height_px / clip.width_px)) > _SHAPE:
            number = f"mask {width}x{height}, images {clip.width_px}x{clip.height_px}, frame {frame}"
            remedy = "masks of the same view as the images"
            yield Finding(
                what="masks have another shape than the images",
                number=number,
                remedy=remedy,
                severe=True,
                objects=every,
            )
            return
        if objects.lists_every_value and (
            unlisted := sorted({int(value) for value in np.unique(mask)} - {0, *objects.of_value})
        ):
            number = f"{', '.join(map(str, unlisted[:5]))} in frame {frame}; the list has {len(every)} objects"
            remedy = "state mask: VALUE for each object, and list every value but 0"
            yield Finding(
                what="masks hold values that are no object", number=number, remedy=remedy, severe=True, objects=every
            )
            return
    path = truth.camera_path(clip)
    if path is not None and (signal := objects.signal(frames, truth.provenance, path)) is not None:
        yield from _beside_their_masks(objects, signal, path)


def _beside_their_masks(known: KnownObjects, objects: Objects, path: CameraPath) -> Iterator[Finding]:
    assert objects.size is not None
    shares: dict[int, list[float]] = {}
    for row, ids in enumerate(objects.ids):
        scale = np.array([path.intrinsics.width_px, path.intrinsics.height_px]) / ids.shape[::-1]
        for k in np.unique(ids[ids >= 0]).tolist():
            y, x = np.nonzero(ids == k)
            if (
                len(x) < _LEAST_PX
                or not np.isfinite([*objects.world_from_object[row, k].ravel(), *objects.size[k]]).all()
            ):
                continue
            xy = (np.stack([x, y], axis=1) + 0.5) * scale - 0.5
            margin = _MARGIN * float(objects.size[k].max()) + _SIGMAS * known.sigma
            shares.setdefault(k, []).append(float(inside_box(objects, path, row, k, xy, margin).mean()))
    beside = {k: float(np.median(each)) for k, each in shares.items() if np.median(each) < _LEAST_INSIDE}
    if beside:
        said = ", ".join(f"{known.labels[k]} ({k + 1}) {share:.0%}" for k, share in list(beside.items())[:5])
        yield Finding(
            what="boxes lie beside their masks",
            number=f"{len(beside)} of {len(shares)} objects; share of the mask on the box: {said}",
            remedy="check world_from_object, size, mask values and the camera",
            severe=True,
            objects=tuple(beside),
        )
