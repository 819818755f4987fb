"""Measurements as columns: reasons, rows, several scenes."""

import numpy as np
import pytest
from jaxtyping import config

from templates.columns import ColumnError
from templates.measured import Measured, first_reason, joined


def measured(**changes: object) -> Measured:
    """Three facts with labels; the last is undecided."""
    known = {
        "why": np.array(["", "", "hidden"]),
        "value": np.array([[1.0], [2.0], [np.nan]]),
        "sigma": np.full((3, 1), 0.1),
        "label": np.array(["up", "down", ""]),
        "margin": np.array([5.0, 4.0, np.nan]),
        "outlier_probability": np.array([0.02, 0.003, 0.5]),
        "evidence": {"residual": np.array([1.0, 2.0, 3.0])},
    }
    return Measured(**{**known, **changes})  # type: ignore[arg-type]


def test_the_first_reason_that_holds_counts() -> None:
    cases = {"a": np.array([True, False, False, False]), "bb": np.array([True, True, False, False]), "c": False}
    assert first_reason(4, cases).tolist() == ["a", "bb", "", ""]
    assert first_reason(2, {"a": True, "longer": False}).tolist() == ["a", "a"]
    assert first_reason(0, {"a": np.empty(0, dtype=bool)}).tolist() == [] and first_reason(1, {}).tolist() == [""]


def test_rows_take_their_evidence_along() -> None:
    some = measured().take(np.array([2, 0]))
    assert some.why.tolist() == ["hidden", ""] and some.evidence["residual"].tolist() == [3.0, 1.0]
    assert some.label is not None and some.label.tolist() == ["", "up"]


def test_a_refusal_adds_its_reason() -> None:
    assert measured().refused(np.array(["a longer reason", "", ""])).why.tolist() == ["a longer reason", "", "hidden"]


def test_values_of_another_shape_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "jaxtyping_disable", True)  # the types are checked in tests alone
    with pytest.raises(ColumnError, match=r"Measured\.value has shape \(3,\); declared: \(n, d\)"):
        measured(value=np.ones(3))


def test_joined_scenes_widen_sigma_by_their_difference_and_keep_the_first_value() -> None:
    found = joined(measured(), measured(value=np.array([[1.05], [2.0], [1.0]])))
    assert found.sigma[:2, 0] == pytest.approx([np.hypot(0.1, 0.05), 0.1])
    assert found.value[:2, 0].tolist() == [1.0, 2.0]


def test_independent_scenes_lower_the_outlier_probability_and_dependent_ones_do_not() -> None:
    one, other = measured(), measured(outlier_probability=np.array([0.003, 0.01, 0.5]))
    assert joined(one, other).outliers[:2].tolist() == [0.02, 0.01]
    assert joined(one, other, independent=True).outliers[:2].tolist() == [0.003, 0.003]
    never = measured(outlier_probability=None)
    assert joined(one, never).outliers[:2].tolist() == [0.02, 0.003]
    assert joined(one, never, independent=True).outliers[:2].tolist() == [0.0, 0.0]


def test_a_fact_needs_a_measurement_in_every_scene_and_equal_labels() -> None:
    other = measured(why=np.array(["", "behind the camera", ""]), label=np.array(["down", "down", ""]))
    assert joined(measured(), other).why.tolist() == [
        "the two reconstructions give different labels", "second reconstruction: behind the camera", "hidden",
    ]  # fmt: skip
    unnamed = measured(label=None, margin=None)
    assert joined(unnamed, unnamed).why.tolist() == ["", "", "hidden"]


def test_the_smaller_margin_counts_whatever_the_order() -> None:
    one, other = measured(), measured(margin=np.array([3.0, 9.0, np.nan]))
    for first, second in ((one, other), (other, one)):
        found = joined(first, second).margin
        assert found is not None and found[:2].tolist() == [3.0, 4.0]
    assert joined(one) is one


def test_three_scenes_must_all_agree() -> None:
    third = measured(label=np.array(["up", "up", ""]))
    assert joined(measured(), measured(), third).why.tolist() == [
        "", "the two reconstructions give different labels", "hidden",
    ]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 3])
def test_none_is_undecided_for_one_reason(count: int) -> None:
    none = Measured.none(count, "no path", components=2)
    assert none.why.tolist() == ["no path"] * count and none.value.shape == (count, 2)
    assert joined(none, none).why.tolist() == none.why.tolist()


def test_labels_are_answers_and_measurements_without_them_are_none() -> None:
    label = measured().as_label()
    np.testing.assert_array_equal(label.text, ["up", "down", ""])
    np.testing.assert_array_equal(label.outlier_probability, [0.02, 0.003, 0.5])
    with pytest.raises(ValueError, match="no label"):
        measured(label=None).as_label()
