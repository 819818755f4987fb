"""Bounds of wrong rates; coverage of σ."""

from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.trust.metrics import coverage, distribution, wrong_rate
from spatial_engine.trust.verdict import Verdict

RNG = np.random.default_rng


def verdict(clip: int, fact: int, word: str = "right", **changes) -> Verdict:
    plain = Verdict(
        id=f"{clip}/{fact}", fact_id=str(fact), ability="L1/Motion/Ego", template="camera_turn", format="numeric",
        clip=str(clip), experts="colmap", word=word, reason="", margin=None, error={}, sigma={},
        answer=3.0, target=None,
    )  # fmt: skip
    return replace(plain, **changes)


def test_no_error_in_150_clips_of_20_facts():
    found = wrong_rate([verdict(c, f) for c in range(150) for f in range(20)], RNG(0))
    assert (found.right, found.wrong, found.clips, found.rate) == (3000, 0, 150, 0)
    assert found.bound == pytest.approx(0.00478, abs=5e-6)


def test_a_fact_is_wrong_if_any_of_its_formats_is():
    found = wrong_rate([verdict(0, 0), verdict(0, 0, "wrong", format="choice"), verdict(0, 1, "undecidable")], RNG(0))
    assert (found.right, found.wrong, found.undecidable, found.clips) == (0, 1, 1, 1) and found.bound == 1


def test_nothing_decided_has_no_bound():
    found = wrong_rate([verdict(0, 0, "undecidable")], RNG(0))
    assert found.bound is None and found.rate is None


def test_errors_that_sit_in_one_clip_weigh_more():
    """The bootstrap over clips sees what a count of facts does not."""
    spread_out = wrong_rate(
        [verdict(c, f, "wrong" if f == 0 else "right") for c in range(20) for f in range(20)], RNG(0)
    )
    in_one = wrong_rate([verdict(c, f, "wrong" if c == 0 else "right") for c in range(20) for f in range(20)], RNG(0))
    assert spread_out.rate == in_one.rate and in_one.bound > spread_out.bound + 0.02


def test_coverage_of_normal_errors():
    z = RNG(1).normal(size=4000)
    found = coverage([verdict(k % 50, k, error={"angle": 0.5 * v}, sigma={"angle": 0.5}) for k, v in enumerate(z)])
    assert found.numbers == 4000 and found.clips == 50
    assert found.within_1 == pytest.approx(0.683, abs=0.02) and found.within_2 == pytest.approx(0.954, abs=0.01)
    assert found.scale_factor == pytest.approx(1, abs=0.04)
    assert all(at.observed == pytest.approx(at.nominal, abs=0.03) for at in found.curve)


def test_sigma_that_is_too_narrow_shows():
    z = RNG(1).normal(size=1000)
    found = coverage([verdict(0, k, error={"angle": 2 * v}, sigma={"angle": 1.0}) for k, v in enumerate(z)])
    assert found.scale_factor == pytest.approx(2, abs=0.15) and found.within_1 < 0.45


def test_a_number_counts_once_however_often_it_is_asked():
    both = [verdict(0, 0, error={"x": 1.0}, sigma={"x": 2.0}, format=f) for f in ("choice", "point")]
    assert coverage(both).numbers == 1
    assert coverage([verdict(0, 0), verdict(0, 1, error={"x": 1.0}, sigma={"x": 0.0})]) is None
    blurred = verdict(
        0, 0, "undecidable", error={"x": 1.0}, sigma={"x": 2.0}, target={}, reason="truth differs within a few pixels"
    )
    assert coverage([blurred]) is None


def test_spread_of_margins_and_answers():
    found = distribution(
        [verdict(0, 0, margin=4.0, label="yes"), verdict(0, 1), verdict(0, 2, "undecidable", margin=1.0)]
    )
    assert found.margins == (4, 4, 4) and found.words == {"camera_turn: yes": 1}
    assert found.numbers == {"camera_turn": (3, 3, 3)}
