"""How many choices offer to abstain."""

from collections import Counter
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from spatial_engine.dataset.balance import BalanceSettings
from templates.answers import Label
from templates.asked import Asked, Draft
from templates.unanswerable import UNDETERMINED
from templates.wording import Wording
from tests.spatial_engine.dataset.balanced import Arranged, balance
from tests.spatial_engine.drafts import Closer, closer, ratio, tables, words

CLIP, OTHER = "c" * 16, "d" * 16
DIAGONALS = {CLIP: 400.0, OTHER: 400.0}
FREE = BalanceSettings(max_text_share=0.999, max_leaf_share=None, kept_one_sided=1000)
WORDS = tuple(f"word {k}" for k in range(4))


class FourWords(Closer):
    """One of four words, or that it cannot be determined."""

    name, formats = "four_words", ("choice",)
    wordings: ClassVar = {
        "choice": Wording(
            prompts=("Which word?",), options={**{word: word for word in WORDS}, UNDETERMINED: "nobody knows"}
        )
    }


def one(number: int, *, left_open: bool = False, offered: bool = True, clip_id: str = CLIP) -> Asked:
    """One of four words is right, or that it cannot be determined."""
    made = closer(number, xy=(10.0 + 20 * number, 20.0), clip_id=clip_id, template=FourWords())
    right = 4 if left_open else number % 4
    label = Label(text=np.array([(*WORDS, UNDETERMINED)[right]]), margin=np.array([5.0]))
    ((rows, _),) = made.answers.stacks
    answers = replace(made.answers, stacks=((rows, label),))
    return replace(made, answers=answers, offer=words(WORDS, right, undetermined=offered))


def run(rows: list[Asked], seed: int = 0) -> tuple[list[Arranged], int]:
    """What stays, and how many were dropped to keep unanswerable rare."""
    found = balance(tables(*rows), DIAGONALS, seed, FREE)
    return list(found.arranged), found.dropped.get("dropped to keep unanswerable rare", 0)


def offers(arranged: Arranged) -> bool:
    """Whether one of the letters is "cannot be determined"."""
    draft = arranged.draft()
    return any(draft.options[index].value == UNDETERMINED for index in arranged.order)


def shown(arranged: Arranged) -> tuple[Draft, list[str]]:
    """The question but its options, and those in order."""
    draft = arranged.draft()
    return replace(draft, options=()), [str(draft.options[index].shown) for index in arranged.order]


@pytest.mark.parametrize(
    ("answered", "left_open", "offered", "kept"),
    [(8, 2, 10, 2), (40, 2, 10, 2), (8, 5, 10, 2), (3, 2, 0, 0), (5, 0, 0, 0)],
)
def test_it_is_right_for_a_fifth_of_those_that_offer_it(answered: int, left_open: int, offered: int, kept: int) -> None:
    rows = [one(n) for n in range(answered)] + [one(100 + n, left_open=True) for n in range(left_open)]
    stay, dropped = run(rows)
    assert sum(map(offers, stay)) == offered
    assert sum(each.draft().answer.text == UNDETERMINED for each in stay) == kept and dropped == left_open - kept
    assert len(stay) == answered + kept
    for each in stay:
        assert sorted(each.order) == list(range(5 if offers(each) else 4)) and each.draft().written in each.order


@pytest.mark.parametrize("rules", [FREE, BalanceSettings()])
def test_without_unanswerable_questions_no_choice_has_the_option(rules: BalanceSettings) -> None:
    numbers = [4 * n if n < 9 else n for n in range(14)]  # one word is right too often
    with_it, without = (
        balance(tables(*(one(n, offered=offered) for n in numbers)), DIAGONALS, 1, rules) for offered in (True, False)
    )
    assert with_it.arranged and not any(map(offers, with_it.arranged))
    assert repr(list(map(shown, with_it.arranged))) == repr(list(map(shown, without.arranged)))
    assert with_it.dropped == without.dropped


def test_it_stays_in_clips_where_it_is_needed() -> None:
    rows = [one(n, clip_id=OTHER) for n in range(20)] + [one(n) for n in range(4)] + [one(50, left_open=True)]
    stay, _ = run(rows)
    assert {each.clip_id for each in stay if offers(each)} == {CLIP}


def test_letters_of_four_and_of_five_options_are_even() -> None:
    rows = [one(n) for n in range(40)] + [one(100 + n, left_open=True) for n in range(5)]
    arranged = balance(tables(*rows), DIAGONALS, 3, FREE).arranged
    for count in (4, 5):
        letters = Counter(
            each.order.index(each.asked.right_option(each.row)) for each in arranged if len(each.order) == count
        )
        assert max(letters.values()) - min(letters[place] for place in range(count)) <= 1


def test_questions_of_other_templates_are_unchanged() -> None:
    other = [ratio(n) for n in range(4)]
    stay, _ = run([*other, one(0, left_open=True)])
    expected = sorted((asked.draft(0) for asked in other), key=lambda draft: draft.fact_id)
    assert [repr(each.draft()) for each in stay] == [repr(draft) for draft in expected]
