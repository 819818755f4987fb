"""Where an object ends in one direction, and whether that is known, from its visible surface in several frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_views import View
from experts.objects.mask_points import MaskPoints


@dataclass(frozen=True, kw_only=True)
class EndSettings:
    """Chosen; checked on rendered rooms (`tests/experts/objects/test_object_boxes.py`)."""

    beyond_points: int = 3
    """An end is the position beyond which a frame has this many points ..."""
    beyond_share: float = 0.003
    """... plus this share of them."""
    slab: float = 0.08
    """Thickness of the end region: this share of the side, at least two pixels and three times the noise of smoothed
    depth ..."""
    smoothed: float = 0.25
    """... which is this share of σ (a mean of 25 pixels with independent errors: 0.2)."""
    thick: float = 0.35
    """... and at most this share of the side: a thinner side does not determine its far end."""
    flat: float = 3.0
    """A side shorter than this many σ, of depth and of the box's direction, may be one tilted face."""
    accumulation: float = 2.5
    """This many times more points in the end region than elsewhere are on a face towards the camera: the object
    continues behind it."""
    truncated: float = 0.2
    """Largest share of an end's last pixels (two, 1 % of the side, or the noise) near the picture's border, a nearer
    surface, or another object beside it (not below: objects stand on others)."""
    edge_px: float = 1.0
    """σ of a mask's border at working size."""
    yaw_sigma_rad: float = 0.02
    """σ of the footprint's direction."""
    shared: float = 0.7
    """Share of a frame's depth σ that all frames have in common (amplitude); more frames do not reduce it."""


@dataclass(frozen=True, kw_only=True)
class End:
    """The end of a side, along its outward direction."""

    at: float
    known: bool
    depth_sigma: float
    edge_sigma: float
    hidden_by_others: bool


def end_of(
    seen: Sequence[tuple[MaskPoints, View]],
    separate: Float64[np.ndarray, "d 3"],
    outward: Float64[np.ndarray, "3"],
    down: bool,
    settings: EndSettings,
) -> End:
    """The end of the object in one direction (`down`: downwards), from all frames. It is unknown if separate parts are
    beyond it (the end of a leg whose middle is too thin to be measured)."""
    each = [_end_in(part, view, outward, down, settings) for part, view in seen]
    reach = float(np.percentile([end.at for end in each], 75))
    near = [end for end in each if end.at >= reach - 2 * end.depth_sigma - 2 * end.edge_sigma]
    pieces = np.count_nonzero(separate @ outward > reach + near[0].edge_sigma) > settings.beyond_points
    knowing = [end for end in near if end.known and not pieces]
    used = knowing or near
    at = np.array([end.at for end in used])
    frames = len(used)
    alone = np.sqrt(settings.shared**2 + (1 - settings.shared**2) / frames)
    deviation = float(np.std(at)) / np.sqrt(frames)
    return End(
        at=float(np.median(at)) if knowing else float(at.max()),
        known=bool(knowing),
        depth_sigma=float(np.hypot(alone * np.median([end.depth_sigma for end in used]), deviation)),
        edge_sigma=float(np.median([end.edge_sigma for end in used])),
        hidden_by_others=all(end.hidden_by_others for end in near),
    )


def _end_in(part: MaskPoints, view: View, outward: Float64[np.ndarray, "3"], down: bool, settings: EndSettings) -> End:
    """The end from one frame."""
    along = part.xyz @ outward
    order = np.argsort(-along)
    last = min(len(along) - 1, max(settings.beyond_points, round(settings.beyond_share * len(along))))
    at, extent = float(along[order[last]]), float(along[order[last]] - along[order[-1 - last]])
    outermost = order[: max(20, len(along) // 50)]
    depth_sigma = float(np.median(np.abs(part.ray[outermost] @ outward) * part.relative_sigma[outermost]))
    pixel = np.hypot(*np.einsum("pij,i->jp", part.step, outward))
    edge_sigma = settings.edge_px * float(np.median(pixel[outermost]))
    width = max(3 * settings.smoothed * depth_sigma, settings.slab * extent, 2 * edge_sigma)
    margin = max(2 * edge_sigma / settings.edge_px, 3 * settings.smoothed * depth_sigma, 0.01 * extent)
    last_points = along >= at - margin
    hidden = (
        part.truncated if down else part.truncated | part.touches_other
    )  # an object that stands on another ends there
    truncated = bool(hidden[last_points].mean() > settings.truncated)
    beyond = float(view.world_from_cam[:3, 3] @ outward) > at
    yaw_error = settings.yaw_sigma_rad * float(np.linalg.norm(np.ptp(part.xyz, axis=0)))
    thick = width <= settings.thick * extent and extent >= settings.flat * float(np.hypot(depth_sigma, yaw_error))
    decided = beyond or (thick and _runs_out(part, along, at, width, extent, outward, settings))
    return End(
        at=at,
        known=bool(decided and not truncated),
        depth_sigma=depth_sigma,
        edge_sigma=edge_sigma,
        hidden_by_others=truncated,
    )


def _runs_out(
    part: MaskPoints,
    along: Float64[np.ndarray, "p"],
    at: float,
    width: float,
    extent: float,
    outward: Float64[np.ndarray, "3"],
    settings: EndSettings,
) -> bool:
    """Whether the surface ends here, rather than bending towards or away from the camera on both sides."""
    slab = along > at - width
    if slab.mean() > settings.accumulation * width / extent:
        return False
    sideways = np.cross(part.ray.mean(axis=0), np.cross(outward, part.ray.mean(axis=0)))
    across = part.xyz @ np.cross(outward, sideways / max(float(np.linalg.norm(sideways)), 1e-12))
    low, high = np.percentile(across, [1, 99])
    share = (across[slab] - low) / max(high - low, 1e-12)
    both_sides = np.mean(share < 0.25) > 0.2 and np.mean(share > 0.75) > 0.2
    return not (both_sides and np.mean((share > 0.25) & (share < 0.75)) < 0.1)
