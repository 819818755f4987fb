"""Which pixels show the scene: masks constant borders and burnt-in overlays.

Overlays (logos, permanent captions, a bonnet or gripper fixed to the camera) have edges that stay in place while the
scene moves. With a static camera all edges stay in place, so only uniform borders are detected then. Not detected:
captions that change, overlays that move, borders filled with a blurred copy of the picture.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int32, UInt8

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.provenance import Provenance
from experts.signals import NoEstimate, Signal, Signals, ValidArea


@dataclass(frozen=True, kw_only=True)
class ValidAreaSettings:
    """Thresholds."""

    samples: int = 24
    """Number of frames analysed, evenly spaced over the clip."""
    border_levels: float = 6.0
    """99 % of the pixels of a border row or column differ from its median by at most this many grey levels, over space
    and time. Compression noise on flat colour is 1 to 3 levels."""
    min_samples: int = 8
    """With fewer frames than this, edges coincide by chance: only borders are detected."""
    edge_levels: float = 6.0
    """Smallest gradient of an edge, in grey levels per pixel, after smoothing."""
    coherence: float = 0.9
    """|mean gradient| / mean |gradient| over the frames: 1 for a permanent edge, 1/√samples ≈ 0.2 for a passing one."""
    static_share: float = 0.4
    """If most edges are permanent in more than this share of the cells that contain edges, the camera is static and no
    overlay is detected."""
    cells: int = 16
    """Number of cells along the longer side."""
    corner_ratio: float = 0.1
    """Smallest ratio of the eigenvalues of an overlay's structure tensor. Letters have edges in both directions. A
    scene edge parallel to the motion has one direction (a shelf, a kerb: seen in robot_unitree, lady-running,
    kitti_odom_a)."""
    min_overlay_px: int = 12
    """Fewer edge pixels than this, at working size, are chance."""
    join_px: int = 9
    """Edges at most this far apart belong to one overlay (letters of a word), at 960 px; scales with the picture."""
    margin_px: int = 5
    """Overlays are dilated by this much at 960 px: a tracking window must not touch the edge of an overlay."""
    min_valid_share: float = 0.25
    """Smallest share of the frame that must show the scene."""


class ValidAreaExpert(WeightFreeExpert):
    """Borders and overlays of one clip, from evenly spaced frames."""

    name = "valid_area"
    version = "1"
    provides = frozenset({"valid_area"})
    needs: frozenset[str] = frozenset()
    options = frozenset({"max_side_px"})

    def __init__(self, settings: ValidAreaSettings | None = None) -> None:
        self.settings = settings or ValidAreaSettings()

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
                    reason="borders and overlays cover most of the picture",
                    detail=f"{share:.0%} of the frame shows the scene; {self.settings.min_valid_share:.0%} are needed",
                    remedy="crop the footage to the scene",
                )
            }
        provenance = Provenance(expert=self.name, version=self.version, settings=asdict(self.settings))
        return {"valid_area": ValidArea(valid=valid, provenance=provenance)}


def borders(pictures: UInt8[np.ndarray, "n h w"], settings: ValidAreaSettings) -> Bool[np.ndarray, "h w"]:
    """True on rows and columns of one constant colour that extend from the edges of the frame, plus a margin."""
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
    """Number of rows at the top and at the bottom that have one constant colour in all frames."""
    lines = pictures.transpose(1, 0, 2).reshape(pictures.shape[1], -1)
    flat = []
    for edge in (0, -1):
        colour = np.median(lines[edge])
        differs = np.abs(lines.astype(np.int16) - np.int16(colour)) > settings.border_levels
        uneven = np.flatnonzero(differs.mean(axis=1) > 0.01)
        flat.append(len(lines) if uneven.size == 0 else int(uneven[0] if edge == 0 else len(lines) - 1 - uneven[-1]))
    return flat[0], flat[1]


def overlays(
    pictures: UInt8[np.ndarray, "n h w"], inside: Bool[np.ndarray, "h w"], settings: ValidAreaSettings
) -> Bool[np.ndarray, "h w"]:
    """True around permanent edges inside the borders, provided that most other edges move."""
    import cv2

    none = np.zeros(pictures.shape[1:], dtype=bool)
    if len(pictures) < settings.min_samples:
        return none
    mean, strength = _gradients(pictures)
    edge = (strength > settings.edge_levels) & inside
    stays = edge & (np.hypot(mean[0], mean[1]) > settings.coherence * strength)
    if _camera_is_static(edge, stays, settings):
        return none
    join, margin = _scaled(settings.join_px, pictures), _scaled(settings.margin_px, pictures)
    joined = cv2.morphologyEx(stays.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((join, join), np.uint8))
    count, labels = cv2.connectedComponents(joined)
    kept = _has_two_directions(mean[:, stays], labels[stays], count, settings)[labels] & (joined > 0)
    grown = cv2.dilate(kept.astype(np.uint8), np.ones((2 * margin + 1, 2 * margin + 1), np.uint8))
    return np.asarray(grown > 0)


def _camera_is_static(
    edge: Bool[np.ndarray, "h w"], stays: Bool[np.ndarray, "h w"], settings: ValidAreaSettings
) -> bool:
    """Whether edges are permanent all over the picture. Cells are counted, as one large logo would dominate a share of
    pixels."""
    h, w = edge.shape
    side = -(-max(h, w) // settings.cells)
    rows, columns = np.arange(0, h, side), np.arange(0, w, side)
    edges, staying = (np.add.reduceat(np.add.reduceat(m.astype(int), rows, 0), columns, 1) for m in (edge, stays))
    busy = edges >= settings.min_overlay_px
    return bool(busy.any() and np.mean(2 * staying[busy] > edges[busy]) > settings.static_share)


def _has_two_directions(
    gradient: Float32[np.ndarray, "2 e"], part: Int32[np.ndarray, "e"], parts: int, settings: ValidAreaSettings
) -> Bool[np.ndarray, "parts"]:
    """Components with enough edge pixels whose edges have more than one direction."""
    count, xx, yy, xy = (
        np.bincount(part, weights, minlength=parts)
        for weights in (None, gradient[0] ** 2, gradient[1] ** 2, gradient[0] * gradient[1])
    )
    mean, half_range = (xx + yy) / 2, np.hypot((xx - yy) / 2, xy)
    return (count >= settings.min_overlay_px) & (mean - half_range > settings.corner_ratio * (mean + half_range))


def _gradients(pictures: UInt8[np.ndarray, "n h w"]) -> tuple[Float32[np.ndarray, "2 h w"], Float32[np.ndarray, "h w"]]:
    """Mean gradient (x, y) and mean gradient magnitude over the frames, in grey levels per pixel."""
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
