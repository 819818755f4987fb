"""The name of a motion: its dominant primitive, and its distance in σ from the nearest other name."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from action_mapping.primitives import ROTATIONS, TRANSLATIONS, Component, Primitive, primitive_of
from action_mapping.reading import MotionComponents, MotionReading

Basis = Literal["camera axes", "camera axes and levelled"]


@dataclass(frozen=True, kw_only=True)
class NamedMotion:
    """A named motion."""

    primitive: Primitive
    """The primitive of the largest component."""
    amount: float
    """Signed size of that component, in rad or path units."""
    purity: float
    """|amount| over the norm of the three components: 1 for a pure motion, 0.58 for three equal components."""
    margin: float
    """Distance in σ from the nearest other name, or from Stay."""
    basis: Basis = "camera axes"
    """Axes in which the name holds. If it is camera axes alone, the question must say so."""


@dataclass(frozen=True, kw_only=True)
class Unnamed:
    """The motion has no unambiguous name."""

    reason: str
    """Why: one of a few fixed texts, so that reasons can be counted."""


def dominant_rotation(
    components: MotionComponents, *, sigma_rad: float, threshold_rad: float, focal_relative_sigma: float = 0.0
) -> NamedMotion | Unnamed:
    """Name a rotation by its largest component, if that exceeds `threshold_rad`.

    `sigma_rad`: independent σ of each component. `focal_relative_sigma`: σ_f / f where the rotation comes from pixels
    alone. Pixels determine focal length × angle for pan and tilt, but the angle itself for roll. An error of the focal
    length therefore scales pan and tilt, relative to roll and to the threshold.
    """
    values = {name: float(getattr(components, name)) for name in ROTATIONS}
    largest, *others = sorted(values, key=lambda name: -abs(values[name]))
    if not all(map(math.isfinite, values.values())):
        return Unnamed(reason="rotation not known")
    size = abs(values[largest])
    if size <= threshold_rad:
        return Unnamed(reason="rotation below threshold")
    focal = 0.0 if largest == "roll_rad" else focal_relative_sigma * threshold_rad
    margins = [_in_sigma(size - threshold_rad, math.hypot(sigma_rad, focal))]
    for other in others:
        focal = focal_relative_sigma * abs(values["roll_rad"]) if "roll_rad" in (largest, other) else 0.0
        sigma = math.hypot(math.sqrt(2.0) * sigma_rad, focal)
        margins.append(_in_sigma(size - abs(values[other]), sigma))
    return _named(largest, values, min(margins))


def dominant_translation(
    components: MotionComponents, *, direction_sigma_rad: float, position_sigma: float = 0.0
) -> NamedMotion | Unnamed:
    """Name a translation by the largest component of its direction.

    `direction_sigma_rad`: σ per component of the direction. `position_sigma`: σ per component of the translation, in
    path units; a translation below 3 σ has no name. The margin is the angle to the nearest direction in which two
    components are equal, over σ.
    """
    values = {name: float(getattr(components, name)) for name in TRANSLATIONS}
    if not all(map(math.isfinite, values.values())):
        return Unnamed(reason="translation not known")
    largest, *others = sorted(values, key=lambda name: -abs(values[name]))
    length = math.hypot(*values.values())
    if length <= 3.0 * position_sigma:
        return Unnamed(reason="the translation is within its noise")
    sigma = math.hypot(direction_sigma_rad, position_sigma / length)
    second = max(abs(values[name]) for name in others)
    to_border = math.asin((abs(values[largest]) - second) / (math.sqrt(2.0) * length))
    return _named(largest, values, _in_sigma(to_border, sigma))


def agreed_rotation(
    reading: MotionReading,
    *,
    sigma_rad: float,
    threshold_rad: float,
    focal_relative_sigma: float = 0.0,
    up_sigma_rad: float = 0.0,
) -> NamedMotion | Unnamed:
    """`dominant_rotation`, if camera axes and levelled axes agree; in camera axes alone if up is unknown.

    In levelled axes σ grows by 1 / cos(pitch), and an error of up (`up_sigma_rad`) mixes the components.
    """
    named = dominant_rotation(
        reading.camera_axes,
        sigma_rad=sigma_rad,
        threshold_rad=threshold_rad,
        focal_relative_sigma=focal_relative_sigma,
    )
    if reading.levelled is None or isinstance(named, Unnamed):
        return named
    angle = math.hypot(*(getattr(reading.camera_axes, name) for name in ROTATIONS))
    levelled = dominant_rotation(
        reading.levelled,
        sigma_rad=math.hypot(sigma_rad, angle * up_sigma_rad) / math.cos(reading.pitch_rad),
        threshold_rad=threshold_rad,
        focal_relative_sigma=focal_relative_sigma,
    )
    return _agreed(named, levelled)


def agreed_translation(
    reading: MotionReading, *, direction_sigma_rad: float, position_sigma: float = 0.0, up_sigma_rad: float = 0.0
) -> NamedMotion | Unnamed:
    """`dominant_translation`, if camera axes and levelled axes agree; in camera axes alone if up is unknown."""
    named = dominant_translation(
        reading.camera_axes, direction_sigma_rad=direction_sigma_rad, position_sigma=position_sigma
    )
    if reading.levelled is None or isinstance(named, Unnamed):
        return named
    # The horizontal axes follow the heading, which an error of up rotates by up to tan(pitch) times that error.
    up = up_sigma_rad / math.cos(reading.pitch_rad)
    levelled = dominant_translation(
        reading.levelled, direction_sigma_rad=math.hypot(direction_sigma_rad, up), position_sigma=position_sigma
    )
    return _agreed(named, levelled)


def _agreed(camera_axes: NamedMotion, levelled: NamedMotion | Unnamed) -> NamedMotion | Unnamed:
    if isinstance(levelled, Unnamed) or levelled.primitive != camera_axes.primitive:
        return Unnamed(reason="camera axes and levelled axes name it differently")
    return replace(camera_axes, margin=min(camera_axes.margin, levelled.margin), basis="camera axes and levelled")


def _named(largest: Component, values: dict[Component, float], margin: float) -> NamedMotion:
    amount = values[largest]
    return NamedMotion(
        primitive=primitive_of(largest, amount),
        amount=amount,
        purity=abs(amount) / math.hypot(*values.values()),
        margin=margin,
    )


def _in_sigma(distance: float, sigma: float) -> float:
    return distance / sigma if sigma > 0 else math.inf
