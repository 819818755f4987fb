"""L3/Sequential Planning/Route: in which order were these photos taken, given the first?

Where the footage has no time stamps: in which order does the shortest route visit their places?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

_SHUFFLED = 4
_PLACES = 14
_MIN_SHARE = 0.3
"""Least share of a photo's points that the next one shows: with less, the photos do not show the route."""
_MIN_MARGIN = 3.0
"""Least difference in length from every other route, in σ."""

_ORDERS = np.array(list(permutations(range(1, _SHUFFLED + 1))))
"""All orders of the shuffled photos, ascending, ..."""
_LABELS = order_labels(_ORDERS + 1)
"""... and as numbers of photos ("3 2 5 4")."""
_MISTAKES = ("", "reversed", "neighbours exchanged", "reversed, neighbours exchanged")
_LEGS = list(combinations(range(_SHUFFLED + 1), 2))
"""Pairs of photos; the first photo is 0."""
_ROUTES = np.array(
    [[{a, b} in map(set, pairwise((0, *order))) for a, b in _LEGS] for order in _ORDERS.tolist()], dtype=float
)
"""1 for each leg of the route from the first photo through each order."""


def _in_words(legs: Sequence[float]) -> str:
    """Distances of all pairs of photos: "1 to 2: 0.51"."""
    return ", ".join(f"{a + 1} to {b + 1}: {length:.2f}" for (a, b), length in zip(_LEGS, legs, strict=True))


@dataclass(frozen=True, kw_only=True)
class ShuffledPhotos(Facts):
    """A photo, and those after it in random order."""

    frame_first: Int64[np.ndarray, "n"]
    frames_shuffled: Int64[np.ndarray, "n 4"]
    by_time: Bool[np.ndarray, "n"]
    """Whether the footage has time stamps: then the camera's own route is asked for, else the shortest one."""


@dataclass(frozen=True, kw_only=True)
class RouteOrder(Template):
    """Order of four shuffled photos after the first: that in which they were taken, or that of the shortest route.

    Measures the length of the route in every order, divided by the shortest. The label is the shortest order, as
    numbers of photos ("3 2 5 4").
    """

    name: str = "route_order"
    version: str = "3"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = ShuffledPhotos
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Five frames of the path whose neighbours share their view; the last four are shuffled."""
        frames = places(scene, _PLACES)
        if len(frames) <= _SHUFFLED:
            return ShuffledPhotos.none()
        views = shared_views(scene, frames)
        follows = (views.share >= _MIN_SHARE) & np.isfinite(views.travel)
        drawn = rng.random((12 * count, len(frames))).argsort(axis=1)[:, : _SHUFFLED + 1]
        taken = np.unique(np.ravel_multi_index(tuple(np.sort(drawn, axis=1).T), (len(frames),) * drawn.shape[1]))
        shown = np.column_stack(np.unravel_index(taken, (len(frames),) * drawn.shape[1]))
        shown = rng.permutation(shown[follows[shown[:, :-1], shown[:, 1:]].all(axis=1)])[:count]
        order = rng.random((len(shown), _SHUFFLED)).argsort(axis=1)
        shuffled = np.take_along_axis(frames[shown[:, 1:]], order, axis=1)
        by_time = np.full(len(shown), scene.clip.times_s is not None)
        return ShuffledPhotos(frame_first=frames[shown[:, 0]], frames_shuffled=shuffled, by_time=by_time)

    def measure(self, facts: ShuffledPhotos, scene: Scene) -> Measured:
        """Lengths of all routes; σ of each leg = systematic ⊕ positions of its ends."""
        frames = np.column_stack([facts.frame_first, facts.frames_shuffled])
        positions = scene.world_from_cam(frames)[..., :3, 3]
        a, b = np.transpose(_LEGS)
        leg = np.linalg.norm(positions[:, a] - positions[:, b], axis=2)
        sigma = np.hypot(scene.direction_sigma_rad * leg, scene.offset_sigma(frames[:, np.array(_LEGS)]))
        lengths = leg @ _ROUTES.T
        shortest = np.nan_to_num(lengths, nan=np.inf).argmin(axis=1)
        least, others = lengths.min(axis=1)[:, None], np.arange(len(_ROUTES)) != shortest[:, None]
        difference_sigma = np.sqrt(np.einsum("nol,nl->no", np.abs(_ROUTES - _ROUTES[shortest][:, None]), sigma**2))
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = np.where(others, (lengths - least) / difference_sigma, np.inf)
            relative, relative_sigma = lengths / least, difference_sigma / least
        cases: dict[str, np.ndarray | bool] = {
            "the photos have no time stamps": facts.by_time & (scene.clip.times_s is None),
            POSITION_UNKNOWN: np.isnan(positions).any(axis=(1, 2)),
            "the photos were taken at one place": ~(least[:, 0] > 0),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=relative,
            sigma=relative_sigma,
            label=_LABELS[shortest],
            margin=margins.min(axis=1),
            evidence={
                "next_shortest_over_shortest": np.sort(relative, axis=1)[:, 1].round(3),
                "legs": np.array([_in_words(row) for row in leg.tolist()], dtype=np.str_),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The shortest order."""
        label = measured.as_label()
        cases = {"another order is nearly as short": np.asarray(label.margin) < _MIN_MARGIN}
        return Answers.of(label, first_reason(len(facts), cases))

    def offer(self, format: FormatName, facts: ShuffledPhotos, answers: Answers, chance: Chance) -> Offer | None:
        """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out. Refused
        where the footage has time stamps and the route taken is not the shortest."""
        right = _ORDERS[answers.among(_LABELS.tolist())]  # the first where there is none
        detour = (right != 1 + facts.frames_shuffled.argsort(axis=1)).any(axis=1)
        cases = {"the route taken is not the shortest one through the photos": facts.by_time & detour}
        why = first_reason(len(facts), cases)
        if format != "choice":
            return Offer(why=why)
        at, place = chance.index("neighbours", _SHUFFLED - 1)[:, None], np.arange(_SHUFFLED)
        exchanged = np.take_along_axis(right, place + (place == at) - (place == at + 1), axis=1)
        orders = np.stack([right, right[:, ::-1], exchanged, exchanged[:, ::-1]], axis=1)
        texts = order_labels(orders.reshape(-1, _SHUFFLED) + 1).reshape(orders.shape[:2])
        return Offer.first_right(texts, why, _MISTAKES)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Five photos; the route starts at photo 1."""
        media = tuple(Photo(frame=frame) for frame in (fact["frame_first"], *fact["frames_shuffled"]))
        wording = f"{format}.{'time' if fact['by_time'] else 'places'}"
        if format == "order":
            assert isinstance(answer, Label)
            return Phrasing(media=media, wording=wording, answer=numbers_in_order(str(answer.text)))
        assert offer is not None
        texts = tuple(f"1, {value.replace(' ', ', ')}" for value in offer.values(0))
        return Phrasing(media=media, wording=wording, options=texts)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Five frames; the earliest comes first."""
        if (drawn := pictures.distinct_frames(rng, _SHUFFLED + 1)) is None:
            return None
        return {
            "frame_first": min(drawn),
            "frames_shuffled": rng.permutation(sorted(drawn)[1:]).tolist(),
            "by_time": pictures.clip.times_s is not None,
        }
