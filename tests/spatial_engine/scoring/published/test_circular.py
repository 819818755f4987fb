import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.circular import Presented, can_rotate, circular, rotations
from tests.spatial_engine.scoring.golden import agrees, cases

rows = st.integers(1, 6).flatmap(
    lambda k: st.tuples(st.just(k), st.integers(0, k - 1), st.lists(st.none() | st.integers(0, k - 1), max_size=k))
)


@pytest.mark.parametrize("case", cases("circular"))
def test_equals_the_definitions(case: dict[str, Any]) -> None:
    asked = [
        Presented(options=q["k"], answer=q["answer"], predictions=tuple(q["preds"])) for q in case["input"]["questions"]
    ]
    ours = circular(asked)
    names = {"non_circular": ours.plain, "soft_pooled": ours.soft, "soft_per_question_mean": ours.soft_by_question}
    assert agrees({**names, "hard": ours.hard}, case["output"])


@pytest.mark.parametrize("case", cases("circular_rotations"))
def test_rotations_equal_the_definition(case: dict[str, Any]) -> None:
    ours = rotations(**case["input"])
    assert [{"rotation": r.rotation, "options": list(r.options), "answer": r.answer} for r in ours] == case["output"]


@settings(max_examples=40)
@given(st.integers(2, 8), st.data())
def test_every_option_stands_once_at_every_letter(k: int, data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from("ABCDEFGH"[:k]))
    shown = rotations([f"o{i}" for i in range(k)], answer)
    assert {r.answer for r in shown} == set("ABCDEFGH"[:k])
    right = shown[0].options["ABCDEFGH".index(answer)]
    assert all(r.options["ABCDEFGH".index(r.answer)] == right for r in shown)


@settings(max_examples=40)
@given(st.lists(rows, max_size=5))
def test_hard_is_never_above_soft(asked: list[tuple[int, int, list[int | None]]]) -> None:
    ours = circular([Presented(options=k, answer=a, predictions=tuple(said)) for k, a, said in asked])
    assert 0 <= ours.hard <= ours.soft_by_question <= 1 and 0 <= ours.soft <= 1


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(2, 6), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=5), st.randoms()
)
def test_permuting_the_options_changes_nothing_in_hard(asked: list[tuple[int, int, int]], rng: random.Random) -> None:
    """A model that always picks one and the same option, whatever its letter."""

    def presented(k: int, right: int, chosen: int, order: list[int]) -> Presented:
        picks = tuple((order.index(chosen) - i) % k for i in range(k))
        return Presented(options=k, answer=order.index(right), predictions=picks)

    plain, permuted = [], []
    for k, right, chosen in asked:
        order = rng.sample(range(k), k)
        plain.append(presented(k, right % k, chosen % k, list(range(k))))
        permuted.append(presented(k, right % k, chosen % k, order))
    assert circular(plain) == circular(permuted)


def test_one_letter_for_everything_is_never_right_in_hard() -> None:
    ours = circular([Presented(options=4, answer=0, predictions=(0, 0, 0, 0))])
    assert (ours.plain, ours.soft, ours.hard) == (1, 0.25, 0)


def test_nothing_asked_and_nothing_answered() -> None:
    assert circular([]).hard == circular([Presented(options=3, answer=0, predictions=())]).soft == 0


@pytest.mark.parametrize(
    ("options", "answer", "rotates"),
    [
        (["a chair", "a table"], "A", True),
        (["Point A", "Point B"], "B", True),
        (["Both A and B", "None"], "A", False),
        (["A", "AB"], "A", False),
        (["left", "right"], "C", False),
        (["left", "right"], "AB", False),
        ([], "A", False),
        (["", "right"], "B", False),
    ],
)
def test_which_questions_rotate(options: list[str], answer: str, rotates: bool) -> None:
    assert can_rotate(options, answer) is rotates


def test_an_answer_that_is_no_option() -> None:
    with pytest.raises(ValueError, match="none of 2"):
        rotations(["a", "b"], "C")
