"""Depth of a sequence, read frame by frame: no more in memory than is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from spatial_engine.errors import SetupError, UsageError
from spatial_engine.sequences.manifest import Camera, DepthImages

_LEAST_KNOWN = 0.7
"""Share of the depths around a pixel that must be known, where depth may lie beside it."""
_GAP_PX = 2
"""Half width, in pixels of the depth image, of the window from which a gap is closed: ..."""
_GAP_KNOWN, _GAP_RANGE = 0.4, 0.06
"""... so much of it must be known, and the largest depth exceed the smallest by no more than this share."""
NPY, HDF5 = ".npy", (".hdf5", ".h5")
_TURNED_BITS, _ALL_BITS = 3, 16


@runtime_checkable
class DepthSource(Protocol):
    """Depth of the images of a sequence."""

    @property
    def stated(self) -> DepthImages:
        """The manifest's entry on depth."""
        ...

    def has(self, frame: int) -> bool:
        """Whether an image has any."""
        ...

    def read(self, frame: int) -> Float32[np.ndarray, "h w"]:
        """z in metres (or in the path's unit), NaN where it is not known. Raises `UsageError` for a damaged file."""
        ...

    def only(self, image: int) -> "DepthSource":
        """That of one image."""
        ...


@dataclass(frozen=True, kw_only=True)
class DepthFiles:
    """One file per image, or None where an image has no depth."""

    paths: Sequence[Path | None]
    stated: DepthImages
    camera: Camera | None
    """Camera of the depth images, at their own size; needed where depth is along the ray."""

    def has(self, frame: int) -> bool:
        """Whether an image has a file."""
        return self.paths[frame] is not None

    def only(self, image: int) -> "DepthFiles":
        """That of one image."""
        return replace(self, paths=self.paths[image : image + 1])

    def read(self, frame: int) -> Float32[np.ndarray, "h w"]:
        """See `DepthSource`."""
        path = self.paths[frame]
        if path is None:
            raise KeyError(f"frame {frame} has no depth")
        raw = self._numbers(_raw(path), path)
        known = np.isfinite(raw) & ~np.isin(raw, self.stated.invalid) & (raw > 0)
        z = np.where(known, raw * self.stated.unit_m, np.nan)
        if self.stated.along == "range":
            if self.camera is None:
                raise UsageError("depth along the ray needs the camera", "state camera, or depth.camera")
            z = z / _ray_lengths(z.shape, self.camera)
        return z.astype(np.float32)

    def _numbers(self, raw: np.ndarray, path: Path) -> np.ndarray:
        """The numbers that the stored bits encode."""
        if self.stated.bits == "number":
            return raw.astype(np.float64)
        if raw.dtype != np.uint16:
            raise UsageError(f"{path} holds {raw.dtype}, and depth.bits wants 16 bit", "leave out depth.bits")
        if self.stated.bits == "half_float":
            return raw.view(np.float16).astype(np.float64)
        return ((raw >> _TURNED_BITS) | (raw << (_ALL_BITS - _TURNED_BITS))).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class PartialDepth:
    """Depth of a source, without that of some images."""

    source: DepthSource
    missing: frozenset[int]

    @property
    def stated(self) -> DepthImages:
        """See `DepthSource`."""
        return self.source.stated

    def has(self, frame: int) -> bool:
        """See `DepthSource`."""
        return frame not in self.missing and self.source.has(frame)

    def read(self, frame: int) -> Float32[np.ndarray, "h w"]:
        """See `DepthSource`."""
        return self.source.read(frame)

    def only(self, image: int) -> DepthSource:
        """See `DepthSource`."""
        return replace(self, source=self.source.only(image), missing=frozenset({0} if image in self.missing else ()))


