"""Converts the output of a detector and a segmenter for one picture to our pixels: boxes, names, scores, one object per
pixel.

Detectors of the DETR family (Grounding DINO, OWLv2) return boxes (centre x, centre y, width, height) as shares of the
picture; segmenters of the SAM family return logits on a coarse grid over the whole picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int32, Int64


@dataclass(frozen=True, kw_only=True)
class DetectionSettings:
    """Which detections are used. Defaults are upstream's where it has one; no rate was measured with trained
    weights."""

    score: float = 0.35
    """Smallest score (Grounding DINO's own box threshold; its post-processing in transformers uses 0.25)."""
    box_iou: float = 0.6
    """Boxes of one name with a larger overlap are one object (chosen; torchvision's detectors use 0.5, but chairs
    touch)."""
    mask_iou: float = 0.7
    """Masks with a larger overlap are one object, whatever the names (the segmenter's automatic mode uses 0.7 of
    boxes)."""
    box_px: float = 8.0
    """Smallest side of a box, at working size (chosen)."""
    max_boxes: int = 40
    """Largest number of boxes per picture that are segmented, the best first (cost)."""
    mask_confidence: float = 0.5
    """Smallest IoU that the segmenter predicts for its mask (chosen; its automatic mode uses 0.8)."""
    agreement_iou: float = 0.5
    """Smallest IoU of the mask's bounding box with the detector's box (chosen)."""
    inside: float = 0.9
    """Smallest share of the mask inside the box (chosen)."""
    fill: float = 0.15
    """Smallest share of the box that the mask fills (chosen; a chair's frame fills about 0.3)."""
    visible: float = 0.3
    """Smallest share of the mask that smaller objects in front of it leave visible (chosen)."""


@dataclass(frozen=True, kw_only=True)
class Detections:
    """Boxes with names, the best first."""

    boxes_px: Float64[np.ndarray, "k 4"]
    """Left, top, right, bottom edge in pixels of the input picture: an object in columns 10 to 19 has edges 9.5 and
    19.5."""
    scores: Float32[np.ndarray, "k"]
    """Confidence, 0 to 1; NaN where none is stated."""
    label: Int64[np.ndarray, "k"]
    """Index of the queried name."""

    def of(self, rows: Int64[np.ndarray, "r"] | Bool[np.ndarray, "k"]) -> "Detections":
        """The given rows."""
        return Detections(boxes_px=self.boxes_px[rows], scores=self.scores[rows], label=self.label[rows])


@dataclass(frozen=True, kw_only=True)
class SegmentedFrame:
    """Objects in one picture; each pixel belongs to at most one."""

    detections: Detections
    ids: Int32[np.ndarray, "h w"]
    """Row of `detections` per pixel of the working size; -1 for none."""
    box_only: Bool[np.ndarray, "k"] | None = None
    """Detections without a mask: their pixels are those of their box, as far as no mask has them. None: there are
    none."""

    def is_box(self, row: int) -> bool:
        """Whether a detection has no mask."""
        return self.box_only is not None and bool(self.box_only[row])


def label_scores(
    token_logits: Float32[np.ndarray, "q t"], spans: Sequence[tuple[int, int]]
) -> Float32[np.ndarray, "q l"]:
    """Score of each name from the logits of its tokens (first, after last): that of its best token, as upstream's box
    score. Padding tokens have -inf; a row with a NaN scores NaN."""
    best = [token_logits[:, a:b].max(axis=1) for a, b in spans]
    with np.errstate(over="ignore"):
        return (1 / (1 + np.exp(-np.stack(best, axis=1)))).astype(np.float32)


def select_boxes(
    boxes: Float[np.ndarray, "q 4"],
    scores: Float[np.ndarray, "q l"],
    shape: tuple[int, int],
    settings: DetectionSettings,
    *,
    padded_to_square: bool = False,
    smallest_px: float = 0.0,
) -> Detections:
    """Boxes of confident queries in pixels, one per object and name. Rows with NaN are dropped.

    Args:
        boxes: (centre x, centre y, width, height), shares of the picture, or of the square to which it was padded at
            the right and at the bottom.
        scores: of each name, 0 to 1.
        shape: (height, width) of the picture.
        settings: thresholds.
        padded_to_square: see `boxes`.
        smallest_px: smallest side of a box, in pixels of the picture.
    """
    height, width = shape
    unit = np.full(2, max(height, width)) if padded_to_square else np.array([width, height])
    with np.errstate(invalid="ignore"):
        half = boxes[:, 2:] / 2
        edges = np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1) * np.tile(unit, 2)
        edges = np.clip(edges, 0, [width, height, width, height]).astype(np.float64) - 0.5
        large = np.all(edges[:, 2:] - edges[:, :2] >= max(smallest_px, 1.0), axis=1)
        kept = large & np.isfinite(scores).all(axis=1) & (scores.max(axis=1) >= settings.score)
    order = np.flatnonzero(kept)
    order = order[np.argsort(-scores[order].max(axis=1), kind="stable")]
    found = Detections(
        boxes_px=edges[order],
        scores=scores[order].max(axis=1).astype(np.float32),
        label=scores[order].argmax(axis=1).astype(np.int64),
    )
    return found.of(non_maximum_suppression(found, settings.box_iou)[: settings.max_boxes])


def non_maximum_suppression(detections: Detections, iou: float) -> Int64[np.ndarray, "r"]:
    """Rows after non-maximum suppression per name: of boxes that overlap by more than `iou`, only the best is kept."""
    same = detections.label[:, None] == detections.label[None]
    overlapping = same & (box_iou(detections.boxes_px, detections.boxes_px) > iou)
    kept: list[int] = []
    for k in range(len(overlapping)):
        if not overlapping[k, kept].any():
            kept.append(k)
    return np.array(kept, dtype=np.int64)


