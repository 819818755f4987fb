"""L3/Sequential Planning/Route: in which order were these photos taken, given the first?"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

import numpy as np

from templates.answers import Answer, Label
from templates.answers.order import order_label
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Option, Photo, Phrasing
from templates.scene.marks import spread_frames
from templates.scene.pictures import Params, Pictures
from templates.scene.scene import Scene
from templates.scene.shared_view import shared_views
from templates.template import Template

_SHUFFLED = 4
_PLACES = 14
_DRAWS = 400
_FACTS = 48
_MIN_SHARE = 0.3
"""Least share of a photo's points that the next one shows: with less, the photos do not show the route."""
_MIN_MARGIN = 3.0
"""Least difference in length from every other route, in σ."""


@dataclass(frozen=True, kw_only=True)
class RouteOrder(Template):
    """Order of four shuffled photos after the first.

    Measures the length of the route in every order, divided by the shortest. The label is the shortest order, as
    numbers of photos ("3 2 5 4").
    """

    name: str = "route_order"
    version: str = "1"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("order", "choice")
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "sparse_points", "depth"})

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Five frames of the path whose neighbours share their view; the last four are shuffled."""
        if scene.path is None or scene.path.motion != "general":
            return []
        frames = spread_frames(scene.path.frames[scene.path.registered & scene.path.keyframe], _PLACES)
        if len(frames) <= _SHUFFLED:
            return []
        views = {frame: shared_views(scene, frame, frames) for frame in frames}
        facts = {}
        for _ in range(_DRAWS):
            shown = [frames[k] for k in np.sort(rng.choice(len(frames), _SHUFFLED + 1, replace=False))]
            shuffled = [shown[k] for k in 1 + rng.permutation(_SHUFFLED)]
            if all(b in views[a] and views[a][b].share >= _MIN_SHARE for a, b in pairwise(shown)):
                facts[tuple(shown)] = Fact(template=self.name, params={"first": shown[0], "shuffled": shuffled})
        return list(facts.values())[:_FACTS]

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Lengths of all routes; σ of each leg = systematic ⊕ positions of its ends."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        frames = [fact.params["first"], *fact.params["shuffled"]]
        positions = scene.world_from_cam(frames)[:, :3, 3]
        if scene.clip.times_s is None:
            return Undecided(reason="the photos have no time stamps")
        if scene.path is None or not np.isfinite(positions).all():
            return Undecided(reason="the camera position of a photo is not known")
        leg = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        formal = scene.position_sigma(frames)
        sigma = np.hypot(scene.path.direction_sigma_rad * leg, np.hypot(formal[:, None], formal[None]))
        orders = list(permutations(range(1, len(frames))))
        routes = np.array([_legs(order, len(frames)) for order in orders])
        lengths = np.einsum("oij,ij->o", routes, leg)
        shortest = int(lengths.argmin())
        if not lengths[shortest] > 0:
            return Undecided(reason="the photos were taken at one place")
        difference_sigma = np.sqrt(np.einsum("oij,ij->o", np.abs(routes - routes[shortest]), sigma**2))
        others = np.arange(len(orders)) != shortest
        margin = float(np.min((lengths - lengths[shortest])[others] / difference_sigma[others]))
        return Measured(
            value=lengths / lengths[shortest],
            sigma=difference_sigma / lengths[shortest],
            label=order_label([k + 1 for k in orders[shortest]]),
            margin=margin,
            evidence={"next_shortest_over_shortest": round(float(np.sort(lengths)[1] / lengths[shortest]), 3)},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The shortest order."""
        assert measured.label is not None and measured.margin is not None
        if measured.margin < _MIN_MARGIN:
            return Undecided(reason="another order is nearly as short")
        return Label(text=measured.label, margin=measured.margin)

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Five photos; photo 1 was taken first. Refused where the route taken is not the shortest."""
        assert isinstance(answer, Label)
        shuffled = fact.params["shuffled"]
        right = [shuffled.index(frame) + 2 for frame in sorted(shuffled)]
        if answer.text != order_label(right):
            return Undecided(reason="the route taken is not the shortest one through the photos")
        prompt = (
            "One moving camera took these photos. Photo 1 was taken first; photos 2 to 5 are shuffled. No other order "
            "makes a shorter way from place to place than the one in which they were taken. "
        )
        media = tuple(Photo(frame=frame) for frame in (fact.params["first"], *shuffled))
        if format == "order":
            return Phrasing(
                prompt=prompt + "In which order were they taken after photo 1? Answer with a list of their numbers, "
                "as in [3, 2, 5, 4].",
                media=media,
                answer=right,
            )
        return Phrasing(
            prompt=prompt + "In which order were the photos taken?",
            media=media,
            options=tuple(
                Option(shown=", ".join(map(str, (1, *order))), value=order_label(order))
                for order in _orders(right, rng)
            ),
            answer=0,
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Five frames; the earliest comes first."""
        drawn = pictures.distinct_frames(rng, _SHUFFLED + 1)
        if drawn is None:
            return None
        first, *rest = sorted(drawn)
        return {"first": first, "shuffled": rng.permutation(rest).tolist()}


def _legs(order: Sequence[int], count: int) -> np.ndarray:
    """Upper triangular matrix: 1 for each leg (i < j) of the route from 0 through `order`."""
    taken = np.zeros((count, count))
    for a, b in pairwise((0, *order)):
        taken[min(a, b), max(a, b)] = 1.0
    return taken


def _orders(right: list[int], rng: np.random.Generator) -> list[list[int]]:
    """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out."""
    at = int(rng.integers(len(right) - 1))
    exchanged = [*right[:at], right[at + 1], right[at], *right[at + 2 :]]
    return [right, right[::-1], exchanged, exchanged[::-1]]
