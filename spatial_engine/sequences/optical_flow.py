"""Optical flow of a dataset as matches between neighbouring images: pixels that forward and backward flow agree on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64

from experts.provenance import Provenance
from experts.signals import Matches
from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import Flow, matching

_GRID = 32
"""Matches along the longer side of an image."""
_CYCLE_PX = 1.0
"""Largest distance of a pixel from where forward and backward flow lead it."""
_UNCONFIRMED, _CONFIRMED = 0.5, 0.001
"""Outlier probability of forward flow alone, which does not tell hidden pixels, and of both. The second is chosen."""
_MOST_PAIRS = 24
_MAGIC = 202021.25
_UNKNOWN = 1e9
"""Larger components of a .flo mean "unknown"."""


@dataclass(frozen=True, kw_only=True)
class KnownFlow:
    """Files of each image but the last (forward), and of each but the first (backward, may be none)."""

    forward: Sequence[Path]
    backward: Sequence[Path]
    sigma_px: float

    def signal(self, frames: Int64[np.ndarray, "n"], provenance: Provenance) -> Matches | None:
        """Matches between at most 24 pairs of neighbours among the frames."""
        pairs = [(a, a + 1) for a in frames.tolist() if a + 1 in frames and a < len(self.forward)]
        pairs = [pairs[k] for k in np.unique(np.linspace(0, len(pairs) - 1, _MOST_PAIRS).astype(int))] if pairs else []
        found = [self._matched(a) for a, _ in pairs]
        if not any(len(xy_a) for xy_a, _ in found):
            return None
        count = np.array([len(xy_a) for xy_a, _ in found])
        return Matches(
            pairs=np.array(pairs, dtype=np.int64),
            pair=np.repeat(np.arange(len(pairs)), count),
            xy_a_px=np.concatenate([xy_a for xy_a, _ in found]),
            xy_b_px=np.concatenate([xy_b for _, xy_b in found]),
            sigma_px=np.full(count.sum(), self.sigma_px),
            outlier_probability=np.full(count.sum(), _CONFIRMED if self.backward else _UNCONFIRMED),
            confirmed_by=np.zeros(count.sum(), dtype=np.int32),
            provenance=provenance,
        )

    def _matched(self, a: int) -> tuple[Float64[np.ndarray, "m 2"], Float64[np.ndarray, "m 2"]]:
        forward = read_flow(self.forward[a])
        height, width = forward.shape[:2]
        step = max(1, max(height, width) // _GRID)
        x, y = np.meshgrid(np.arange(step // 2, width, step), np.arange(step // 2, height, step))
        xy_a = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float64)
        xy_b = xy_a + forward[y.ravel(), x.ravel()]
        kept = np.isfinite(xy_b).all(axis=1)
        kept[kept] = np.all((xy_b[kept] >= 0) & (xy_b[kept] <= [width - 1, height - 1]), axis=1)
        xy_a, xy_b = xy_a[kept], xy_b[kept]
        if self.backward:
            column, row = np.rint(xy_b).astype(int).T
            back = xy_b + read_flow(self.backward[a])[row, column]
            kept = np.linalg.norm(back - xy_a, axis=1) <= _CYCLE_PX
            xy_a, xy_b = xy_a[kept], xy_b[kept]
        return xy_a, xy_b


def known_flow(folder: Path, stated: Flow, images: int) -> KnownFlow:
    """As the manifest states. Raises `UsageError`."""
    forward, backward = (
        tuple(matching(folder, pattern)) if pattern else () for pattern in (stated.files, stated.backward)
    )
    for key, pattern, files in (("files", stated.files, forward), ("backward", stated.backward, backward)):
        if pattern and len(files) != images - 1:
            raise UsageError(
                f"flow.{key}: {pattern!r} matches {len(files)} files for {images} images", "one less than images"
            )
    return KnownFlow(forward=forward, backward=backward, sigma_px=stated.sigma_px)


def read_flow(path: Path) -> Float64[np.ndarray, "h w 2"]:
    """Displacement of each pixel, right and down; NaN where it is not known. Raises `UsageError`."""
    try:
        flow = _read(path)
    except (OSError, ValueError, IndexError) as error:
        raise UsageError(f"{path} is no optical flow: {error}", ".flo, PNG of KITTI, or .npy (h w 2)") from error
    return np.where(np.abs(flow) < _UNKNOWN, flow, np.nan)


def _read(path: Path) -> Float64[np.ndarray, "h w 2"]:
    if path.suffix == ".npy":
        flow = np.load(path, allow_pickle=False)
        if flow.ndim != 3 or flow.shape[2] != 2:
            raise ValueError(f"it has the shape {flow.shape}")
        return flow.astype(np.float64)
    if path.suffix == ".flo":
        raw = path.read_bytes()
        if np.frombuffer(raw[:4], "<f4")[0] != np.float32(_MAGIC):
            raise ValueError("it does not begin with 202021.25")
        width, height = np.frombuffer(raw[4:12], "<i4")
        return np.frombuffer(raw[12:], "<f4").reshape(height, width, 2).astype(np.float64)
    import cv2

    png = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if png is None or png.dtype != np.uint16 or png.ndim != 3:
        raise ValueError("it is no PNG with three channels of 16 bit")
    flow = (png[..., :0:-1].astype(np.float64) - 2**15) / 64  # OpenCV reads blue first: valid, v, u
    return np.where(png[..., :1] > 0, flow, np.nan)
