import json
import os
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.atomic_file import write_json
from spatial_engine.evaluation.comparison import compare_runs, comparison_json
from spatial_engine.evaluation.fact_scores import fact_scores, measure
from spatial_engine.evaluation.result import result
from spatial_engine.evaluation.runs import FinishedRun, finished_runs
from spatial_engine.evaluation.scored import ScoredItem


def item(id="q", score=1.0, **changes) -> ScoredItem:
    plain = ScoredItem(
        id=id, rotation=0, ability="L1/Geometry/Distance", format="choice", template="range_ratio",
        fact_id=f"fact {id}", clip="a", status="answered", response="A", extracted="A", how="tags",
        right=score == 1, score=score, chance=0.25, window_s=1.0, window_frames=30,
    )  # fmt: skip
    return replace(plain, **changes)


def test_formats_and_rotations_of_one_fact_count_once():
    items = [
        item("q", fact_id="one", score=1.0, rotation=0),
        item("q", fact_id="one", score=0.0, rotation=1),
        item("r", fact_id="one", score=0.0, format="numeric", chance=0.0),
        item("s", fact_id="two", score=1.0, clip="b"),
    ]
    assert [(fact.fact_id, fact.score) for fact in fact_scores(items)] == [("one", 0.25), ("two", 1.0)]
    found = result(items, run={})
    assert found["overall"]["score"] == 0.625
    assert (found["overall"]["items"], found["overall"]["facts"], found["overall"]["clips"]) == (3, 2, 2)
    assert found["formats"]["numeric"]["score"] == 0.0 and found["formats"]["choice"]["score"] == 0.75


def test_chance_is_taken_off():
    items = [item(str(n), score=float(n < 6)) for n in range(10)]
    assert measure(items, 0)["chance_adjusted"] == pytest.approx((6 - 2.5) / (10 - 2.5))
    turned = [replace(one, rotation=1, right=False, score=0.0) for one in items]
    assert measure([*items, *turned], 0)["chance_adjusted"] == pytest.approx((6 - 2.5) / (10 - 2.5))
    assert measure([item(format="numeric", chance=0.0)], 0)["chance_adjusted"] is None


def test_circular_wants_every_rotation():
    right = {"p": (1, 1, 1, 1), "q": (1, 1, 0, 1), "r": (1,)}
    items = [item(id, float(hit), rotation=turn) for id, hits in right.items() for turn, hit in enumerate(hits)]
    found = result(items, run={})["circular"]
    assert found == {"soft": 7 / 8, "hard": 0.5, "plain": 1.0, "questions": 2}
    lost = result([one for one in items if (one.id, one.rotation) != ("p", 2)], run={})["circular"]
    assert lost["hard"] == 0.0  # a rotation without an answer is wrong
    assert result([item()], run={})["circular"] is None


def test_f1_needs_the_right_answers():
    said = {"a": ("yes", "yes"), "b": ("yes", "no"), "c": ("no", "yes"), "d": ("yes", None), "e": ("no", "no")}
    items = [
        item(id, float(truth == word), format="yes_no", chance=0.5, extracted=word, right=truth == word)
        for id, (truth, word) in said.items()
    ]
    found = result(items, run={}, answers={id: truth for id, (truth, _) in said.items()})["f1"]
    assert found["precision"] == 0.5 and found["recall"] == pytest.approx(1 / 3) and found["items"] == 5
    assert found["f1"] == pytest.approx(0.4)
    assert result(items, run={})["f1"] is None


def test_time_outs_are_wrong_and_shown_separately():
    items = [item("a"), item("b", 0.0, status="timed_out", response=None, extracted=None, how=None)]
    found = result(items, run={})
    assert found["overall"]["score"] == 0.5 and found["without_time_outs"]["score"] == 1.0
    assert found["statuses"] == {
        "answered": 1, "unreadable": 0, "refused": 0, "timed_out": 1, "failed": 0, "missing": 0
    }  # fmt: skip
    assert found["extraction"] == {"tags": 1, "rules": 0, "judge": 0}


def test_tokens_seconds_and_cost():
    items = [item(str(n), input_tokens=1000, output_tokens=n, seconds=float(n)) for n in (1, 2, 9)]
    used = result([*items, item("none")], run={"prices": {"input": 2.0, "output": 10.0}})["usage"]
    assert (
        used["input_tokens"]["sum"] == 3000 and used["output_tokens"]["median"] == 2 and used["seconds"]["known"] == 3
    )
    assert used["cost"]["amount"] == pytest.approx((3000 * 2 + 12 * 10) / 1e6)
    assert result(items, run={"prices": {"input": "much"}})["usage"]["cost"] is None
    assert result([item()], run={})["usage"]["seconds"] is None


