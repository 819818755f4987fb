from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.dataset.balance import BalanceSettings, balance
from templates.draft import Draft
from templates.question import Option, Phrasing
from tests.spatial_engine.drafts import clip_questions, closer, moves, ratio, same_point, tilt, which_map

CLIP = "c" * 16
DIAGONALS = {CLIP: 400.0, "d" * 16: 400.0}
FREE = BalanceSettings(max_text_share=0.999, max_text_gain=1.0, max_leaf_share=None, kept_one_sided=1000)


def run(drafts, seed=0, **changes):
    return balance(drafts, DIAGONALS, seed, replace(BalanceSettings(), **changes))


def several(draft: Draft, k: int) -> Draft:
    """The same fact with k options."""
    options = tuple(Option(shown=f"option {i}") for i in range(k))
    phrasing = Phrasing(prompt=draft.phrasing.prompt, media=draft.phrasing.media, options=options, answer=0)
    return replace(draft, phrasing=phrasing)


@settings(max_examples=25, deadline=None)
@given(
    counts=st.dictionaries(st.integers(2, 6), st.integers(1, 23), min_size=1, max_size=3),
    seed=st.integers(0, 2**31),
    order=st.randoms(),
)
def test_letters_differ_by_at_most_one_per_number_of_options(counts, seed, order):
    drafts = [several(closer(100 * k + n, xy=(10.0 + n, 20.0)), k) for k, count in counts.items() for n in range(count)]
    order.shuffle(drafts)
    arranged = balance(drafts, DIAGONALS, seed, FREE).arranged
    assert len(arranged) == len(drafts)
    for k in counts:
        letters = Counter(d.letter for d in arranged if len(d.order) == k)
        assert max(letters.values()) - min(letters.get(x, 0) for x in "ABCDEF"[:k]) <= 1
    assert all(sorted(d.order) == list(range(len(d.order))) for d in arranged)


@settings(max_examples=10, deadline=None)
@given(order=st.randoms(), seed=st.integers(0, 1000))
def test_depends_on_no_order(order, seed):
    drafts = [*clip_questions().drafts, *clip_questions("d" * 16, 3).drafts]
    expected = balance(drafts, DIAGONALS, seed)
    order.shuffle(drafts)
    found = balance(drafts, DIAGONALS, seed)
    assert [(d.draft.fact_id, d.draft.format, d.order) for d in found.arranged] == [
        (d.draft.fact_id, d.draft.format, d.order) for d in expected.arranged
    ]
    assert found.dropped == expected.dropped


def test_places_depend_on_the_seed():
    drafts = [which_map(n) for n in range(12)]
    orders = {tuple(d.order for d in run(drafts, seed).arranged) for seed in range(4)}
    assert len(orders) == 4


@pytest.mark.parametrize(("yes", "no", "kept"), [(5, 5, 10), (9, 3, 7), (1, 6, 3), (0, 6, 2), (1, 0, 1)])
def test_yes_and_no_differ_by_at_most_one(yes, no, kept):
    drafts = [moves(n, n < yes) for n in range(yes + no)]
    found = run(drafts)
    counts = Counter(d.draft.phrasing.answer for d in found.arranged)
    assert sum(counts.values()) == kept
    assert sum(r.count for r in found.dropped) == yes + no - kept
    if yes and no:
        assert abs(counts["yes"] - counts["no"]) <= 1


@pytest.mark.parametrize(("first", "second", "kept"), [(6, 6, 12), (12, 4, 10), (10, 0, 2)])
def test_no_words_are_right_too_often(first, second, kept):
    drafts = [closer(n, right=int(n >= first)) for n in range(first + second)]
    found = run(drafts)
    assert len(found.arranged) == kept
    if second:
        counts = Counter(d.draft.right_words for d in found.arranged)
        assert max(counts.values()) / kept <= 0.6


def test_of_four_options_none_is_right_much_more_often_than_by_chance():
    def turned(n: int, right: str) -> Draft:
        options = tuple(Option(shown=text) for text in (right, "option 0", "option 1", "option 2"))
        one = closer(n)
        return replace(one, phrasing=replace(one.phrasing, options=options, answer=0))

    drafts = [turned(n, "left" if n < 20 else "right" if n < 26 else "up") for n in range(32)]
    counts = Counter(d.draft.right_words for d in run(drafts).arranged)
    assert counts == {"left": 8, "right": 6, "up": 6}  # 0.25 + 0.15 of 20


def test_pictures_as_options_have_no_words_to_balance():
    drafts = [which_map(n) for n in range(8)]
    assert drafts[0].right_words is None
    assert len(run(drafts).arranged) == 8


def test_near_duplicates_are_dropped_and_counted():
    near, far, other_answer = (
        closer(0, xy=(64.0, 62.0)),
        closer(0, xy=(90.0, 62.0)),
        closer(0, right=1, xy=(61.0, 60.0)),
    )
    found = run([closer(0), near, far, other_answer, closer(1)], max_text_share=0.9, max_text_gain=0.4)
    assert len(found.arranged) == 4
    assert [(r.reason, r.count) for r in found.dropped] == [("near-duplicate of another question", 1)]


def test_numbers_that_differ_by_more_than_their_tolerance_are_two_facts():
    first, near, far = ratio(0), ratio(0), ratio(0)

    def move(d, xy):
        return replace(
            d, fact=replace(d.fact, params={**d.fact.params, "a": list(xy)}), fact_id=f"{int(xy[0] * 10):016x}"
        )

    near = move(near, (61.0, 60.0))
    far = replace(move(far, (62.0, 60.0)), answer=replace(far.answer, value=np.array([3.0])))
    assert len(run([first, near, far]).arranged) == 2


def test_no_leaf_dominates():
    drafts = [closer(n, right=n % 2) for n in range(40)]
    for n in range(8):
        drafts += [tilt(n), moves(n, n % 2 == 0), same_point(n), which_map(n)]
    found = run(drafts)
    leaves = Counter(d.draft.ability for d in found.arranged)
    assert max(leaves.values()) <= 0.3 * sum(leaves.values())
    assert min(leaves.values()) == 8
    words = Counter(d.draft.right_words for d in found.arranged if d.draft.template == "range_ratio")
    assert abs(words["Point A"] - words["Point B"]) <= 1
    assert {r.reason for r in found.dropped} == {"dropped to keep one leaf from dominating"}


def test_few_leaves_have_no_limit_and_a_limit_that_costs_too_much_is_not_applied():
    assert len(run([closer(n, right=n % 2) for n in range(40)]).arranged) == 40
    tiny = [tilt(0), moves(0, True), same_point(0)]
    assert len(run([closer(n, right=n % 2) for n in range(40)] + tiny).arranged) == 43


def test_facts_with_another_format_go_first():
    drafts = [closer(n, right=int(n >= 9)) for n in range(12)] + [ratio(n) for n in range(9)]
    found = run(drafts)
    assert len({d.draft.fact_id for d in found.arranged}) == 12


def test_no_drafts_give_no_questions():
    found = run([])
    assert found.arranged == () and found.dropped == ()
