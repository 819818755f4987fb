"""Simulated output of a detector and a segmenter for rendered scenes, in upstream's formats. No model runs here."""

from collections.abc import Sequence

import numpy as np

from experts.clip import Clip, Picture
from experts.objects.detections import Detections, SegmentedFrame
from spatial_engine.rendering import RenderedScene
from spatial_engine.rendering.boxes import Box, MovingBox, standing
from spatial_engine.rendering.furniture import room
from spatial_engine.rendering.imitated_networks import ImitatedNetworks, box_of
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


class IdealNetworks(ImitatedNetworks):
    """Detector and segmenter without error: they return the truth about the pictures of a clip."""

    def __init__(
        self,
        scene: RenderedScene,
        clip: Clip,
        names: tuple[str, ...],
        *,
        padded_to_square: bool = False,
        score: float = 0.9,
        missed: dict[int, set[int]] | None = None,
    ) -> None:
        """`missed`: frame → objects that are not detected in it."""
        super().__init__(
            ids_of=self.ids,
            names=[item.name for item in scene.objects],
            scores=[score] * len(scene.objects),
            queried=names,
            padded_to_square=padded_to_square,
        )
        self.scene, self.score, self.missed = scene, score, missed or {}
        self.calls: list[int] = []
        """Number of pictures of each call."""
        self.frame_of = {rgb.tobytes(): frame for frame, rgb in clip.read()}

    def ids(self, picture: Picture) -> np.ndarray:
        frame = self.frame_of[picture.tobytes()]
        ids = self.scene.object_ids(frame)
        return np.where(np.isin(ids, list(self.missed.get(frame, ()))), -1, ids)

    def __call__(self, pictures: Sequence[Picture]) -> list[tuple[np.ndarray, np.ndarray]]:
        self.calls.append(len(pictures))
        return super().__call__(pictures)


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
