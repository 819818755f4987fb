"""Whether a relation holds: yes, no, or maybe where the measurement or people may leave it open."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.special import ndtr

from templates.answers import RIGHT, UNDECIDED, WRONG
from templates.columns import Columns

YES, MAYBE, NO = RIGHT, UNDECIDED, WRONG
"""The smaller of two is the verdict of "both", the negative that of "not"."""


@dataclass(frozen=True, kw_only=True)
class RelationMargins:
    """Least distances from the border between yes and no. Where σ is large, `sigmas` of it hold instead."""

    sigmas: float = 2.33
    towards_rad: float = float(np.radians(30))
    """Largest angle from a direction of what lies in it."""
    away_rad: float = float(np.radians(60))
    """Smallest angle of what does not."""
    gap_m: float = 0.05
    """Between neighbours in an order of lengths, in metres, ..."""
    gap_share: float = 0.1
    """... and as a share of the larger one."""


@dataclass(frozen=True, kw_only=True)
class Relations(Columns):
    """Whether a relation holds for each of up to c objects in n cases."""

    verdict: Int64[np.ndarray, "n c"]
    """`YES`, `MAYBE` or `NO`."""
    p_wrong: Float64[np.ndarray, "n c"]
    """Probability that the other of yes and no is true."""

    def singled_out(self) -> tuple[Int64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
        """The object for which alone the relation holds, -1 where it may hold for none or for several; and the
        probability that it is another one."""
        yes, maybe = self.verdict == YES, self.verdict == MAYBE
        alone = (yes.sum(axis=1) == 1) & ~maybe.any(axis=1)
        return np.where(alone, yes.argmax(axis=1), -1), np.minimum(self.p_wrong.sum(axis=1), 1.0)

    def where(self, which: Bool[np.ndarray, "n"], other: "Relations") -> "Relations":
        """These where `which` is true, else the others."""
        return Relations(
            verdict=np.where(which[:, None], self.verdict, other.verdict),
            p_wrong=np.where(which[:, None], self.p_wrong, other.p_wrong),
        )

    def among(self, present: Bool[np.ndarray, "n c"]) -> "Relations":
        """No for all objects that are not present."""
        return Relations(verdict=np.where(present, self.verdict, NO), p_wrong=np.where(present, self.p_wrong, 0.0))


def towards(
    angle_rad: Float64[np.ndarray, "n c"], sigma_rad: Float64[np.ndarray, "n c"], margins: RelationMargins
) -> Relations:
    """Whether objects lie in a direction, by their angle from it."""
    border, half = (margins.towards_rad + margins.away_rad) / 2, (margins.away_rad - margins.towards_rad) / 2
    verdict, p_wrong = positive(border - angle_rad, sigma_rad, np.full(angle_rad.shape, half), margins)
    return Relations(verdict=verdict, p_wrong=p_wrong)


def ranked(
    length: Float64[np.ndarray, "n c"],
    sigma: Float64[np.ndarray, "n c"],
    rank: Int64[np.ndarray, "n"],
    present: Bool[np.ndarray, "n c"],
    is_metric: bool,
    margins: RelationMargins,
) -> Relations:
    """Whether objects have the place `rank` (0: the shortest) in the order of their lengths, in path units."""
    with np.errstate(invalid="ignore"):
        least = margins.gap_share * np.maximum(length[:, :, None], length[:, None])
        least = np.maximum(least, margins.gap_m) if is_metric else least
        longer = length[:, :, None] - length[:, None]
    verdict, p_wrong = positive(longer, np.hypot(sigma[:, :, None], sigma[:, None]), least, margins)
    others = present[:, None] & ~np.eye(length.shape[1], dtype=bool)
    before, open_ = ((verdict == kind) & others for kind in (YES, MAYBE))
    least_rank, open_ranks = before.sum(axis=2), open_.sum(axis=2)
    wanted = rank[:, None]
    is_no = (least_rank > wanted) | (least_rank + open_ranks < wanted)
    is_yes = (least_rank == wanted) & (open_ranks == 0)
    found = Relations(
        verdict=np.where(is_yes, YES, np.where(is_no, NO, MAYBE)),
        p_wrong=np.where(others, p_wrong, 0.0).sum(axis=2) / 2,  # each pair counts for both of its objects
    )
    return found.among(present)


def positive(
    difference: Float64[np.ndarray, "*n"],
    sigma: Float64[np.ndarray, "*n"],
    least: Float64[np.ndarray, "*n"],
    margins: RelationMargins,
) -> tuple[Int64[np.ndarray, "*n"], Float64[np.ndarray, "*n"]]:
    """Whether differences are positive, by at least `least`; and the probability of the contrary. Unknown differences
    may be."""
    with np.errstate(invalid="ignore", divide="ignore"):
        clear = np.abs(difference) >= np.maximum(least, margins.sigmas * sigma)
        p_wrong = np.where(difference == 0, 0.5, ndtr(-np.abs(difference) / sigma))
    sign = np.where(difference > 0, YES, NO)
    return np.where(clear, sign, MAYBE), np.where(np.isnan(p_wrong), 0.5, p_wrong)
