"""The floor and the ceiling: level planes with nothing below, and nothing above."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from experts.rooms.surfaces import Surfaces
from experts.signals import NoEstimate


@dataclass(frozen=True, kw_only=True)
class LevelSettings:
    """Lengths are in a unit of 1.4 m, or of the height of the camera above the floor where metres are not known."""

    cone_rad: float = float(np.deg2rad(15.0))
    """Largest angle between up and the normal of one of its points, ⊕ 2 σ of up."""
    thickness: float = 0.015
    """Largest distance of its points from the plane, ..."""
    thickness_sigmas: float = 1.0
    """... or this many σ of depth, times the camera's distance from the plane, if that is more."""
    area: float = 0.1
    """Smallest area that is seen, in square units (0.2 m²), ..."""
    share: float = 0.05
    """... and smallest share of the area of all surfaces that face the same way."""
    low: float = 0.6
    """A camera lower than this above the floor (0.84 m) might stand at a table or a counter, ..."""
    low_area: float = 1.5
    """... which are smaller than this area (3 m²)."""
    narrowest: float = 0.1
    """Smallest standard deviation of its points along its shorter axis (0.14 m)."""
    fine: float = 0.003
    """Points nearer than this to the plane belong to it (4 mm) though most are nearer: a rug is no floor."""
    tilt_gain: float = 0.7
    """σ of its tilt is this times σ of its height over its standard deviation, as depth bends."""
    points: int = 40
    """Smallest number of sparse points, ..."""
    points_share: float = 0.03
    """... smallest share of all sparse points, ..."""
    contrast: float = 4.0
    """... and smallest number of sparse points, as a multiple of those in an equal layer nearby: walls have as many in
    any layer."""
    beyond_share: float = 0.02
    """Largest share of all points beyond it: below the floor, above the ceiling."""
    flatness: float = 0.003
    """σ of any floor, as none is quite plane (4 mm)."""
    common_share: float = 0.3
    """At least this share of σ of depth is common to all points: it does not average out."""


@dataclass(frozen=True, kw_only=True)
class UprightSettings:
    """How floors, ceilings and walls show which way is up. On 48 rendered rooms with errors of depth of 0 to 5 %, up
    came out 0.06 to 0.46° wrong (root mean square over 12 rooms each)."""

    cones_rad: tuple[float, ...] = tuple(float(np.deg2rad(a)) for a in (20, 12, 8, 8))
    """Surfaces count as level or upright within this angle, in each round."""
    least_share: float = 0.05
    """Smallest share of the points that is level, and that is upright."""
    sigma_rad: float = float(np.deg2rad(0.12))
    """σ per axis of the result ⊕ ..."""
    sigma_share: float = 0.1
    """... this times σ of depth."""
    sigmas: float = 3.5
    """Gravity counts alone if the result differs from it by more."""


@dataclass(frozen=True, kw_only=True)
class Level:
    """A nearly level plane."""

    middle: Float64[np.ndarray, "3"]
    """Of its points."""
    normal: Float64[np.ndarray, "3"]
    """Unit vector that points up."""
    sigma: float
    """σ of its height there."""
    tilt_sigma_rad: float
    """σ per axis of the normal."""


def refined_up(
    seen: Surfaces, up: Float64[np.ndarray, "3"], sigma_rad: float, settings: UprightSettings
) -> tuple[Float64[np.ndarray, "3"], float]:
    """Up and its σ per axis, from gravity (`up`, `sigma_rad`) and the surfaces: level ones are most along it, upright
    ones least."""
    found, share = up, 0.0
    for cone in settings.cones_rad if seen.is_plane.all() else ():
        along = np.abs(seen.normal @ found)
        level, upright = seen.normal[along >= np.cos(cone)], seen.normal[along <= np.sin(cone)]
        share = min(len(level), len(upright)) / len(seen)
        found = np.linalg.eigh(upright.T @ upright - level.T @ level)[1][:, 0]
        found = found * np.sign(found @ up)
    own = float(np.hypot(settings.sigma_rad, settings.sigma_share * np.median(seen.relative_sigma)))
    angle = float(np.arccos(np.clip(found @ up, -1, 1)))
    if share < settings.least_share or angle > settings.sigmas * np.hypot(sigma_rad, own):
        return up, sigma_rad
    weight = sigma_rad**2 / (sigma_rad**2 + own**2)
    both = weight * found + (1 - weight) * up
    return both / np.linalg.norm(both), float(np.sqrt(weight)) * own


