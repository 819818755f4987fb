from dataclasses import asdict

from benchmarks.trust.asked import Asked
from benchmarks.trust.gate_table import FREE, MARK, Effect, Result, effect, table, with_table, word
from benchmarks.trust.gates import Gate
from spatial_engine.dataset.question_line import plain

GATES = [Gate(name=name, guards="focal length") for name in ("good", "idle", "dear")]


def result(gate: str, facts: dict[str, str], decided: int, clip: str = "room", kind: str = "") -> Result:
    """A result with 100 drawn facts."""
    one = Asked(facts=facts, drawn=100, decided=decided)
    return Result(clip=clip, kind=kind, gate=gate, touched=gate == "good", code="c", clips={"id": {"turn": one}})


BASE = result("nothing", {"a": "right", "b": "undecidable", "c": "wrong"}, 10)
GOOD = result("good", {"a": "right", "b": "wrong", "c": "wrong", "d": "right"}, 12)


def test_prevented_are_wrong_facts_that_are_asked_only_without_the_gate() -> None:
    found = effect([(BASE, GOOD)])
    assert found == Effect(clips=1, touched=1, asked=(2, 4), wrong=(1, 2), prevented=1, cost=0.02)


def test_a_fact_that_is_wrong_with_and_without_the_gate_is_not_prevented() -> None:
    assert effect([(BASE, result("dear", {"c": "wrong"}, 10))]).prevented == 0


def test_the_verdict_on_a_gate() -> None:
    found = effect([(BASE, GOOD)])
    assert word(found) == "needed"
    assert word(effect([(BASE, result("dear", {}, 11))])) == "costs only"
    assert word(effect([(BASE, result("idle", {}, 10))])) == "no cost"
    assert word(effect([])) == "no cost" and FREE < 0.01


def test_the_table_has_every_gate_and_separates_ordinary_from_hard_clips() -> None:
    hard = [result(gate, {"h": "wrong"}, 30, "wall", "one wall") for gate in ("nothing", "dear")]
    results = [BASE, GOOD, result("idle", {}, 10), result("dear", {}, 10), *hard]
    text = table(results, GATES, seed=0, code="c")
    rows = {line.split("|")[2].strip(): line for line in text.splitlines() if line.startswith("| focal")}
    assert list(rows) == ["good", "idle", "dear"]
    assert "1, 1 | +2.0 | 1 → 2 of 4 | +0.0 | 0 → 0 of 0 | 1 | needed" in rows["good"]
    assert "2, 0 | +0.0 | 1 → 0 of 0 | +0.0 | 1 → 1 of 1 | 0 | no cost" in rows["dear"]
    assert "| ordinary rooms | 1 | 2 | 1 | 10.0 |" in text and "| one wall | 1 | 1 | 1 | 30.0 |" in text
    assert text == table(results, GATES, seed=0, code="c")


def test_a_new_ablation_replaces_that_of_the_page_alone() -> None:
    page = f"# Gates\n\n{MARK}\nold\n\n{MARK}after\n"
    assert with_table(page, "new\n") == f"# Gates\n\n{MARK}\nnew\n\n{MARK}after\n"


def test_a_result_is_read_as_it_was_written() -> None:
    assert Result.from_json(plain(asdict(GOOD))) == GOOD
