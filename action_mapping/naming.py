"""Names of motions: the dominant primitive of each, and its distance in σ from the nearest other name.

Every function takes and returns n motions, one row each. Rows do not influence each other.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64, Shaped

from action_mapping.primitives import COMPONENTS, primitive_of
from action_mapping.reading import MotionReading

_NAMES = np.array([[primitive_of(component, sign).name for sign in (-1, 1)] for component in COMPONENTS])
_ROLL = COMPONENTS.index("roll_rad")


@dataclass(frozen=True, kw_only=True)
class NamedMotion:
    """Names of n motions; "" and NaN where a motion has no unambiguous name."""

    name: Shaped[np.ndarray, "n"]
    """Name of the primitive of the largest component ("Pan Right")."""
    amount: Float64[np.ndarray, "n"]
    """Signed size of that component, in rad or path units."""
    purity: Float64[np.ndarray, "n"]
    """|amount| over the norm of the three components: 1 for a pure motion, 0.58 for three equal components."""
    margin: Float64[np.ndarray, "n"]
    """Distance in σ from the nearest other name, or from Stay."""
    basis: Shaped[np.ndarray, "n"]
    """Axes in which the name holds: "camera axes" or "camera axes and levelled". If it is camera axes alone, the
    question must say so."""
    reason: Shaped[np.ndarray, "n"]
    """Why there is no name: one of a few fixed texts, so that reasons can be counted; "" where there is a name."""


def dominant_rotation(
    components: Float64[np.ndarray, "n 6"],
    *,
    sigma_rad: Float64[np.ndarray, "n"] | float,
    threshold_rad: float,
    turn_relative_sigma: float = 0.0,
) -> NamedMotion:
    """Name each rotation by its largest component, if that exceeds `threshold_rad`. Columns as COMPONENTS.

    `sigma_rad`: independent σ of each component. `turn_relative_sigma`: of pan and tilt over their size, where the
    rotation comes from pixels (σ_f / f if the camera only turns). Pixels determine focal length × angle for pan and
    tilt, but the angle itself for roll. An error of the focal length therefore scales pan and tilt, relative to roll
    and to the threshold.
    """
    rotation = components[:, :3]
    sigma = np.broadcast_to(sigma_rad, len(rotation))
    size = np.abs(rotation)
    largest = size.argmax(axis=1)
    with np.errstate(all="ignore"):
        peak = size.max(axis=1)
        is_roll = largest == _ROLL
        focal = np.where(is_roll, 0.0, turn_relative_sigma * threshold_rad)
        margin = _in_sigma(peak - threshold_rad, np.hypot(sigma, focal))
        scaled = is_roll[:, None] | (np.arange(3) == _ROLL)
        focal = np.where(scaled, turn_relative_sigma * size[:, [_ROLL]], 0.0)
        to_others = _in_sigma(peak[:, None] - size, np.hypot(np.sqrt(2.0) * sigma[:, None], focal))
        margin = np.minimum(margin, _without(to_others, largest).min(axis=1))
        reason = np.where(peak <= threshold_rad, "rotation below threshold", "")
    reason = np.where(np.isfinite(rotation).all(axis=1), reason, "rotation not known")
    return _named(rotation, largest, _NAMES[:3], margin, reason)


def dominant_translation(
    components: Float64[np.ndarray, "n 6"],
    *,
    direction_sigma_rad: Float64[np.ndarray, "n"] | float,
    position_sigma: Float64[np.ndarray, "n"] | float = 0.0,
) -> NamedMotion:
    """Name each translation by the largest component of its direction. Columns as COMPONENTS.

    `direction_sigma_rad`: σ per component of the direction. `position_sigma`: σ per component of the translation, in
    path units; a translation below 3 σ has no name. The margin is the angle to the nearest direction in which two
    components are equal, over σ.
    """
    translation = components[:, 3:]
    size = np.abs(translation)
    largest = size.argmax(axis=1)
    with np.errstate(all="ignore"):
        length = np.hypot.reduce(size, axis=1)
        second = -_without(-size, largest).min(axis=1)
        to_border = np.arcsin((size.max(axis=1) - second) / (np.sqrt(2.0) * length))
        margin = _in_sigma(to_border, np.hypot(direction_sigma_rad, position_sigma / length))
        reason = np.where(length <= 3.0 * position_sigma, "the translation is within its noise", "")
    reason = np.where(np.isfinite(translation).all(axis=1), reason, "translation not known")
    return _named(translation, largest, _NAMES[3:], margin, reason)


def agreed_rotation(
    reading: MotionReading,
    *,
    sigma_rad: Float64[np.ndarray, "n"] | float,
    threshold_rad: float,
    turn_relative_sigma: float = 0.0,
    up_sigma_rad: Float64[np.ndarray, "n"] | float = 0.0,
) -> NamedMotion:
    """`dominant_rotation`, if camera axes and levelled axes agree; in camera axes alone where up is unknown.

    In levelled axes σ grows by 1 / cos(pitch), and an error of up (`up_sigma_rad`) mixes the components.
    """
    settings = {"threshold_rad": threshold_rad, "turn_relative_sigma": turn_relative_sigma}
    named = dominant_rotation(reading.camera_axes, sigma_rad=sigma_rad, **settings)
    angle = np.hypot.reduce(reading.camera_axes[:, :3], axis=1)
    levelled_sigma_rad = np.hypot(sigma_rad, angle * up_sigma_rad) / np.cos(reading.pitch_rad)
    levelled = dominant_rotation(reading.levelled, sigma_rad=levelled_sigma_rad, **settings)
    return _agreed(named, levelled, reading)


def agreed_translation(
    reading: MotionReading,
    *,
    direction_sigma_rad: Float64[np.ndarray, "n"] | float,
    position_sigma: Float64[np.ndarray, "n"] | float = 0.0,
    up_sigma_rad: Float64[np.ndarray, "n"] | float = 0.0,
) -> NamedMotion:
    """`dominant_translation`, if camera axes and levelled axes agree; in camera axes alone where up is unknown."""
    named = dominant_translation(
        reading.camera_axes, direction_sigma_rad=direction_sigma_rad, position_sigma=position_sigma
    )
    # The horizontal axes follow the heading, which an error of up rotates by up to tan(pitch) times that error.
    levelled_sigma_rad = np.hypot(direction_sigma_rad, up_sigma_rad / np.cos(reading.pitch_rad))
    levelled = dominant_translation(
        reading.levelled, direction_sigma_rad=levelled_sigma_rad, position_sigma=position_sigma
    )
    return _agreed(named, levelled, reading)


def _agreed(camera_axes: NamedMotion, levelled: NamedMotion, reading: MotionReading) -> NamedMotion:
    """The names in camera axes, without those that differ in levelled axes where these are known."""
    both = ~np.isnan(reading.levelled).all(axis=1) & (camera_axes.reason == "")
    differ = both & (camera_axes.name != levelled.name)
    return _blanked(
        name=camera_axes.name,
        amount=camera_axes.amount,
        purity=camera_axes.purity,
        margin=np.where(both, np.minimum(camera_axes.margin, levelled.margin), camera_axes.margin),
        basis=np.where(both, "camera axes and levelled", camera_axes.basis),
        reason=np.where(differ, "camera axes and levelled axes name it differently", camera_axes.reason),
    )


def _named(
    components: Float64[np.ndarray, "n 3"],
    largest: Int64[np.ndarray, "n"],
    names: Shaped[np.ndarray, "3 2"],
    margin: Float64[np.ndarray, "n"],
    reason: Shaped[np.ndarray, "n"],
) -> NamedMotion:
    """The motions of three components, named by their largest one. `names`: for each component, of − and of +."""
    amount = np.take_along_axis(components, largest[:, None], axis=1)[:, 0]
    with np.errstate(all="ignore"):
        purity = np.abs(amount) / np.hypot.reduce(components, axis=1)
    return _blanked(
        name=names[largest, (amount > 0).astype(int)],
        amount=amount,
        purity=purity,
        margin=margin,
        basis=np.full(len(amount), "camera axes"),
        reason=reason,
    )


def _blanked(*, reason: Shaped[np.ndarray, "n"], **columns: Shaped[np.ndarray, "n"]) -> NamedMotion:
    """The columns, without those rows for which there is a reason to give no name."""
    blank = {name: "" if column.dtype.kind == "U" else np.nan for name, column in columns.items()}
    return NamedMotion(
        reason=reason, **{name: np.where(reason == "", column, blank[name]) for name, column in columns.items()}
    )


def _without(values: Float64[np.ndarray, "n 3"], column: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n 3"]:
    """The values, with infinity in one column of each row."""
    return np.where(np.arange(3) == column[:, None], np.inf, values)


def _in_sigma(distance: Float64[np.ndarray, "..."], sigma: Float64[np.ndarray, "..."]) -> Float64[np.ndarray, "..."]:
    return np.where(sigma > 0, distance / sigma, np.inf)
