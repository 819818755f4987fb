"""Captions in free words: their claims, and that each of them is measured."""

from templates.answers.text import Text
from templates.mapping.scene_caption import SceneCaption
from templates.mapping.true_caption import TrueCaption
from templates.truth import verdict
from tests.templates import worlds

SCENE_CAPTION = SceneCaption()


def test_a_caption_makes_four_claims_of_two_kinds() -> None:
    found = worlds.drafts(worlds.ask(SCENE_CAPTION, worlds.signals(), facts=40))
    assert {draft.fact["points_px"] is None for draft in found} == {True, False}
    for draft in found:
        assert isinstance(draft.answer, Text)
        claims = str(draft.answer.claims).splitlines()
        assert len({*claims}) == 4 and all(claim.endswith(".") and claim.count(" is ") == 1 for claim in claims)
        assert len({axis for _, _, axis in draft.fact["claims"]}) == 2
        assert verdict(SCENE_CAPTION, "text", dict(draft.fact), draft.answer, SCENE) is True


SCENE = worlds.scene(worlds.signals())


def test_its_words_are_those_of_other_captions_of_the_same_things() -> None:
    """A caption of three statements, measured by the other template, has the words of the longer one."""
    (asked,) = worlds.ask(SCENE_CAPTION, worlds.signals(), facts=40).asked
    shorter = [{**row, "claims": row["claims"][:3]} for row in asked.facts.to_json()]
    short = TrueCaption().measure(TrueCaption().facts.from_json(shorter), SCENE)
    long = SCENE_CAPTION.measure(SCENE_CAPTION.facts.from_json(asked.facts.to_json()), SCENE)
    assert short.label is not None and long.label is not None
    assert [text.split(", ")[:3] for text in long.label.tolist()] == [text.split(", ") for text in short.label.tolist()]


def test_a_caption_with_another_word_is_wrong() -> None:
    (asked,) = worlds.ask(SCENE_CAPTION, worlds.signals(), facts=10).asked
    for draft in asked.drafts():
        assert isinstance(draft.answer, Text)
        other = str(draft.answer.claims).replace("nearer to", "X").replace("farther from", "nearer to")
        denied = Text(text=draft.answer.text, claims=other.replace("X", "farther from"), margin=draft.answer.margin)
        assert denied.claims != draft.answer.claims
        assert verdict(SCENE_CAPTION, "text", dict(draft.fact), denied, SCENE) is False


def test_neither_world_frame_nor_unit_matters() -> None:
    here, there = (
        worlds.drafts(worlds.ask(SCENE_CAPTION, signals)) for signals in (worlds.signals(), worlds.elsewhere(3, 2.0))
    )
    assert here and sorted(map(repr, map(worlds.shown, here))) == sorted(map(repr, map(worlds.shown, there)))
