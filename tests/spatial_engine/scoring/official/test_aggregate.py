import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.errors import UsageError
from spatial_engine.scoring.official import aggregate
from spatial_engine.scoring.official.row import tags
from spatial_engine.scoring.official.weights import WEIGHT_SETS, official_name
from templates.ability import LEAVES
from tests.spatial_engine.scoring.golden import ODD_VALUES, agrees, cases

odd_items = st.dictionaries(
    st.sampled_from(("score", "spatree0", "spatree2", "spatreeX", "spatree", "SpaTreeBench", "detail")),
    st.sampled_from(ODD_VALUES),
)


def item(ability: str, score: Any) -> dict[str, Any]:
    return {"score": score, **tags(ability)}


@pytest.mark.parametrize("case", cases("hierarchical_aggregation"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    ours = aggregate(case["input"]["results"], weights="hierarchy-json")
    assert ours["detail"].get("reference_exception") == case["exception"]
    if theirs := case["output"]:
        assert agrees(ours["score"], theirs["root"])
        assert agrees(ours, {"levels": theirs["levels"], "nodes": theirs["nodes"]})
        assert {path for path, score in ours["nodes"].items() if score != 0} <= theirs["nodes"].keys()


@pytest.mark.parametrize("weights", WEIGHT_SETS)
@given(st.floats(0, 1))
@settings(max_examples=8)
def test_equal_leaves_make_an_equal_root(weights: str, score: float) -> None:
    result = aggregate([{"SpaTreeBench": item(leaf, score)} for leaf in LEAVES], weights)
    assert result["score"] == pytest.approx(score)
    assert result["coverage"] == 1.0
    assert result["missing"] == []
    assert result["detail"] == {}


@pytest.mark.parametrize("weights", WEIGHT_SETS)
def test_a_leaf_alone_scores_its_share(weights: str) -> None:
    shares = {leaf: aggregate([item(leaf, 1.0)], weights) for leaf in LEAVES}
    assert sum(result["score"] for result in shares.values()) == pytest.approx(1)
    for leaf, result in shares.items():
        assert result["coverage"] == pytest.approx(result["score"])
        assert official_name(leaf) not in result["missing"]
        assert len(result["missing"]) == len(LEAVES) - 1


def test_the_order_of_items_changes_nothing() -> None:
    rng = random.Random(0)
    items = [item(rng.choice(LEAVES), rng.random()) for _ in range(200)]
    shuffled = rng.sample(items, len(items))
    assert aggregate(items)["score"] == pytest.approx(aggregate(shuffled)["score"])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ("published", (0.5 * 60 + 0.2 * 50 + 0.05 * 40 + 0.1 * 30 + 0.15 * 20, 0.3 * 10 + 0.7 * 90, 0.25)),
        ("hierarchy-json", (0.5 * 60 + 0.2 * 50 + 0.05 * 40 + 0.1 * 30 + 0.15 * 20, 0.5 * 10 + 0.5 * 90, 0.25)),
        ("table-header", (0.4 * 60 + 0.2 * 50 + 0.15 * 40 + 0.1 * 30 + 0.15 * 20, 0.3 * 10 + 0.7 * 90, 0.25)),
        ("draft", (0.3 * 60 + 0.3 * 50 + 0.1 * 40 + 0.2 * 30 + 0.1 * 20, 0.5 * 10 + 0.5 * 90, 0.3)),
    ],
)
def test_sets_of_weights(weights: str, expected: tuple[float, float, float]) -> None:
    """Branches as a published table prints them: every leaf has its branch's score."""
    branches = {"Geometry": 60, "Localization": 50, "Motion": 40, "Orientation": 30, "Relation": 20,
                "Memory": 10, "Understanding": 90}  # fmt: skip
    result = aggregate([item(leaf, branches.get(leaf.split("/")[1], 0)) for leaf in LEAVES], weights)
    first, second, of_level = expected
    assert result["levels"]["L1"] == pytest.approx(first)
    assert result["levels"]["L2"] == pytest.approx(second)
    assert result["score"] == pytest.approx(of_level * (first + second))


def test_every_set_says_where_it_comes_from() -> None:
    assert all(len(each.source) > 40 and each.name == name for name, each in WEIGHT_SETS.items())
    assert "equal ones are taken" in WEIGHT_SETS["table-header"].source


def test_an_unknown_set_of_weights_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"(?s)equal.*published, hierarchy-json, table-header, draft"):
        aggregate([], weights="equal")


def test_nothing_at_all_is_zero_and_all_of_it_is_missing() -> None:
    result = aggregate([])
    assert (result["score"], result["coverage"], len(result["missing"])) == (0.0, 0.0, len(LEAVES))
    assert result["levels"] == dict.fromkeys(("L1", "L2", "L3", "L4"), 0.0)


def test_what_is_odd_is_told() -> None:
    relation = {"score": 1, "spatree0": "L1", "spatree1": "Relation"}  # a branch: it lands in a leaf of that name in L3
    result = aggregate([relation, {"score": 1}, {"score": 1, "spatree2": "3D Detection"}, item(LEAVES[0], math.nan)])
    assert result["nodes"]["L3/Caus. Reas./Relation"] == 1
    assert result["detail"] == {
        "elsewhere": {"L1/Relation": 1},
        "unmatched": {"3D Detection": 1},
        "untagged": 1,
        "not_finite": ["L1/Geometry/Distance"],
    }


@given(st.lists(odd_items, max_size=3))
@settings(max_examples=100, deadline=None)
def test_odd_items_never_raise(items: list[dict[str, Any]]) -> None:
    assert isinstance(aggregate(items)["score"], float)
