from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import judgemodel
from tests.spatial_engine.scoring.golden import assert_agrees, cases


@pytest.mark.parametrize("case", cases("judgemodel"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(judgemodel, case)


@given(st.text(alphabet="yesnoYESNO k", max_size=20))
def test_every_response_is_one_of_three(response: str) -> None:
    assert sum(judgemodel(response, answer, {})["score"] for answer in ("yes", "no", "other")) == 1


@pytest.mark.parametrize("response", [None, ""])
def test_nothing_is_neither(response: str | None) -> None:
    assert judgemodel(response, "Other", {})["details"] == {"predict": "other", "gt": "other"}
