"""Which way a thing's box lies: upright along its footprint, or along the spread of its points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation


@dataclass(frozen=True, kw_only=True)
class AxesSettings:
    """Choices, held against rendered rooms."""

    cells: int = 60
    """Cells along a footprint, by which its direction is found."""
    alike: float = 1.15
    """A footprint whose box varies by less than this factor with its direction has none; without gravity, a cloud of
    points whose largest variance is less than so many times the least."""


def axes_of(
    xyz: Float64[np.ndarray, "p 3"], up_world: Float64[np.ndarray, "3"] | None, settings: AxesSettings
) -> tuple[Float64[np.ndarray, "3 3"], bool]:
    """Columns: directions of the sides; and whether they are arbitrary because the thing looks alike all round."""
    if up_world is None:
        spread = np.linalg.eigh(np.cov((xyz - xyz.mean(axis=0)).T))
        axes = spread[1][:, ::-1] * np.where(np.take_along_axis(
            spread[1][:, ::-1], np.abs(spread[1][:, ::-1]).argmax(axis=0)[None], axis=0) < 0, -1, 1)  # fmt: skip
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        variance = spread[0][::-1]
        return axes, bool(variance[0] < settings.alike * variance[2])
    level = Rotation.align_vectors(up_world[None], [[0, 0, 1]])[0].as_matrix()
    flat = _cells((xyz @ level)[:, :2], settings.cells)
    angle = np.deg2rad(np.arange(0, 90, 1.0))
    edged, sides = _footprint(flat, angle)
    near = angle[np.argmax(edged)] + np.deg2rad(np.arange(-1, 1.01, 0.1))
    fine, _ = _footprint(flat, near)
    yaw = near[np.argmax(fine)]
    length = _footprint(flat, np.array([yaw]))[1][0]
    yaw += np.pi / 2 if length[1] > length[0] else 0
    yaw = (yaw + np.pi / 2) % np.pi - np.pi / 2  # of the two ways along the longer side, that nearer to x
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    area = sides.prod(axis=1)
    return level @ turn, bool(area.max() < settings.alike * area.min())


def _cells(flat: Float64[np.ndarray, "p 2"], count: int) -> Float64[np.ndarray, "c 2"]:
    """Middles of the taken cells, so many along the extent: a face counts by its size, not by its pixels."""
    low, high = flat.min(axis=0), flat.max(axis=0)
    cell = max(float((high - low).max()) / count, 1e-9)
    taken, points = np.unique(np.floor((flat - low) / cell), axis=0, return_counts=True)
    return (taken[points > 1] + 0.5) * cell + low if (points > 1).sum() > 10 else flat


def _footprint(
    flat: Float64[np.ndarray, "p 2"], angle: Float64[np.ndarray, "g"]
) -> tuple[Float64[np.ndarray, "g"], Float64[np.ndarray, "g 2"]]:
    """How near the points lie to the edges of the box around most of them, turned by each angle, and its sides: the
    criterion of closeness (Zhang et al., "Efficient L-shape fitting", IV 2017)."""
    ways = np.stack([np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)]).reshape(2, 2, -1)
    at = np.einsum("pi,jig->pgj", flat, ways)
    low, high = np.percentile(at, [1, 99], axis=0)
    away = np.minimum(np.abs(at - low), np.abs(high - at)).min(axis=2)
    least = 0.02 * float(np.ptp(flat, axis=0).max())
    return (1 / np.maximum(away, least)).sum(axis=0), high - low
