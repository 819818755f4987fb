"""From which of three points an object can be seen, in a furnished room; `test_can_see` knows single sights."""

from dataclasses import replace
from functools import cache

import numpy as np

from experts.signals import Depth, Signal
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.mapping.which_can_see import PointsAndObject, WhichCanSee
from templates.measured import Measured
from templates.scene.lines_of_sight import seen_from_points
from templates.scene.objects import found_again
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of

TEMPLATE = WhichCanSee()


@cache
def room() -> RenderedScene:
    return furnished_room(np.random.default_rng(0), frames=16, width_px=320, height_px=240)


@cache
def signals() -> dict[str, Signal]:
    return dict(true_signals(room(), as_clip(room())))


@cache
def scene() -> Scene:
    (only,) = scenes_of(as_clip(room()), signals())
    return only


@cache
def proposed() -> tuple[PointsAndObject, Measured]:
    facts = TEMPLATE.propose(scene(), np.random.default_rng(0), 40)
    assert len(facts) >= 4
    return facts, TEMPLATE.measure(facts, scene())


def test_one_point_alone_sees_the_object_or_does_not() -> None:
    facts, found = proposed()
    assert {*facts.seen.tolist()} == {True, False} and {*found.why.tolist()} == {""} and found.label is not None
    for point, mark in enumerate("123"):
        words = seen_from_points(scene(), facts.frame, facts.points_px[:, point], found_again(scene(), facts.object))
        assert (words == np.where((found.label == mark) == facts.seen, "yes", "no")).all()


def test_the_answer_moves_with_the_marks() -> None:
    facts, found = proposed()
    moved = TEMPLATE.measure(replace(facts, points_px=np.roll(facts.points_px, 1, axis=1)), scene())
    assert found.label is not None and moved.label is not None
    assert moved.label.tolist() == [{"1": "2", "2": "3", "3": "1"}[mark] for mark in found.label.tolist()]


def test_two_points_are_no_answer() -> None:
    facts, _ = proposed()
    why = TEMPLATE.measure(replace(facts, seen=~facts.seen), scene()).why
    assert {*why.tolist()} == {"not exactly one marked point is the answer"}


def test_estimated_depth_decides_nothing() -> None:
    depth = signals()["depth"]
    assert isinstance(depth, Depth)
    (unsure,) = scenes_of(as_clip(room()), {**signals(), "depth": replace(depth, outlier_probability=0.01)})
    assert {*TEMPLATE.measure(proposed()[0], unsure).why.tolist()} == {"depth is not measured"}
    assert not len(TEMPLATE.propose(unsure, np.random.default_rng(0), 10))
