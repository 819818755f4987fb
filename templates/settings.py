"""Thresholds that decide whether something is asked, each with its unit and source."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MaxTolerances:
    """Widest tolerance that a question may state for a quantity. Tolerance is never widened to pass a gate."""

    roll_pitch_deg: float = 5.0
    vfov_deg: float = 6.0
    range_ratio: float = 0.15
    """Relative."""
    direction_deg: float = 15.0
    turn_deg: float = 5.0
    """Angle by which a camera turned; as for roll and pitch."""
    point_diagonal: float = 0.02
    """Radius, as a share of the frame's diagonal."""
    map_rms: float = 0.15
    """Root-mean-square distance between drawn paths whose largest radius is 1: half of it is still told by eye."""


@dataclass(frozen=True, kw_only=True)
class AskSettings:
    """How `templates.generate` asks."""

    min_confidence: float = 0.99
    """Least P(right) of anything that is asked (DESIGN §6)."""
    facts_per_template: int = 8
    """At most this many facts of one template about one clip: breadth over clips beats depth in one."""
