"""Drafts say the same after they were on disk, and the keys of a clip are those of its tables."""

import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from spatial_engine.dataset.balance import DEFAULTS, balance
from spatial_engine.dataset.clip_keys import ClipKeys, Fault
from spatial_engine.dataset.drafts import Drafts
from spatial_engine.dataset.keys import Keys
from spatial_engine.dataset.writing import write_dataset
from templates.asked import ClipQuestions
from tests.spatial_engine.drafts import clip, clip_questions, puzzle

CLIP = "c" * 16


def filed(folder: Path, made: ClipQuestions) -> Drafts:
    templates = {one.template.name: one.template for one in made.asked}
    drafts = Drafts(folder=folder, templates=templates, near=DEFAULTS.near, seed=0)
    drafts.add(made, "k", 400.0)
    return drafts


def test_every_question_comes_back(tmp_path: Path) -> None:
    made = clip_questions()
    drafts = filed(tmp_path, replace(made, asked=(*made.asked, puzzle(3))))
    expected = [repr(draft) for one in (*made.asked, puzzle(3)) for draft in one.drafts()]
    assert [repr(draft) for one in drafts.tables(CLIP, "k") for draft in one.drafts()] == expected
    keys = drafts.keys(CLIP, "k")
    assert keys.refusals == made.refusals and len(keys) == len(expected)


def test_keys_come_back(tmp_path: Path) -> None:
    made = clip_questions()
    expected, found = (
        ClipKeys.of(CLIP, made.asked, 400.0, DEFAULTS.near, made.refusals),
        filed(tmp_path, made).keys(CLIP, "k"),
    )
    for name, value in vars(expected).items():
        assert np.array_equal(value, getattr(found, name), equal_nan=name in ("numbers", "difficulty")), name


def test_a_faulty_question_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    made = clip_questions()
    drafts = filed(tmp_path, made)
    before = drafts.keys(CLIP, "k")
    drafts.leave_out(CLIP, "k", [Fault(0, 1, "it failed")])
    drafts.leave_out(CLIP, "k", [Fault(2, 0, "it failed, too")])
    after = drafts.keys(CLIP, "k")
    rows = [*zip(after.table.tolist(), after.row.tolist(), strict=True)]
    assert len(after) == len(before) - 2 and (0, 1) not in rows and (2, 0) not in rows
    assert [fault.reason for fault in after.faults] == ["it failed", "it failed, too"]
    assert after.refusals == before.refusals


def test_damaged_drafts_are_not_whole(tmp_path: Path) -> None:
    drafts = filed(tmp_path, clip_questions())
    assert drafts.is_whole(CLIP, "k") and not drafts.is_whole(CLIP, "other") and not drafts.is_whole("d" * 16, "k")
    (file,) = tmp_path.glob("*.keys")
    file.write_bytes(file.read_bytes()[:-1])
    assert not drafts.is_whole(CLIP, "k")


def test_a_question_takes_little_memory_while_it_waits(tmp_path: Path) -> None:
    """The balance holds numbers only: of three times as many clips three times as many, far less than a draft has."""
    made = clip_questions(count=20)
    drafts = filed(tmp_path, made)
    keys = drafts.keys(CLIP, "k")
    used = []
    for count in (4, 12):
        tracemalloc.start()
        all_keys = Keys.of((replace(keys, clip_id=f"{k:016x}", fact=keys.fact + np.uint64(k)) for k in range(count)), 0)
        balanced = balance(all_keys, 0)
        used.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert len(balanced.keys) and (used[1] - used[0]) / (8 * len(keys)) < 400


def test_writing_holds_one_clip_at_a_time(tmp_path: Path) -> None:
    """Four times as many clips take no more memory while they are written, beside keys and what the audit compares.
    Measured in a process of its own, where nothing that another test left behind allocates meanwhile."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as fresh:
        few, many = fresh.map(_peak_mb, (tmp_path, tmp_path), (2, 8))
    assert many < few + 0.5


def _peak_mb(folder: Path, count: int) -> float:
    clips = [clip_questions(f"{k:016x}", 4) for k in range(count)]
    write_dataset(folder / "warm", clips[:1], clip, seed=0)
    tracemalloc.start()
    write_dataset(folder / str(count), clips, clip, seed=0)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak
