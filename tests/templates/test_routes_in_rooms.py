"""Routes through rendered rooms, answered again from the renderer's own poses and boxes."""

from collections.abc import Mapping

import numpy as np

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.columns import Json
from tests.templates.in_rooms import check, seeds
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


RIGHT = {"where_it_ends": arrived, "order_forward": ordered, "route_blanks": turned}


@seeds(1, 12)
def test_the_order_is_that_in_which_the_sum_of_the_motion_grows(seed: int) -> None:
    own = {"order_forward": ordered}
    rooms = (
        room_of(seed),
        filmed(seed),
        furnished_room(np.random.default_rng(seed), frames=48, width_px=120, height_px=90),
    )
    for scene, least in zip(rooms, (set[str](), {*own}, {*own}), strict=True):
        check(scene, true_signals(scene, as_clip(scene), stride=max(1, len(scene.world_from_cam) // 24)), own, least)


@seeds(1, 12)
def test_the_turns_are_those_of_somebody_who_walks_from_place_to_place(seed: int) -> None:
    own = {"route_blanks": turned}
    for kind, least in (("orbit", {*own}), ("look_round", set[str]()), ("through_the_door", set[str]())):
        scene = furnished_room(np.random.default_rng(seed), frames=48, width_px=120, height_px=90, path=kind)  # type: ignore[arg-type]
        check(scene, true_signals(scene, as_clip(scene), stride=2), own, least)
    scene = filmed(seed)
    check(scene, true_signals(scene, as_clip(scene), stride=3), own, set())


@seeds(1, 12)
def test_the_directions_end_where_a_turtle_ends(seed: int) -> None:
    own = {"where_it_ends": arrived}
    for kind, least in (("orbit", {*own}), ("look_round", set[str]()), ("through_the_door", set[str]())):
        scene = furnished_room(np.random.default_rng(seed), frames=48, width_px=120, height_px=90, path=kind)  # type: ignore[arg-type]
        check(scene, true_signals(scene, as_clip(scene), stride=2), own, least)
    scene = filmed(seed)
    check(scene, true_signals(scene, as_clip(scene), stride=3), own, set())
