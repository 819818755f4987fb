from collections import Counter
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.dataset.balance import BalanceSettings, even_choice, near_best_constant
from templates.answers import Count, Label
from templates.asked import Asked
from templates.question import LETTERS
from templates.wording import Wording
from tests.spatial_engine.dataset.balanced import Arranged, balance
from tests.spatial_engine.drafts import (
    Closer,
    Frames,
    asked,
    clip_questions,
    closer,
    moves,
    ratio,
    same_point,
    tables,
    tilt,
    which_map,
    words,
)

CLIP = "c" * 16
DIAGONALS = {CLIP: 400.0, "d" * 16: 400.0}
FREE = BalanceSettings(near_frames=0, max_text_share=0.999, max_text_gain=1.0, max_leaf_share=None, kept_one_sided=1000)


class Worded(Closer):
    """Options are any words."""

    name = "worded"
    wordings: ClassVar = {"choice": Wording(prompts=("Which?", "Which one?", "Which is it?"))}

    def phrase(self, format, fact, answer, offer):
        return replace(super().phrase(format, fact, answer, offer), options=tuple(offer.values(0)))


def worded(number: int, options, right: int, clip_id: str = CLIP) -> Asked:
    """A fact with one of these words as its answer."""
    made = closer(number, xy=(10.0 + number, 20.0), clip_id=clip_id, template=Worded())
    answer = Label(text=np.array([options[right]]), margin=np.array([5.0]))
    ((rows, _),) = made.answers.stacks
    return replace(made, answers=replace(made.answers, stacks=((rows, answer),)), offer=words(options, right))


WAYS = ("left", "right", "up", "down")


def walked(number: int, backwards: bool, right: int) -> Asked:
    """A choice of two words about two photos."""
    frames = 20 * number + np.array([[0, 10]])
    return replace(worded(number, WAYS[:2], right), facts=Frames(frames=frames[:, ::-1] if backwards else frames))


def several(number: int, k: int) -> Asked:
    """A fact with k options."""
    return worded(number, [f"option {i}" for i in range(k)], 0)


def run(rows, seed=0, **changes):
    return balance(tables(*rows), DIAGONALS, seed, replace(BalanceSettings(), **changes))


def key(arranged: Arranged) -> tuple[str, str, tuple[int, ...]]:
    return str(arranged.asked.fact_ids[arranged.row]), arranged.asked.format, arranged.order


def said(arranged: Arranged) -> str:
    return str(arranged.asked.right_words()[arranged.row])


def letter(arranged: Arranged) -> str:
    return LETTERS[arranged.order.index(arranged.asked.right_option(arranged.row))]


@settings(max_examples=25, deadline=None)
@given(
    counts=st.dictionaries(st.integers(2, 6), st.integers(1, 23), min_size=1, max_size=3),
    seed=st.integers(0, 2**31),
    order=st.randoms(),
)
def test_letters_differ_by_at_most_one_per_number_of_options(counts, seed, order):
    rows = [several(100 * k + n, k) for k, count in counts.items() for n in range(count)]
    order.shuffle(rows)
    arranged = balance(rows, DIAGONALS, seed, FREE).arranged
    assert len(arranged) == len(rows)
    for k in counts:
        letters = Counter(letter(d) for d in arranged if len(d.order) == k)
        assert max(letters.values()) - min(letters.get(x, 0) for x in "ABCDEF"[:k]) <= 1
    assert all(sorted(d.order) == list(range(len(d.order))) for d in arranged)


@settings(max_examples=10, deadline=None)
@given(order=st.randoms(), seed=st.integers(0, 1000))
def test_depends_on_no_order(order, seed):
    """Neither of the tables, nor of the rows of a table."""
    asked = [*clip_questions().asked, *clip_questions("d" * 16, 3).asked]
    expected = balance(asked, DIAGONALS, seed)
    order.shuffle(asked)
    mixed = [one.take(np.array(order.sample(range(len(one)), len(one)))) for one in asked]
    found = balance(mixed, DIAGONALS, seed)
    assert list(map(key, found.arranged)) == list(map(key, expected.arranged))
    assert found.dropped == expected.dropped


@settings(max_examples=10, deadline=None)
@given(order=st.randoms(), seed=st.integers(0, 1000))
def test_depends_on_no_split_into_tables(order, seed):
    """Each row alone, or all of a kind in one table."""
    rows = [closer(n, right=int(n >= 20)) for n in range(30)] + [moves(n, n < 9) for n in range(12)]
    rows += [
        one for n in range(6) for one in (tilt(n), same_point(n), which_map(n), ratio(n), ratio(n, xy=(61.0, 60.0)))
    ]
    expected = balance(tables(*rows), DIAGONALS, seed)
    order.shuffle(rows)
    found = balance(rows, DIAGONALS, seed)
    assert list(map(key, found.arranged)) == list(map(key, expected.arranged))
    assert found.dropped == expected.dropped
    assert expected.dropped.keys() >= {
        "near-duplicate of another question", "dropped to balance yes and no",
        "dropped to balance the words of right answers",
    }  # fmt: skip


