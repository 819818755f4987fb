"""Errors of one quantity of one signal, in σ: the input of the σ calibration and of the tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64

from experts.provenance import Provenance
from experts.sigma_calibration.fitting import ErrorSample

MOST = 400
"""Largest number of errors kept per clip, evenly thinned: errors of one clip are correlated."""
GROSS_SIGMAS = 5.0
"""Outliers exceed this many σ (of signal and truth combined) and a size that each quantity defines."""
CLASSES = (0.001, 0.005, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Upper ends of the bins of outlier_probability."""
_DECIMALS = 3


@dataclass(frozen=True, kw_only=True)
class GrossCount:
    """The observed rate of outliers in one bin of outlier_probability."""

    at_most: float
    """Upper end of the bin."""
    claimed: float
    """Mean outlier_probability in the bin."""
    samples: int
    gross: int


@dataclass(frozen=True, kw_only=True)
class SignalErrors:
    """Errors of one quantity of one signal of a clip against the truth."""

    expert: str
    version: str
    weights_sha256: str | None
    signal: str
    quantity: str
    off: Float64[np.ndarray, "n"]
    """|error| in σ as stated, per axis or component. Outliers are left out where an outlier probability covers them."""
    other: Float64[np.ndarray, "n"]
    """σ of truth and of other quantities in that difference, in σ as stated."""
    counted: int
    """Errors before thinning."""
    undecided: int
    """Errors of which truth is less sure than the signal: they are left out."""
    gross: tuple[GrossCount, ...] = ()
    """By class of outlier_probability; empty for signals that claim none."""

    @property
    def sample(self) -> ErrorSample:
        """The samples that a calibration factor is fitted on."""
        return ErrorSample(error=self.off, other=self.other)

    def to_json(self) -> dict[str, Any]:
        """Compact, and bounded in size."""
        content = asdict(self) | {"gross": [asdict(each) for each in self.gross]}
        return content | {name: np.round(content[name], _DECIMALS).tolist() for name in ("off", "other")}

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "SignalErrors":
        """What `to_json` gave."""
        arrays = {name: np.array(content[name], dtype=np.float64) for name in ("off", "other")}
        return SignalErrors(**{**content, **arrays, "gross": tuple(GrossCount(**each) for each in content["gross"])})


def errors_of(
    made_by: Provenance,
    signal: str,
    quantity: str,
    *,
    error: Float64[np.ndarray, "n d"],
    own: Float64[np.ndarray, "n"],
    truth: Float64[np.ndarray, "n"],
    beside: Float64[np.ndarray, "n"] | None = None,
    wrong: Bool[np.ndarray, "n"] | None = None,
    gross: tuple[GrossCount, ...] = (),
) -> SignalErrors:
    """The record of some errors.

    Args:
        made_by: of the signal.
        signal: its name.
        quantity: what of it.
        error: signal minus truth, per sample and component; NaN where not known.
        own: σ per component as stated.
        truth: σ of truth. Where it is larger than `own`, truth does not decide whether σ is right.
        beside: σ of the signal's other quantities that are part of the difference.
        wrong: samples that are plainly wrong, or that no question can use: σ describes the others.
        gross: how many of them there are, by what was claimed.
    """
    known = np.isfinite(error).all(axis=1) & np.isfinite(own) & np.isfinite(truth) & (own > 0)
    known &= True if wrong is None else ~wrong
    decided = known & (truth <= own)
    more = np.zeros(len(own)) if beside is None else beside
    parts = error.shape[1]
    off = (np.abs(error[decided]) / own[decided, None]).ravel()
    other = np.repeat(np.hypot(truth, more)[decided] / own[decided], parts)
    kept = np.unique(np.linspace(0, len(off) - 1, min(MOST, len(off))).round().astype(int))
    return SignalErrors(
        expert=made_by.expert, version=made_by.version, weights_sha256=made_by.weights_sha256,
        signal=signal, quantity=quantity, off=off[kept], other=other[kept],
        counted=len(off), undecided=parts * int((known & ~decided).sum()), gross=gross,
    )  # fmt: skip


def gross_counts(outlier_probability: Float64[np.ndarray, "n"], wrong: Bool[np.ndarray, "n"]) -> tuple[GrossCount, ...]:
    """Samples and plainly wrong ones by class of what was claimed of them."""
    place = np.searchsorted(CLASSES, outlier_probability)
    return tuple(
        GrossCount(
            at_most=CLASSES[k],
            claimed=round(float(outlier_probability[place == k].mean()), 6),
            samples=int((place == k).sum()),
            gross=int(wrong[place == k].sum()),
        )
        for k in np.unique(place).tolist()
    )


def joined_counts(parts: Iterable[Sequence[GrossCount]]) -> tuple[GrossCount, ...]:
    """Errors of several clips together."""
    found = [each for part in parts for each in part]
    classes = {k: [each for each in found if each.at_most == k] for k in sorted({each.at_most for each in found})}
    return tuple(
        GrossCount(
            at_most=k,
            claimed=round(sum(e.claimed * e.samples for e in own) / sum(e.samples for e in own), 6),
            samples=sum(each.samples for each in own),
            gross=sum(each.gross for each in own),
        )
        for k, own in classes.items()
    )
