import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.vsi_bench import CHOICE, DIRECTIONS, NUMERIC, aggregate, score

ALL = (*NUMERIC, *CHOICE)


def test_directions_are_one_type_of_eight() -> None:
    items = [(name, float(name in DIRECTIONS)) for name in ALL]
    for harness in ("lmms-eval", "vlmevalkit", "strict"):
        found = aggregate(items, harness)
        assert found.overall == 1 / 8 and len(found.types) == 8 and not found.missing


def test_types_weigh_the_same_whatever_their_size() -> None:
    items = [(name, 0.0) for name in ALL if name != "route_planning"] + [("route_planning", 1.0)] * 99
    assert aggregate(items).overall == 0.125


def test_a_missing_difficulty() -> None:
    items = [(name, 0.5) for name in ALL if name != DIRECTIONS[0]] + [(DIRECTIONS[1], 1.0)]
    assert aggregate(items).overall is None
    assert aggregate(items).missing == ("object_rel_direction",)
    assert len(aggregate(items, "vlmevalkit").types) == 9
    strict = aggregate(items, "strict")
    assert strict.types["object_rel_direction"] == 0.625 and strict.overall == pytest.approx((7 * 0.5 + 0.625) / 8)


def test_lmms_eval_rounds_to_six_digits() -> None:
    items = [(name, 1 / 3) for name in ALL]
    assert aggregate(items).overall == 0.333333 and aggregate(items, "vlmevalkit").overall == pytest.approx(1 / 3)


def test_nothing_answered() -> None:
    assert aggregate([]).overall is None and aggregate([], "vlmevalkit").overall == 0


def test_items() -> None:
    assert score("object_counting", "There are four chairs", "4") == score("route_planning", "B.", "b") == 1
    assert score("object_counting", "1,234 or 4", "4", "vlmevalkit") == 1
    assert score("object_counting", "none", "4") == score("object_counting", "4", "many") == 0
    assert score("room_size_estimation", "0", "0") == 0 and score("room_size_estimation", "0", "0", "strict") == 1
    assert score("route_planning", "mumble", "?", "vlmevalkit") == 1
    assert score("route_planning", "mumble", "?", "strict") == 0
    with pytest.raises(ValueError, match="object_counting"):
        score("object_weight", "1", "1")


@settings(max_examples=40)
@given(st.sampled_from(ALL), st.text(), st.text(max_size=5), st.sampled_from(["lmms-eval", "vlmevalkit", "strict"]))
def test_any_text_scores_from_0_to_1(kind: str, response: str, answer: str, harness: str) -> None:
    assert 0 <= score(kind, response, answer, harness) <= 1  # type: ignore[arg-type]
