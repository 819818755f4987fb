"""In which order objects come into view and leave it, as a table of visible areas says."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.mapping.first_seen import FirstSeen, LastSeen
from tests.templates import worlds

NAMES = ("chair", "table", "lamp", "sofa", "box", "picture")
FIRST = (0, 0, 4, 8, 12, 0)
LAST = (15, 23, 11, 19, 23, 3)
"""Rows of the frames in which each object can be seen."""


def signals(glimpses: tuple[tuple[int, int], ...] = (), unit: float = 1.0) -> dict[str, Signal]:
    """Objects as blocks beside each other, in these frames. `glimpses`: rows and objects of single pixels more."""
    known = worlds.as_truth(worlds.signals(unit=unit))
    objects = known["objects"]
    assert isinstance(objects, Objects)
    ids = np.full((len(worlds.FRAMES), 24, 48), -1, dtype=np.int32)
    for k, (first, last) in enumerate(zip(FIRST, LAST, strict=True)):
        ids[first : last + 1, 2:10, 8 * k + 1 : 8 * k + 7] = k
    for row, k in glimpses:
        ids[row, 2, 8 * k + 1] = k
    return {**known, "objects": replace(objects, labels=NAMES, ids=ids, box_px=None, name_outlier_probability=None)}


@worlds.UNITS
@pytest.mark.parametrize(("template", "edge"), [(FirstSeen(), 0), (LastSeen(), 1)])
def test_the_order_is_that_of_the_table(template: FirstSeen, edge: int, unit: float) -> None:
    drafts = worlds.drafts(worlds.ask(template, dict(signals(unit=unit)), facts=60))
    assert len(drafts) >= 10 and {draft.format for draft in drafts} == {"order", "choice"}
    for draft in drafts:
        when = []
        for letter in "abc":
            rows = np.arange(*np.array([0, 1]) + [(FIRST, LAST)[k][NAMES.index(draft.fact[letter])] for k in (0, 1)])
            when.append(np.intersect1d(worlds.FRAMES[rows], draft.fact["frames"])[-edge])
        order = [1 + int(k) for k in np.argsort(when)]
        assert worlds.written(draft) == (order if draft.format == "order" else order[0] - 1)
        assert np.diff(np.sort(when)).min() >= 2 * template.apart


def test_a_late_glimpse_of_an_object_makes_its_last_sight_doubtful() -> None:
    """The picture is gone before the lamp, unless somebody catches sight of it again."""
    template = LastSeen()
    frames = worlds.FRAMES[::2].tolist()
    fact = template.facts.from_json([{"frames": frames, "a": "lamp", "b": "picture", "c": "sofa"}])
    clear, doubtful = (template.measure(fact, worlds.scene(signals(glimpses))).why for glimpses in ((), ((12, 5),)))
    assert clear.tolist() == [""] and doubtful.tolist() == ["objects leave the view at about the same time"]


def test_half_of_the_facts_are_not_decided_by_the_first_sight() -> None:
    (found,) = (asked for asked in worlds.ask(LastSeen(), dict(signals()), facts=60).asked if asked.format == "choice")
    assert np.mean(found.traps["seen first"] != found.answers.labels()) >= 0.5


def test_objects_of_a_detector_and_names_of_two_objects_are_not_asked_about() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    for changed in (
        replace(objects, outlier_probability=np.full(len(NAMES), 0.001)),
        replace(objects, labels=("box", "box", "lamp", "lamp", "sofa", "sofa")),
    ):
        assert not worlds.ask(LastSeen(), {**known, "objects": changed}).asked
    assert not worlds.ask(LastSeen(), {}).asked


@pytest.mark.parametrize("template", [FirstSeen(), LastSeen()])
def test_where_not_every_object_of_a_name_is_listed_another_may_be_seen_earlier_or_later(template: FirstSeen) -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    facts = template.propose(worlds.scene(known), np.random.default_rng(0), 60)
    some = {**known, "objects": replace(objects, complete=tuple({*NAMES} - {"box"}))}
    why = template.measure(facts, worlds.scene(some)).why
    concerned = (facts.names == "box").any(axis=1)
    assert ((why == "not every object of this name is listed") == concerned).all() and concerned.any()
    found = worlds.drafts(worlds.ask(template, some, facts=60))
    assert found and not any("box" in (draft.fact[letter] for letter in "abc") for draft in found)
