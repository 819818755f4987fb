"""Objects by name: a text detector and a segmenter (transformers), tracked over the clip, with boxes in the world and
σ.

Grounding DINO or OWLv2 detects named objects in single pictures, SAM 2.1 segments them. `object_signal` decides which
detections are one object, and where it is. Weak point: names of similar meaning (an object keeps the better one). The
score is the detector's own and is not calibrated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
from jaxtyping import Int64

from experts.clip import Clip, Picture
from experts.objects.detections import (
    DetectionSettings,
    SegmentedFrame,
    assign_pixels,
    masks_at,
    select_boxes,
)
from experts.objects.named_networks import Networks, networks
from experts.objects.object_signal import MAY_USE, ObjectSettings, mask_size, objects_of
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package
from experts.runtime.per_image import PerImageExpert, call_one
from experts.signals import Depth, NoEstimate, Signal, Signals

NAMES = (
    "chair", "armchair", "sofa", "table", "desk", "bed", "cabinet", "bookshelf", "drawer", "door", "window", "curtain",
    "lamp", "picture frame", "mirror", "rug", "pillow", "plant", "vase", "box", "bag", "book", "bottle", "cup", "bowl",
    "clock", "television", "monitor", "laptop", "keyboard", "refrigerator", "oven", "sink", "toilet", "bathtub",
    "person", "dog", "cat", "car", "truck", "bus", "bicycle", "motorcycle", "bench", "traffic light", "trash can",
)  # fmt: skip
"""Default names: objects of homes, offices and streets (chosen)."""
_SCORES = {"grounding_dino": 0.35, "owlv2": 0.2}


@dataclass(frozen=True, kw_only=True)
class OpenVocabularySettings(ObjectSettings):
    """What is searched for, and where. Values without a source were chosen, not measured."""

    variant: str = "grounding_dino"
    """The detector. The constructor sets it."""
    labels: tuple[str, ...] = NAMES
    """Names to look for, in English, without full stops."""
    frames: int = 24
    """Largest number of frames, evenly spaced; frames with depth, if there are any."""
    batch: int = 4
    """Pictures per batch on a GPU; halved when memory runs out."""
    sides_px: tuple[int, int] = (800, 1333)
    """Grounding DINO: target of the shorter side, and limit of the longer one (upstream's)."""
    detection: DetectionSettings | None = None
    """None: the defaults, with the score of the variant: 0.35 (Grounding DINO's own), 0.2 (chosen; OWLv2's
    post-processing uses 0.1)."""


class OpenVocabularyExpert(ModelExpert):
    """Expert "open_vocabulary": provides "objects"."""

    name: ClassVar[str] = "open_vocabulary"
    version: ClassVar[str] = "6"
    provides: ClassVar[frozenset[str]] = frozenset({"objects"})
    needs: ClassVar[frozenset[str]] = frozenset()
    may_use: ClassVar[frozenset[str]] = MAY_USE
    options: ClassVar[frozenset[str]] = frozenset()
    variants: ClassVar[tuple[str, ...]] = tuple(_SCORES)
    packages: ClassVar[tuple[Package, ...]] = (
        Package(module="torch", install="pip install torch", licence="BSD-3-Clause"),
        Package(module="transformers", install="pip install transformers==5.23.0", licence="Apache-2.0"),
    )

    def __init__(self, settings: OpenVocabularySettings | None = None, variant: str | None = None) -> None:
        chosen = settings or OpenVocabularySettings()
        variant = variant or chosen.variant
        if variant not in self.variants:
            raise ValueError(f"no detector is called {variant!r}; there are: {', '.join(self.variants)}")
        detection = chosen.detection or DetectionSettings(score=_SCORES[variant])
        self.settings: OpenVocabularySettings = replace(chosen, variant=variant, detection=detection)
        self.detection = detection
        if not chosen.labels or any(not name.strip() or set(name) & set(".?") for name in chosen.labels):
            raise ValueError("labels must be names without full stops and question marks, at min_frames one")
        detector = {"grounding_dino": "grounding-dino-base", "owlv2": "owlv2-base"}[variant]
        self.weight_names = (detector, "sam2.1-hiera-small")

    @property
    def batch_size(self) -> int:
        """See `experts.runtime.per_image.PerImageExpert`."""
        return self.settings.batch

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> Networks:
        """See `ModelExpert.build`."""
        folders = [None if files is None else files[name] for name in self.weight_names]
        return networks(self.settings.variant, self.settings.labels, self.settings.sides_px, folders, placement)

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"objects": Objects}`; `NoEstimate` if nothing is found."""
        return call_one(cast(PerImageExpert, self), clip, signals)

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[int, Picture]]:
        """(frame index, picture) of at most `settings.frames` frames, no larger than the detector's input."""
        for frame, rgb in clip.read(self._frames(clip, signals).tolist()):
            yield frame, _shrunk(rgb, self.settings.sides_px[1])

    def _frames(self, clip: Clip, signals: Signals) -> Int64[np.ndarray, "m"]:
        depth = signals.get("depth")
        known = np.intersect1d(clip.frames, depth.frames) if isinstance(depth, Depth) else clip.frames
        frames = known if len(known) else clip.frames
        at = np.linspace(0, len(frames) - 1, min(self.settings.frames, len(frames)))
        return frames[np.unique(at.round().astype(np.int64))]

    def infer(self, pictures: Sequence[Picture]) -> list[SegmentedFrame]:
        """Objects in each picture, with masks."""
        shape = pictures[0].shape[0], pictures[0].shape[1]
        size = mask_size(shape[1], shape[0], self.settings)
        smallest_px = self.detection.box_px * shape[0] / size[0]
        found = [
            select_boxes(
                boxes, scores, shape, self.detection,
                padded_to_square=self.model.detector.padded_to_square, smallest_px=smallest_px,
            )
            for boxes, scores in self.model.detector(pictures)
        ]  # fmt: skip
        masks = self.model.segmenter(pictures, [one.boxes_px for one in found])
        return [
            assign_pixels(one, masks_at(logits, size), confidence, shape, self.detection)
            for one, (logits, confidence) in zip(found, masks, strict=True)
        ]

    def finish(
        self, clip: Clip, signals: Signals, raw: Mapping[int, SegmentedFrame]
    ) -> Mapping[str, Signal | NoEstimate]:
        """Tracks the detections and computes their boxes."""
        if not raw:
            return {"objects": NoEstimate(reason="no frames")}
        found = objects_of(clip, signals, raw, self.settings.labels, self.settings, self.provenance(sigma_is_raw=True))
        return {"objects": found or self._nothing(list(raw.values()))}

    def _nothing(self, found: Sequence[SegmentedFrame]) -> NoEstimate:
        lost = sum(len(one.detections.scores) for one in found)
        names = ", ".join(self.settings.labels[:8])
        more = len(self.settings.labels) - 8
        return NoEstimate(
            reason="no objects found",
            detail=f"searched {len(found)} frames for {names}{f' and {more} more' if more > 0 else ''} "
            f"(score ≥ {self.detection.score}); {lost} detections could not be tracked",
            remedy="name objects of the clip: OpenVocabularySettings(labels=...)",
        )


def _shrunk(rgb: Picture, side_px: int) -> Picture:
    import cv2

    height, width = rgb.shape[:2]
    factor = side_px / max(height, width)
    if factor >= 1:
        return rgb
    size = max(1, round(width * factor)), max(1, round(height * factor))
    return np.asarray(cv2.resize(rgb, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