def box_iou(a: Float64[np.ndarray, "a 4"], b: Float64[np.ndarray, "b 4"]) -> Float64[np.ndarray, "a b"]:
    """Intersection over union."""
    corner = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    common = np.prod(np.clip(corner[1] - corner[0], 0, None), axis=2)
    area_a, area_b = np.prod(a[:, 2:] - a[:, :2], axis=1), np.prod(b[:, 2:] - b[:, :2], axis=1)
    return common / np.maximum(area_a[:, None] + area_b[None] - common, 1e-12)


def boxes_at(
    boxes_px: Float64[np.ndarray, "k 4"], of: tuple[int, int], at: tuple[int, int]
) -> Float64[np.ndarray, "k 4"]:
    """The same edges after resampling the picture from (height, width) `of` to `at`."""
    factor = np.tile([at[1] / of[1], at[0] / of[0]], 2)
    return (boxes_px + 0.5) * factor - 0.5


def masks_at(logits: Float32[np.ndarray, "k a b"], size: tuple[int, int]) -> Bool[np.ndarray, "k h w"]:
    """Masks on a grid of (height, width) `size` from logits on a coarser grid over the same picture; NaN counts as
    outside."""
    import cv2

    known = np.nan_to_num(logits, nan=-1.0, posinf=1e4, neginf=-1e4)
    fine = [cv2.resize(one, (size[1], size[0]), interpolation=cv2.INTER_LINEAR) for one in known]
    return np.stack(fine) > 0 if fine else np.zeros((0, *size), dtype=bool)


def assign_pixels(
    detections: Detections,
    masks: Bool[np.ndarray, "k h w"],
    confidence: Float[np.ndarray, "k"],
    shape: tuple[int, int],
    settings: DetectionSettings,
    box_only: Bool[np.ndarray, "k"] | None = None,
) -> SegmentedFrame:
    """One object per pixel. Masks that disagree with their box, or duplicate a better one, are dropped. A shared pixel
    belongs to the smaller object, which is in front of (or on) the larger; to a mask rather than to a box.

    Args:
        detections: the best first.
        masks: of each, at working size.
        confidence: IoU of each mask as predicted by the segmenter, 0 to 1.
        shape: (height, width) of the picture.
        settings: thresholds.
        box_only: detections whose mask is their whole box.
    """
    flat = np.zeros(len(masks), dtype=bool) if box_only is None else box_only
    boxes = boxes_at(detections.boxes_px, shape, (masks.shape[1], masks.shape[2]))
    kept: list[int] = []
    for k in range(len(masks)):
        sure = confidence[k] >= settings.mask_confidence  # False for NaN
        if (
            sure
            and mask_matches_box(masks[k], boxes[k], settings)
            and not _is_duplicate(masks, k, kept, settings.mask_iou)
        ):
            kept.append(k)
    by_area = sorted(kept, key=lambda k: (not flat[k], -int(masks[k].sum())))
    owner = np.full(masks.shape[1:], -1, dtype=np.int32)
    for k in by_area:
        owner[masks[k]] = k
    left = np.bincount(owner[owner >= 0], minlength=len(masks)) if len(masks) else np.zeros(0)
    rows = [k for k in kept if flat[k] or left[k] >= settings.visible * masks[k].sum()]
    number = np.full(len(masks) + 1, -1, dtype=np.int32)  # the last is for -1
    number[rows] = np.arange(len(rows))
    return SegmentedFrame(
        detections=detections.of(np.array(rows, dtype=np.int64)),
        ids=number[owner],
        box_only=flat[rows] if flat[rows].any() else None,
    )


def mask_matches_box(
    mask: Bool[np.ndarray, "h w"], box_px: Float64[np.ndarray, "4"], settings: DetectionSettings
) -> bool:
    """Whether a mask shows the object in the box (both at the mask's size)."""
    row, column = np.nonzero(mask)
    if not len(row):
        return False
    own = np.array([[column.min() - 0.5, row.min() - 0.5, column.max() + 0.5, row.max() + 0.5]])
    grown = box_px + np.array([-1, -1, 1, 1])
    inside = (column >= grown[0]) & (column <= grown[2]) & (row >= grown[1]) & (row <= grown[3])
    fill = inside.sum() / max(1.0, float(np.prod(box_px[2:] - box_px[:2])))
    overlap = box_iou(own, box_px[None])[0, 0]
    return bool(overlap >= settings.agreement_iou and inside.mean() >= settings.inside and fill >= settings.fill)


def _is_duplicate(masks: Bool[np.ndarray, "k h w"], k: int, kept: list[int], iou: float) -> bool:
    """Whether a better detection has the same mask."""
    for other in kept:
        common = np.count_nonzero(masks[k] & masks[other])
        if common > iou * (np.count_nonzero(masks[k]) + np.count_nonzero(masks[other]) - common):
            return True
    return False


def restrict_to_valid_area(found: SegmentedFrame, valid: Bool[np.ndarray, "a b"] | None) -> SegmentedFrame:
    """Without pixels outside the valid area (`valid`, at any size, over the whole picture), and without objects
    there."""
    if valid is None:
        return found
    import cv2

    height, width = found.ids.shape
    shown = cv2.resize(valid.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST) > 0
    ids = np.where(shown, found.ids, -1)
    rows = np.unique(ids[ids >= 0]).astype(np.int64)
    number = np.full(len(found.detections.scores) + 1, -1, dtype=np.int32)  # the last is for -1
    number[rows] = np.arange(len(rows))
    box_only = None if found.box_only is None else found.box_only[rows]
    return SegmentedFrame(detections=found.detections.of(rows), ids=number[ids], box_only=box_only)
