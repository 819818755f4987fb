"""How fast an object is if it reaches the camera in a given time."""

from dataclasses import replace

import numpy as np

from experts.signals import Objects, Signal
from templates.measured import Measured
from templates.scene.objects import found_again
from templates.simulation.speed_if import ObjectAndTime, SpeedIf
from tests.templates import worlds

TEMPLATE = SpeedIf()


def signals(**path: object) -> dict[str, Signal]:
    return worlds.with_path(worlds.as_truth(worlds.signals()), scale=worlds.METRIC, **path)


def measured(known: dict[str, Signal], facts: ObjectAndTime | None = None) -> tuple[ObjectAndTime, Measured]:
    if facts is None:
        facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 20).rounded()
        assert len(facts) >= 10
    return facts, TEMPLATE.measure(facts, worlds.scene(known))


def test_the_distance_to_the_nearest_part_over_the_time() -> None:
    facts, found = measured(signals())
    known, scene = found.why == "", worlds.scene(signals())
    objects = scene.objects
    assert known.sum() >= 10 and isinstance(objects, Objects) and objects.size is not None
    number = found_again(scene, facts.object)
    middle = objects.world_from_object[0, number, :3, 3]
    offset = np.abs(scene.world_from_cam(facts.object.frame)[:, :3, 3] - middle)
    way = np.linalg.norm(np.maximum(offset - objects.size[number] / 2, 0), axis=1)
    np.testing.assert_allclose(np.exp(found.value[known, 0]) * facts.seconds[known], way[known], rtol=1e-6)


def test_typical_mistakes_are_traps() -> None:
    facts, found = measured(signals())
    for row in np.flatnonzero(found.why == ""):
        speed = np.exp(found.value[row, 0])
        np.testing.assert_allclose(found.traps["half the way"][row], speed / 2, atol=0.01)
        times = found.traps["distance times time"][row]
        assert np.isnan(times) or abs(times - speed * facts.seconds[row] ** 2) < 0.01
        assert found.label is not None
        assert found.label[row] not in {found.traps[name][row] for name in found.traps if name.endswith("(option)")}


def test_the_right_option_is_at_every_place() -> None:
    drafts = [d for d in worlds.drafts(worlds.ask(TEMPLATE, signals(), facts=40)) if d.format == "choice"]
    assert {draft.answer.to_json().answer for draft in drafts} == set("1234")
    for draft in drafts:
        ratios = np.divide(*np.array([draft.fact["speeds"][1:], draft.fact["speeds"][:-1]]))
        assert (ratios > 1.4).all()


def test_the_world_frame_does_not_matter() -> None:
    facts, here = measured(signals())
    moved = worlds.with_path(worlds.as_truth(worlds.elsewhere(3, 1.0)), scale=worlds.METRIC)
    _, there = measured(moved, facts)
    assert there.why.tolist() == here.why.tolist()
    np.testing.assert_allclose(there.value, here.value, atol=1e-6)


def test_without_metres_nothing_is_known() -> None:
    facts, _ = measured(signals())
    _, found = measured(worlds.as_truth(worlds.signals()), facts)
    assert set(found.why) == {"scale is not metric"}


def test_a_vague_scale_silences_the_numbers() -> None:
    vague = worlds.with_path(signals(), scale=replace(worlds.METRIC, relative_sigma=0.3))
    assert not worlds.ask(TEMPLATE, vague).asked
    assert len(TEMPLATE.propose(worlds.scene({}), np.random.default_rng(0), 5)) == 0
