"""Whether one object carries another one along."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.mapping.moves_along import MovesAlong
from templates.scene.carried_along import BESIDE, CARRIES, OWN_WAY, RIDES, carried_along
from tests.templates import worlds

T = np.linspace(0, 1, len(worlds.FRAMES))
CART, LOAD = 0, 1


def stage(offset_m: tuple[float, float, float], *, own_y: np.ndarray | None = None) -> dict[str, Signal]:
    """A cart of 60 cm that drives away from the camera, and a load of 30 cm whose middle is `offset_m` from its own."""
    signals = worlds.with_movers(worlds.signals(poses=np.tile(worlds.camera_poses()[:1], (len(T), 1, 1))))
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    poses = np.tile(np.eye(4), (len(T), 2, 1, 1))
    poses[:, :, 0, 3] = 0.2
    poses[:, :, 1, 3] = (4 + 3 * T)[:, None]
    poses[:, LOAD, :3, 3] += offset_m
    if own_y is not None:
        poses[:, LOAD, 1, 3] = own_y
    placed = replace(
        objects, labels=("cart", "box"), world_from_object=poses, size=np.array([[0.6] * 3, [0.3] * 3]), box_px=None,
        ids=worlds._no_masks(), centre_sigma=None, size_sigma=None, outlier_probability=None,
    )  # fmt: skip
    return worlds.detected({**signals, "objects": placed})


@pytest.mark.parametrize(
    ("offset_m", "label"),
    [((0, 0, 0.45), RIDES), ((0.2, 0, 0.45), RIDES), ((1.2, 0, 0.2), BESIDE), ((1.2, 0, 1.2), BESIDE)],
)
def test_what_is_firmly_on_it_rides(offset_m: tuple[float, float, float], label: str) -> None:
    scene = worlds.scene(stage(offset_m))
    assert carried_along(scene, worlds.FRAMES, LOAD, CART).code == label
    assert carried_along(scene, worlds.FRAMES, CART, LOAD).code == {RIDES: CARRIES, BESIDE: BESIDE}[label]


@pytest.mark.parametrize(
    ("own_y", "answer"),
    [
        (4 + 0 * T, OWN_WAY),
        (7 - 3 * T, OWN_WAY),
        (4 + 2.6 * T, "the objects move neither as one nor clearly apart"),
        (4 + 3 * np.minimum(T, 0.6), "the objects move neither as one nor clearly apart"),
        (np.where(T > 0.5, np.nan, 4 + T), "the places of the objects are not known"),
    ],
)
def test_what_goes_its_own_way_does_not_ride(own_y: np.ndarray, answer: str) -> None:
    found = carried_along(worlds.scene(stage((0.9, 0, 0.0), own_y=own_y)), worlds.FRAMES, LOAD, CART)
    assert answer in (found.code, found.why)


def test_a_load_that_hovers_or_sinks_in_is_not_decided() -> None:
    """What is high above the cart may stand on something else that the cart carries."""
    for height in (0.47, 0.4, 1.2):
        found = carried_along(worlds.scene(stage((0, 0, height))), worlds.FRAMES, LOAD, CART)
        assert found.why == "how the objects touch is not known", height


def test_what_stands_is_not_carried_along() -> None:
    signals = stage((0, 0, 0.45))
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    still = replace(objects, world_from_object=objects.world_from_object[:1].repeat(len(T), axis=0))
    scene = worlds.scene({**signals, "objects": still})
    assert carried_along(scene, worlds.FRAMES, LOAD, CART).why == "neither object moves visibly"


def test_the_question_names_both() -> None:
    found = worlds.drafts(worlds.ask(MovesAlong(), stage((0, 0, 0.45))))
    right = {str(draft.options[worlds.written(draft)].shown) for draft in found}
    assert right == {"The cart carries the box along"}


def test_where_another_object_of_the_name_may_be_there_nothing_is_asked() -> None:
    signals = stage((0, 0, 0.45))
    objects = signals["objects"]
    assert isinstance(objects, Objects) and worlds.ask(MovesAlong(), signals)
    for complete in ((), ("cart",)):
        assert not worlds.ask(MovesAlong(), {**signals, "objects": replace(objects, complete=complete)})
    named = replace(objects, complete=("cart", "box"))
    assert worlds.ask(MovesAlong(), {**signals, "objects": named})
