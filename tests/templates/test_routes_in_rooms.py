"""Routes through rendered rooms, answered again from the renderer's own poses and boxes."""

from collections.abc import Mapping
from functools import cache
from heapq import heappop, heappush
from itertools import pairwise, product

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.distance import cdist

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_motion_stories_in_rooms import SEEN, WORDS, Motion, filmed, read, room_of

SAID = {
    "Dolly In": "dollies forward", "Dolly Out": "dollies backward", "Truck Right": "trucks right",
    "Truck Left": "trucks left", "Pedestal Up": "pedestals up", "Pedestal Down": "pedestals down",
    "Pan Right": "pans right", "Pan Left": "pans left", "Tilt Up": "tilts up", "Tilt Down": "tilts down",
}  # fmt: skip
assert {*SAID.values()} < {*WORDS}


def ordered(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The photos in the stated order are in order of time, and the sum of the stated motion grows from each to the
    next, more than that of any other motion of its kind."""
    shown = [fact["frames_shuffled"][int(number) - 1] for number in answer.split()]
    ((component, sign),) = read(SAID[fact["motion"]])
    sums = Motion.of(scene, sorted(shown)).sums[np.array(shown) - min(shown)] / SEEN
    steps = np.diff(sums, axis=0)
    kind = slice(0, 3) if component < 3 else slice(3, 6)
    main = np.abs(steps[:, kind]).max(axis=1) <= np.abs(steps[:, component]) + 1e-9
    return shown == sorted(shown) and bool((sign * steps[:, component] > 0.6).all() and main.all())


def turned(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By somebody who walks from place to place, and looks whether the next one is beside or behind them."""
    x, y = scene.world_from_cam[fact["frames"], :2, 3].T
    said = []
    for k in range(len(x) - 2):
        ahead, leg = (np.array([x[i + 1] - x[i], y[i + 1] - y[i]]) for i in (k, k + 1))
        assert min(np.hypot(*ahead), np.hypot(*leg)) > 0.1
        forward, to_left = leg @ ahead, ahead[0] * leg[1] - ahead[1] * leg[0]
        if forward < -1.5 * abs(to_left):
            said.append("back")
        elif abs(to_left) > 0.9 * forward:
            said.append("left" if to_left > 0 else "right")
    return bool(answer == ", ".join(said))


def arrived(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By a turtle on the floor: the stated photo is near where it stops, and no other one is."""
    start = scene.world_from_cam[fact["frame"]]
    at, ahead = start[:2, 3].copy(), start[:2, 2] / np.linalg.norm(start[:2, 2])
    for turn_deg, metres in fact["steps"]:
        c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
        ahead = np.array([c * ahead[0] + s * ahead[1], c * ahead[1] - s * ahead[0]])
        at += metres * ahead
    off = np.linalg.norm(scene.world_from_cam[fact["frames_options"], :2, 3] - at, axis=1)
    own = off[int(answer) - 1]
    return bool(own < 0.5 and (np.delete(off, int(answer) - 1) > own + 0.25).all())


def outside(scene: RenderedScene, xy: np.ndarray) -> np.ndarray:
    """How far places on the floor are from all boxes that are in the way of somebody, and from the walls; negative
    inside them."""
    x, y, _ = scene.room.size_m
    least = np.minimum(np.minimum(xy[:, 0], x - xy[:, 0]), np.minimum(xy[:, 1], y - xy[:, 1]))
    for box in (*scene.boxes, *scene.partitions):
        axes, middle = box.world_from_box[:3, :3], box.world_from_box[:3, 3]
        rise = np.abs(axes[2]) @ box.half_m
        if middle[2] + rise < 0.05 or middle[2] - rise > 1.8:
            continue
        own = np.abs((xy - middle[:2]) @ axes[:2, :2]) - box.half_m[:2]
        away = np.linalg.norm(np.clip(own, 0, None), axis=1) + np.clip(own.max(axis=1), None, 0)
        least = np.minimum(least, away)
    return np.asarray(least)


def through(scene: RenderedScene, xy: np.ndarray, frame: int) -> bool:
    """Whether a way leads 10 cm into what spans an object: somebody does not walk between the leaves of a plant."""
    for row in range(len(scene.objects)):
        points = surface(scene, row, frame)
        points = points[(points[:, 2] > 0.05) & (points[:, 2] < 1.8)][:, :2]
        if len(points) > 3 and np.ptp(points, axis=0).min() > 0.02:
            equations = ConvexHull(points).equations
            if (equations[:, :2] @ xy.T + equations[:, 2:]).max(axis=0).min() < -0.1:
                return True
    return False


@cache
def lengths_from(scene: RenderedScene, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Places every 5 cm, and the length of the shortest way to each that keeps 0.25 m from the boxes."""
    sides = [np.arange(0.025, side, 0.05) for side in scene.room.size_m[:2]]
    xy = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)
    away = outside(scene, xy.reshape(-1, 2)).reshape(xy.shape[:2])
    start = scene.world_from_cam[frame, :2, 3]
    open_ = (away >= 0.25) | ((np.linalg.norm(xy - start, axis=2) < 0.45) & (away > -0.05))
    lengths = np.full(open_.shape, np.inf)
    first = tuple(np.clip((start / 0.05).astype(int), 0, np.array(open_.shape) - 1).tolist())
    lengths[first] = 0
    heap = [(0.0, first)]
    while heap:
        length, (i, j) = heappop(heap)
        if length > lengths[i, j]:
            continue
        for a, b in product((-1, 0, 1), repeat=2):
            to = (i + a, j + b)
            if 0 <= to[0] < open_.shape[0] and 0 <= to[1] < open_.shape[1] and open_[to]:
                longer = length + 0.05 * float(np.hypot(a, b))
                if longer < lengths[to] - 1e-9:
                    lengths[to] = longer
                    heappush(heap, (longer, to))
    return xy.reshape(-1, 2), lengths.ravel()


def shortest(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The stated route keeps outside all boxes, ends beside the object and is as short as one over a grid; each other
    one goes through a box, is much longer, or ends elsewhere."""
    frame = fact["object"]["frame"]
    camera, points = scene.world_from_cam[frame], surface(scene, meant(scene, fact["object"]), frame)[:, :2]
    ahead = camera[:2, 2] / np.linalg.norm(camera[:2, 2])
    routes = np.array(fact["routes"]) @ np.array([[ahead[1], -ahead[0]], ahead]) + camera[:2, 3]
    places = [np.concatenate([np.linspace(a, b, 100) for a, b in pairwise(route)]) for route in routes]
    length = np.linalg.norm(np.diff(routes, axis=1), axis=2).sum(axis=1)
    away = [outside(scene, each[np.linalg.norm(each - each[0], axis=1) > 0.3]).min() for each in places]
    off = [cdist(route[-1:], points).min() for route in routes]
    own = int(answer) - 1
    xy, ways = lengths_from(scene, frame)
    beside = cdist(xy, points[::5])
    near = (beside.min(axis=1) <= 0.6) & (ways < length[own])
    share = np.linspace(0, 0.6, 20)[:, None]  # something else may stand between
    best = min(
        (
            float(ways[k])
            for k in np.flatnonzero(near)
            if outside(scene, xy[k] + share * (points[::5][beside[k].argmin()] - xy[k])).min() > 0
        ),
        default=np.inf,
    )
    fits = away[own] > 0.1 and off[own] < 0.65 and length[own] < 1.15 * best + 0.1
    wrong = [k for k in range(4) if k != own]
    return bool(fits) and all(
        away[k] < -0.07 or length[k] > 1.25 * length[own] or off[k] > 1.0 or through(scene, places[k], frame)
        for k in wrong
    )


RIGHT = {"route_on_map": shortest, "where_it_ends": arrived, "order_forward": ordered, "route_blanks": turned}


@seeds(0, 12, sampled=0)
def test_the_order_is_that_in_which_the_sum_of_the_motion_grows(seed: int) -> None:
    own = {"order_forward": ordered}
    rooms = (
        room_of(seed),
        filmed(seed),
        furnished_room(np.random.default_rng(seed), frames=48, width_px=120, height_px=90),
    )
    for scene, least in zip(rooms, (set[str](), {*own}, {*own}), strict=True):
        check(scene, true_signals(scene, as_clip(scene), stride=max(1, len(scene.world_from_cam) // 24)), own, least)


@seeds(0, 12)
def test_the_turns_are_those_of_somebody_who_walks_from_place_to_place(seed: int) -> None:
    own = {"route_blanks": turned}
    for kind, least in (("orbit", {*own}), ("look_round", set[str]()), ("through_the_door", set[str]())):
        scene = furnished_room(np.random.default_rng(seed), frames=48, width_px=120, height_px=90, path=kind)  # type: ignore[arg-type]
        check(scene, true_signals(scene, as_clip(scene), stride=2), own, least)
    scene = filmed(seed)
    check(scene, true_signals(scene, as_clip(scene), stride=3), own, set())


@seeds(0, 12, sampled=0)
def test_the_directions_end_where_a_turtle_ends(seed: int) -> None:
    own = {"where_it_ends": arrived}
    for kind, least in (("orbit", {*own}), ("look_round", set[str]()), ("through_the_door", set[str]())):
        scene = furnished_room(np.random.default_rng(seed), frames=48, width_px=120, height_px=90, path=kind)  # type: ignore[arg-type]
        check(scene, true_signals(scene, as_clip(scene), stride=2), own, least)
    scene = filmed(seed)
    check(scene, true_signals(scene, as_clip(scene), stride=3), own, set())


@seeds(1, 12)
def test_the_route_on_the_map_is_free_of_boxes_and_as_short_as_a_search_finds(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=120, height_px=90)
    check(scene, true_signals(scene, as_clip(scene), stride=2), {"route_on_map": shortest}, set())
