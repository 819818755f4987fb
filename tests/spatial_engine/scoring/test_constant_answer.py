"""The best constant answer is found among those seen, however many there are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.constant_answer import best_constant


def within(answers, tolerance):
    def hits(tried, on):
        return [sum(abs(answer - answers[i]) <= tolerance for i in on) for answer in tried]

    return hits


def test_the_peak_of_many_answers_is_found():
    rng = np.random.default_rng(0)
    answers = sorted([*rng.uniform(0, 100, 2000).tolist(), *rng.normal(40, 1, 600).tolist()])
    assert abs(best_constant(answers, within(answers, 2.0)) - 40) < 3


def test_what_is_said_most_often_wins_where_nothing_else_is_near():
    answers = sorted(["left"] * 3 + ["right"] * 5 + ["up"])
    assert best_constant(answers, lambda tried, on: [sum(answers[i] == a for i in on) for a in tried]) == "right"


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_of_few_answers_none_is_better(answers):
    answers = sorted(answers)
    hits = within(answers, 1)
    every = range(len(answers))
    assert hits([best_constant(answers, hits)], every)[0] == max(hits(range(10), every)[a] for a in set(answers))
