"""Other viewpoints in rendered rooms: answered again from rendered depth and the true poses, one camera at a time."""

from collections.abc import Mapping

import numpy as np
import pytest

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_facing_in_rooms import front, middle
from tests.templates.test_grounding_in_rooms import point
from tests.templates.test_memory_in_rooms import shown

CLOSE_DEG = 15.0


def from_left(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The columns of an endless picture that the other camera would take."""
    columns = []
    for xy_px in fact["points_px"]:
        spot = scene.world_from_cam[fact["frame"]] @ [*point(scene, fact["frame"], xy_px), 1.0]
        x, _, z = (np.linalg.inv(scene.world_from_cam[fact["frame_seen_from"]]) @ spot)[:3]
        if z <= 0:
            return False
        columns.append(x / z)
    order = [str(number) for number in np.argsort(columns) + 1]
    return str(answer) in (" ".join(order), order[0])


def compass(scene: RenderedScene, frame: int) -> tuple[complex, complex]:
    """Place and heading on the floor, as complex numbers: the world's z is up."""
    pose = scene.world_from_cam[frame]
    return complex(*pose[:2, 3]), complex(*pose[:2, 2])


def fits(scene: RenderedScene, frame_from: int, frame: int, arrow_deg: Json) -> bool:
    """Whether an arrow, placed on the floor around the first camera, is near the other camera."""
    (start, ahead), (place, heading) = compass(scene, frame_from), compass(scene, frame)
    turns = [(place - start) / ahead, heading / ahead]
    off = [
        np.angle(turn * np.exp(1j * np.radians(drawn)), deg=True) for turn, drawn in zip(turns, arrow_deg, strict=True)
    ]
    return bool(np.abs(off).max() < CLOSE_DEG)


def arrow_of_photo(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    near = [fits(scene, fact["frame_from"], fact["frame"], arrow) for arrow in fact["arrows_deg"]]
    return near == [number == answer for number in "1234"]


def photo_of_arrow(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    near = [fits(scene, fact["frame_from"], frame, fact["arrow_deg"]) for frame in fact["frames"]]
    return near == [number == answer for number in "1234"]


def on_side(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The plan is turned until the first object faces along the real axis; left is along the imaginary one."""
    a, to_side = fact["anchor"], {"in front of you": 1, "on your left": 1j, "behind you": -1, "on your right": -1j}
    offsets = [
        (middle(scene, fact[name]) - middle(scene, a)) / front(scene, a) for name in ("first", "second", "third")
    ]
    turned = [offset / to_side[fact["side"]] for offset in offsets]
    return [each.real > abs(each.imag) for each in turned] == [number == answer for number in "123"]


def counted_beside(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """All surface points of each object that a frame shows must lie on one side of the plane through the other one."""
    a, to_left = fact["anchor"], []
    for row in set().union(*(shown(scene, frame, fact["name"]) for frame in fact["frames"])):
        xy = surface(scene, row, a["frame"])[:, :2] @ [1, 1j]
        left = ((xy - middle(scene, a)) / front(scene, a)).imag > 0
        if left.any() != left.all():
            return False
        to_left.append(bool(left.all()))
    assert meant(scene, a) >= 0
    return to_left.count(fact["side"] == "left") == int(answer)


def in_sight(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By rays from the point, moved a little towards the camera, to points on all boxes of the object."""
    frame, camera = fact["frame"], scene.world_from_cam[fact["frame"], :3, 3]
    spot = scene.world_from_cam[frame] @ [*point(scene, frame, fact["point_px"]), 1.0]
    eye = spot[:3] + 0.02 * (camera - spot[:3]) / np.linalg.norm(camera - spot[:3])
    way = surface(scene, meant(scene, fact["object"]), frame) - eye
    hidden = np.zeros(len(way), dtype=bool)
    solids = [*zip(scene.furniture, scene.world_from_boxes(frame), strict=True)]
    for box, pose in [*solids, *((wall, wall.world_from_box) for wall in scene.partitions)]:
        start, along = (eye - pose[:3, 3]) @ pose[:3, :3], way @ pose[:3, :3]
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.sort([(side * box.half_m - start) / along for side in (-1, 1)], axis=0)
        enters, leaves = np.nanmax(ends[0], axis=1), np.nanmin(ends[1], axis=1)
        hidden |= (enters < leaves) & (leaves > 0) & (enters < 0.999)
    return bool((~hidden).mean() >= 0.02 if answer == "yes" else hidden.all())


def alone_in_sight(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """`in_sight`, point by point."""
    words = [("yes" if (number == answer) == fact["seen"] else "no") for number in "123"]
    return all(
        in_sight(scene, {**fact, "point_px": xy_px}, word) for xy_px, word in zip(fact["points_px"], words, strict=True)
    )


PLACES = {"from_place": from_left, "where_on_map": arrow_of_photo, "view_from": photo_of_arrow}
OBJECTS = {"from_object": on_side, "count_on_side": counted_beside, "can_see": in_sight}
OBJECTS |= {"which_can_see": alone_in_sight}
RIGHT = PLACES | OBJECTS


@seeds(1, 12)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    least = {*PLACES} if seed == 0 else {*PLACES} - {"view_from"}  # it needs five photos of as many places
    check(scene, true_signals(scene, as_clip(scene), stride=4), PLACES, least)


@seeds(0, 12)
def test_what_objects_see_is_what_the_surfaces_say(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=2), OBJECTS, {*OBJECTS} - {"can_see", "which_can_see"})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, {"where_on_map"})


@pytest.mark.parametrize("turned", [(0, 180), (180, 0)])
def test_the_evaluator_tells_arrows_apart(turned: tuple[float, float]) -> None:
    scene = furnished_room(np.random.default_rng(0), frames=16, width_px=240, height_px=180)
    (start, ahead), (place, heading) = compass(scene, 0), compass(scene, 12)
    true = [-np.angle((place - start) / ahead, deg=True), -np.angle(heading / ahead, deg=True)]
    assert fits(scene, 0, 12, true)
    assert not fits(scene, 0, 12, [a + b for a, b in zip(true, turned, strict=True)])
