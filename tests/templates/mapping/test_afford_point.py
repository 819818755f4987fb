"""Pointing to the part of an object that is for something, in a small world whose objects have three parts each."""

from dataclasses import replace

import numpy as np

from experts.signals import Objects, Parts
from templates.answers import Region
from templates.mapping.afford_point import AffordPoint
from tests.templates import worlds

SIGNALS = worlds.with_parts(worlds.signals())


def test_the_region_is_the_part_and_the_middle_of_the_object_is_mostly_outside() -> None:
    parts, outside = SIGNALS["parts"], []
    assert isinstance(parts, Parts)
    drafts = worlds.drafts(worlds.ask(AffordPoint(), SIGNALS))
    assert {draft.fact["deed"] for draft in drafts} == {"sit on", "lean on"}
    for draft in drafts:
        assert isinstance(draft.answer, Region)
        ids = parts.ids[np.searchsorted(parts.frames, draft.fact["object"]["frame"])]
        width, height = draft.fact["size"]
        x, y = np.array(draft.answer.to_json().answer) * ids.shape[::-1] / [width, height]
        part = ids[int(y), int(x)]
        assert parts.affords[part] == (draft.fact["deed"],)
        outside.append(draft.answer.predicted(np.mean(draft.fact["object"]["box_px"], axis=0).tolist()))
        answers = draft.answer.score([10 * width, 10 * height]), draft.answer.score(draft.answer.to_json().answer)
        assert [score.value for score in answers] == [0.0, 1.0]
    wrong = [answer.error(answer)[0].item() > 0 for answer in outside if answer is not None]
    assert np.mean(wrong) >= 0.4


def test_only_a_name_that_may_mean_two_objects_is_marked() -> None:
    for draft in worlds.drafts(worlds.ask(AffordPoint(), SIGNALS)):
        (photo,) = draft.media
        assert bool(photo.marks) == ("box" in draft.prompt) == (draft.fact["object"]["name"] == "chair")  # type: ignore[union-attr]


def test_parts_that_are_unknown_useless_or_narrow_are_refused() -> None:
    template, scene = AffordPoint(), worlds.scene(SIGNALS)
    facts = template.propose(scene, np.random.default_rng(0), 20)
    parts = SIGNALS["parts"]
    assert isinstance(parts, Parts) and len(facts)
    useless = replace(parts, affords=((),) * len(parts.names))
    narrow = replace(parts, ids=np.where(np.arange(parts.ids.shape[1])[:, None] % 4 == 0, parts.ids, -1))
    for changed in (useless, narrow):
        other = worlds.scene({**SIGNALS, "parts": changed})
        assert set(template.measure(facts, other).why.tolist()) == {"the part is not seen, or too small"}
        assert not len(template.propose(other, np.random.default_rng(0), 20))
    without = worlds.scene({name: signal for name, signal in SIGNALS.items() if name != "parts"})
    assert set(template.measure(facts, without).why.tolist()) == {"parts of objects are not known"}


def test_where_not_every_object_of_a_name_is_listed_it_is_marked() -> None:
    template, objects = AffordPoint(), SIGNALS["objects"]
    assert isinstance(objects, Objects)
    some = {**SIGNALS, "objects": replace(objects, complete=("table",))}
    found = {
        (draft.fact["object"]["name"], draft.fact["marked"]) for draft in worlds.drafts(worlds.ask(template, some))
    }
    assert found == {("table", False), ("lamp", True), ("chair", True)}
    facts = template.propose(worlds.scene(SIGNALS), np.random.default_rng(0), 20)
    measured = template.measure(facts, worlds.scene(some))
    unlisted = measured.why == "not every object of this name is listed"
    assert (unlisted == ~facts.marked & (facts.object.name != "table")).all() and unlisted.any()
