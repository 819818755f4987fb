"""A detector and a segmenter that know the objects of a scene, in the formats of the real ones; with errors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32
from scipy.ndimage import distance_transform_edt, zoom

from experts.clip import Picture
from experts.objects.detections import label_scores
from experts.objects.named_networks import Masks, Networks

_LEAST_PX = 60
"""Smaller objects are not detected."""
_GRID = 256
"""Side of the segmenter's grid."""
_FAR_PX = 12
_WAVES_PX = 12.0
"""Length over which the error of a mask's border changes."""


@dataclass(frozen=True, kw_only=True)
class DetectionErrors:
    """Of a detector and a segmenter. Names and scores are the objects' own."""

    missed: float = 0.0
    """Share of the objects of a picture that are not detected."""
    border_px: float = 0.0
    """σ of the border of a mask, in pixels of the picture; half of its variance is common to the whole border. Edges of
    boxes have it too."""
    weaker: float = 0.0
    """Largest part of its score that an object loses in a picture."""


@dataclass(kw_only=True)
class ImitatedNetworks:
    """What both see is decided by `ids_of`."""

    ids_of: Callable[[Picture], Int32[np.ndarray, "h w"]]
    """Object of each pixel of a picture; -1 for none."""
    names: Sequence[str]
    """What the detector calls each object."""
    scores: Sequence[float]
    """Its score for each object."""
    queried: Sequence[str]
    """Names that it was asked for."""
    padded_to_square: bool = False
    errors: DetectionErrors = field(default_factory=DetectionErrors)
    rng: np.random.Generator = field(default_factory=np.random.default_rng)
    """Of the errors."""

    @property
    def networks(self) -> Networks:
        """As the expert "open_vocabulary" holds them."""
        return Networks(detector=self, segmenter=self.segment)

    def __call__(
        self, pictures: Sequence[Picture]
    ) -> list[tuple[Float32[np.ndarray, "q 4"], Float32[np.ndarray, "q l"]]]:
        """Boxes as shares of the picture, and scores from the logits of two tokens per name."""
        return [self._detected(self.ids_of(picture)) for picture in pictures]

    def _detected(self, ids: Int32[np.ndarray, "h w"]) -> tuple[Float32[np.ndarray, "q 4"], Float32[np.ndarray, "q l"]]:
        height, width = ids.shape
        unit = np.full(2, max(height, width)) if self.padded_to_square else np.array([width, height])
        spans = [(1 + 3 * k, 3 + 3 * k) for k in range(len(self.queried))]
        boxes, logits = [np.array([0.5, 0.5, 0.2, 0.2])], [np.full(256, -np.inf, dtype=np.float32)]
        for k in np.unique(ids[ids >= 0]).tolist():
            unseen = (ids == k).sum() < _LEAST_PX or self.names[k] not in self.queried
            if unseen or self.rng.random() < self.errors.missed:
                continue
            edges = np.array(box_of(ids == k)) + 0.5 + self.errors.border_px * self.rng.normal(size=4)
            low, high = edges.reshape(2, 2) / unit
            score = self.scores[k] * (1 - self.errors.weaker * self.rng.random())
            row = np.full(256, -np.inf, dtype=np.float32)
            row[1 : 3 * len(self.queried) + 1] = -6
            row[spans[list(self.queried).index(self.names[k])][1] - 1] = np.log(score / (1 - score))
            boxes.append(np.concatenate([(low + high) / 2, high - low]))
            logits.append(row)
        return np.array(boxes, dtype=np.float32), label_scores(np.array(logits), spans)

    def segment(self, pictures: Sequence[Picture], boxes_px: Sequence[Float64[np.ndarray, "_ 4"]]) -> list[Masks]:
        """Mask logits of the objects that fit the boxes best."""
        return [self._masks(self.ids_of(picture), boxes) for picture, boxes in zip(pictures, boxes_px, strict=True)]

    def _masks(self, ids: Int32[np.ndarray, "h w"], boxes: Float64[np.ndarray, "k 4"]) -> Masks:
        known = {int(k): np.array(box_of(ids == k)) for k in np.unique(ids[ids >= 0])}
        logits = np.zeros((len(boxes), _GRID, _GRID), dtype=np.float32)
        for row, box in enumerate(boxes):
            item = min(known, key=lambda k: float(np.abs(known[k] - box).max()))
            depth = _inside_px(ids == item) + self._border(ids.shape)
            logits[row] = zoom(depth, _GRID / np.array(ids.shape), order=1, grid_mode=True, mode="nearest")
        return logits, np.full(len(boxes), 0.9, dtype=np.float32)

    def _border(self, shape: tuple[int, ...]) -> Float64[np.ndarray, "h w"] | float:
        """How far the border of a mask lies too far outside."""
        if not self.errors.border_px:
            return 0.0
        coarse = self.rng.normal(size=[2 + round(side / _WAVES_PX) for side in shape])
        waves = cv2.resize(coarse, shape[::-1], interpolation=cv2.INTER_CUBIC)
        error = waves / max(float(waves.std()), 1e-9) + self.rng.normal()
        return np.asarray(self.errors.border_px * np.sqrt(0.5) * error)


def box_of(mask: Bool[np.ndarray, "h w"]) -> list[float]:
    """Edges of a mask, pixel centres at integers."""
    row, column = np.nonzero(mask)
    return [column.min() - 0.5, row.min() - 0.5, column.max() + 0.5, row.max() + 0.5]


def _inside_px(mask: Bool[np.ndarray, "h w"]) -> Float64[np.ndarray, "h w"]:
    """Distance to the border of a mask; negative outside, there at most `_FAR_PX`."""
    row, column = np.nonzero(mask)
    part = tuple(slice(max(0, at.min() - _FAR_PX), at.max() + _FAR_PX + 1) for at in (row, column))
    out = np.full(mask.shape, -float(_FAR_PX))
    inside, outside = distance_transform_edt(mask[part]), distance_transform_edt(~mask[part])
    out[part] = np.where(mask[part], inside - 0.5, np.maximum(0.5 - outside, -_FAR_PX))
    return out
