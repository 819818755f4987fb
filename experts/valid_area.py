"""Which pixels show the scene: masks constant borders and whatever is burnt into the picture.

Overlays (logos, captions that stay, a bonnet or gripper fixed to the camera) have edges that stay where they are
while the rest moves. A camera that stands still would make everything an overlay, so then only even borders count.
Not found: captions that change, overlays that move, borders filled with a blurred copy of the picture.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int32, UInt8

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import NoEstimate, Signal, Signals, ValidArea


@dataclass(frozen=True, kw_only=True)
class ValidAreaSettings:
    """Thresholds."""

    samples: int = 24
    """Frames looked at, spread over the clip."""
    border_levels: float = 6.0
    """A border row or column stays within this many grey levels of its own median, in space and time (99 % of its
    pixels); compression noise on flat colour is 1 to 3 levels."""
    min_samples: int = 8
    """Fewer frames than this agree on edges by chance: only borders are looked for."""
    edge_levels: float = 6.0
    """Gradient (grey levels per pixel, smoothed) above which an edge is an edge."""
    coherence: float = 0.9
    """|mean gradient| / mean |gradient| over the frames: 1 for an edge that stays, 1/√samples ≈ 0.2 for one that
    passes through."""
    static_share: float = 0.4
    """If edges mostly stay in more than this share of the cells that have edges, the camera stands still and nothing
    is an overlay."""
    cells: int = 16
    """Cells across the longer side."""
    corner_ratio: float = 0.1
    """Smaller over larger eigenvalue of an overlay's structure tensor: letters run both ways; a scene edge that the
    motion runs along (a shelf, a kerb: seen in robot_unitree, lady-running, kitti_odom_a) runs one way."""
    min_overlay_px: int = 12
    """Fewer edge pixels than this, at working size, are chance."""
    join_px: int = 9
    """Edges of one overlay lie this close together (letters of a word), at 960 px; scales with the picture."""
    margin_px: int = 5
    """Grown by this much at 960 px: a tracker's window must not touch the edge of an overlay."""
    min_valid_share: float = 0.25
    """Less picture than this is no picture to measure in."""


class ValidAreaExpert:
    """Borders and overlays of one clip, from frames spread over it."""

    name = "valid_area"
    version = "1"
    provides = frozenset({"valid_area"})
    needs: frozenset[str] = frozenset()
    options = frozenset({"max_side_px"})

    def __init__(self, settings: ValidAreaSettings | None = None) -> None:
        self.settings = settings or ValidAreaSettings()

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """One mask for the whole clip."""
        rows = np.unique(np.linspace(0, len(clip.frames) - 1, self.settings.samples).round().astype(int))
        pictures = np.stack([grey for _, grey in clip.read_grey(clip.frames[rows].tolist())])
        valid = ~borders(pictures, self.settings)
        valid &= ~overlays(pictures, valid, self.settings)
        share = float(valid.mean())
        if share < self.settings.min_valid_share:
            return {
                "valid_area": NoEstimate(
                    reason="hardly any picture inside borders and overlays",
                    detail=f"{share:.0%} of the frame shows something; {self.settings.min_valid_share:.0%} are needed",
                    remedy="crop the footage to its picture",
                )
            }
        provenance = Provenance(expert=self.name, version=self.version, settings=asdict(self.settings))
        return {"valid_area": ValidArea(valid=valid, provenance=provenance)}


def borders(pictures: UInt8[np.ndarray, "n h w"], settings: ValidAreaSettings) -> Bool[np.ndarray, "h w"]:
    """True on rows and columns of one constant colour that reach in from the edges, and a little beyond."""
    margin = _scaled(settings.margin_px, pictures)
    h, w = pictures.shape[1:]
    masked = np.zeros((h, w), dtype=bool)
    top, bottom = _flat_ends(pictures, settings)
    if top + bottom >= h:
        return np.ones((h, w), dtype=bool)
    left, right = _flat_ends(pictures[:, top : h - bottom].transpose(0, 2, 1), settings)
    masked[: top + margin if top else 0] = True
    masked[h - bottom - margin if bottom else h :] = True
    masked[:, : left + margin if left else 0] = True
    masked[:, w - right - margin if right else w :] = True
    return masked


