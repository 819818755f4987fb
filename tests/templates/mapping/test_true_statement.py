"""Statements about the objects of a photo, in a small world with a vase on a table."""

import json

import numpy as np

from spatial_engine.dataset.question_line import question_of
from spatial_engine.scoring.official.row import row
from templates.answers.score import Unscored
from templates.mapping.true_statement import TrueStatement
from templates.scene.statements import truth
from templates.truth import verdict
from tests.templates import worlds

SIGNALS = worlds.boards(worlds.with_vase(worlds.signals()))


def said(kind: str, *names: str) -> float:
    """By how many σ a statement about the first photo is true, where places have a σ."""
    scene = worlds.scene(worlds.signals() if "vase" not in names else SIGNALS)
    assert scene.objects is not None
    a, b, c = (np.array([scene.objects.labels.index(name)]) for name in (*names, names[0])[:3])
    return float(truth(scene, np.array([0]), np.array([kind]), a, b, c)[0])


def test_each_kind_is_true_false_or_open() -> None:
    assert said("nearer", "table", "lamp") > 2.33 and said("nearer", "lamp", "table") < -2.33
    assert said("higher", "lamp", "table") > 2.33 and said("higher", "table", "lamp") < -2.33
    assert said("carries", "table", "vase") > 0 > said("carries", "vase", "table")
    assert said("between", "table", "chair", "lamp") > 0 or np.isnan(said("between", "table", "chair", "lamp"))
    assert said("between", "chair", "sofa", "picture") < 0
    assert np.isnan(said("carries", "lamp", "table"))  # what is beneath the lamp is not known


def test_answers_agree_with_the_truth_and_no_statement_is_the_exchange_of_another() -> None:
    drafts, truth = worlds.drafts(worlds.ask(TrueStatement(), SIGNALS)), worlds.scene(SIGNALS)
    assert {draft.format for draft in drafts} == {"choice", "yes_no"}
    for draft in drafts:
        assert verdict(TrueStatement(), draft.format, dict(draft.fact), draft.answer, truth)
        texts = [text for name in ("first", "second", "third", "fourth") if (text := draft.fact[name])]
        assert len({tuple(sorted(text.split())) for text in texts}) == len(texts)
    words = [draft.answer.to_json().answer for draft in drafts if draft.format == "yes_no"]
    assert {*words} == {"yes", "no"}


def test_rows_of_the_benchmark_ask_the_judge_for_yes_or_no() -> None:
    (draft, *_) = (d for d in worlds.drafts(worlds.ask(TrueStatement(), SIGNALS)) if d.format == "yes_no")
    made = row(question_of(draft, (), worlds.clip()))
    assert not isinstance(made, Unscored)
    assert json.loads(made["extra_info"])["metricfunc"] == "judge" and made["answer"] in ("yes", "no")


def test_without_gravity_or_objects_nothing_is_said() -> None:
    for missing in ("gravity", "objects"):
        signals = {name: signal for name, signal in SIGNALS.items() if name != missing}
        assert not worlds.drafts(worlds.ask(TrueStatement(), signals))
