"""The networks of "open_vocabulary": detector and segmenter (SAM 2.1, Ravi et al. 2024, code and weights
Apache-2.0)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Float64

from experts.clip import Picture
from experts.objects.detections import boxes_at
from experts.objects.text_detectors import (
    IMAGENET,
    GroundingDino,
    Owlv2,
    TextDetector,
    loaded,
    normalised,
    pixels,
    resized,
    running,
)
from experts.runtime.device import Placement

_BOXES_AT_ONCE = 16
"""Boxes per call: the finest features alone are 8 MB per box (32 × 256 × 256)."""
_ONE_ENCODING = {
    "prompt_encoder.shared_embedding.positional_embedding": "shared_image_embedding.positional_embedding",
}
"""The network has one position encoding under two names; upstream's versions differ in which one they write."""
Masks = tuple[Float32[np.ndarray, "_ a b"], Float32[np.ndarray, "_"]]
"""Mask logits of each box on a coarse grid over the picture, and the IoU that the segmenter predicts, 0 to 1."""


@runtime_checkable
class BoxSegmenter(Protocol):
    """Segments the objects in boxes."""

    def __call__(self, pictures: Sequence[Picture], boxes_px: Sequence[Float64[np.ndarray, "_ 4"]]) -> list[Masks]:
        """Masks of the objects in the boxes of each picture; all pictures have one size."""
        ...


class Sam2:
    """SAM 2.1. Pictures are resized to a square, whatever their shape."""

    def __init__(self, folder: Path | None, placement: Placement, config: Any) -> None:
        from transformers import Sam2Model

        self.model = loaded(Sam2Model, config, folder, placement, aliases=_ONE_ENCODING)
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
            output = self.model(image_embeddings=features, input_boxes=boxes, multimask_output=False)
            found.append((output.pred_masks[0, :, 0], output.iou_scores[0, :, 0]))
        if not found:
            return self._none()
        logits, confidence = (torch.cat(part).float().cpu().numpy() for part in zip(*found, strict=True))
        return logits, confidence

    def _none(self) -> Masks:
        side = self.side_px // 4
        return np.zeros((0, side, side), dtype=np.float32), np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class Networks:
    """A detector and a segmenter."""

    detector: TextDetector
    segmenter: BoxSegmenter


def networks(
    variant: str, names: Sequence[str], sides_px: tuple[int, int], folders: Sequence[Path | None], placement: Placement
) -> Networks:
    """Both networks, from the checkpoints in `folders` (detector, segmenter); None: random weights."""
    detector, segmenter = random_configs(variant) if folders[0] is None else (None, None)
    found: TextDetector
    if variant == "owlv2":
        found = Owlv2(folders[0], names, placement, detector)
    else:
        found = GroundingDino(folders[0], names, sides_px, placement, detector)
    return Networks(detector=found, segmenter=Sam2(folders[1], placement, segmenter))


def random_configs(variant: str) -> tuple[Any, Any]:
    """Configurations of detector and segmenter at their real size, for random weights."""
    from transformers import (
        GroundingDinoConfig,
        Owlv2Config,
        Sam2Config,
        Sam2HieraDetConfig,
        Sam2VisionConfig,
        SwinConfig,
    )

    small = Sam2HieraDetConfig(blocks_per_stage=[1, 2, 11, 2], global_attention_blocks=[7, 10, 13])
    segmenter = Sam2Config(vision_config=Sam2VisionConfig(backbone_config=small))
    if variant == "owlv2":
        return Owlv2Config(vision_config={"image_size": 960}), segmenter
    swin = SwinConfig(
        image_size=384, embed_dim=128, depths=[2, 2, 18, 2], num_heads=[4, 8, 16, 32], window_size=12,
        out_indices=[2, 3, 4],
    )  # fmt: skip
    return GroundingDinoConfig(backbone_config=swin), segmenter
