"""Who reaches the top of an object, in a small world with a floor."""

from dataclasses import replace

import numpy as np
import pytest

from templates.mapping.body_fit import BodyFit
from tests.templates import worlds

SIGNALS = worlds.with_floor(worlds.signals())
TOPS_M = {"table": -0.5 + 0.25 + 1.2, "lamp": 0.3 + 0.25 + 1.2, "picture": 0.8 + 0.25 + 1.2}


def test_answers_are_those_of_the_tops_above_the_floor_and_balanced() -> None:
    drafts = worlds.drafts(worlds.ask(BodyFit(), SIGNALS))
    words = [draft.answer.to_json().answer for draft in drafts]
    assert len(words) >= 12 and 0.35 <= words.count("yes") / len(words) <= 0.65
    for draft in drafts:
        top = TOPS_M.get(draft.fact["object"]["name"])
        if top is not None:
            assert draft.answer.to_json().answer == ("yes" if top < draft.fact["reach_cm"] / 100 else "no")


def test_another_floor_gives_other_answers_to_the_same_facts() -> None:
    template = BodyFit()
    facts = template.propose(worlds.scene(SIGNALS), np.random.default_rng(0), 30)
    lower = template.measure(facts, worlds.scene(worlds.with_floor(worlds.signals(), z=-3.4)))
    assert lower.label is not None and {*lower.label[lower.why == ""].tolist()} == {"no"}


@pytest.mark.parametrize(
    ("missing", "reason"), [("room", "the floor is not known"), ("camera_path", "scale is not metric")]
)
def test_what_is_missing_is_said(missing: str, reason: str) -> None:
    template = BodyFit()
    facts = template.propose(worlds.scene(SIGNALS), np.random.default_rng(0), 5)
    scene = worlds.scene({name: signal for name, signal in SIGNALS.items() if name != missing})
    assert {*template.measure(facts, scene).why.tolist()} == {reason}


def test_a_floor_of_unknown_height_decides_nothing() -> None:
    room = replace(SIGNALS["room"], floor_sigma=1.0)  # type: ignore[type-var]
    assert not worlds.drafts(worlds.ask(BodyFit(), {**SIGNALS, "room": room}))