def test_places_depend_on_the_seed():
    rows = [which_map(n) for n in range(12)]
    orders = {tuple(d.order for d in run(rows, seed).arranged) for seed in range(4)}
    assert len(orders) == 4


@pytest.mark.parametrize(("yes", "no", "kept"), [(5, 5, 10), (9, 3, 7), (1, 6, 3), (0, 6, 2), (1, 0, 1)])
def test_yes_and_no_differ_by_at_most_one(yes, no, kept):
    found = run([moves(n, n < yes) for n in range(yes + no)])
    counts = Counter(map(said, found.arranged))
    assert sum(counts.values()) == kept
    assert sum(found.dropped.values()) == yes + no - kept
    if yes and no:
        assert abs(counts["yes"] - counts["no"]) <= 1


@pytest.mark.parametrize(("first", "second", "kept"), [(6, 6, 12), (12, 4, 10), (10, 0, 2)])
def test_no_words_are_right_too_often(first, second, kept):
    found = run([closer(n, right=int(n >= first)) for n in range(first + second)])
    assert len(found.arranged) == kept
    if second:
        assert max(Counter(map(said, found.arranged)).values()) / kept <= 0.6


def test_of_four_options_none_is_right_much_more_often_than_by_chance():
    rows = [worded(20 * n, WAYS, 0 if n < 20 else 1 if n < 26 else 2) for n in range(32)]
    counts = Counter(map(said, run(rows).arranged))
    assert counts == {"left": 6, "right": 6, "up": 6}  # at most 0.25 + 0.1 of all


def test_words_are_balanced_among_questions_with_equal_options():
    """Without a picture, a reader of the second kind would always be right with "down"."""
    others = ("down", "ahead", "back", "near")
    rows = [worded(20 * n, WAYS, n % 4) for n in range(40)] + [worded(1000 + 20 * n, others, 0) for n in range(10)]
    counts = Counter(map(said, run(rows, enough_for_options=1000).arranged))
    assert counts == {"left": 10, "right": 10, "up": 10, "down": 10 + 2}


def test_words_are_balanced_among_photos_in_one_order_of_time():
    """The camera walks ahead: what it has passed lies behind, what it reaches lies ahead."""
    rows = [walked(n, backwards=bool(n % 2), right=n % 2 if n < 30 else 1 - n % 2) for n in range(40)]
    found = Counter((one.asked.situations()[one.row][-2:], said(one)) for one in run(rows, max_text_share=0.5).arranged)
    assert set(found.values()) == {5}
    assert len(found) == 4


@pytest.mark.parametrize(("equal", "others", "kept"), [(30, 28, 12), (12, 28, 12), (20, 4, 20)])
def test_no_constant_is_right_for_too_many_numbers(equal, others, kept):
    """Ratios within 15 % of each other, and others that differ by a quarter; few numbers are left as they are."""
    values = [*np.linspace(2.0, 2.1, equal), *3 * 1.4 ** np.arange(others)]
    rows = [ratio(n, xy=(10.0 + 20 * n, 20.0), value=value) for n, value in enumerate(values)]
    numbers = [one.asked.numbers()[one.row, 0] for one in run(rows, near_duplicate=1e-6).arranged]
    assert sum(number < 2.5 for number in numbers) == kept
    assert sum(number > 2.5 for number in numbers) == others


def test_numbers_near_the_end_of_a_turn_are_alike():
    values, turn = np.array([359.0, 1.0, 358.0, 180.0, 90.0]), np.full(5, 360.0)
    near = near_best_constant(np.column_stack([values, np.full(5, 15.0), turn]))
    assert near.tolist() == [True, True, True, False, False]


def test_pictures_as_options_have_no_words_to_balance():
    rows = [which_map(n) for n in range(8)]
    assert rows[0].right_words().tolist() == [""]
    assert len(run(rows).arranged) == 8


def test_near_duplicates_are_dropped_and_counted_whatever_their_answers():
    near, far, other_answer = (
        closer(0, xy=(64.0, 62.0)),
        closer(0, xy=(90.0, 62.0)),
        closer(0, right=1, xy=(61.0, 60.0)),
    )
    found = run([closer(0), near, far, other_answer, closer(1)], kept_one_sided=1000)
    assert found.dropped == {"near-duplicate of another question": 2}
    assert far.fact_ids[0] in {key(one)[0] for one in found.arranged}


def test_nearly_the_same_photos_are_asked_about_once():
    found = run([ratio(0), ratio(1), ratio(100)])
    assert found.dropped == {"near-duplicate of another question": 1}
    assert len(run([ratio(0), ratio(3), ratio(100)]).arranged) == 3


