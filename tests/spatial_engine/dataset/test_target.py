"""Targeted sets, drawn from keys of questions that are made up."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.dataset.clip_keys import Kind
from spatial_engine.dataset.keys import Keys
from spatial_engine.dataset.strata import _HARDER, NUMBER_BINS, by_answer, by_difficulty, by_scene
from spatial_engine.dataset.target import Target
from spatial_engine.errors import UsageError
from spatial_engine.options import GenerateOptions
from templates.condition import MEASURES

CLIPS = 20


def kind(template: str, format: str) -> Kind:
    return Kind(template=template, ability="L1/Geometry/Distance", format=format, options=0, fixed=True, counts=False)


KINDS = (kind("nearer", "yes_no"), kind("metres", "numeric"))


def keys(count: int = 6000, seed: int = 0, yes: float = 0.8) -> Keys:
    """Half are yes or no, mostly yes; half are numbers, most of them small. Clip k has more questions than clip k+1."""
    rng = np.random.default_rng(seed)
    numeric = rng.random(count) < 0.5
    value = np.exp(rng.normal(0, 1, count))
    numbers = np.stack([value, 0.1 * value, np.full(count, np.nan)], axis=1)
    difficulty = np.full((count, len(MEASURES)), np.nan, dtype=np.float32)
    difficulty[:, list(MEASURES).index("margin")] = rng.exponential(5, count)
    blank = np.zeros(count, dtype=bool)
    return Keys(
        clip_ids=[f"{k:016x}" for k in range(CLIPS)],
        kinds=KINDS,
        prompt_keys=[""],
        word_texts=["", "no", "yes"],
        clip=(CLIPS * rng.random(count) ** 2).astype(np.int32),
        kind=numeric.astype(np.int16),
        table=np.zeros(count, dtype=np.int32),
        row=np.arange(count, dtype=np.int32),
        template=numeric.astype(np.int32),
        leaf=np.zeros(count, dtype=np.int32),
        format=numeric.astype(np.int32),
        words=np.where(numeric, 0, np.where(rng.random(count) < yes, 2, 1)).astype(np.int32),
        situation=np.zeros(count, dtype=np.int32),
        numbers=np.where(numeric[:, None], numbers, np.nan),
        difficulty=difficulty,
        fact=np.arange(count, dtype=np.int32),
        draw=rng.random(count),
        options=np.zeros(count, dtype=np.int32),
        right=np.full(count, -1, dtype=np.int16),
        fixed=~blank,
        counts=blank,
        yes_no=~numeric,
        offers=blank,
        unanswerable=blank,
        repeats=blank,
        prompt_key=np.zeros(count, dtype=np.int32),
        prompts=np.ones(count, dtype=np.int16),
    )


def scenes(of: Keys) -> dict[str, str]:
    """Two clips of one footage each."""
    return {id: of.clip_ids[k - k % 2] for k, id in enumerate(of.clip_ids)}


def target(of: Keys, **wanted) -> Target:
    return Target(scenes=scenes(of), **wanted)


def test_a_count_and_a_limit_of_clips_are_kept() -> None:
    known = keys()
    kept = target(known, count=1000, per_clip=60).draw(known)
    assert kept.sum() == 1000 and np.bincount(known.clip[kept]).max() <= 60
    shared = Counter(zip(known.format[kept].tolist(), known.words[kept].tolist(), strict=True))
    assert abs(shared[0, 1] - shared[0, 2]) <= 100  # answers are levelled where nothing hinders it


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [None, 40, 1500, 5000])
def test_no_bin_is_above_twice_the_median(seed: int, count: int | None) -> None:
    known = keys(seed=seed)
    wanted = target(known, count=count, per_clip=200, even=("answer", "difficulty", "scene"))
    kept = wanted.draw(known)
    assert 0 < kept.sum() <= (count or len(known))
    assert kept.sum() == count or count in (None, 5000)
    for found in (by_answer(known), by_difficulty(known), by_scene(known, wanted.scenes)):
        counts = found.counts(kept)
        assert np.all(counts <= np.maximum(2 * found.medians(counts), 1)), found.by


def test_the_same_set_from_questions_in_any_order() -> None:
    known = keys()
    wanted = target(known, count=900, even=("answer", "scene"))
    shuffled = np.random.default_rng(1).permutation(len(known))
    first, second = wanted.draw(known), wanted.draw(known.take(shuffled))
    assert {*known.row[first]} == {*known.row[shuffled][second]}


def test_what_limits_a_count_is_said() -> None:
    known = keys()
    wanted = target(known, count=5900, per_clip=100, even=("answer",))
    found = wanted.record(known, wanted.draw(known))
    assert [step["limit"] for step in found["reach"]] == ["--per-clip 100", "--even answer"]
    steps = [found["decided"], *(step["questions"] for step in found["reach"])]
    assert steps == sorted(steps, reverse=True) and found["drawn"] == steps[-1] < 5900
    reached = replace(wanted, count=100)
    assert reached.record(known, reached.draw(known))["reach"] == []


def test_puzzles_have_no_limit_of_clips() -> None:
    known = replace(keys(), clip_ids=["", *keys().clip_ids[1:]])
    kept = target(known, per_clip=10, even=("scene",)).draw(known)
    counts = np.bincount(known.clip[kept])
    assert counts[0] == np.sum(known.clip == 0) and counts[1:].max() == 10


def test_nothing_is_drawn_from_nothing() -> None:
    known = keys().take(np.arange(0))
    wanted = target(known, count=5, per_clip=2, even=("answer", "difficulty", "scene"))
    assert wanted.record(known, wanted.draw(known))["drawn"] == 0


def test_bins_of_numbers_grow_and_outliers_have_none() -> None:
    known = keys()
    names = [name for of, name in by_answer(known).names if of == "metres numeric"]
    low, high = np.array([name.split(" to ") for name in names], dtype=float).T
    assert len(names) == NUMBER_BINS and np.allclose(high / low, high[0] / low[0], rtol=0.01)


def test_rare_words_share_a_bin() -> None:
    known = keys(yes=0.95)
    assert [name for _, name in by_answer(known).names][:2] == ["yes", "rarer ones"]


def test_hard_questions_have_small_margins() -> None:
    known = keys()
    margin, bins = known.difficulty[:, list(MEASURES).index("margin")], by_difficulty(known).bin
    means = [margin[bins == bin].mean() for bin in range(3)]
    assert means == sorted(means) and {*_HARDER} == {*MEASURES}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"count": 0}, "--count 0"),
        ({"per_clip": -3}, "--per-clip -3"),
        ({"count": 10, "per_clip": 11}, "the whole set has 10"),
        ({"per_clip": 10**9}, "no room"),
        ({"even": ("answers",)}, "--even answers"),
        ({"augment": ("crop",)}, "--augment crop"),
    ],
)
def test_impossible_targets(given: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        GenerateOptions(**given)
    assert "answers" not in words or "did you mean answer?" in caught.value.remedy
