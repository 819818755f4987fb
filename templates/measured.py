"""Measurements with their uncertainty as columns: a row per fact, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float64
from scipy.special import ndtr, ndtri

from templates.answers.label import Label
from templates.columns import NOT_A_COLUMN, Columns, Texts

_LEAST_P = 1e-300
"""Of an error; smaller ones have no finite margin."""


@dataclass(frozen=True, kw_only=True)
class Measured(Columns):
    """The measurements of n facts on a scene: numbers with σ, or labels with their margin."""

    why: Texts
    """Why the scene does not decide the fact: short and stable, counted by text ("point not triangulated"). "" where
    it does. Where it does not, the other columns are ignored."""
    value: Float64[np.ndarray, "n d"]
    """Measured components, in the units that the template's docstring states; also the numbers behind a label."""
    sigma: Float64[np.ndarray, "n d"]
    """One standard deviation of each component, systematic part included; inf: unknown."""
    label: Texts | None = None
    """The answer to a question that asks for a name (of a motion, yes / no) rather than a number; "" where there is
    none."""
    margin: Float64[np.ndarray, "n"] | None = None
    """Distance of the numbers from the nearest other label, in σ."""
    outlier_probability: Float64[np.ndarray, "n"] | None = None
    """Probability that the measurement is an outlier (another point, a drifted track); None: 0."""
    evidence: Mapping[str, np.ndarray] = field(default_factory=dict, metadata=NOT_A_COLUMN)
    """Details for people, an array of n rows each: frames, residuals, angles, counts. NaN and "" stand for none."""
    traps: Mapping[str, np.ndarray] = field(default_factory=dict, metadata=NOT_A_COLUMN)
    """By typical mistake ("mirrored", "centre to centre"), what it gives instead, an array of n rows each: labels, for
    formats with options and yes or no; orders ("2 3 1"); or numbers, for the format numeric. NaN and "" stand for
    none."""

    @classmethod
    def none(cls, count: int, reason: str, components: int = 1) -> "Measured":
        """`count` facts that are undecided for the same reason."""
        nan = np.full((count, components), np.nan)
        unnamed = np.full(count, "")
        return cls(why=np.full(count, reason), value=nan, sigma=nan, label=unnamed, margin=np.full(count, np.nan))

    @classmethod
    def interleaved(cls, first: Bool[np.ndarray, "n"], one: "Measured", other: "Measured") -> "Measured":
        """The rows of `one` where `first` is true, those of `other` elsewhere; both have one component and a label."""
        names = sorted({*one.evidence, *other.evidence})
        nan = [np.full(len(part), np.nan) for part in (one, other)]
        at = np.where(first, first.cumsum(), len(one) + (~first).cumsum()) - 1
        assert one.label is not None and other.label is not None and one.margin is not None and other.margin is not None
        return cls(
            why=np.concatenate([one.why, other.why])[at],
            value=np.concatenate([one.value, other.value])[at],
            sigma=np.concatenate([one.sigma, other.sigma])[at],
            label=np.concatenate([one.label, other.label])[at],
            margin=np.concatenate([one.margin, other.margin])[at],
            outlier_probability=np.concatenate([one.outliers, other.outliers])[at],
            evidence={
                name: np.concatenate([one.evidence.get(name, nan[0]), other.evidence.get(name, nan[1])])[at]
                for name in names
            },
        )

    def take(self, rows: np.ndarray | slice) -> "Measured":
        """The rows at the given indices, or where a mask is true."""
        evidence, traps = (
            {name: column[rows] for name, column in part.items()} for part in (self.evidence, self.traps)
        )
        taken = super().take(rows)
        vars(taken).update(evidence=evidence, traps=traps)
        return taken

    def refused(self, why: Texts) -> "Measured":
        """The measurements; rows with a reason in `why` take it."""
        return replace(self, why=np.where(why == "", self.why, why))

    def as_label(self) -> Label:
        """The labels as answers. Raises `ValueError` for measurements without labels."""
        if self.label is None or self.margin is None:
            raise ValueError("Measured has no label or no margin; allowed: both, for answers that are words")
        return Label(text=self.label, margin=self.margin, outlier_probability=self.outliers)

    @property
    def outliers(self) -> Float64[np.ndarray, "n"]:
        """The outlier probability of each row."""
        return np.zeros(len(self.why)) if self.outlier_probability is None else self.outlier_probability


def first_reason(count: int, cases: Mapping[str, Bool[np.ndarray, "n"] | np.bool_ | bool]) -> Texts:
    """The reason of the first case that holds in each of `count` rows; "" where none does."""
    why = np.full(count, "", dtype=f"<U{max([1, *map(len, cases)])}")
    for reason, holds in reversed([*cases.items()]):
        why[np.broadcast_to(holds, count)] = reason
    return why


def margin_of_all(
    differences: Float64[np.ndarray, "n k"], sigma: Float64[np.ndarray, "n k"]
) -> Float64[np.ndarray, "n"]:
    """The margin, in σ of one normal error, of an answer that holds if all differences are positive: the probabilities
    that each is negative are added up (Bonferroni)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-ndtri(np.clip(ndtr(-differences / sigma).sum(axis=1), _LEAST_P, 0.5)))


def joined(first: Measured, *others: Measured, independent: bool = False) -> Measured:
    """Facts measured on several scenes: the first value, with σ that includes every disagreement.

    Undecided where another scene is, and where labels differ. `independent` scenes rarely share an outlier, so that the
    smaller outlier probability counts where they agree; otherwise the larger one does.
    """
    for other in others:
        same = np.full(len(first), True) if first.label is None else _labels(first) == _labels(other)
        why = np.where(other.why == "", "", np.char.add("second reconstruction: ", other.why))
        why = np.where((why == "") & ~same, "the two reconstructions give different labels", why)
        with np.errstate(invalid="ignore"):
            sigma = np.hypot(first.sigma, other.value - first.value)
        margin = first.margin
        if margin is not None and other.margin is not None:
            margin = np.fmin(margin, other.margin)
        least_or_most = np.minimum if independent else np.maximum
        first = replace(
            first,
            why=np.where(first.why == "", why, first.why),
            sigma=sigma,
            margin=margin,
            outlier_probability=least_or_most(first.outliers, other.outliers),
        )
    return first


def _labels(measured: Measured) -> Texts:
    return np.full(len(measured), "") if measured.label is None else measured.label
