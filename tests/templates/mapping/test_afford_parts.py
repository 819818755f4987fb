"""Which marked part is for which action, in a small world whose objects have a back, a seat and a foot."""

from dataclasses import replace

import numpy as np

from experts.signals import Parts
from templates.mapping.afford_parts import AffordParts
from tests.templates import worlds

SIGNALS = worlds.with_parts(worlds.signals())


def test_the_back_lies_above_the_seat_above_the_foot() -> None:
    drafts = worlds.drafts(worlds.ask(AffordParts(), SIGNALS))
    assert {draft.fact["deed"] for draft in drafts} == {"sit on", "lean on"}
    for draft in drafts:
        back, seat, _ = (np.argsort([y for _, y in draft.fact["points_px"]]) + 1).tolist()
        sits_first = draft.fact["deed"] == "sit on"
        assert draft.answer.to_json().answer == (f"{seat} {back}" if sits_first else f"{back} {seat}")
        assert len(draft.options) == 6


def test_exchanged_uses_exchange_the_answer_and_useless_parts_are_refused() -> None:
    template, scene, parts = AffordParts(), worlds.scene(SIGNALS), SIGNALS["parts"]
    assert isinstance(parts, Parts)
    facts = template.propose(scene, np.random.default_rng(0), 20)
    exchanged = template.measure(replace(facts, deed=facts.other_deed, other_deed=facts.deed), scene)
    assert exchanged.label is not None
    own = template.measure(facts, scene)
    assert exchanged.label.tolist() == own.traps["parts exchanged"].tolist()
    useless = worlds.scene({**SIGNALS, "parts": replace(parts, affords=(("sit on",),) * len(parts.names))})
    assert {*template.measure(facts, useless).why.tolist()} == {"not exactly one marked part serves a purpose"}
    assert not len(template.propose(useless, np.random.default_rng(0), 20))
    without = worlds.scene({name: signal for name, signal in SIGNALS.items() if name != "parts"})
    assert {*template.measure(facts, without).why.tolist()} == {"parts of objects are not known"}
