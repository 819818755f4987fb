"""L1/Relation/Correspondence: which of four points of photo 2 is which of four points of photo 1?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, permutations
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.correspondence import corresponding_points
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, inside
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_LETTERS = ("P", "Q", "R", "S")
"""Marks in photo 1; photo 2 has numbers."""
_COUNT = len(_LETTERS)
_LEAST_DISTANCE = 0.12
"""Least distance between two marks of a photo, as a share of the diagonal."""
_AT_MARK = 0.01
"""Largest distance of a point from its mark in photo 2, as a share of the diagonal."""
_PER_PAIR = 4
"""Facts proposed for each pair of photos."""
_ORDERS = np.array(list(permutations(range(_COUNT))))
_LABELS = order_labels(_ORDERS + 1).tolist()
_EXCHANGES = np.array([[1, 0, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2], [2, 1, 0, 3], [0, 3, 2, 1], [3, 1, 2, 0]])
"""Orders in which two of four have changed places."""
_BY_PLACE = ("", "same place in the photo", "two points exchanged", "same place in the photo, two points exchanged")
"""Mistakes that lead to the options, ..."""
_IF_ALIKE = ("", "points mixed up", "two points exchanged", "two points exchanged")
"""... and where the places in the photo give the right order."""


@dataclass(frozen=True, kw_only=True)
class MarkedPairs(Facts):
    """Four points of photo a, and marks in photo b: the same points in another order."""

    frame_a: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 4 2"]
    frame_b: Int64[np.ndarray, "n"]
    b_px: Float64[np.ndarray, "n 4 2"]


@dataclass(frozen=True, kw_only=True)
class PointPairs(Template):
    """Which mark of photo 2 each of four points of photo 1 has. Measures the pixels of the four points in photo 2; the
    label is the number of each point's mark ("3 1 4 2")."""

    name: str = "point_pairs"
    version: str = "2"
    ability: str = "L1/Relation/Correspondence"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = MarkedPairs
    needs: frozenset[str] = frozenset({"matches"})
    reads: frozenset[str] = SURFACE | {"image_tracks", "matches", "objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MarkedPairs:
        """Confirmed matches of the pairs of frames in random order, four at a time, away from each other in both
        photos. Sets that lie alike in both photos come last."""
        found = [*islice(_sets_of_matches(scene, rng), count)]
        facts = MarkedPairs.from_json([fact for fact, _ in found])
        alike = (by_place(facts) == np.array([order for _, order in found]).reshape(-1, _COUNT)).all(axis=1)
        return facts.take(np.argsort(alike, kind="stable"))

    def measure(self, facts: MarkedPairs, scene: Scene) -> Measured:
        """By confirmed matches or dense depth. Each point must lie at one mark and be farther from the others.

        An order is wrong only if two of its points are outliers. The probability of that is at most half the sum of
        theirs (Markov's inequality), however they depend on each other.
        """
        count = len(facts)
        a, b = (np.repeat(frame, _COUNT) for frame in (facts.frame_a, facts.frame_b))
        points = corresponding_points(scene, a, facts.a_px.reshape(-1, 2), b)
        xy, sigma = points.value.reshape(count, _COUNT, 2), points.sigma.max(axis=1).reshape(count, _COUNT)
        distance = np.linalg.norm(xy[:, :, None] - facts.b_px[:, None], axis=3)
        mark = np.nan_to_num(distance, nan=np.inf).argmin(axis=2)
        near = np.take_along_axis(distance, mark[:, :, None], axis=2)
        is_shown = np.asarray(points.label) == ""
        cases = {
            "a point is not found in photo 2": (points.why != "").reshape(count, _COUNT).any(axis=1),
            "photo 2 does not show a point": ~is_shown.reshape(count, _COUNT).all(axis=1),
            "a point lies at no mark": (near[:, :, 0] > _AT_MARK * scene.diagonal_px).any(axis=1),
            "two points lie at one mark": (np.sort(mark, axis=1) != np.arange(_COUNT)).any(axis=1),
        }
        return Measured(
            why=first_reason(count, cases),
            value=xy.reshape(count, 2 * _COUNT),
            sigma=np.repeat(sigma, 2, axis=1),
            label=order_labels(mark + 1),
            margin=(_lead_px(facts.b_px, distance, mark) / sigma).min(axis=1),
            outlier_probability=np.minimum(points.outliers.reshape(count, _COUNT).sum(axis=1) / 2, 1.0),
            evidence={"off_mark_px": near.max(axis=(1, 2)).round(2), "found_px": xy.round()},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The numbers of the marks."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: MarkedPairs, answers: Answers, chance: Chance) -> Offer | None:
        """The right order, the one that the places in the photos suggest, and both with two points exchanged: no option
        stands out."""
        if format != "choice":
            return None
        right = 1 + _ORDERS[answers.among(_LABELS)]
        drawn = _EXCHANGES[chance.order("exchange", len(_EXCHANGES))[:, :2]]
        suggested = 1 + by_place(facts)
        alike = (suggested == right).all(axis=1)[:, None]
        taken = (_exchanged(right, drawn[:, 0]) == suggested).all(axis=1)[:, None]
        exchange = np.where(taken, drawn[:, 1], drawn[:, 0])
        other = np.where(alike, _exchanged(_exchanged(right, drawn[:, 0]), drawn[:, 1]), suggested)
        orders = np.stack([right, other, _exchanged(right, exchange), _exchanged(other, exchange)], axis=1)
        options = order_labels(orders.reshape(-1, _COUNT)).reshape(-1, orders.shape[1])
        return Offer.first_right(options, mistakes=np.where(alike, _IF_ALIKE, _BY_PLACE))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos with four marks each."""
        numbers = map(str, range(1, _COUNT + 1))
        media = (
            Photo.marked(fact["frame_a"], dict(zip(_LETTERS, fact["a_px"], strict=True))),
            Photo.marked(fact["frame_b"], dict(zip(numbers, fact["b_px"], strict=True))),
        )
        if format == "order":
            return Phrasing(media=media, answer=numbers_in_order(answer.to_json().answer))
        assert offer is not None
        return Phrasing(media=media, options=tuple(map(_in_words, offer.values(0))))


def by_place(facts: MarkedPairs) -> Int64[np.ndarray, "n 4"]:
    """The mark of each point if points kept their places in the picture: the order of the least sum of distances."""
    distance = np.linalg.norm(facts.a_px[:, :, None] - facts.b_px[:, None], axis=3)
    return _ORDERS[distance[:, np.arange(_COUNT), _ORDERS].sum(axis=2).argmin(axis=1)]


def _sets_of_matches(
    scene: Scene, rng: np.random.Generator
) -> Iterator[tuple[dict[str, Json], Int64[np.ndarray, "4"]]]:
    """Facts, and the mark of each point."""
    matches = scene.matches
    if matches is None:
        return
    sure = (matches.outlier_probability < MAX_OUTLIER_PROBABILITY) & inside(scene.clip, matches.xy_a_px)
    sure &= inside(scene.clip, matches.xy_b_px)
    for _ in range(_PER_PAIR):
        for k in rng.permutation(len(matches.pairs)):
            rows = rng.permutation(np.flatnonzero(sure & (matches.pair == k)))
            both = np.stack([matches.xy_a_px, matches.xy_b_px])
            chosen = _apart(both, rows, _LEAST_DISTANCE * scene.diagonal_px)
            if len(chosen) == _COUNT:
                a, b = matches.pairs[k].tolist()
                order = rng.permutation(_COUNT)
                a_px, b_px = both[0, chosen].tolist(), both[1, chosen][np.argsort(order)].tolist()
                yield {"frame_a": a, "a_px": a_px, "frame_b": b, "b_px": b_px}, order


def _apart(both_px: Float64[np.ndarray, "2 m 2"], rows: Int64[np.ndarray, "k"], least_px: float) -> list[int]:
    """The first four of the rows whose pixels lie away from those of all chosen before, in both photos."""
    kept: list[int] = []
    for row in rows.tolist():
        if (np.linalg.norm(both_px[:, kept] - both_px[:, [row]], axis=2) >= least_px).all():
            kept.append(row)
        if len(kept) == _COUNT:
            break
    return kept


def _lead_px(
    b_px: Float64[np.ndarray, "n 4 2"], distance: Float64[np.ndarray, "n 4 4"], mark: Int64[np.ndarray, "n 4"]
) -> Float64[np.ndarray, "n 4"]:
    """How far each point is from being as near to another mark as to its own: distance from the bisector."""
    rows = np.arange(len(mark))[:, None]
    between = np.linalg.norm(b_px[rows, mark][:, :, None] - b_px[:, None], axis=3)
    own = np.take_along_axis(distance, mark[:, :, None], axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = (distance**2 - own**2) / (2 * between)
    return np.asarray(np.where(mark[:, :, None] == np.arange(_COUNT), np.inf, lead).min(axis=2))


def _exchanged(orders: Int64[np.ndarray, "n 4"], exchange: Int64[np.ndarray, "n 4"]) -> Int64[np.ndarray, "n 4"]:
    return np.take_along_axis(orders, exchange, axis=1)


def _in_words(order: str) -> str:
    return ", ".join(f"{letter} = {number}" for letter, number in zip(_LETTERS, order.split(), strict=True))
