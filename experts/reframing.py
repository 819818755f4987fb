"""A clip whose pictures are cropped, resized or set between black bars, and its signals as they hold for these
pictures: cameras, pixels and per-pixel maps follow, positions in the world stay."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64, UInt8

from experts.clip import Clip, FrameReader, Picture
from experts.intrinsics import Intrinsics
from experts.signals import (
    Calibration,
    CameraPath,
    Depth,
    ImageTracks,
    Matches,
    NoEstimate,
    Objects,
    Parts,
    PathOnTracks,
    PointTracks,
    Signal,
    Signals,
    SparsePoints,
    ValidArea,
)


@dataclass(frozen=True, kw_only=True)
class Reframing:
    """A rectangle of each picture, resized, between bars."""

    crop_px: tuple[int, int, int, int]
    """Left, top, width, height in the original picture."""
    size_px: tuple[int, int]
    """Width and height to which the rectangle is resized."""
    bars_px: tuple[int, int] = (0, 0)
    """Width of each bar at the left and right, and at the top and bottom."""

    @property
    def whole_px(self) -> tuple[int, int]:
        """Width and height of the new picture."""
        return self.size_px[0] + 2 * self.bars_px[0], self.size_px[1] + 2 * self.bars_px[1]

    @property
    def zoom(self) -> Float64[np.ndarray, "2"]:
        """New pixels an original one, along x and y."""
        return np.array(self.size_px) / self.crop_px[2:]

    def picture(self, picture: Picture) -> UInt8[np.ndarray, "rows columns 3"]:
        """The new picture."""
        import cv2

        left, top, width, height = self.crop_px
        shown = picture[top : top + height, left : left + width]
        if (width, height) != self.size_px:
            shown = cv2.resize(shown, self.size_px, interpolation=cv2.INTER_AREA)
        across, down = self.bars_px
        return np.ascontiguousarray(np.pad(shown, ((down, down), (across, across), (0, 0))))

    def camera(self, camera: Intrinsics) -> Intrinsics:
        """The camera of the new pictures."""
        width, height = self.whole_px
        shown = cropped_camera(camera, self.crop_px).scaled(*self.size_px)
        return cropped_camera(shown, (-self.bars_px[0], -self.bars_px[1], width, height))

    def places(self, xy_px: np.ndarray) -> np.ndarray:
        """Pixels of the new picture, of those of the original one. Pixel centres are at integers in both."""
        moved = (xy_px - self.crop_px[:2] + 0.5) * self.zoom - 0.5 + self.bars_px
        return np.asarray(moved, dtype=xy_px.dtype)

    def shows(self, xy_px: np.ndarray) -> Bool[np.ndarray, "*n"]:
        """Whether the new picture shows pixels of the new picture, outside its bars; False for NaN."""
        first, last = np.array(self.bars_px), np.array(self.bars_px) + self.size_px
        with np.errstate(invalid="ignore"):
            return np.asarray(((xy_px >= first - 0.5) & (xy_px <= last - 0.5)).all(axis=-1))

    def maps(self, maps: np.ndarray, size: tuple[int, int], shape: tuple[int, int] | None = None) -> np.ndarray:
        """Per-pixel maps (..., h, w) of the original pictures, whose size is `size`, for the new ones: each pixel has
        the value of the nearest one. As fine as before, but not finer than the picture, unless `shape` (h, w) says
        otherwise. Bars have NaN, -1 or False."""
        fine = np.array(maps.shape[:-3:-1]) / size
        new = np.maximum(1, np.round(self.whole_px * np.minimum(1, fine / self.zoom))).astype(int).tolist()
        width, height = new if shape is None else shape[::-1]
        columns, lines = self._source(width, 0, fine[0]), self._source(height, 1, fine[1])
        blank = {"f": np.nan, "i": -1, "b": False}[maps.dtype.kind]
        found = maps[..., np.maximum(lines, 0)[:, None], np.maximum(columns, 0)]
        return np.where((lines[:, None] >= 0) & (columns >= 0), found, np.array(blank, dtype=maps.dtype))

    def _source(self, count: int, axis: int, fine: float) -> Int64[np.ndarray, "k"]:
        """Index in the original map of each of `count` columns or lines of the new one; -1 in bars."""
        new_px = (np.arange(count) + 0.5) * self.whole_px[axis] / count - self.bars_px[axis]
        old_px = new_px / self.zoom[axis] + self.crop_px[axis]
        inside = (new_px > 0) & (new_px < self.size_px[axis])
        return np.where(inside, np.floor(old_px * fine).astype(np.int64), -1)


def cropped_camera(camera: Intrinsics, crop: tuple[int, int, int, int]) -> Intrinsics:
    """The camera of a rectangle of the frames (left, top, width, height), or of frames with a border where left or top
    is negative. Pixel (0, 0) becomes the centre of its top-left pixel."""
    left, top, width, height = crop
    return replace(camera, width_px=width, height_px=height, cx_px=camera.cx_px - left, cy_px=camera.cy_px - top)


@dataclass(frozen=True, kw_only=True)
class ReframedReader:
    """Reads the frames of another reader in other pictures."""

    reader: FrameReader
    reframing: Reframing

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """RGB pictures of ascending frame indices. Raises `DecodingError`."""
        return map(self.reframing.picture, self.reader.read(frames))


@dataclass(frozen=True, kw_only=True)
class ReframedClip(Clip):
    """The frames of a clip in other pictures."""

    bars_px: tuple[int, int] = (0, 0)
    """As in `Reframing`: pixels there show nothing."""


def reframed_id(clip_id: str, reframing: Reframing) -> str:
    """That of the new clip."""
    return hashlib.sha256(f"{clip_id} {reframing}".encode()).hexdigest()[:16]


def reframed_clip(clip: Clip, reframing: Reframing, name: str) -> ReframedClip:
    """A clip in other pictures, with an id of its own."""
    camera = clip.options.intrinsics
    options = replace(clip.options, intrinsics=camera and reframing.camera(camera), detections=None)
    width, height = reframing.whole_px
    changes = {
        "id": reframed_id(clip.id, reframing),
        "name": name,
        "width_px": width,
        "height_px": height,
        "options": options,
        "reader": ReframedReader(reader=clip.reader, reframing=reframing),
    }
    return ReframedClip(**vars(clip) | changes, bars_px=reframing.bars_px)


def reframed_signals(signals: Signals, clip: Clip, reframing: Reframing) -> dict[str, Signal | NoEstimate]:
    """The signals of a clip as they hold for its other pictures."""
    new = reframed_clip(clip, reframing, clip.name)
    return {name: _reframed(signal, clip, new, reframing) for name, signal in signals.items()}


def _reframed(signal: Any, clip: Clip, new: Clip, by: Reframing) -> Any:
    size, zoom = (clip.width_px, clip.height_px), float(by.zoom.mean())
    match signal:
        case CameraPath() | Calibration():
            return replace(signal, intrinsics=by.camera(signal.intrinsics))
        case PathOnTracks():
            residual_px = signal.residual_px * zoom * clip.width_px / new.width_px
            return replace(signal, intrinsics=by.camera(signal.intrinsics), residual_px=residual_px)
        case ValidArea():
            return replace(signal, valid=by.maps(signal.valid, size, new.working_size[::-1]))
        case Depth():
            z, sigma = by.maps(signal.z, size), by.maps(signal.relative_sigma, size)
            return replace(signal, z=z, relative_sigma=sigma)
        case Parts():
            return replace(signal, ids=by.maps(signal.ids, size))
        case Objects():
            return replace(signal, ids=by.maps(signal.ids, size), box_px=_boxes(signal.box_px, by))
        case ImageTracks():
            return replace(signal, xy_px=_shown(signal.xy_px, by))
        case PointTracks():
            xy_px = _shown(signal.xy_px, by)
            return replace(
                signal,
                xy_px=xy_px,
                visible=signal.visible & np.isfinite(xy_px).all(axis=-1),
                sigma_px=signal.sigma_px * zoom,
                residual_px=signal.residual_px * zoom,
                parallax_px=signal.parallax_px * zoom,
            )
        case SparsePoints():
            xy_px = by.places(signal.observation_xy_px)
            return replace(signal, observation_xy_px=xy_px).with_observations(by.shows(xy_px))
        case Matches():
            a, b = by.places(signal.xy_a_px), by.places(signal.xy_b_px)
            matches = replace(signal, xy_a_px=a, xy_b_px=b, sigma_px=signal.sigma_px * zoom)
            return matches.take(by.shows(a) & by.shows(b))
    return signal


def _shown(xy_px: np.ndarray, by: Reframing) -> np.ndarray:
    """Pixels in the new picture; NaN outside it."""
    moved = by.places(xy_px)
    return np.where(by.shows(moved)[..., None], moved, np.array(np.nan, dtype=xy_px.dtype))


def _boxes(box_px: Float64[np.ndarray, "n k 2 2"] | None, by: Reframing) -> Float64[np.ndarray, "n k 2 2"] | None:
    """What the new picture shows of boxes; NaN where it shows nothing."""
    if box_px is None:
        return None
    first, last = np.array(by.bars_px), np.array(by.bars_px) + by.size_px - 1
    moved = np.clip(by.places(box_px), first, last)
    empty = (moved[..., 1, :] <= moved[..., 0, :]).any(axis=-1)
    return np.where(empty[..., None, None], np.nan, moved)
