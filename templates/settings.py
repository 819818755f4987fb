"""Thresholds that decide whether a fact is asked, with units."""

from dataclasses import dataclass

from templates.condition import Condition


@dataclass(frozen=True, kw_only=True)
class MaxTolerances:
    """Largest tolerance of a question, per quantity. A tolerance is never widened to pass a gate."""

    roll_pitch_deg: float = 5.0
    vfov_deg: float = 6.0
    range_ratio: float = 0.15
    """Relative."""
    magnification: float = 0.10
    """Relative, of a zoom."""
    size_ratio: float = 0.15
    """Relative; ..."""
    size_cm: float = 3.0
    """... of sizes in centimetres, at least this; ..."""
    gap_m: float = 0.05
    """... of gaps between objects, at least this."""
    speed: float = 0.20
    """Relative."""
    direction_deg: float = 15.0
    angle_deg: float = 10.0
    """Between two lines in space."""
    rotation_deg: float = 5.0
    """Angle of a camera rotation; as for roll and pitch."""
    tilt_deg: float = 10.0
    """Of an object."""
    azimuth_deg: float = 20.0
    """Of an object's front."""
    polar_deg: float = 15.0
    """Also of an object's rotation in the photo."""
    point_diagonal: float = 0.02
    """Radius, as a share of the frame's diagonal."""
    map_rms: float = 0.15
    """Root-mean-square distance between drawn paths of largest radius 1; half of it is still visible."""


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """Settings of `templates.generate`."""

    min_confidence: float = 0.99
    """Least P(right) of an answer: one in a hundred at the threshold may be wrong."""
    facts_per_template: int = 8
    """Most facts of one template about one clip, so that a dataset spreads over clips."""
    difficulty: tuple[Condition, ...] = ()
    """All of them must hold."""
