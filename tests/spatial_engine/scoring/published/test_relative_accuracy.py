import math
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.relative_accuracy import Variant, relative_accuracy
from tests.spatial_engine.scoring.golden import agrees, cases

NAMES = {"code_lmms": "lmms-eval", "code_vlmevalkit": "vlmevalkit", "paper_strict_exact": "paper"}


@pytest.mark.parametrize("case", cases("mra_variants"))
def test_equals_the_variants(case: dict[str, Any]) -> None:
    prediction, target = float(case["input"]["pred"]), float(case["input"]["gt"])
    ours = {name: relative_accuracy(prediction, target, variant) for name, variant in NAMES.items()}
    ours["paper_le_exact"] = relative_accuracy(prediction, target, "strict")
    assert agrees(ours, case["output"])


@pytest.mark.parametrize("variant", get_args(Variant))
@settings(max_examples=40)
@given(st.floats() | st.none(), st.floats())
def test_any_numbers_give_a_share(variant: Variant, prediction: float | None, target: float) -> None:
    score = relative_accuracy(prediction, target, variant)
    assert score is None or 0 <= score <= 1


@settings(max_examples=40)
@given(st.floats(0.01, 1e6), st.floats(0, 2), st.floats(0, 2))
def test_more_error_never_scores_more(target: float, a: float, b: float) -> None:
    near, far = sorted((a, b))
    assert relative_accuracy(target * (1 + near), target) >= relative_accuracy(target * (1 + far), target)  # type: ignore[operator]


def test_exact_is_one_and_the_sign_counts() -> None:
    assert relative_accuracy(-3.0, -3.0) == relative_accuracy(0.0, 0.0) == 1
    assert relative_accuracy(3.0, -3.0) == relative_accuracy(math.nan, 3.0) == relative_accuracy(None, 1.0) == 0
    assert relative_accuracy(0.1, 0.0) == 0.9 and relative_accuracy(0.1, 0.0, "paper") is None
    assert relative_accuracy(999.0, -3.0, "lmms-eval") == 1
