"""What questions offer, as columns."""

import numpy as np
import pytest
from jaxtyping import config

from templates.offer import Offer, fixed_options


def test_fixed_words_are_offered_to_every_question_and_the_right_one_is_known() -> None:
    offer = fixed_options(("up", "down"), np.array(["down", "up", "down"]))
    assert offer.options is not None and offer.right is not None
    assert offer.options.tolist() == [["up", "down"]] * 3 and offer.right.tolist() == [1, 0, 1]
    assert offer.values(2) == ["up", "down"] and offer.why.tolist() == [""] * 3
    assert len(fixed_options(("up", "down"), np.array([], dtype=np.str_)).why) == 0
    odd = fixed_options(("up", "down"), np.array(["up", "aside"]))
    assert odd.why.tolist() == ["", "the answer is none of the options"]


def test_rows_are_taken_from_every_column() -> None:
    offer = Offer(
        why=np.array(["", "crowded", ""]), options=np.arange(24.0).reshape(3, 4, 2), right=np.array([3, 0, 1]),
        undetermined=np.array([True, False, True]),
    )  # fmt: skip
    some = offer.take(np.array([2, 1]))
    assert some.why.tolist() == ["", "crowded"] and some.right is not None and some.right.tolist() == [1, 0]
    assert some.values(0) == offer.values(2) and some.undetermined is not None
    assert some.undetermined.tolist() == [True, False]
    bare = Offer(why=np.array(["", ""])).take(np.array([0]))
    assert bare.options is None and bare.right is None and bare.values(0) == []


def test_columns_of_unequal_lengths_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "jaxtyping_disable", True)  # the types are checked in tests alone
    two, options = np.array(["", ""]), np.array([["a", "b"], ["a", "b"]])
    with pytest.raises(ValueError, match=r"Offer has columns of .* rows; allowed: options and right of 2 rows"):
        Offer(why=two, options=options, right=np.array([0]))
    with pytest.raises(ValueError, match="allowed: options and right of 2 rows"):
        Offer(why=two, options=options)


def test_the_right_option_is_one_of_those_offered() -> None:
    why, options = np.array(["", "crowded"]), np.array([["a", "b"], ["a", "b"]])
    with pytest.raises(ValueError, match=r"Offer\.right is 2 in row 0; allowed: 0 to 1"):
        Offer(why=why, options=options, right=np.array([2, 0]))
    Offer(why=why, options=options, right=np.array([1, 9]))  # a row with a reason means nothing
    Offer(why=why, options=options, right=np.array([2, 0]), undetermined=np.array([True, False]))
