"""Simulated output of a detector and a segmenter for rendered scenes, in upstream's formats. No model runs here."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.ndimage import gaussian_filter, zoom

from experts.clip import Clip, Picture
from experts.objects.detections import Detections, SegmentedFrame, label_scores
from experts.objects.named_networks import Networks
from experts.signals import Depth
from spatial_engine.rendering import RenderedScene
from spatial_engine.rendering.boxes import Box, MovingBox, standing
from spatial_engine.rendering.furniture import room
from spatial_engine.rendering.scene import camera
from spatial_engine.rendering.textures import Material


def as_detected(
    ids: np.ndarray, label: Sequence[int], score: float = 0.9, min_px: int = 80
) -> tuple[SegmentedFrame, list[int]]:
    """Ids of one frame as detections, and the object of each detection."""
    rows = [k for k in np.unique(ids[ids >= 0]) if (ids == k).sum() >= min_px]
    number = np.full(len(label) + 1, -1, dtype=np.int32)
    number[rows] = np.arange(len(rows))
    detections = Detections(
        boxes_px=np.array([box_of(ids == k) for k in rows], dtype=np.float64).reshape(-1, 4),
        scores=np.full(len(rows), score, dtype=np.float32),
        label=np.array([label[k] for k in rows], dtype=np.int64),
    )
    return SegmentedFrame(detections=detections, ids=number[ids]), [int(k) for k in rows]


def box_of(mask: np.ndarray) -> list[float]:
    """Edges of a mask, pixel centres at integers."""
    row, column = np.nonzero(mask)
    return [column.min() - 0.5, row.min() - 0.5, column.max() + 0.5, row.max() + 0.5]


@dataclass
class IdealNetworks:
    """Detector and segmenter without error: they return the truth in upstream's formats."""

    scene: RenderedScene
    clip: Clip
    names: tuple[str, ...]
    padded_to_square: bool = False
    score: float = 0.9
    missed: dict[int, set[int]] = field(default_factory=dict)
    """Frame → objects that are not detected in it."""
    calls: list[int] = field(default_factory=list)
    """Number of pictures of each call."""

    def __post_init__(self) -> None:
        self.frame_of = {rgb.tobytes(): frame for frame, rgb in self.clip.read()}

    def ids(self, picture: Picture) -> np.ndarray:
        frame = self.frame_of[picture.tobytes()]
        ids = self.scene.object_ids(frame)
        return np.where(np.isin(ids, list(self.missed.get(frame, ()))), -1, ids)

    @property
    def networks(self) -> Networks:
        return Networks(detector=self, segmenter=self.segment)  # type: ignore[arg-type]

    def __call__(self, pictures: Sequence[Picture]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Boxes as shares of the picture, and scores from the logits of two tokens per name."""
        self.calls.append(len(pictures))
        return [self._detected(picture) for picture in pictures]

    def _detected(self, picture: Picture) -> tuple[np.ndarray, np.ndarray]:
        ids = self.ids(picture)
        height, width = ids.shape
        unit = np.full(2, max(height, width)) if self.padded_to_square else np.array([width, height])
        spans = [(1 + 3 * k, 3 + 3 * k) for k in range(len(self.names))]
        boxes, logits = [np.array([0.5, 0.5, 0.2, 0.2])], [np.full(256, -np.inf, dtype=np.float32)]
        for k in np.unique(ids[ids >= 0]):
            if (ids == k).sum() < 60 or self.scene.objects[k].name not in self.names:
                continue
            edge = (np.array(box_of(ids == k)) + 0.5).reshape(2, 2) / unit
            row = np.full(256, -np.inf, dtype=np.float32)
            row[1 : 3 * len(self.names) + 1] = -6
            row[spans[self.names.index(self.scene.objects[k].name)][1] - 1] = np.log(self.score / (1 - self.score))
            boxes.append(np.concatenate([edge.mean(axis=0), edge[1] - edge[0]]))
            logits.append(row)
        return np.array(boxes, dtype=np.float32), label_scores(np.array(logits), spans)

    def segment(
        self, pictures: Sequence[Picture], boxes_px: Sequence[np.ndarray]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Mask logits on 256 × 256 over the whole picture, of the object that fits the box best."""
        return [self._masks(picture, boxes) for picture, boxes in zip(pictures, boxes_px, strict=True)]

    def _masks(self, picture: Picture, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ids = self.ids(picture)
        known = {int(k): np.array(box_of(ids == k)) for k in np.unique(ids[ids >= 0])}
        logits = np.zeros((len(boxes), 256, 256), dtype=np.float32)
        for row, box in enumerate(boxes):
            item = min(known, key=lambda k: float(np.abs(known[k] - box).max()))
            soft = zoom(
                (ids == item).astype(np.float32), 256 / np.array(ids.shape), order=1, grid_mode=True, mode="nearest"
            )
            logits[row] = 20 * (soft - 0.5)
        return logits, np.full(len(boxes), 0.9, dtype=np.float32)


PLAIN = Material(kind="wood", colour=(150, 110, 80), seed=3)


def staged(
    boxes: Sequence[Box],
    world_from_cam: np.ndarray,
    moving_boxes: Sequence[MovingBox] = (),
    *,
    width_px: int = 320,
    height_px: int = 240,
    vfov_deg: float = 55.0,
) -> RenderedScene:
    """Boxes in an empty room of 6 × 6 × 2.6 m, a corner at the origin."""
    return RenderedScene(
        intrinsics=camera(width_px, height_px, vfov_deg=vfov_deg),
        room=room((6.0, 6.0, 2.6), PLAIN, (PLAIN,) * 4, PLAIN),
        boxes=tuple(boxes),
        moving_boxes=tuple(moving_boxes),
        world_from_cam=world_from_cam,
        fps=10.0,
        texel_m=0.02,
    )


def box(name: str, size_m: Sequence[float], at_m: Sequence[float], yaw_deg: float = 0.0) -> Box:
    """A box on the floor (or at a height, as third number)."""
    return standing(name, size_m, (*at_m, 0.0)[:3], side=PLAIN, yaw_deg=yaw_deg)


def noisy(depth: Depth, rng: np.random.Generator, smooth: float, pixel: float) -> Depth:
    """Depth with relative errors: smooth ones over an eighth of the picture (half of their variance is common to all
    frames), and independent ones per pixel. σ equals the true σ, and is at least 0.5 %."""
    n, h, w = depth.z.shape
    fields = gaussian_filter(rng.normal(size=(n + 1, h, w)), (0, w / 8, w / 8), mode="reflect")
    fields /= max(float(fields.std()), 1e-12)
    wrong = smooth * np.sqrt(0.5) * (fields[:1] + fields[1:]) + pixel * rng.normal(size=depth.z.shape)
    sigma = max(float(np.hypot(smooth, pixel)), 0.005)
    return replace(
        depth,
        z=(depth.z * np.exp(wrong)).astype(np.float32),
        relative_sigma=np.full(depth.z.shape, sigma, dtype=np.float32),
    )
