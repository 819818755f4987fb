import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.official.row import tags
from spatial_engine.scoring.official.weights import WEIGHT_SETS, official_name
from spatial_engine.scoring.strict.aggregate import aggregate
from templates.ability import LEAVES
from tests.spatial_engine.scoring.golden import ODD_VALUES

odd_items = st.dictionaries(
    st.sampled_from(("score", "ability", "spatree0", "spatree2", "spatreeX", "SpaTreeBench")),
    st.sampled_from(ODD_VALUES),
)


def item(ability: str, score: Any) -> dict[str, Any]:
    return {"score": score, **tags(ability)}


@pytest.mark.parametrize("weights", WEIGHT_SETS)
@settings(max_examples=10)
@given(st.sets(st.sampled_from(LEAVES), min_size=1), st.floats(0, 1))
def test_leaves_that_were_not_asked_change_nothing(weights: str, asked: set[str], score: float) -> None:
    result = aggregate([item(leaf, score) for leaf in asked], weights)
    assert result["score"] == pytest.approx(score)
    assert set(result["missing"]) == set(LEAVES) - asked
    assert 0 < result["coverage"] <= 1
    assert (result["coverage"] == 1.0) == (asked == set(LEAVES))
    assert {level for level, value in result["levels"].items() if value is None} == {
        level for level in ("L1", "L2", "L3", "L4") if not any(leaf.startswith(level) for leaf in asked)
    }


def test_the_whole_path_places_an_item() -> None:
    relation = {"score": 1, "spatree0": "L1", "spatree1": "Relation"}
    alone = {"score": 1, "spatree2": "Distance"}
    result = aggregate([relation, alone, item("L3/Causal Reasoning/Relation", 0.0)])
    assert result["score"] == 0
    assert result["detail"] == {"unplaced": {"L1/Relation": 1, "Distance": 1}}


def test_all_ways_of_writing_a_leaf() -> None:
    leaf = "L2/Understanding/Motion Understanding"
    level, branch, name = official_name(leaf).split("/")
    assert (level, branch) == ("L2", "Underst.")
    spaced = {"score": 0.5, "spatree0": level, "spatree1": branch, "spatree2": name}
    ways = [item(leaf, 0.5), spaced, {"SpaTreeBench": spaced}, {"score": 0.5, "ability": leaf}]
    result = aggregate(ways)
    assert result["items"] == {leaf: 4}
    assert result["nodes"] == {leaf: 0.5, "L2/Understanding": 0.5, "L2": 0.5}


def test_weights_are_those_of_the_set_over_what_is_there() -> None:
    result = aggregate([item("L2/Memory/Cognitive Map", 1.0), item("L2/Understanding/Affordance", 0.0)])
    assert result["levels"] == {"L1": None, "L2": pytest.approx(0.3), "L3": None, "L4": None}
    assert result["coverage"] == pytest.approx(0.25 * (0.3 * 0.7 + 0.7 * 0.25))


def test_nothing_has_no_score() -> None:
    result = aggregate([])
    assert result["score"] is None
    assert result["coverage"] == 0.0
    assert result["missing"] == list(LEAVES)


@pytest.mark.parametrize("score", [math.nan, math.inf, None, "1", 10**400])
def test_a_score_that_is_no_finite_number_counts_zero_and_is_told(score: Any) -> None:
    result = aggregate([item(LEAVES[0], score), item(LEAVES[0], 1)])
    assert result["score"] == 0.5
    assert result["detail"] == {"not_finite": {LEAVES[0]: 1}}


def test_scores_are_brought_into_0_to_1() -> None:
    result = aggregate([item(LEAVES[0], 85), item(LEAVES[0], -1)])
    assert result["score"] == 0.5
    assert result["detail"] == {"out_of_range": {LEAVES[0]: 2}}


@given(st.lists(odd_items, max_size=3))
@settings(max_examples=100, deadline=None)
def test_odd_items_never_raise(items: list[dict[str, Any]]) -> None:
    score = aggregate(items)["score"]
    assert score is None or 0 <= score <= 1
