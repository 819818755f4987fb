"""Origin and licence of a signal."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

_COMMERCIAL = re.compile(r"(apache|bsd|cc0|cc[ -]by|isc|l?gpl|mit|mpl|public domain|unlicense)\b", re.IGNORECASE)
_NOT_COMMERCIAL = re.compile(r"\bnc\b|non-?commercial|research", re.IGNORECASE)


def allows_commercial_use(licence: str) -> bool:
    """Whether a licence is known to allow commercial use. One that is not known counts as if it did not."""
    return bool(_COMMERCIAL.match(licence)) and not _NOT_COMMERCIAL.search(licence)


MAKER = ("expert", "version", "code_licence", "weights_sha256", "weights_licence", "commercial_ok")
"""What is recorded of each expert behind a signal, and in the audit of a dataset."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Describes how a signal was computed. It holds no date, host, path or device, so equal computations have equal
    provenance."""

    expert: str
    """Registry name of the expert, or name of the data set that contains the signal."""
    version: str
    """Version of the expert; changes whenever its output can change."""
    settings: dict[str, Any] = field(default_factory=dict)
    """All settings that affect the output, as JSON values."""
    seed: int | None = None
    """Random seed; None if nothing is random."""
    code_licence: str = "Apache-2.0"
    """SPDX name of the licence of the code."""
    weights_sha256: str | None = None
    """Hash of the weights; None for experts without weights."""
    weights_licence: str | None = None
    """SPDX name (or a short name) of the licence of the weights."""
    commercial_ok: bool = True
    """Whether the licences of its own code and weights allow commercial use; those of other experts: `made_from`."""
    sigma: Literal["measured", "raw", "calibrated"] = "measured"
    """measured: σ follows from the estimate's own algebra and measured noise floors. raw: σ follows from a model's
    confidence, which was never compared with ground truth; its floor applies. calibrated: every σ of the signal was
    scaled by a factor fitted for this version on sets with ground truth."""
    calibrated_on: dict[str, list[str]] = field(default_factory=dict)
    """Per quantity, the names of the sets on which its σ factor was fitted (`experts.sigma_calibration`)."""
    made_from: list[dict[str, Any]] = field(default_factory=list)
    """`MAKER` of every expert whose signals this one was computed from, directly or not. `annotate` writes it."""


def makers(sources: Iterable[Provenance]) -> list[dict[str, Any]]:
    """`Provenance.made_from` of what is computed from signals with these provenances: each expert once, sorted."""
    found = {}
    for source in sources:
        for each in (*source.made_from, {name: getattr(source, name) for name in MAKER}):
            found[json.dumps(each, sort_keys=True)] = each
    return [found[text] for text in sorted(found)]
