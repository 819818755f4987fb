"""Whether photos together show all objects of a name, on a small exact world."""

from collections import Counter
from dataclasses import replace

import numpy as np

from experts.signals import Objects, Signal
from templates.agent.enough_seen import EnoughSeen
from templates.scene.scene import Scene
from tests.templates import worlds

TEMPLATE = EnoughSeen()


def turning() -> dict[str, Signal]:
    return worlds.as_truth(worlds.signals(poses=worlds.poses_turning()))


def scene() -> Scene:
    return worlds.scene(turning())


def test_answers_are_those_of_the_boxes_in_the_photos() -> None:
    found, objects = worlds.drafts(worlds.ask(TEMPLATE, turning(), facts=40)), turning()["objects"]
    assert isinstance(objects, Objects) and len(found) >= 4
    for draft in found:
        rows = np.searchsorted(objects.frames, draft.fact["frames"])
        boxes = np.zeros(len(objects.labels), dtype=bool)
        for row in rows.tolist():
            masks = objects.ids[row]
            by_box = objects.box_px is not None and np.isfinite(objects.box_px[row]).all(axis=(1, 2))
            boxes |= np.isin(np.arange(len(boxes)), masks) if (masks >= 0).any() else by_box
        count = sum(bool(seen) for seen, name in zip(boxes, objects.labels, strict=True) if name == draft.fact["name"])
        assert draft.answer.to_json().answer == ("yes" if count == draft.fact["number"] else "no")


def test_of_each_number_of_photos_as_many_are_enough_as_are_not() -> None:
    facts = TEMPLATE.propose(scene(), np.random.default_rng(0), 1000)
    labels, photos = TEMPLATE.measure(facts, scene()).label, (facts.frames >= 0).sum(axis=1)
    assert labels is not None and len(facts) >= 4
    for name, count in {*zip(facts.name.tolist(), photos.tolist(), strict=True)}:
        held = Counter(labels[(facts.name == name) & (photos == count)].tolist())
        assert held["yes"] == held["no"]


def test_another_number_is_refused() -> None:
    facts = TEMPLATE.propose(scene(), np.random.default_rng(0), 20)
    found = TEMPLATE.measure(replace(facts, number=facts.number + 1), scene())
    assert {*found.why.tolist()} == {"another number of objects has this name"}


def test_objects_that_are_not_surely_the_same_are_not_counted() -> None:
    assert not worlds.drafts(worlds.ask(TEMPLATE, worlds.signals(poses=worlds.poses_turning()), facts=20))
