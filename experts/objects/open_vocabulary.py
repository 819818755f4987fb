"""Objects by name: a text detector and a segmenter (transformers), tracked over the clip, with boxes in the world and
σ.

Grounding DINO or OWLv2 detects named objects in single pictures, SAM 2.1 segments them. Geometry decides here which
detections are one object, and where it is. Weak points: names of similar meaning (an object keeps the better one), many
equal objects close together (they are dropped rather than confused), thin parts, round objects seen from one side. The
score is the detector's own and is not calibrated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
from jaxtyping import Float64, Int64

from experts.clip import Clip, Picture
from experts.depth.depth_views import UnprojectionSettings, View, views_of
from experts.objects.detections import (
    DetectionSettings,
    SegmentedFrame,
    assign_pixels,
    masks_at,
    restrict_to_valid_area,
    select_boxes,
)
from experts.objects.mask_points import MaskPoints, unprojected
from experts.objects.named_networks import Networks, networks
from experts.objects.object_boxes import BoxSettings, ObjectBox, fitted, is_static
from experts.objects.object_following import Follower, FollowingSettings, Track, numbered, tracks_at
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package
from experts.runtime.per_image import PerImageExpert, call_one
from experts.signals import CameraPath, Depth, Gravity, ImageTracks, NoEstimate, Objects, Signal, Signals, ValidArea

NAMES = (
    "chair", "armchair", "sofa", "table", "desk", "bed", "cabinet", "bookshelf", "drawer", "door", "window", "curtain",
    "lamp", "picture frame", "mirror", "rug", "pillow", "plant", "vase", "box", "bag", "book", "bottle", "cup", "bowl",
    "clock", "television", "monitor", "laptop", "keyboard", "refrigerator", "oven", "sink", "toilet", "bathtub",
    "person", "dog", "cat", "car", "truck", "bus", "bicycle", "motorcycle", "bench", "traffic light", "trash can",
)  # fmt: skip
"""Default names: objects of homes, offices and streets (chosen)."""
_SCORES = {"grounding_dino": 0.35, "owlv2": 0.2}


@dataclass(frozen=True, kw_only=True)
class OpenVocabularySettings:
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
    mask_side_px: int = 480
    """Longer side of the stored masks."""
    min_frames: int = 2
    """Objects in fewer frames are dropped, unless the clip has no more."""
    up_disagreement_rad: float = float(np.deg2rad(5.0))
    """Boxes are upright only if the up directions of the frames agree within this (root mean square), and their σ is
    less."""
    detection: DetectionSettings | None = None
    """None: the defaults, with the score of the variant: 0.35 (Grounding DINO's own), 0.2 (chosen; OWLv2's
    post-processing uses 0.1)."""
    following: FollowingSettings = field(default_factory=FollowingSettings)
    unprojection: UnprojectionSettings = field(default_factory=UnprojectionSettings)
    box: BoxSettings = field(default_factory=BoxSettings)


class OpenVocabularyExpert(ModelExpert):
    """Expert "open_vocabulary": provides "objects"."""

    name: ClassVar[str] = "open_vocabulary"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"objects"})
    needs: ClassVar[frozenset[str]] = frozenset()
    may_use: ClassVar[frozenset[str]] = frozenset({"depth", "camera_path", "gravity", "valid_area", "image_tracks"})
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
        factor = min(1.0, self.settings.mask_side_px / max(shape))
        size = max(1, round(shape[0] * factor)), max(1, round(shape[1] * factor))
        found = [
            select_boxes(
                boxes, scores, shape, self.detection,
                padded_to_square=self.model.detector.padded_to_square, smallest_px=self.detection.box_px / factor,
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
        frames = np.array(sorted(raw), dtype=np.int64)
        valid = signals.get("valid_area")
        found = [
            restrict_to_valid_area(raw[int(f)], valid.valid if isinstance(valid, ValidArea) else None) for f in frames
        ]
        views = self._views(frames, found[0].ids.shape, signals)
        parts = [self._parts(one, view) for one, view in zip(found, views, strict=True)]
        image_tracks = signals.get("image_tracks")
        size = found[0].ids.shape[0], found[0].ids.shape[1]
        shape = clip.height_px, clip.width_px
        tracks_px = tracks_at(image_tracks, frames, shape, size) if isinstance(image_tracks, ImageTracks) else None
        follower = Follower(
            frames=found, views=views, parts=parts, tracks_px=tracks_px,
            settings=self.settings.following, unprojection=self.settings.unprojection,
        )  # fmt: skip
        min_frames = min(self.settings.min_frames, len(frames))
        tracks = [track for track in follower.follow() if len(track.seen) >= min_frames]
        if not tracks:
            return {"objects": self._nothing(found)}
        boxes = [self._box(track, views, parts, signals) for track in tracks]
        return {"objects": self._objects(frames, found, tracks, boxes)}

    def _views(self, frames: Int64[np.ndarray, "n"], size: tuple[int, ...], signals: Signals) -> list[View | None]:
        """All None if depth and camera do not share a unit, or the camera's position is unknown."""
        depth, path = signals.get("depth"), signals.get("camera_path")
        if not isinstance(depth, Depth) or not isinstance(path, CameraPath):
            return [None] * len(frames)
        if depth.scale.kind == "per_frame" or path.motion == "unresolved":
            return [None] * len(frames)
        return views_of(frames, (size[0], size[1]), depth, path, self.settings.unprojection)

    def _parts(self, found: SegmentedFrame, view: View | None) -> list[MaskPoints | None]:
        rows = range(len(found.detections.scores))
        if view is None:
            return [None for _ in rows]
        objects, most = found.ids >= 0, self.settings.box.points
        masks = (found.ids == k for k in rows)
        return [unprojected(mask, view, self.settings.unprojection, objects & ~mask).at_most(most) for mask in masks]

    def _box(
        self,
        track: Track,
        views: Sequence[View | None],
        parts: Sequence[Sequence[MaskPoints | None]],
        signals: Signals,
    ) -> ObjectBox | None:
        """None for objects that move, are too small, or are hardly visible."""
        path, detections = signals.get("camera_path"), sorted(track.seen.items())
        pairs = [
            (part, view)
            for part, view in ((parts[n][d], views[n]) for n, d in detections)
            if part is not None and view is not None and len(part)
        ]
        if track.moved or not pairs or not isinstance(path, CameraPath):
            return None
        surface, cameras = [part for part, _ in pairs], [view for _, view in pairs]
        unseen = [view for n, view in enumerate(views) if view is not None and n not in track.seen]
        if not is_static(surface, cameras, self.settings.box, self.settings.unprojection, unseen):
            return None
        up, tilt_sigma_rad = _up(signals.get("gravity"), path, self.settings.up_disagreement_rad)
        return fitted(
            surface, cameras, up, self.settings.box,
            focal_relative_sigma=path.focal_relative_sigma, tilt_sigma_rad=tilt_sigma_rad,
        )  # fmt: skip

    def _objects(
        self,
        frames: Int64[np.ndarray, "n"],
        found: Sequence[SegmentedFrame],
        tracks: Sequence[Track],
        boxes: Sequence[ObjectBox | None],
    ) -> Objects:
        score = np.full((len(frames), len(tracks)), np.nan, dtype=np.float32)
        for k, track in enumerate(tracks):
            for n, d in track.seen.items():
                score[n, k] = found[n].detections.scores[d]
        nowhere, unknown = np.full((4, 4), np.nan), np.full(3, np.nan)
        poses = np.stack([nowhere if box is None else box.world_from_object for box in boxes])
        return Objects(
            frames=frames,
            labels=tuple(self.settings.labels[track.label] for track in tracks),
            ids=numbered(tracks, found),
            world_from_object=np.tile(poses, (len(frames), 1, 1, 1)),
            size=np.stack([unknown if box is None else box.size for box in boxes]),
            centre_sigma=np.array([np.nan if box is None else box.centre_sigma for box in boxes]),
            size_sigma=np.stack([unknown if box is None else box.size_sigma for box in boxes]),
            score=score,
            provenance=self.provenance(sigma_is_raw=True),
        )

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


def _up(
    gravity: Signal | NoEstimate | None, path: CameraPath, max_rad: float
) -> tuple[Float64[np.ndarray, "3"] | None, float]:
    """The up direction in the world and its σ per axis; None if it is unknown or the frames disagree."""
    if not isinstance(gravity, Gravity):
        return None, 0.0
    _, a, b = np.intersect1d(gravity.frames, path.frames, return_indices=True)
    up = np.einsum("nij,nj->ni", path.world_from_cam[b, :3, :3], gravity.up_cam[a])
    known = np.isfinite(up).all(axis=1) & path.registered[b]
    if not known.any():
        return None, 0.0
    mean = up[known].mean(axis=0)
    mean /= max(float(np.linalg.norm(mean)), 1e-12)
    disagreement = float(np.sqrt(np.mean(np.arccos(np.clip(up[known] @ mean, -1, 1)) ** 2)))
    sigma = float(np.median(gravity.sigma_rad[a][known]))
    return (mean, sigma) if max(disagreement, sigma) <= max_rad else (None, 0.0)
