"""The networks behind "open_vocabulary": detector and segmenter, and their configurations for random weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experts.objects.box_segmenter import BoxSegmenter, Sam2
from experts.objects.text_detectors import GroundingDino, Owlv2, TextDetector
from experts.runtime.device import Placement


@dataclass(frozen=True, kw_only=True)
class Networks:
    """A detector and a segmenter."""

    detector: TextDetector
    segmenter: BoxSegmenter


def networks(
    variant: str, names: Sequence[str], sides_px: tuple[int, int], folders: Sequence[Path | None], placement: Placement
) -> Networks:
    """Both, from the checkpoints in `folders` (detector, segmenter); None: random weights."""
    detector, segmenter = random_configs(variant) if folders[0] is None else (None, None)
    found: TextDetector
    if variant == "owlv2":
        found = Owlv2(folders[0], names, placement, detector)
    else:
        found = GroundingDino(folders[0], names, sides_px, placement, detector)
    return Networks(detector=found, segmenter=Sam2(folders[1], placement, segmenter))


def random_configs(variant: str) -> tuple[Any, Any]:
    """Of detector and segmenter at their real size, for random weights."""
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