def test_the_three_trees():
    items = [
        item("a", 1.0, official=0.5, strict=1.0),
        item("b", 0.0, official=0.0, strict=None, ability="L4/Goal-Driven Execution/Robotic Arm"),
        item("c", 1.0, rotation=1, official=1.0, strict=1.0),
    ]
    found = result(items, run={})
    assert found["tree"]["levels"] == {"L1": 1.0, "L2": None, "L3": None, "L4": 0.0} and found["tree"]["rows"] == 3
    assert found["strict"]["score"] == 1.0 and found["strict"]["rows"] == 1
    assert found["official"]["levels"]["L2"] == 0.0 and 0 < found["official"]["score"] < 0.25
    assert found["tree"]["coverage"] == found["official"]["coverage"] < 0.3
    assert result([item()], run={})["official"] is None


def test_graded_scores_are_means_of_what_was_read():
    found = result(
        [item("a", detail={"gaussian": 0.5, "distance_px": 3}), item("b", detail={"gaussian": 1.0, "error": 2})], run={}
    )["graded"]
    assert found == {"gaussian": {"mean": 0.75, "items": 2}, "distance_px": {"median": 3.0, "items": 1}}


def test_no_items_have_a_result_too():
    found = result([], run={})
    assert found["overall"] == {
        "items": 0, "facts": 0, "clips": 0, "score": None, "interval": None, "chance_adjusted": None
    }  # fmt: skip
    assert found["leaves"] == {} and found["tree"]["score"] is None
    json.dumps(found, allow_nan=False)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.floats(0, 1)), min_size=1, max_size=20))
def test_the_order_of_items_has_no_effect(rows):
    items = [item(str(n), score, clip=clip, fact_id=fact + clip) for n, (clip, fact, score) in enumerate(rows)]
    first, second = result(items, run={}), result(items[::-1], run={})
    assert first == second
    assert 0 <= first["overall"]["score"] <= 1


def runs_of(rng, skills, clips=12, facts=20):
    return {
        name: fact_scores(
            item(f"{clip} {n}", float(rng.random() < skill), clip=str(clip))
            for clip in range(clips)
            for n in range(facts)
        )
        for name, skill in skills.items()
    }


def test_different_runs_differ_significantly_and_equal_ones_do_not():
    found = compare_runs(runs_of(np.random.default_rng(0), {"a": 0.8, "b": 0.5, "c": 0.5}), baselines={"c"})
    by_name = {(pair.a, pair.b): pair for pair in found}
    better = by_name["a", "b"]
    assert better.difference > 0.2 and better.p_holm < 0.05 and better.interval[0] > 0 and better.facts == 240
    assert by_name["b", "c"].p_holm > 0.05
    assert better.p == better.p_holm  # one pair of models: nothing to correct
    assert by_name["a", "c"].p_holm == pytest.approx(2 * by_name["a", "c"].p)
    turned = better.swapped()
    assert (turned.a, turned.difference, turned.a_better) == ("b", -better.difference, better.b_better)
    json.dumps(comparison_json(found), allow_nan=False)


def test_pairs_use_common_facts_only():
    a, b = [item("x", 1.0), item("y", 0.0)], [item("y", 1.0), item("z", 0.0)]
    (pair,) = compare_runs({"a": fact_scores(a), "b": fact_scores(b)})
    assert (pair.facts, pair.difference, pair.interval) == (1, -1.0, None)
    (apart,) = compare_runs({"a": fact_scores(a[:1]), "b": fact_scores(b[1:])})
    assert (apart.facts, apart.difference, apart.p) == (0, None, None)


def test_a_killed_run_is_read_as_far_as_it_goes(tmp_path):
    run = tmp_path / "half a run"
    run.mkdir()
    (run / "run.json").write_text('{"model": "m", "baseline": true, "dataset": "somewhere"}')
    line = json.dumps(asdict(item()))
    wrong = [json.dumps(asdict(item()) | change) for change in ({"status": "?"}, {"score": 2.0}, {"ability": "L1"})]
    odd = ["[" * 100_000, '{"id": 1}', "null", "\x00", line.replace('"clip": "a"', '"clip": null'), *wrong]
    (run / "scores.jsonl").write_text("\n".join([line, line.replace('{"id"', '{"new": 1, "id"'), *odd, line[:40]]))
    (found,) = finished_runs(tmp_path)
    items, damaged = found.scores()
    assert (found.name, found.baseline, str(found.dataset)) == ("half a run", True, "somewhere")
    assert items == [item(), item()] and damaged == len(odd) + 1


def test_folders_without_a_record_are_no_runs(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "run.json").write_text("{")
    assert [(run.name, run.record, run.scores()) for run in finished_runs(tmp_path)] == [("damaged", {}, ([], 0))]
    assert finished_runs(tmp_path / "nowhere") == []
    assert FinishedRun(path=tmp_path, record={"dataset": 3}).dataset is None


def test_a_result_is_kept_until_scores_are_newer(tmp_path):
    for name in ("run.json", "scores.jsonl"):
        (tmp_path / name).write_text("{}")
    run = FinishedRun(path=tmp_path, record={})
    assert run.kept_result() is None
    write_json(tmp_path / "result.json", result([item()], run={}))
    assert run.kept_result() == result([item()], run={})
    os.utime(tmp_path / "result.json", ns=(0, 0))
    assert run.kept_result() is None
    write_json(tmp_path / "result.json", result([item()], run={}) | {"method": "another"})
    assert run.kept_result() is None
