"""L3/Sequential Planning/Route: in which order were these photos taken, given the first?"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.answers.order import order_label
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

_SHUFFLED = 4
_PLACES = 14
_MIN_SHARE = 0.3
"""Least share of a photo's points that the next one shows: with less, the photos do not show the route."""
_MIN_MARGIN = 3.0
"""Least difference in length from every other route, in σ."""

_ORDERS = np.array(list(permutations(range(1, _SHUFFLED + 1))))
"""All orders of the shuffled photos, by index."""
_LABELS = np.array([order_label([k + 1 for k in order]) for order in _ORDERS.tolist()])
"""Their names, as numbers of photos ("3 2 5 4"), ..."""
_NAMES = np.full((_SHUFFLED,) * _SHUFFLED, "", dtype=_LABELS.dtype)
"""... and the same by the places of the photos in the order."""
_NAMES[tuple(_ORDERS.T - 1)] = _LABELS


def _routes() -> np.ndarray:
    """Upper triangular matrices: 1 for each leg (i < j) of the route from 0 through each order."""
    taken = np.zeros((len(_ORDERS), _SHUFFLED + 1, _SHUFFLED + 1))
    for k, order in enumerate(_ORDERS.tolist()):
        for a, b in pairwise((0, *order)):
            taken[k, min(a, b), max(a, b)] = 1.0
    return taken


_ROUTES = _routes().reshape(len(_ORDERS), -1)


@dataclass(frozen=True, kw_only=True)
class ShuffledPhotos(Facts):
    """A photo, and later ones in random order."""

    first: Int64[np.ndarray, "n"]
    shuffled: Int64[np.ndarray, "n 4"]


@dataclass(frozen=True, kw_only=True)
class RouteOrder(Template):
    """Order of four shuffled photos after the first.

    Measures the length of the route in every order, divided by the shortest. The label is the shortest order, as
    numbers of photos ("3 2 5 4").
    """

    name: str = "route_order"
    version: str = "2"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = ShuffledPhotos
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "sparse_points", "depth"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Facts:
        """Five frames of the path whose neighbours share their view; the last four are shuffled."""
        if scene.path is None or scene.path.motion != "general":
            return ShuffledPhotos.none()
        frames = np.array(spread_frames(scene.path.frames[scene.path.registered & scene.path.keyframe], _PLACES))
        if len(frames) <= _SHUFFLED:
            return ShuffledPhotos.none()
        views = shared_views(scene, frames)
        follows = (views.share >= _MIN_SHARE) & np.isfinite(views.travel)
        drawn = rng.random((12 * count, len(frames))).argsort(axis=1)[:, : _SHUFFLED + 1]
        taken = np.unique(np.ravel_multi_index(tuple(np.sort(drawn, axis=1).T), (len(frames),) * drawn.shape[1]))
        shown = np.column_stack(np.unravel_index(taken, (len(frames),) * drawn.shape[1]))
        shown = rng.permutation(shown[follows[shown[:, :-1], shown[:, 1:]].all(axis=1)])[:count]
        order = 1 + rng.random((len(shown), _SHUFFLED)).argsort(axis=1)
        shuffled = frames[np.take_along_axis(shown, order, axis=1)].reshape(len(shown), _SHUFFLED)
        return ShuffledPhotos(first=frames[shown[:, 0]], shuffled=shuffled)

    def measure(self, facts: ShuffledPhotos, scene: Scene) -> Measured:
        """Lengths of all routes; σ of each leg = systematic ⊕ positions of its ends."""
        if scene.path is None:
            return Measured.none(len(facts), "the camera position of a photo is not known")
        frames = np.column_stack([facts.first, facts.shuffled])
        positions = scene.world_from_cam(frames)[..., :3, 3]
        leg = np.linalg.norm(positions[:, :, None] - positions[:, None], axis=3)
        formal = scene.position_sigma(frames)
        sigma = np.hypot(scene.path.direction_sigma_rad * leg, np.hypot(formal[:, :, None], formal[:, None]))
        lengths = leg.reshape(len(facts), _ROUTES.shape[1]) @ _ROUTES.T
        shortest = np.nan_to_num(lengths, nan=np.inf).argmin(axis=1)
        least = lengths[np.arange(len(facts)), shortest]
        variance = np.einsum(
            "noe,ne->no", np.abs(_ROUTES - _ROUTES[shortest][:, None]), sigma.reshape(len(facts), _ROUTES.shape[1]) ** 2
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            difference_sigma = np.sqrt(variance)
            margins = (lengths - least[:, None]) / difference_sigma
            margins[np.arange(len(facts)), shortest] = np.inf
            relative, relative_sigma = lengths / least[:, None], difference_sigma / least[:, None]
        cases: dict[str, np.ndarray | bool] = {
            "the photos have no time stamps": scene.clip.times_s is None,
            "the camera position of a photo is not known": ~np.isfinite(positions).all(axis=(1, 2)),
            "the photos were taken at one place": ~(least > 0),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=relative,
            sigma=relative_sigma,
            label=_LABELS[shortest],
            margin=margins.min(axis=1),
            evidence={"next_shortest_over_shortest": np.sort(relative, axis=1)[:, 1].round(3)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The shortest order."""
        assert measured.label is not None and measured.margin is not None
        why = first_reason(len(facts), {"another order is nearly as short": measured.margin < _MIN_MARGIN})
        return Answers.of(Label(text=measured.label, margin=measured.margin), why)

    def offer(self, format: FormatName, facts: ShuffledPhotos, answers: Answers, chance: Chance) -> Offer | None:
        """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out. Refused
        where the route taken is not the shortest."""
        taken = 2 + facts.shuffled.argsort(axis=1)
        why = np.where(
            _texts(taken) == answers.labels(), "", "the route taken is not the shortest one through the photos"
        )
        if format != "choice":
            return Offer(why=why)
        at, every = chance.index("neighbours", _SHUFFLED - 1), np.arange(len(taken))
        exchanged = taken.copy()
        exchanged[every, at], exchanged[every, at + 1] = taken[every, at + 1], taken[every, at]
        orders = [taken, taken[:, ::-1], exchanged, exchanged[:, ::-1]]
        return Offer(
            why=why,
            options=np.stack([_texts(order) for order in orders], axis=1),
            right=np.zeros(len(why), dtype=np.int64),
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Five photos; photo 1 was taken first."""
        media = tuple(Photo(frame=frame) for frame in (fact["first"], *fact["shuffled"]))
        if format == "order":
            shuffled = fact["shuffled"]
            return Phrasing(media=media, answer=[shuffled.index(frame) + 2 for frame in sorted(shuffled)])
        assert offer is not None
        return Phrasing(media=media, options=tuple(f"1, {value.replace(' ', ', ')}" for value in offer.values(0)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Five frames; the earliest comes first."""
        drawn = pictures.distinct_frames(rng, _SHUFFLED + 1)
        if drawn is None:
            return None
        first, *rest = sorted(drawn)
        return {"first": first, "shuffled": rng.permutation(rest).tolist()}


def _texts(orders: Int64[np.ndarray, "n 4"]) -> Texts:
    """The name of each order of photo numbers."""
    return _NAMES[tuple(orders.T - 2)]
