"""The user's word decides under which licences models run."""

import pytest

from experts.expert import AsCheck
from spatial_engine.annotation.licences import check_licences, licence_of
from spatial_engine.errors import UsageError
from spatial_engine.options import ModelOptions
from tests.spatial_engine.fake_adapters import BoundCode, FakeAdapter


def test_what_forbids_commercial_use_needs_a_word() -> None:
    check_licences([FakeAdapter()], ModelOptions())
    with pytest.raises(UsageError, match="fake_adapter may not be used commercially") as caught:
        check_licences([FakeAdapter(), FakeAdapter("bound")], ModelOptions())
    assert "CC-BY-NC-4.0" in caught.value.cause
    assert caught.value.remedy == "say --allow-noncommercial, or take depth_anything_3:base instead"
    check_licences([FakeAdapter("bound")], ModelOptions(allow_noncommercial=True))


def test_a_second_opinion_has_no_other_licence() -> None:
    with pytest.raises(UsageError, match="may not be used commercially"):
        check_licences([AsCheck(FakeAdapter("bound"))], ModelOptions())


def test_random_weights_are_nobody_s_but_code_is_somebody_s() -> None:
    check_licences([FakeAdapter("bound")], ModelOptions(random_weights=True))
    with pytest.raises(UsageError, match="bound_code may not be used commercially"):
        check_licences([BoundCode()], ModelOptions(random_weights=True))


def test_licences_are_named() -> None:
    assert licence_of(FakeAdapter("bound")) == "Apache-2.0, weights CC-BY-NC-4.0"
    assert licence_of(AsCheck(FakeAdapter())) == "Apache-2.0, weights Apache-2.0"