def closed(z: Float32[np.ndarray, "n h w"]) -> tuple[Float32[np.ndarray, "n h w"], Float32[np.ndarray, "n h w"]]:
    """Depth whose narrow gaps within one surface are closed by the mean of the known depths around, and a third of half
    their range, relative; 0 where the depth was known.

    Depth that was brought from its sensor into the view of the colour camera has such gaps, a pixel or two wide, all
    over its surfaces. Gaps between two surfaces stay.
    """
    import cv2

    size, border = (2 * _GAP_PX + 1,) * 2, cv2.BORDER_REPLICATE
    kernel, found, spread = np.ones(size, np.uint8), z.copy(), np.where(np.isnan(z), z, np.float32(0))
    for own, its_spread in zip(found, spread, strict=True):
        gap = np.isnan(own)
        share = cv2.boxFilter((~gap).astype(np.float32), -1, size, borderType=border)
        mean = cv2.boxFilter(np.where(gap, np.float32(0), own), -1, size, borderType=border)
        low = cv2.erode(np.where(gap, np.float32(np.inf), own), kernel, borderType=border)
        high = cv2.dilate(np.where(gap, np.float32(-np.inf), own), kernel, borderType=border)
        narrow = gap & (share >= _GAP_KNOWN) & (high <= (1 + _GAP_RANGE) * low)
        own[narrow] = (mean[narrow] / share[narrow]).astype(np.float32)
        its_spread[narrow] = (high[narrow] - low[narrow]) / (3 * (low[narrow] + high[narrow]))
    return found, spread


def widened(
    z: Float32[np.ndarray, "n h w"], stated: DepthImages, camera: Camera | None, width_px: int
) -> tuple[Float32[np.ndarray, "n h w"], Float32[np.ndarray, "n h w"]]:
    """Depth beside images of that width and camera: the middle of all depths within `off_px`, and a third of half their
    range, relative. NaN where many of them are not known. A depth camera of its own is taken to stand at the same
    place."""
    import cv2

    scale = z.shape[2] / width_px
    found = np.stack([_in_view(each, stated.camera, camera, scale) for each in z])
    radius = int(np.ceil(stated.off_px * scale))
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
    known = np.isfinite(found)
    low = np.stack(
        [cv2.erode(np.where(k, each, np.float32(np.inf)), kernel) for k, each in zip(known, found, strict=True)]
    )
    high = np.stack(
        [cv2.dilate(np.where(k, each, np.float32(-np.inf)), kernel) for k, each in zip(known, found, strict=True)]
    )
    share = np.stack([cv2.filter2D(k.astype(np.float32), -1, kernel / np.float32(kernel.sum())) for k in known])
    clear = known & (share >= _LEAST_KNOWN)
    low, high = (np.where(clear, each, np.float32("nan")) for each in (low, high))
    return (low + high) / 2, (high - low) / (3 * (low + high))


def _in_view(
    z: Float32[np.ndarray, "h w"], own: Camera | None, camera: Camera | None, scale: float
) -> Float32[np.ndarray, "h w"]:
    """Depth of another camera at the same place, in the directions of the image's pixels; NaN outside its view."""
    if own is None or camera is None:
        return z
    height, width = z.shape
    x, y = ((np.arange(count) + 0.5) / scale - 0.5 for count in (width, height))
    u = np.rint((x - camera.cx) / camera.fx * own.fx + own.cx).astype(int)
    v = np.rint((y - camera.cy) / camera.fy * own.fy + own.cy).astype(int)
    found = z[np.clip(v, 0, height - 1)][:, np.clip(u, 0, width - 1)]
    outside = ((v < 0) | (v >= height))[:, None] | ((u < 0) | (u >= width))
    return np.where(outside, np.float32("nan"), found)


def _raw(path: Path) -> np.ndarray:
    """A file's numbers as they are, two-dimensional."""
    if path.suffix == NPY:
        return _two_dimensional(np.load(path, allow_pickle=False), path)
    if path.suffix in HDF5:
        return _two_dimensional(read_hdf5(path), path)
    import cv2

    raw = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if raw is None:
        raise UsageError(f"{path} does not decode as depth", "PNG of 16 bit, TIFF, or .npy with two dimensions")
    return _two_dimensional(np.asarray(raw), path)


def read_hdf5(path: Path) -> np.ndarray:
    """The array "dataset" of a file. Raises `SetupError` without h5py."""
    try:
        import h5py  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ModuleNotFoundError as error:
        raise SetupError("h5py is not installed, and this dataset lies in HDF5 files", "pip install h5py") from error
    with h5py.File(path, "r") as file:
        return np.asarray(file["dataset"])


def _two_dimensional(raw: np.ndarray, path: Path) -> np.ndarray:
    raw = raw.squeeze()
    if raw.ndim != 2:
        raise UsageError(f"{path} has the shape {raw.shape}, and depth has two dimensions", "one number a pixel")
    return raw


def _ray_lengths(shape: tuple[int, ...], camera: Camera) -> np.ndarray:
    """Length of the ray of z = 1, per pixel."""
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float64)
    return np.sqrt(((x - camera.cx) / camera.fx) ** 2 + ((y - camera.cy) / camera.fy) ** 2 + 1)