def test_a_known_point_is_not_near_an_unknown_one():
    def partly(a, b, n):
        fact = {"frame": 0, "a_px": a, "b_px": b}
        label = Label(text="AB"[n % 2], margin=4.5)
        return asked(Closer(), fact, label, CLIP, offer=words(("A", "B"), n % 2))

    half, whole, near, other = (
        ([60.0, 60.0], None),
        ([60.0, 60.0], [9.0, 9.0]),
        ([61.0, 60.0], None),
        ([90.0, 9.0], None),
    )
    rows = [partly(*points, 0) for points in (half, whole, near, other)] + [closer(n, right=1) for n in range(1, 5)]
    found = run(rows)
    assert found.dropped == {"near-duplicate of another question": 1}
    assert rows[1].fact_ids[0] in {key(one)[0] for one in found.arranged}


def test_no_leaf_dominates():
    rows = [closer(n, right=n % 2) for n in range(40)]
    for n in range(8):
        rows += [tilt(n), moves(n, n % 2 == 0), same_point(n), which_map(n)]
    found = run(rows)
    leaves = Counter(d.asked.template.ability for d in found.arranged)
    assert max(leaves.values()) <= 0.3 * sum(leaves.values())
    assert min(leaves.values()) == 8
    counts = Counter(said(d) for d in found.arranged if d.asked.template.name == "range_ratio")
    assert abs(counts["A"] - counts["B"]) <= 1
    assert found.dropped.keys() == {"dropped to keep one leaf from dominating"}


def test_few_leaves_have_no_limit_and_a_limit_that_costs_too_much_is_not_applied():
    assert len(run([closer(n, right=n % 2) for n in range(40)]).arranged) == 40
    tiny = [tilt(0), moves(0, True), same_point(0)]
    assert len(run([closer(n, right=n % 2) for n in range(40)] + tiny).arranged) == 43


def test_facts_with_another_format_go_first():
    rows = [closer(n, right=int(n >= 9)) for n in range(12)] + [ratio(n) for n in range(9)]
    assert len({key(one)[0] for one in run(rows).arranged}) == 12


def test_nothing_asked_gives_no_questions():
    found = run([])
    assert found.arranged == () and found.dropped == {}


@pytest.mark.parametrize("count", [2, 7, 9])
def test_every_wording_is_used_equally_often(count):
    """Within a key; and another seed words other questions so."""
    rows = [worded(20 * n, ("left", "right"), n % 2) for n in range(count)] + [closer(n, n % 2) for n in range(5)]
    arranged = balance(tables(*rows), DIAGONALS, 0, FREE).arranged
    prompts = []
    for seed in (0, 0, 1):
        choose = even_choice(seed)
        prompts.append([one.draft(choose).prompt for one in arranged])
    assert prompts[0] == prompts[1] and (count < 7 or prompts[0] != prompts[2])
    for said in prompts:
        used = Counter(prompt for prompt in said if prompt in Worded.wordings["choice"].prompts)
        assert sum(used.values()) == count
        assert max(used.values()) - min(used[prompt] for prompt in Worded.wordings["choice"].prompts) <= 1
    first = even_choice(0)
    assert [first("a", 3) for _ in range(6)] == [
        choose("a", 3) for choose in (even_choice(0),) for _ in range(6) if choose("b", 3) >= 0
    ], "one key does not shift another"


class Fixed(Worded):
    """Every choice offers these words."""

    name = "fixed"
    labels: ClassVar = {"choice": ("left", "right", "same")}


@pytest.mark.parametrize(("count", "options"), [(40, 2), (12, 3)])
def test_a_word_that_is_never_right_in_a_large_data_set_is_no_option(count, options):
    rows = [replace(worded(n, ["left", "right", "same"], n % 2), template=Fixed()) for n in range(count)]
    arranged = balance(rows, DIAGONALS, 0, FREE).arranged
    assert len(arranged) == count and {len(one.order) for one in arranged} == {options}
    assert {tuple(sorted(one.order)) for one in arranged} == {tuple(range(options))}
    letters = Counter(letter(one) for one in arranged)
    assert max(letters.values()) - min(letters.values()) <= 1


def test_where_one_word_alone_is_right_the_others_stay():
    rows = [replace(worded(n, ["left", "right", "same"], 0), template=Fixed()) for n in range(40)]
    assert {len(one.order) for one in balance(rows, DIAGONALS, 0, FREE).arranged} == {3}


def counted(number: int, count: int) -> Asked:
    made = ratio(number, xy=(10.0 + number, 20.0))
    ((rows, _),) = made.answers.stacks
    return replace(made, answers=replace(made.answers, stacks=((rows, Count(value=np.array([float(count)]))),)))


@pytest.mark.parametrize(("ones", "others", "kept"), [(50, 12, 8), (3, 12, 3), (20, 0, 2)])
def test_no_count_is_the_answer_to_most_questions(ones, others, kept):
    rows = [counted(n, 1 if n < ones else 2 + n % 3) for n in range(ones + others)]
    found = balance(tables(*rows), DIAGONALS, 0, replace(FREE, kept_one_sided=2))
    assert Counter(map(said, found.arranged))["1"] == kept
    assert len(found.arranged) == kept + others
    assert sum(found.dropped.values()) == ones - kept
