"""What a clip is asked: failing templates are named, and no question is judged twice."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.trust import asked as module
from benchmarks.trust.asked import Asked, Known, Setup, asked
from spatial_engine.rendering import as_clip, demo_scene
from spatial_engine.trust.label_audit import compare_labels
from templates.question import Question
from tests.spatial_engine.leaks.asked import question

CLIP = as_clip(demo_scene(64, 48))
ONE = question(1, CLIP.id, "yes_no", "yes", "Does the camera move?")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Known:
    """A clip without ground truth; nothing is drawn from its pictures."""
    monkeypatch.setattr(module, "scenes_with", lambda *_: ())
    monkeypatch.setattr(module, "scene_yield", lambda *_: [])
    return Known(clip=CLIP, truth=None, pictures=None)  # type: ignore[arg-type]


def test_a_template_that_fails_is_named_and_the_others_are_asked(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    def questions_of(clip: Any, scenes: Any, setup: Any, names: list[str]) -> list[Question]:
        if names == ["range_ratio"]:
            raise ValueError("Measured.sigma is [nan]\nand more")
        return [replace(ONE, template=names[0])]

    monkeypatch.setattr(module, "questions_of", questions_of)
    found = asked(known, {}, Setup(), ["range_ratio", "camera_moves"])
    assert found["range_ratio"] == Asked(facts={}, drawn=0, decided=0, error="ValueError: Measured.sigma is [nan]")
    assert found["camera_moves"].facts == {ONE.fact_id: "undecidable"} and not found["camera_moves"].error


def test_a_question_is_judged_again_only_if_more_than_its_evidence_changed(
    known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def compare(questions: Iterable[Question], truths: Any) -> Any:
        new = [*questions]
        judged.extend(str(each.answer) for each in new)
        return compare_labels(new, {})

    monkeypatch.setattr(module, "compare_labels", compare)
    for each in (ONE, replace(ONE, evidence={"p_right": 0.995}), replace(ONE, answer="no")):
        assert [verdict.id for verdict in known.judged([each])] == [ONE.id]
    assert judged == ["yes", "no"]