def _flat_ends(pictures: UInt8[np.ndarray, "n h w"], settings: ValidAreaSettings) -> tuple[int, int]:
    """How many rows at the top and at the bottom are of one colour, the same in all frames."""
    lines = pictures.transpose(1, 0, 2).reshape(pictures.shape[1], -1)
    flat = []
    for edge in (0, -1):
        colour = np.median(lines[edge])
        off = np.abs(lines.astype(np.int16) - np.int16(colour)) > settings.border_levels
        uneven = np.flatnonzero(off.mean(axis=1) > 0.01)
        flat.append(len(lines) if uneven.size == 0 else int(uneven[0] if edge == 0 else len(lines) - 1 - uneven[-1]))
    return flat[0], flat[1]


def overlays(
    pictures: UInt8[np.ndarray, "n h w"], inside: Bool[np.ndarray, "h w"], settings: ValidAreaSettings
) -> Bool[np.ndarray, "h w"]:
    """True around edges inside the borders that stay in place while most edges do not."""
    import cv2

    nothing = np.zeros(pictures.shape[1:], dtype=bool)
    if len(pictures) < settings.min_samples:
        return nothing
    mean, strength = _gradients(pictures)
    edge = (strength > settings.edge_levels) & inside
    stays = edge & (np.hypot(mean[0], mean[1]) > settings.coherence * strength)
    if _stands_still(edge, stays, settings):
        return nothing
    join, margin = _scaled(settings.join_px, pictures), _scaled(settings.margin_px, pictures)
    joined = cv2.morphologyEx(stays.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((join, join), np.uint8))
    count, labels = cv2.connectedComponents(joined)
    kept = _runs_both_ways(mean[:, stays], labels[stays], count, settings)[labels] & (joined > 0)
    grown = cv2.dilate(kept.astype(np.uint8), np.ones((2 * margin + 1, 2 * margin + 1), np.uint8))
    return np.asarray(grown > 0)


def _stands_still(edge: Bool[np.ndarray, "h w"], stays: Bool[np.ndarray, "h w"], settings: ValidAreaSettings) -> bool:
    """Whether edges stay all over the picture (a share of pixels would be ruled by one bold logo)."""
    h, w = edge.shape
    side = -(-max(h, w) // settings.cells)
    rows, columns = np.arange(0, h, side), np.arange(0, w, side)
    edges, staying = (np.add.reduceat(np.add.reduceat(m.astype(int), rows, 0), columns, 1) for m in (edge, stays))
    busy = edges >= settings.min_overlay_px
    return bool(busy.any() and np.mean(2 * staying[busy] > edges[busy]) > settings.static_share)


def _runs_both_ways(
    gradient: Float32[np.ndarray, "2 e"], part: Int32[np.ndarray, "e"], parts: int, settings: ValidAreaSettings
) -> Bool[np.ndarray, "parts"]:
    """Parts with enough edge pixels, whose edges do not all run one way."""
    count, xx, yy, xy = (
        np.bincount(part, weights, minlength=parts)
        for weights in (None, gradient[0] ** 2, gradient[1] ** 2, gradient[0] * gradient[1])
    )
    middle, spread = (xx + yy) / 2, np.hypot((xx - yy) / 2, xy)
    return (count >= settings.min_overlay_px) & (middle - spread > settings.corner_ratio * (middle + spread))


def _gradients(pictures: UInt8[np.ndarray, "n h w"]) -> tuple[Float32[np.ndarray, "2 h w"], Float32[np.ndarray, "h w"]]:
    """Mean gradient (x, y) and mean size of the gradient over the frames, in grey levels per pixel."""
    import cv2

    total = np.zeros((2, *pictures.shape[1:]), dtype=np.float32)
    size = np.zeros(pictures.shape[1:], dtype=np.float32)
    for picture in pictures:
        soft = cv2.GaussianBlur(picture.astype(np.float32), (3, 3), 0)
        dx = cv2.Sobel(soft, cv2.CV_32F, 1, 0, scale=1 / 8)
        dy = cv2.Sobel(soft, cv2.CV_32F, 0, 1, scale=1 / 8)
        total += (dx, dy)
        size += cv2.magnitude(dx, dy)
    n = np.float32(len(pictures))
    return total / n, size / n


def _scaled(px_at_960: int, pictures: UInt8[np.ndarray, "n h w"]) -> int:
    return max(1, round(px_at_960 * int(max(pictures.shape[1:])) / 960))
