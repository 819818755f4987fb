from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.f1 import f1, option_words, stare_macro
from tests.spatial_engine.scoring.golden import agrees, cases

words = st.sampled_from(["yes", "No", "YES", "no"])


@pytest.mark.parametrize("case", cases("f1_yes_no"))
def test_equals_the_formulas(case: dict[str, Any]) -> None:
    truths, said = case["input"]["gt"], case["input"]["pred"]
    ours, dropped = f1(truths, said), f1(truths, said, unparsed="dropped")
    assert ours is not None
    rows = {"tp": ours.tp, "fp": ours.fp, "fn": ours.fn, "precision": ours.precision, "recall": ours.recall}
    published = None if dropped is None else dropped.value
    everything = {"all_rows": {**rows, "f1": ours.value}, "accuracy": ours.accuracy}
    assert agrees({**everything, "f1_vlmevalkit_drop_unparsed": published}, case["output"])


@settings(max_examples=40)
@given(st.lists(st.tuples(words, words | st.none()), min_size=1))
def test_mumbling_pays_only_where_it_is_dropped(rows: list[tuple[str, str | None]]) -> None:
    truths, said = [truth for truth, _ in rows], [word for _, word in rows]
    ours, dropped = f1(truths, said), f1(truths, said, unparsed="dropped")
    assert ours is not None and 0 <= ours.value <= 1
    assert ours == f1(truths, [word or "no" for word in said]) or None in said
    assert dropped is None or dropped.value >= ours.value


def test_letters_mean_words() -> None:
    assert option_words("Does it fold?\nA. yes\nB. no") == {"a": "yes", "b": "no"}
    assert option_words("(A) No  B： YES") == {"a": "no", "b": "yes"}
    assert option_words("A" + " " * 100_000) == {}


def test_macro_of_stare() -> None:
    assert stare_macro({}) is None
    assert stare_macro({"2d_trans": 0.5, "2d_trans_vsim": 1.0, "temporal": 0.25}) == 0.5
    assert stare_macro({"folding_nets": None, "perspective": 0.4}) == 0.4
