"""A segmenter of transformers that takes boxes: SAM 2.1 (Ravi et al. 2024, code and weights Apache-2.0)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Float64

from experts.clip import Picture
from experts.objects.detections import boxes_at
from experts.objects.text_detectors import IMAGENET, loaded, normalised, pixels, resized, running
from experts.runtime.device import Placement

_BOXES_AT_ONCE = 16
"""Of each, the finest features alone are 8 MB (32 × 256 × 256)."""
_ONE_ENCODING = {
    "prompt_encoder.shared_embedding.positional_embedding": "shared_image_embedding.positional_embedding",
}
"""The network has one encoding of positions under two names; upstream's versions differ in which they write."""
Masks = tuple[Float32[np.ndarray, "_ a b"], Float32[np.ndarray, "_"]]
"""Logits of each box's mask on a coarse grid over the picture, and how well the segmenter thinks it fits, 0 to 1."""


@runtime_checkable
class BoxSegmenter(Protocol):
    """Outlines what is in boxes."""

    def __call__(self, pictures: Sequence[Picture], boxes_px: Sequence[Float64[np.ndarray, "_ 4"]]) -> list[Masks]:
        """Masks of the things in the boxes of each picture; pictures have one size."""
        ...


class Sam2:
    """Pictures are squeezed into a square, whatever their shape."""

    def __init__(self, folder: Path | None, placement: Placement, config: Any) -> None:
        from transformers import Sam2Model

        self.model = loaded(Sam2Model, config, folder, placement, alike=_ONE_ENCODING)
        self.placement = placement
        self.side_px = int(self.model.config.prompt_encoder_config.image_size)

    def __call__(self, pictures: Sequence[Picture], boxes_px: Sequence[Float64[np.ndarray, "_ 4"]]) -> list[Masks]:
        """See `BoxSegmenter`."""
        if not any(len(boxes) for boxes in boxes_px):
            return [self._none() for _ in boxes_px]
        shape, square = pictures[0].shape[:2], (self.side_px, self.side_px)
        values = normalised(resized(pixels(pictures, self.placement), *square), IMAGENET)
        with running(self.placement):
            features = self.model.get_image_embeddings(values)
            return [
                self._masks([level[i : i + 1] for level in features], boxes_at(boxes, (shape[0], shape[1]), square))
                for i, boxes in enumerate(boxes_px)
            ]

    def _masks(self, features: list[Any], boxes_px: Float64[np.ndarray, "k 4"]) -> Masks:
        import torch

        found = []
        for k in range(0, len(boxes_px), _BOXES_AT_ONCE):
            boxes = torch.tensor(boxes_px[None, k : k + _BOXES_AT_ONCE], dtype=torch.float32, device=features[0].device)
            answer = self.model(image_embeddings=features, input_boxes=boxes, multimask_output=False)
            found.append((answer.pred_masks[0, :, 0], answer.iou_scores[0, :, 0]))
        if not found:
            return self._none()
        logits, confidence = (torch.cat(part).float().cpu().numpy() for part in zip(*found, strict=True))
        return logits, confidence

    def _none(self) -> Masks:
        side = self.side_px // 4
        return np.zeros((0, side, side), dtype=np.float32), np.zeros(0, dtype=np.float32)
