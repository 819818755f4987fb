"""What an answer is, when it is decided, and when it is *right*: defined once, for gate, audit and scoring."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.stats import norm

from action_mapping.plan import Plan as Steps
from action_mapping.primitives import COMPONENTS, ROTATIONS
from action_mapping.replay import moved_by, replay, residuals

TRUTH_SIGMAS = 3.0
"""Truth counts only where it decides by this many of its own σ; else the comparison is undecidable."""

MOTIONS = tuple(name.removesuffix("_rad") for name in COMPONENTS)
"""The six components of a plan as a question writes them, in steps: pan, tilt, roll, truck, pedestal, dolly."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """One of a closed set of words. Right: the true label."""

    text: str
    margin: float
    """Distance to the nearest other label, in σ of the joint measurement."""
    outlier_probability: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """One or several named numbers. Right: every one within its tolerance."""

    names: tuple[str, ...]
    value: Float64[np.ndarray, "d"]
    sigma: Float64[np.ndarray, "d"]
    tolerance: Float64[np.ndarray, "d"]
    """Written in the question, never above the quantity's cap."""
    unit: str
    period: float | None = None
    """The numbers are angles that repeat after this much, in `unit`; None if they do not."""
    decimals: int = 1
    """How many decimals are shown."""
    outlier_probability: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Point:
    """A pixel. Right: within `tolerance_px` (a radius)."""

    xy_px: Float64[np.ndarray, "2"]
    sigma_px: float
    """σ per axis."""
    tolerance_px: float
    outlier_probability: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A drawn outline or path, in its own units. Right: root-mean-square distance within `tolerance`."""

    points: Float64[np.ndarray, "n 2"]
    sigma: float
    """σ of the root-mean-square distance to the true shape."""
    tolerance: float
    """At most half the distance to the nearest option that is not this one."""
    outlier_probability: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Whole steps from one place to another. Right: followed, they end within `tolerance` steps of it, in way and in
    turn alike."""

    steps: Steps
    """What to do. Its `translation_step` is in metres, or in distances from the start to the marked point."""
    amounts: Float64[np.ndarray, "6"]
    """Where the other place is, in the order of `COMPONENTS`: rad, and the unit of `translation_step`."""
    sigma: Float64[np.ndarray, "6"]
    tolerance: float = 1.0
    """In steps; at most one."""
    outlier_probability: float = 0.0

    @property
    def step(self) -> Float64[np.ndarray, "6"]:
        """Size of one step of each component."""
        turn, way = self.steps.rotation_step_rad, self.steps.translation_step
        return np.array([turn if name in ROTATIONS else way for name in COMPONENTS])

    def left_over(self, amounts: Float64[np.ndarray, "6"]) -> Float64[np.ndarray, "2"]:
        """How far the followed plan ends from a place: way and turn, in steps."""
        there = moved_by(dict(zip(COMPONENTS, amounts.tolist(), strict=True)))
        (off,) = residuals(there[None], replay(np.eye(4), self.steps)[None])
        return np.array(
            [off.translation / self.steps.translation_step, off.rotation_rad / self.steps.rotation_step_rad]
        )


Answer = Label | Numbers | Point | Shape | Plan


def p_right(answer: Answer) -> float:
    """Probability that the answer is right: (1 - outlier_probability) · P(within tolerance, or same label)."""
    match answer:
        case Label():
            p = norm.cdf(answer.margin)
        case Numbers():
            with np.errstate(divide="ignore", invalid="ignore"):
                p = float(np.prod(1 - 2 * norm.sf(answer.tolerance / answer.sigma)))
        case Point():
            p = 1 - np.exp(-0.5 * (answer.tolerance_px / answer.sigma_px) ** 2)
        case Shape():
            p = 1 - 2 * norm.sf(answer.tolerance / answer.sigma)
        case Plan():
            sigma = _of_way_and_turn(answer.sigma / answer.step)
            p = np.prod(p_within(answer.left_over(answer.amounts), sigma, answer.tolerance))
    return float((1 - answer.outlier_probability) * p) if np.isfinite(p) else 0.0


def right(answer: Answer, truth: Answer) -> bool | None:
    """Whether `answer` is right if `truth` holds; None where the truth itself does not decide."""
    match answer, truth:
        case Label(), Label():
            return None if truth.margin < TRUTH_SIGMAS else answer.text == truth.text
        case Numbers(), Numbers():
            if not set(answer.names) <= set(truth.names):
                return None
            rows = [truth.names.index(name) for name in answer.names]
            apart = difference(answer.value, truth.value[rows], answer.period)
            return _all_decided(apart, answer.tolerance, truth.sigma[rows])
        case Point(), Point():
            offset = np.linalg.norm(answer.xy_px - truth.xy_px)
            return _all_decided(float(offset), answer.tolerance_px, truth.sigma_px)
        case (Label(), Point()):  # a photo is said to leave out what it shows
            return False
        case (Point(), Label()):  # ... or to show what it leaves out
            return None if truth.margin < TRUTH_SIGMAS else False
        case Shape(), Shape():
            return _all_decided(rms(answer.points, truth.points), answer.tolerance, truth.sigma)
        case Plan(), Plan():
            sigma = _of_way_and_turn(truth.sigma / answer.step)
            return _all_decided(answer.left_over(truth.amounts), answer.tolerance, sigma)
    raise TypeError(f"cannot compare {type(answer).__name__} with {type(truth).__name__}: give two of one kind")


def p_within(
    off: Float64[np.ndarray, "*k"] | float, sigma: Float64[np.ndarray, "*k"] | float, tolerance: float
) -> Float64[np.ndarray, "*k"]:
    """Probability that a point of three components, σ each, measured at distance `off`, lies within `tolerance`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        off = np.maximum(off, 1e-4 * tolerance)  # the formula has its limit at 0, not its value
        near, far = (tolerance - off) / sigma, (tolerance + off) / sigma
        tails = (norm.pdf(near) - norm.pdf(far)) / np.fmax(off / sigma, 1e-9)
        return np.asarray(norm.cdf(far) + norm.cdf(near) - 1 - tails)


def rms(a: Float64[np.ndarray, "n 2"], b: Float64[np.ndarray, "n 2"]) -> float:
    """Root-mean-square distance between corresponding points of two shapes."""
    return float(np.sqrt(np.mean(np.sum((a - b) ** 2, axis=-1))))


def difference(
    a: Float64[np.ndarray, "d"], b: Float64[np.ndarray, "d"], period: float | None
) -> Float64[np.ndarray, "d"]:
    """|a - b| per component, the short way round for angles of that period."""
    apart = np.abs(a - b)
    return np.minimum(apart % period, -apart % period) if period else apart


def _of_way_and_turn(each: Float64[np.ndarray, "6"]) -> Float64[np.ndarray, "2"]:
    """The larger σ of three ways, and of three turns."""
    is_turn = np.array([name in ROTATIONS for name in COMPONENTS])
    return np.array([each[~is_turn].max(), each[is_turn].max()])


def _all_decided(
    apart: np.ndarray | float, tolerance: np.ndarray | float, truth_sigma: np.ndarray | float
) -> bool | None:
    inside = np.asarray(apart) <= np.asarray(tolerance)
    clear = np.abs(np.asarray(apart) - tolerance) >= TRUTH_SIGMAS * np.asarray(truth_sigma)
    if np.any(~inside & clear):
        return False
    return True if np.all(inside & clear) else None
