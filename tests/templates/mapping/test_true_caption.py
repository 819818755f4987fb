"""Captions of the made-up world: their words against the places of its objects, and what keeps them silent."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Gravity, Objects, Signal, SparsePoints
from templates.asked import Draft
from templates.mapping.captions import AboutCaptions, caption, sets_of_claims
from templates.mapping.true_caption import CaptionGap, TrueCaption
from templates.scene.compared import AXES
from templates.template import Template
from tests.templates import worlds
from tests.templates.facing_world import mirrored

BOTH = pytest.mark.parametrize("template", [TrueCaption(), CaptionGap()])
PLACES = {"table": (0.1, 3.6, -0.5), "lamp": (0.9, 4.6, 0.3), "sofa": (1.9, 5.6, -0.5), "picture": (0, 8, 0.8)}
"""Of the objects whose names are unique, in the world of the first camera: right, ahead, up."""


def drafts(template: Template, signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(template, dict(signals), facts=40))


def of_objects(found: list[Draft]) -> list[Draft]:
    return [draft for draft in found if draft.fact["points_px"] is None]


def words(draft: Draft, option: int) -> list[str]:
    return str(draft.options[option].value).split(", ")


@BOTH
def test_the_right_words_are_those_of_the_places(template: AboutCaptions) -> None:
    found = [d for d in of_objects(drafts(template, worlds.signals())) if {d.fact[k] for k in NAMES} <= PLACES.keys()]
    assert len(found) >= 4
    for draft in found:
        places = [PLACES[draft.fact[name]] for name in NAMES]
        for (a, b, axis), word in zip(draft.fact["claims"], words(draft, draft.written), strict=True):
            if AXES[axis][0] == "nearer":
                assert (word == "nearer") == (places[a][1] < places[b][1])


NAMES = ("first", "second", "third")


@BOTH
def test_no_option_differs_from_the_others_in_another_way_than_the_right_one(template: AboutCaptions) -> None:
    """Each word stands in as many options as its opposite, or in all; and their texts are about as long."""
    found = drafts(template, worlds.signals())
    assert {draft.fact["points_px"] is None for draft in found} == {True, False}
    for draft in found:
        options = np.array([words(draft, k) for k in range(4)])
        apart = (options[:, None] != options).sum(axis=2)
        assert all(sorted(row) == sorted(apart[0]) for row in apart.tolist())
        assert all({*Counter(column).values()} <= {2, 4} for column in options.T.tolist())


def test_a_caption_says_nothing_that_follows_from_the_rest() -> None:
    """Three statements of one kind about three things might go round in a circle."""
    for count in (3, 4):
        for chosen in sets_of_claims(count).tolist():
            assert max(Counter(axis for _, axis in chosen).values()) <= 2
            assert len({tuple(claim) for claim in chosen}) == count


def test_statements_about_the_same_thing_are_one_sentence() -> None:
    names = ["the lamp", "the sofa", "the table"]
    said = caption(names, [(0, 1, 2), (0, 1, 0), (0, 2, 1)], ["nearer", "to the left", "lower"])
    near = "The lamp is nearer to the camera than the sofa and to the left of it."
    assert said == f"{near} The lamp is lower down than the table."
    gaps = caption(names, [(1, 0, 2), (2, 0, 0)], ["nearer", "to the left"], gaps=[1])
    assert gaps == "The sofa is nearer to the camera than the lamp. The table is (1) ____ of the lamp."


@BOTH
@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(template: AboutCaptions, unit: float) -> None:
    here, there = (drafts(template, signals) for signals in (worlds.signals(), worlds.elsewhere(3, unit)))
    assert sorted(map(repr, map(worlds.shown, here))) == sorted(map(repr, map(worlds.shown, there)))


@BOTH
def test_a_mirror_exchanges_left_and_right_alone(template: AboutCaptions) -> None:
    signals = {name: signal for name, signal in worlds.signals().items() if name not in ("sparse_points", "tracks")}
    here, there = (of_objects(drafts(template, each)) for each in (signals, mirrored(signals)))
    said = [[worlds.in_a_mirror(str(option.shown)) for option in draft.options] for draft in here]
    assert said == [[option.shown for option in draft.options] for draft in there] and said


@BOTH
def test_large_errors_and_no_gravity_silence_it(template: AboutCaptions) -> None:
    signals = worlds.signals()
    objects, points, gravity = (signals[name] for name in ("objects", "sparse_points", "gravity"))
    assert isinstance(objects, Objects) and isinstance(points, SparsePoints) and isinstance(gravity, Gravity)
    assert objects.centre_sigma is not None
    vague = replace(objects, centre_sigma=50 * objects.centre_sigma)
    blurred = replace(points, range_relative_sigma=np.full(len(points.xyz_world), 0.8))
    assert drafts(template, signals)
    assert not drafts(template, {**signals, "objects": vague, "sparse_points": blurred})
    assert not drafts(template, {name: signal for name, signal in signals.items() if name != "gravity"})


def test_plain_video_has_captions_of_points() -> None:
    found = drafts(TrueCaption(), {n: s for n, s in worlds.signals().items() if not n.startswith("object")})
    assert found and not of_objects(found)


@BOTH
def test_where_not_every_object_of_a_name_is_listed_captions_are_of_points(template: AboutCaptions) -> None:
    signals = worlds.signals()
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    facts = template.propose(worlds.scene(signals), np.random.default_rng(0), 40)
    some = {**signals, "objects": replace(objects, complete=tuple({*objects.labels} - {"lamp"}))}
    measured = template.measure(facts, worlds.scene(some))
    unlisted = measured.why == "not every object of this name is listed"
    assert (unlisted == (facts.names == "lamp").any(axis=1)).all() and unlisted.any()
    unknown = drafts(template, {**signals, "objects": replace(objects, complete=())})
    assert unknown and not of_objects(unknown)
