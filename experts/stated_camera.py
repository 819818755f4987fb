"""The user's `--intrinsics`, held against the footage: how an expert contradicts them, and how others learn of it."""

from experts.signals import NoEstimate, Signals

_CONTRADICTED = "the footage contradicts --intrinsics"


def contradicted(factor: float, evidence: str, relative_sigma: float | None = None) -> NoEstimate:
    """`evidence` shows `factor` times the user's focal length."""
    error = "" if relative_sigma is None else f" (± {100 * relative_sigma:.1f} %)"
    return NoEstimate(
        reason=_CONTRADICTED,
        detail=f"{evidence}: {factor:.2f} times the given focal length{error}",
        remedy="give the intrinsics of these pictures at their full size, or leave --intrinsics out",
    )


def contradiction(signals: Signals) -> NoEstimate | None:
    """That of the calibration, if it contradicts the user."""
    found = signals.get("calibration")
    return found if isinstance(found, NoEstimate) and found.reason == _CONTRADICTED else None
