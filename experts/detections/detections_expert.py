"""Expert "detections": objects from the user's own detections, of any detector, segmenter or annotation tool.

The files say what is where in single pictures; `experts.objects.object_signal` makes objects of it. What a file states
that cannot be used is counted in the provenance, by reason.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from jaxtyping import Bool

from experts.clip import Clip, StatedDetections
from experts.detections.matching import matched
from experts.detections.reading import read_detections
from experts.detections.runs import drawn_polygons, drawn_runs
from experts.detections.stated import NotDetections, Stated, StatedFile, StatedFrame
from experts.expert import WeightFreeExpert
from experts.objects.detections import Detections, DetectionSettings, SegmentedFrame, assign_pixels
from experts.objects.object_names import kind_of
from experts.objects.object_signal import MAY_USE, ObjectSettings, mask_size, objects_of
from experts.provenance import Provenance
from experts.signals import Depth, NoEstimate, Objects, Signal, Signals


@dataclass(frozen=True, kw_only=True)
class UsersDetectionSettings(ObjectSettings):
    """Values without a source were chosen, not measured."""

    frames: int = 60
    """Largest number of frames, evenly spread over those with detections; with depth, if any of them have it."""
    min_frames: int = 1
    """Objects in fewer frames are dropped."""
    aspect: float = 0.01
    """A picture of another size than the frame is the same picture if its aspect ratio differs by less."""
    detection: DetectionSettings = field(
        default_factory=lambda: DetectionSettings(mask_confidence=0.0, fill=0.0, inside=0.8)
    )
    """When masks are the same, or do not show what is in their box."""


class DetectionsExpert(WeightFreeExpert):
    """Provides "objects" for clips with `OpeningOptions.detections`."""

    name: ClassVar[str] = "detections"
    version: ClassVar[str] = "7"
    provides: ClassVar[frozenset[str]] = frozenset({"objects"})
    needs: ClassVar[frozenset[str]] = frozenset()
    may_use: ClassVar[frozenset[str]] = MAY_USE
    options: ClassVar[frozenset[str]] = frozenset({"detections", "times_s"})
    by_default: ClassVar[bool] = False
    """It runs only where the user has detections."""
    seconds_per_clip: ClassVar[float] = 10.0

    def __init__(self, settings: UsersDetectionSettings | None = None) -> None:
        self.settings = settings or UsersDetectionSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"objects": Objects}`; `NoEstimate` if no detection can be used."""
        stated = clip.options.detections
        if stated is None:
            return {"objects": NoEstimate(reason="no detections beside the clip", remedy="--detections PATH")}
        try:
            file, frames = detections_of(stated)
        except (NotDetections, OSError) as error:
            remedy = "docs/detections.md shows each format"
            return {"objects": NoEstimate(reason="the detections cannot be read", detail=str(error), remedy=remedy)}
        return {"objects": self._objects(clip, signals, stated, file, frames)}

    def _objects(
        self,
        clip: Clip,
        signals: Signals,
        stated: StatedDetections,
        file: StatedFile,
        frames: Mapping[int, Sequence[StatedFrame]],
    ) -> Objects | NoEstimate:
        chosen = self._chosen(clip, signals, frames)
        names = file.names
        found = {frame: self._segmented(frames[frame], file, clip, stated, names) for frame in chosen}
        if not any(len(one.detections.scores) for one in found.values()):
            return NoEstimate(
                reason="no detection can be used" if file.left_out else "no detections in the frames of this clip",
                detail=in_words(file.left_out),
                remedy="docs/detections.md says what each format must hold",
            )
        lost = file.incomplete | self._lost(frames, found, names)
        complete = _complete(stated.complete, lost, names)
        about = self._provenance(stated, file)
        objects = objects_of(clip, signals, found, names, self._settings(clip), about, checked=complete)
        if objects is None:
            return NoEstimate(reason="no detection can be used", detail="none can be followed")
        return replace(objects, complete=complete)

    def _chosen(self, clip: Clip, signals: Signals, frames: Mapping[int, Sequence[StatedFrame]]) -> list[int]:
        depth = signals.get("depth")
        stated = np.intersect1d(clip.frames, np.array(sorted(frames), dtype=np.int64))
        deep = np.intersect1d(stated, depth.frames) if isinstance(depth, Depth) else stated[:0]
        some = deep if len(deep) else stated
        at = np.linspace(0, len(some) - 1, min(self.settings.frames, len(some))).round().astype(np.int64)
        return some[np.unique(at)].tolist()

    def _settings(self, clip: Clip) -> ObjectSettings:
        """Photos, which have no clock, need not follow each other: an equal place in the picture says nothing."""
        if clip.times_s is not None:
            return self.settings
        return replace(self.settings, following=replace(self.settings.following, mask_iou=2.0))

    def _segmented(
        self, frames: Sequence[StatedFrame], file: StatedFile, clip: Clip, stated: StatedDetections, names: list[str]
    ) -> SegmentedFrame:
        """The detections of one frame, as masks at working size. What cannot be one is left out of the file."""
        size = mask_size(clip.width_px, clip.height_px, self.settings)
        rows: list[tuple[Stated, Bool[np.ndarray, "h w"], np.ndarray]] = []
        for one in frames:
            for detection in one.detections:
                placed = self._placed(detection, one.size_px, stated, size)
                if isinstance(placed, str):
                    file.leave_out(placed, detection.name)
                else:
                    rows.append((detection, *placed))
        rows.sort(key=lambda row: -(1.0 if np.isnan(row[0].score) else row[0].score))
        detections = Detections(
            boxes_px=np.array([box for _, _, box in rows], dtype=np.float64).reshape(-1, 4),
            scores=np.array([one.score for one, _, _ in rows], dtype=np.float32),
            label=np.array([names.index(one.name) for one, _, _ in rows], dtype=np.int64),
        )
        masks = np.stack([mask for _, mask, _ in rows]) if rows else np.zeros((0, *size), dtype=bool)
        flat = np.array([not one.has_mask for one, _, _ in rows], dtype=bool)
        shape = clip.height_px, clip.width_px
        return assign_pixels(detections, masks, np.ones(len(rows)), shape, self.settings.detection, flat)

    def _placed(
        self, one: Stated, of: tuple[int, int] | None, stated: StatedDetections, size: tuple[int, int]
    ) -> tuple[Bool[np.ndarray, "h w"], np.ndarray] | str:
        """The mask at working size, and the edges of the box in pixels of the frame; or why there is none."""
        left, top, width, height = stated.crop
        whole = stated.width_px, stated.height_px
        own = (one.runs.width_px, one.runs.height_px) if one.runs is not None else of
        if own is not None and abs(own[0] * whole[1] / (own[1] * whole[0]) - 1) > self.settings.aspect:
            return "the mask or picture has another shape than the frame"
        # pixels of the whole frame are x · factor - offset in those of the clip
        shares = (1.0, 1.0) if one.relative else (own or whole)
        factor = np.array(whole) / shares
        if one.runs is not None:
            scale = size[1] / width, size[0] / height
            full = drawn_runs(one.runs, (round(whole[1] * scale[1]), round(whole[0] * scale[0])))
            y, x = round(top * scale[1]), round(left * scale[0])
            mask = full[y : y + size[0], x : x + size[1]]
            mask = np.pad(mask, ((0, size[0] - mask.shape[0]), (0, size[1] - mask.shape[1])))
        elif one.polygons:
            moved = [polygon * factor - [left, top] for polygon in one.polygons]
            mask = drawn_polygons(moved, (width, height), size)
        else:
            mask = np.zeros(size, dtype=bool)
        edges = np.clip(
            np.array(one.box or (0, 0, 0, 0)) * np.tile(factor, 2) - [left, top, left, top],
            0, [width, height, width, height],
        )  # fmt: skip
        if one.has_mask and (one.box is None or not (edges[2:] > edges[:2]).all()):
            edges = _around(mask) * np.tile([width / size[1], height / size[0]], 2)
        elif not one.has_mask:
            a, b, c, d = np.round(edges * np.tile([size[1] / width, size[0] / height], 2)).astype(int)
            mask[b:d, a:c] = True
        return (mask, edges - 0.5) if mask.any() else "it lies outside the frame, or is smaller than a pixel"

    def _lost(
        self, frames: Mapping[int, Sequence[StatedFrame]], found: Mapping[int, SegmentedFrame], names: list[str]
    ) -> set[str]:
        """Names of which a frame states more detections than became objects, or boxes beside masks: where a frame has
        masks, what has none is not seen."""
        lost: set[str] = set()
        for frame, one in found.items():
            stated = Counter(detection.name for part in frames[frame] for detection in part.detections)
            used = Counter(names[label] for label in one.detections.label.tolist())
            lost |= (stated - used).keys()
            if one.box_only is not None and not one.box_only.all():
                lost |= {names[label] for label in one.detections.label[one.box_only].tolist()}
        return lost

    def _provenance(self, stated: StatedDetections, file: StatedFile) -> Provenance:
        about = {"file": stated.sha256, "format": file.format, "left_out": dict(sorted(file.left_out.items()))}
        return Provenance(
            expert=self.name, version=self.version, settings=asdict(self.settings) | about, sigma="raw",
            code_licence="Apache-2.0",
        )  # fmt: skip


def detections_of(stated: StatedDetections) -> tuple[StatedFile, dict[int, list[StatedFrame]]]:
    """What the user's file states, and the detections of each frame of the source. Raises `NotDetections`, OSError."""
    file = read_detections(Path(stated.path))
    return file, matched(file, stated.pictures, stated.frames, stated.video)


def in_words(left_out: Mapping[str, int]) -> str:
    """ "3 left out: no name; 1: no picture has its name"; "" if nothing is left out."""
    return "; ".join(f"{count} left out: {reason}" for reason, count in sorted(left_out.items()))


def _around(mask: Bool[np.ndarray, "h w"]) -> np.ndarray:
    """Edges of the pixels of a mask."""
    row, column = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return np.array([column[0], row[0], column[-1] + 1, row[-1] + 1], dtype=float) if len(row) else np.zeros(4)


def _complete(stated: Sequence[str], lost: set[str], names: Sequence[str]) -> tuple[str, ...]:
    """The names that the user calls complete, without those of which a detection could not be used."""
    if "*" in lost:
        return ()
    missed = {kind_of(name) for name in lost}
    every = names if "*" in stated and lost else stated
    return tuple(sorted({name for name in every if kind_of(name) not in missed}))
