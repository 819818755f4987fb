import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.spatiallogic import Accuracy, Item, read_image, spatiallogic
from tests.spatial_engine.scoring.golden import agrees, cases
from tests.spatial_engine.scoring.published.hostile import HOSTILE


def shown(accuracy: Accuracy) -> dict[str, float | None]:
    return {
        "forward": accuracy.forward,
        "inverse": accuracy.inverse,
        "avg": accuracy.mean,
        "bias": accuracy.bias,
        "chronological_bias": accuracy.bias,
    }


@pytest.mark.parametrize("case", cases("spatiallogic"))
def test_equals_the_definitions(case: dict[str, Any]) -> None:
    items = [
        Item(pair=i["pair_id"], window=i["window"], direction=i["direction"], prediction=i["pred"])
        for i in case["input"]["items"]
    ]
    ours = spatiallogic(items)
    windows = {name: shown(accuracy) for name, accuracy in ours.windows.items()}
    assert list(windows) == list(case["output"]["per_window"])
    rates = {"second_image_rate": ours.second_image_rate, "pair_consistent": ours.pair_consistent}
    assert agrees({"per_window": windows, **shown(ours.accuracy), "pooled": ours.pooled, **rates}, case["output"])


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(5, 20), st.sampled_from([1, 2, None]), st.sampled_from([1, 2, None])), max_size=9)
)
def test_percentages_and_what_bounds_them(rows: list[tuple[int, int | None, int | None]]) -> None:
    items = [
        Item(pair=pair, window=window, direction=direction, prediction=said)  # type: ignore[arg-type]
        for pair, (window, *both) in enumerate(rows)
        for direction, said in zip(("forward", "inverse"), both, strict=True)
    ]
    ours = spatiallogic(items)
    assert (ours.pooled is None) == (not rows)
    if ours.pooled is not None and ours.pair_consistent is not None and ours.accuracy.mean is not None:
        assert 0 <= ours.pair_consistent <= ours.pooled + 1e-9 <= 100 + 1e-9
        assert ours.accuracy.mean == pytest.approx(ours.pooled)


def test_one_direction_alone_has_no_mean() -> None:
    ours = spatiallogic([Item(pair="a", window=12, direction="forward", prediction=2)])
    assert shown(ours.windows[">=12"])["avg"] is None and ours.pair_consistent is None


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
