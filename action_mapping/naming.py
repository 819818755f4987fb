"""Which primitive a motion mainly is, and how far it is, in σ, from being called another."""

import math
from dataclasses import dataclass, replace
from typing import Literal

from action_mapping.primitives import ROTATIONS, TRANSLATIONS, Component, Primitive, primitive_of
from action_mapping.reading import MotionComponents, MotionReading

Basis = Literal["camera axes", "camera axes and levelled"]


@dataclass(frozen=True, kw_only=True)
class NamedMotion:
    """A motion with its name."""

    primitive: Primitive
    """The primitive of the largest component."""
    amount: float
    """That component, signed: rad, or path units."""
    purity: float
    """|amount| over the norm of the three components: 1 is nothing else, 0.58 all three alike."""
    margin: float
    """How far, in σ, the motion lies from the nearest other name (or from Stay)."""
    basis: Basis = "camera axes"
    """In which readings the name holds. In camera axes alone, a prompt must say so."""


@dataclass(frozen=True, kw_only=True)
class Unnamed:
    """No name is given."""

    reason: str
    """Short, stable and countable."""


def dominant_rotation(
    components: MotionComponents, *, sigma_rad: float, threshold_rad: float, focal_relative_sigma: float = 0.0
) -> NamedMotion | Unnamed:
    """Name a rotation by its largest component, if that exceeds `threshold_rad` (the dead zone, rad).

    `sigma_rad`: independent σ of each component. `focal_relative_sigma`: σ_f / f where rotation was read from pixels
    alone. Pixels fix focal × angle for pan and tilt, and the angle itself for roll; so a wrong focal moves pan and
    tilt together against the roll and against the threshold, which is where it enters (linear in f on both sides).
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

    `direction_sigma_rad`: σ per component of the direction. `position_sigma`: σ per component of the way, in path
    units; ways below 3 of it have no name. Margin: angle to the plane where two axes are alike, over σ.
    """
    values = {name: float(getattr(components, name)) for name in TRANSLATIONS}
    if not all(map(math.isfinite, values.values())):
        return Unnamed(reason="translation not known")
    largest, *others = sorted(values, key=lambda name: -abs(values[name]))
    length = math.hypot(*values.values())
    if length <= 3.0 * position_sigma:
        return Unnamed(reason="no translation beyond its noise")
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
    """`dominant_rotation`, only where camera axes and levelled axes give one name; camera axes alone without them.

    Levelled components carry σ / cos(pitch), and what a wrong up (`up_sigma_rad`) moves between them.
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
    """`dominant_translation`, only where camera axes and levelled axes give one name; camera axes alone without."""
    named = dominant_translation(
        reading.camera_axes, direction_sigma_rad=direction_sigma_rad, position_sigma=position_sigma
    )
    if reading.levelled is None or isinstance(named, Unnamed):
        return named
    # The horizontal axes follow the heading, which a wrong up turns by up to its σ times tan(pitch).
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
