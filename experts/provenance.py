"""Where a signal comes from, and under which licence."""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """The maker of a signal. Holds no date, host, path or device: equal work has equal provenance."""

    expert: str
    """Registry name of the expert, or of the data set that knew the signal."""
    version: str
    """The expert's own version; it changes whenever its output can."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Every setting that the output depends on, as JSON values."""
    seed: int | None = None
    """Seed of whatever is random inside; None if nothing is."""
    code_licence: str = "Apache-2.0"
    """SPDX name of the licence of the code that ran."""
    weights_sha256: str | None = None
    """Hash of the weight file; None for experts without weights."""
    weights_licence: str | None = None
    """SPDX name (or a short name) of the licence of the weights."""
    commercial_ok: bool = True
    """Whether code and weights allow commercial use."""
    sigma: Literal["measured", "raw", "calibrated"] = "measured"
    """raw: from a model's own confidence through a map that nobody has calibrated yet; its floor applies. calibrated:
    every σ of the signal went through a map that was fitted to this version on sets with ground truth."""
    calibrated_on: dict[str, list[str]] = field(default_factory=dict)
    """Names of the sets that the map of each quantity was fitted on (`experts.sigma_calibration`)."""
