"""SpatialTree-Bench's rows under the three scorers: each names its metric, and is placed by its tags."""

import json
from typing import Any

import pytest

from spatial_engine.scoring.published.spatialtree import SpatialTree, SpatialTreePaper, SpatialTreeStrict
from spatial_engine.scoring.scorers import score_items

THREE = (SpatialTree(), SpatialTreeStrict(), SpatialTreePaper())
AHEAD = {
    "optimal_rel_pose": [[0, 0, 0, 0, 0, 0, 1], [0.25, 0, 0.4330127, 0, 0, 0, 1]],
    "0->1": {"translation_step_size": 0.1, "rotation_step_size": 0.1},
}


def row(
    id: str, metric: str, leaf: str, answer: str, hint: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    level, branch, name = leaf.split("/")
    extra = {"metricfunc": metric, "spatree0": level, "spatree1": branch, "spatree2": name}
    return {
        "session_id": id, "answer": answer, "extra_info": json.dumps(extra), "hint": json.dumps(hint) if hint else "",
        **more,
    }  # fmt: skip


ROWS = [
    row("plan", "agenticnaveval", "L4/Goal-DrivenExecution/AgenticNavigation", "", AHEAD),
    row("choice", "multichoiceeval", "L1/Geometry/Size", "B", option=["A. a", "B. b"], question_type="mcq"),
    row("number", "multichoiceeval", "L1/Geometry/Distance", "100", question_type="open"),
]
REPLIES = {"plan": '{"actions": ["W"], "step_nums": [5]}', "choice": "**B**", "number": "120"}


def scores(scorer: Any) -> list[float]:
    return [one.score.value for one in score_items(scorer, ROWS, REPLIES)[0]]


def test_each_scorer_keeps_its_own_rules() -> None:
    assert [scores(scorer) for scorer in THREE] == [
        pytest.approx([0.606, 0.5, 0.6], abs=5e-4),
        pytest.approx([0.709, 1.0, 0.7], abs=5e-4),
        pytest.approx([0.418, 1.0, 0.7], abs=5e-4),
    ]


def test_leaves_without_items_count_0_as_published_only() -> None:
    published, strict, _ = (score_items(scorer, ROWS, REPLIES)[1] for scorer in THREE)
    assert published.categories["L1/Geometry/Size"] == 0.5 and published.categories["L2"] == 0
    assert strict.categories["L1/Geometry"] == pytest.approx((0.65 * 0.7 + 0.25 * 1) / 0.9)
    assert "L2" not in strict.categories and published.detail["coverage"] == strict.detail["coverage"] < 0.5
    assert published.score is not None and published.score < 0.3 < (strict.score or 0)


def test_a_judges_reply_stands_in_the_item() -> None:
    caption = row("caption", "gpteval", "L2/Underst./MotionUnderstanding", "", judge_reply='{"answer_score": 0.5}')
    for scorer in THREE:
        (one,), _ = score_items(scorer, [caption], {"caption": "It pans left."})
        assert one.score.value == 0.5


def test_rows_at_fault_score_0() -> None:
    for extra in ("{", "null", '{"metricfunc": "none"}'):
        broken = {**ROWS[1], "extra_info": extra}
        assert [score_items(scorer, [broken], REPLIES)[0][0].score.value for scorer in THREE] == [0, 0, 0]
