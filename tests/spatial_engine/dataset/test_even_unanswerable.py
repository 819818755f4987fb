"""How many choices offer to abstain."""

from collections import Counter
from dataclasses import replace

import pytest

from spatial_engine.dataset.balance import BalanceSettings, balance
from templates.answers import Label
from templates.draft import Draft
from templates.question import Option
from templates.unanswerable import (
    UNDETERMINED,
    is_unanswerable,
    offers_undetermined,
    undetermined_option,
    without_undetermined,
)
from tests.spatial_engine.drafts import closer, ratio

CLIP, OTHER = "c" * 16, "d" * 16
FREE = BalanceSettings(max_text_share=0.999, max_leaf_share=None, kept_one_sided=1000)
OPTION = undetermined_option("nobody knows")


def draft(number: int, *, left_open: bool = False, clip_id: str = CLIP) -> Draft:
    """One of four words is right, or that it cannot be determined."""
    made = closer(number, xy=(10.0 + 20 * number, 20.0), clip_id=clip_id)
    options = (*(Option(shown=f"word {k}", value=f"word {k}") for k in range(4)), OPTION)
    right = 4 if left_open else number % 4
    answer = Label(text=UNDETERMINED if left_open else f"word {right}", margin=5.0)
    return replace(made, answer=answer, phrasing=replace(made.phrasing, options=options, answer=right))


def run(drafts: list[Draft], seed: int = 0) -> tuple[list[Draft], int]:
    """What stays, and how many were dropped to keep unanswerable rare."""
    found = balance(drafts, {CLIP: 400.0, OTHER: 400.0}, seed, FREE)
    reasons = Counter({refusal.reason: refusal.count for refusal in found.dropped})
    return [arranged.draft for arranged in found.arranged], reasons["dropped to keep unanswerable rare"]


def offers(draft: Draft) -> bool:
    return offers_undetermined(draft.phrasing)


@pytest.mark.parametrize(
    ("answered", "left_open", "offered", "kept"),
    [(8, 2, 10, 2), (40, 2, 10, 2), (8, 5, 10, 2), (3, 2, 0, 0), (5, 0, 0, 0)],
)
def test_it_is_right_for_a_fifth_of_those_that_offer_it(answered: int, left_open: int, offered: int, kept: int) -> None:
    drafts = [draft(n) for n in range(answered)] + [draft(100 + n, left_open=True) for n in range(left_open)]
    stay, dropped = run(drafts)
    assert sum(map(offers, stay)) == offered
    assert sum(is_unanswerable(one.answer) for one in stay) == kept and dropped == left_open - kept
    assert len(stay) == answered + kept
    for one in stay:
        assert one.phrasing.answer < len(one.phrasing.options) in (4, 5)


@pytest.mark.parametrize("rules", [FREE, BalanceSettings()])
def test_without_unanswerable_questions_no_choice_has_the_option(rules: BalanceSettings) -> None:
    drafts = [draft(4 * n if n < 9 else n) for n in range(14)]  # one word is right too often
    plain = [replace(one, phrasing=without_undetermined(one.phrasing)) for one in drafts]
    with_it, without = (balance(some, {CLIP: 400.0}, 1, rules) for some in (drafts, plain))
    assert repr(with_it) == repr(without) and with_it.arranged


def test_it_stays_in_clips_where_it_is_needed() -> None:
    drafts = [draft(n, clip_id=OTHER) for n in range(20)] + [draft(n) for n in range(4)] + [draft(50, left_open=True)]
    stay, _ = run(drafts)
    assert {one.clip_id for one in stay if offers(one)} == {CLIP}


def test_letters_of_four_and_of_five_options_are_even() -> None:
    drafts = [draft(n) for n in range(40)] + [draft(100 + n, left_open=True) for n in range(5)]
    arranged = balance(drafts, {CLIP: 400.0}, 3, FREE).arranged
    for count in (4, 5):
        letters = Counter(one.letter for one in arranged if len(one.order) == count)
        assert max(letters.values()) - min(letters[letter] for letter in "ABCDE"[:count]) <= 1


def test_questions_of_other_templates_are_unchanged() -> None:
    other = [ratio(n) for n in range(4)]
    stay, _ = run([*other, draft(0, left_open=True)])
    assert [repr(one) for one in stay] == [repr(one) for one in sorted(other, key=lambda one: one.fact_id)]
