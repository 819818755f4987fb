import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.errors import UsageError
from spatial_engine.scoring.published.spatiallogic import SpatialLogic, SpatialLogicStrict, read_image
from spatial_engine.scoring.scorers import Totals, score_items
from tests.spatial_engine.scoring.golden import agrees, cases
from tests.spatial_engine.scoring.published.hostile import HOSTILE


def totals(rows: list[dict[str, Any]]) -> Totals:
    items = [
        {"id": place, "pair": row["pair_id"], "window": row["window"],
         "target": "img2" if row["direction"] == "forward" else "img1"}
        for place, row in enumerate(rows)
    ]  # fmt: skip
    replies = {str(place): f"closer to completion: img{row['pred']}" for place, row in enumerate(rows)}
    return score_items(SpatialLogic(), items, replies)[1]


def shown(forward: float | None, inverse: float | None, mean: float | None) -> dict[str, float | None]:
    """In per cent, as the vectors have it."""
    percent = {"forward": forward, "inverse": inverse, "avg": mean}
    percent |= {"bias": None if forward is None or inverse is None else forward - inverse}
    percent |= {"chronological_bias": percent["bias"]}
    return {name: value if value is None else 100 * value for name, value in percent.items()}


@pytest.mark.parametrize("case", cases("spatiallogic"))
def test_equals_the_definitions(case: dict[str, Any]) -> None:
    ours = totals(case["input"]["items"])
    detail: Any = ours.detail
    windows = {
        name: shown(found["forward"], found["inverse"], ours.categories[name])
        for name, found in detail["windows"].items()
    }
    assert list(windows) == list(case["output"]["per_window"])
    rates = {
        name: detail[name] if detail[name] is None else 100 * detail[name]
        for name in ("pooled", "second_image_rate", "pair_consistent")
    }
    whole = shown(detail["forward"], detail["inverse"], ours.score)
    assert agrees({"per_window": windows, **whole, **rates}, case["output"])


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(5, 20), st.sampled_from([1, 2, None]), st.sampled_from([1, 2, None])), max_size=9)
)
def test_shares_and_what_bounds_them(rows: list[tuple[int, int | None, int | None]]) -> None:
    ours = totals([
        {"pair_id": pair, "window": window, "direction": direction, "pred": prediction}
        for pair, (window, *both) in enumerate(rows)
        for direction, prediction in zip(("forward", "inverse"), both, strict=True)
    ])  # fmt: skip
    detail: Any = ours.detail
    assert (ours.score is None) == (not rows)
    if rows:
        assert 0 <= detail["pair_consistent"] <= detail["pooled"] <= 1
        assert ours.score == pytest.approx(detail["pooled"])


def test_one_direction_alone_has_no_mean() -> None:
    ours = totals([{"pair_id": "a", "window": 12, "direction": "forward", "pred": 2}])
    assert ours.score is None and ours.categories == {">=12": None} and ours.detail["pair_consistent"] is None


def test_a_target_that_is_no_image() -> None:
    with pytest.raises(UsageError, match="img1 or img2"):
        SpatialLogic().score({"target": "left", "window": 5}, "img1")


def test_strict_reads_what_the_reply_concludes_with() -> None:
    item = {"target": "img2", "window": 5}
    reply = "closer to completion: img2, not img1"
    assert SpatialLogic().score(item, reply).value == SpatialLogicStrict().score(item, reply).value == 0
    assert SpatialLogicStrict().score(item, "closer to completion: the second one").value == 1


@pytest.mark.parametrize(
    ("response", "published", "strict"),
    [
        ("img1 is earlier. Closer to completion: img2", 2, 2),
        ("Closer to completion: img2, not img1", 1, None),
        ("Closer to completion: img2 closer to completion:", 2, None),
        ("Closer  to completion : IMG2", 2, 2),
        ("closer to completion: image 2", None, 2),
        ("closer to completion: the second one", None, 2),
        ("img2", None, 2),
        ("<think>closer to completion: img1</think> closer to completion: img2", 1, 2),
        ("", None, None),
        ("İ closer to completion: img2", 2, 2),
    ],
)
def test_reading(response: str, published: int | None, strict: int | None) -> None:
    assert read_image(response) == published
    assert read_image(response, strict=True) == strict


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_responses_cost_little(response: str) -> None:
    start = time.process_time()
    read_image(response), read_image(response, strict=True)
    assert time.process_time() - start < 2
