"""Factors for σ of answers, from verdicts."""

import numpy as np
import pytest

from benchmarks.trust.calibrate import answer_factors
from experts.registry import EXPERTS
from spatial_engine.trust.verdict import Verdict
from templates.registry import create_templates


def verdict(clip: str, fact: int, error: float, **more) -> Verdict:
    """One number of an answer whose stated σ is 2."""
    fields = {
        "id": f"{fact}", "fact_id": f"fact {fact}", "ability": "L1/Motion/Ego", "template": "camera_turn",
        "format": "numeric", "clip": clip, "experts": "colmap+klt", "word": "right", "reason": "", "margin": None,
        "error": {"angle": error}, "sigma": {"angle": 2.0}, "answer": 5, "target": {},
    }  # fmt: skip
    return Verdict(**{**fields, **more})


def clips(true_sigma: float, count: int = 6, facts: int = 400) -> dict[str, list[Verdict]]:
    rng = np.random.default_rng(0)
    errors = rng.normal(0, true_sigma, (count, facts)).tolist()
    return {
        f"clip {n}": [verdict(f"clip {n}", k, error) for k, error in enumerate(own)] for n, own in enumerate(errors)
    }


def test_the_factor_is_that_of_the_errors_and_names_what_it_holds_for():
    (found,) = answer_factors(clips(1.2), rendered={"clip 0", "clip 1"})
    assert found.factor == pytest.approx(0.6, rel=0.08) and found.samples == 2400
    assert (found.template, found.version) == ("camera_turn", create_templates()["camera_turn"].version)
    assert found.experts == {name: EXPERTS.load(name).version for name in ("colmap", "klt")}
    assert [one.rendered for one in found.held_out] == [True, True, False, False, False, False]


def test_a_fact_counts_once_and_one_whose_truth_is_unsure_does_not():
    verdicts = clips(1.2)
    twice = {name: own + [verdict(one.clip, k, one.error["angle"], format="choice") for k, one in enumerate(own)]
             for name, own in verdicts.items()}  # fmt: skip
    assert answer_factors(twice, ()) == answer_factors(verdicts, ())
    unsure = {name: [*own, verdict(name, 999, 500.0, word="undecidable", reason="truth differs within a few pixels")]
              for name, own in verdicts.items()}  # fmt: skip
    assert answer_factors(unsure, ()) == answer_factors(verdicts, ())


def test_three_clips_are_too_few():
    assert answer_factors(clips(1.2, count=3), ()) == ()