def lowest_level(
    seen: Surfaces, cell: float, unit: float, tilt_sigma_rad: float, settings: LevelSettings
) -> Level | NoEstimate:
    """The lowest large level plane, which is the floor if nothing lies below it.

    Args:
        seen: thinned to one point in each cube of side `cell`, or sparse points; z up.
        cell: side of the cubes.
        unit: length in which the thresholds are given.
        tilt_sigma_rad: σ per axis of up; 0 if the plane is level for sure.
        settings: thresholds.
    """
    sparse = not seen.is_plane.any()
    facing = sparse | (seen.normal[:, 2] >= np.cos(settings.cone_rad + 2 * tilt_sigma_rad))
    flat = seen.of(np.flatnonzero(facing))
    least = settings.points if sparse else settings.area * (unit / cell) ** 2
    least = max(least, settings.points_share * len(seen) if sparse else settings.share * len(flat))
    if len(flat) < least:
        return _TOO_LITTLE
    thick = np.maximum(settings.thickness * unit, settings.thickness_sigmas * flat.relative_sigma * _above(flat))
    band = float(np.median(thick)) + 2 * tilt_sigma_rad * float(np.std(flat.xyz[:, :2]))
    height = _lowest(flat.xyz[:, 2], band, least, settings.contrast if sparse else 0.0)
    if height is None:
        return _TOO_LITTLE
    middle, normal = np.array([0, 0, height]), np.array([0, 0, 1.0])
    off, width = np.abs(flat.xyz[:, 2] - height), band
    for _ in range(5):
        inside = off <= np.maximum(width, 0)
        if inside.sum() < max(3, 0.5 * least):
            return _TOO_LITTLE
        middle, normal = _plane(flat.xyz[inside], tilt_sigma_rad > 0)
        off = np.abs((flat.xyz - middle) @ normal)
        width = min(float(np.median(thick)), max(settings.fine * unit, 4.5 * float(np.median(off[inside]))))
    own = flat.of(off <= width)
    narrowest = float(np.sqrt(np.linalg.eigvalsh(np.cov(own.xyz[:, :2].T))[0]))
    above = float(np.median((own.camera - middle) @ normal))
    if narrowest < settings.narrowest * unit:
        return _TOO_LITTLE
    if tilt_sigma_rad > 0 and above < settings.low * unit and len(own) * cell**2 < settings.low_area * unit**2:
        return NoEstimate(reason="the lowest level plane may be a table", detail=f"{above:.2f} below the camera")
    allowed = 3 * max(float(np.median(thick)), settings.thickness * unit)
    beyond = float(np.mean((seen.xyz - middle) @ normal < -allowed))
    if beyond > settings.beyond_share:
        return NoEstimate(reason="surfaces lie below the lowest level plane", detail=f"{beyond:.0%} of what is seen")
    sigma = float(np.hypot(offset_sigma(own, normal, settings.common_share), settings.flatness * unit))
    tilt = float(np.hypot(settings.tilt_gain * sigma / narrowest, 1e-4))
    if tilt_sigma_rad > 0:
        angle = float(np.arccos(np.clip(normal[2], -1, 1)))
        if angle > 4 * np.hypot(tilt_sigma_rad, max(tilt, np.deg2rad(0.5))):
            return NoEstimate(reason="the floor is not level", detail=f"{np.rad2deg(angle):.1f}° from gravity")
        weight = tilt_sigma_rad**2 / (tilt_sigma_rad**2 + tilt**2)
        normal = weight * normal + (1 - weight) * np.array([0, 0, 1.0])
        tilt = float(np.sqrt(weight)) * tilt
    return Level(middle=middle, normal=normal / np.linalg.norm(normal), sigma=sigma, tilt_sigma_rad=tilt)


_TOO_LITTLE = NoEstimate(reason="too little of the floor is visible")


def offset_sigma(own: Surfaces, normal: Float64[np.ndarray, "3"], common_share: float) -> float:
    """σ of the offset of a plane along its normal.

    An error of depth by a share moves a point by that share of the camera's distance from the plane. What differs from
    pixel to pixel, and from view to view, averages out; the rest of the stated σ is common to all points.
    """
    distance = np.abs(np.sum((own.camera - own.xyz) * normal, axis=1))
    stated, reach = float(np.median(own.relative_sigma)), float(np.median(distance))
    off = (own.xyz - np.median(own.xyz, axis=0)) @ normal / np.maximum(distance, 1e-3 * reach + 1e-12)
    counts = np.bincount(own.view)
    medians = [np.median(off[own.view == k]) for k in np.flatnonzero(counts >= 10)]
    between = float(np.std(medians)) if len(medians) > 2 else 0.0
    noise = float(np.median(own.noise))
    common = max(stated**2 - noise**2 - between**2, (common_share * stated) ** 2)
    single = np.median(np.abs(off - np.median(off))) * 1.48
    return float(reach * np.sqrt(common + between**2 / max(len(medians), 1) + single**2 / max(len(own) / 10, 1)))


def _above(seen: Surfaces) -> Float64[np.ndarray, "p"]:
    """How far below its camera each point lies; at least a tenth of its distance."""
    away = seen.camera - seen.xyz
    return np.asarray(np.maximum(np.abs(away[:, 2]), 0.1 * np.linalg.norm(away, axis=1)))


def _lowest(height: Float64[np.ndarray, "p"], band: float, least: float, contrast: float) -> float | None:
    """The middle of the lowest group of heights, `band` to either side, with `least` of them, and with `contrast` times
    as many as in a layer nearby."""
    if len(height) < least or not len(height):
        return None
    ordered = np.sort(height)
    count = np.searchsorted(ordered, ordered + 2 * band, side="right") - np.arange(len(ordered))
    nearby = np.searchsorted(ordered, ordered + 12 * band) - np.searchsorted(ordered, ordered - 10 * band)
    large = (count >= least) & (count >= contrast * (nearby - count) / 10)
    if not large.any():
        return None
    first = int(np.argmax(large))
    here: Int64[np.ndarray, "k"] = np.arange(first, np.searchsorted(ordered, ordered[first] + 2 * band, side="right"))
    best = here[int(np.argmax(count[here]))]
    return float(np.median(ordered[best : best + count[best]]))


def _plane(xyz: Float64[np.ndarray, "p 3"], tilts: bool) -> tuple[Float64[np.ndarray, "3"], Float64[np.ndarray, "3"]]:
    """Middle and upward normal of the plane through the points; level unless it tilts."""
    middle = np.asarray(xyz.mean(axis=0))
    if not tilts:
        return np.array([middle[0], middle[1], np.median(xyz[:, 2])]), np.array([0, 0, 1.0])
    a, b, c = np.linalg.lstsq(np.column_stack([xyz[:, :2] - middle[:2], np.ones(len(xyz))]), xyz[:, 2], rcond=None)[0]
    normal = np.array([-a, -b, 1]) / np.linalg.norm([a, b, 1])
    return np.array([middle[0], middle[1], c]), normal
