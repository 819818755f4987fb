import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.relative_accuracy import mean_relative_accuracy
from tests.spatial_engine.scoring.golden import cases


@pytest.mark.parametrize("case", cases("mra_variants"))
def test_golden_vectors_in_exact_arithmetic(case):
    ours = mean_relative_accuracy(case["input"]["pred"], case["input"]["gt"])
    expected = case["output"].get("paper_le_exact", case["output"]["code_vlmevalkit"])
    assert ours == pytest.approx(expected, rel=0, abs=1e-9)


def test_signs_zero_and_what_is_no_number():
    assert mean_relative_accuracy(-1000, -10) == 0 and mean_relative_accuracy(-10, -10) == 1
    assert mean_relative_accuracy(0, 0) == 1 and mean_relative_accuracy(0.3, 0) == 0.5
    assert mean_relative_accuracy(math.nan, 1) == mean_relative_accuracy(1, math.inf) == 0


@given(true=st.floats(0.01, 1e6), a=st.floats(0, 2), b=st.floats(0, 2))
def test_never_grows_with_the_error(true, a, b):
    near, far = sorted((a, b))
    assert mean_relative_accuracy(true * (1 + near), true) >= mean_relative_accuracy(true * (1 + far), true)
