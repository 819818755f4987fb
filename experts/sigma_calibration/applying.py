"""Signals with σ as their maps say, and nothing else changed."""

from collections.abc import Mapping
from dataclasses import replace

from experts.sigma_calibration.sigma_calibration import SigmaCalibration
from experts.signals import NoEstimate, Signal, Signals

QUANTITIES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "camera_path": {
        "rotation": ("rotation_sigma_rad",),
        "direction": ("direction_sigma_rad", "position_sigma"),
        "focal": ("focal_relative_sigma",),
    },
    "calibration": {"focal": ("focal_relative_sigma",)},
    "sparse_points": {"range": ("range_relative_sigma",)},
    "depth": {"range": ("relative_sigma",)},
    "tracks": {"pixel": ("sigma_px",)},
    "matches": {"pixel": ("sigma_px",)},
    "gravity": {"up": ("sigma_rad",)},
}
"""Per signal its quantities, and the fields that hold their σ."""


def with_sigma_calibration(signals: Signals, maps: SigmaCalibration) -> dict[str, Signal | NoEstimate]:
    """The signals with the σ of each mapped quantity times its gain, and the sets of the maps in their provenance.

    A signal is called calibrated where each of its quantities has a map of its own version and weights; otherwise the
    word for its σ stays: what is raw stays raw, and its floor applies. A quantity goes through a map once, however
    often it is given here.
    """
    return {name: s if isinstance(s, NoEstimate) else _mapped(name, s, maps) for name, s in signals.items()}


def _mapped(name: str, signal: Signal, maps: SigmaCalibration) -> Signal:
    made_by, quantities = signal.provenance, QUANTITIES.get(name.removesuffix("_check"), {})
    due = {q: m for q in quantities if q not in made_by.calibrated_on and (m := maps.of(made_by, name, q))}
    if not due:
        return signal
    own = (made_by.version, made_by.weights_sha256)
    whole = len(due) == len(quantities) and all((m.version, m.weights_sha256) == own for m in due.values())
    made_by = replace(
        made_by,
        sigma="calibrated" if whole else made_by.sigma,
        calibrated_on=made_by.calibrated_on | {quantity: each.sets for quantity, each in due.items()},
    )
    widened = {field: getattr(signal, field) * m.gain for q, m in due.items() for field in quantities[q]}
    return replace(signal, provenance=made_by, **widened)
