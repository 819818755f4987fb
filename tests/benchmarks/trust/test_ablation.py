from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.trust import ablation
from benchmarks.trust.ablation import NOTHING, Ablate, _Work, tasks_of
from benchmarks.trust.asked import Asked, Setup
from benchmarks.trust.clips import RoomClip
from benchmarks.trust.gate_table import Result
from benchmarks.trust.gates import GATES, Gate
from benchmarks.trust.hard_rooms import KINDS

CLIP = RoomClip(seed=3000)
ONE, TWO = (Gate(name=name, guards="", off={"ask.min_confidence": at}) for name, at in (("one", 0.5), ("two", 0.6)))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records the gates instead of evaluating them."""
    names: list[str] = []

    class Work:
        def __init__(self, **given: object) -> None: ...

        def without(self, gate: Gate, base: Result | None, code: str) -> Result:
            assert (base is None) == (gate is NOTHING)
            names.append(gate.name)
            asked = {"id": {"turn": Asked(facts={"a": "right"}, drawn=1, decided=1, wrong=("w",))}}
            return Result(clip=CLIP.name, kind="", gate=gate.name, touched=True, code=code, clips=asked)

    monkeypatch.setattr(ablation, "_Work", Work)
    return names


def test_a_stopped_run_resumes(made: list[str], tmp_path: Path) -> None:
    ablate = Ablate(out=tmp_path, code="c", seed=0)
    ablate((CLIP, [ONE]))
    assert made == ["nothing", "one"]
    assert "{'right': 1}, 1 gates" in ablate((CLIP, [ONE, TWO]))
    assert made == ["nothing", "one", "two"]
    assert ablate.kept(CLIP, TWO) is not None


def test_other_code_and_another_seed_evaluate_again(made: list[str], tmp_path: Path) -> None:
    for code, seed in (("c", 0), ("e", 0), ("e", 1), ("e", 1)):
        Ablate(out=tmp_path, code=code, seed=seed)((CLIP, [ONE]))
    assert made == ["nothing", "one"] * 3


def test_the_key_of_a_gate_depends_on_what_it_switches_off() -> None:
    assert Gate(name="one", guards="", off={"ask.min_confidence": 0.6}).key != ONE.key


def test_gates_of_experts_are_evaluated_on_some_clips_of_every_kind_the_others_on_all() -> None:
    tasks = tasks_of(Namespace(quick=False, rooms=11, hard=2, thorough=5, seed=0))
    assert len(tasks) == len({clip.name for clip, _ in tasks}) == 3 * 11 + 2 * len(KINDS)
    fully = [clip for clip, gates in tasks if list(gates) == list(GATES)]
    assert [clip.name for clip in fully[:9]] == [
        f"{style}_{seed:04d}" for style in ("room", "furnished", "visited") for seed in (0, 5, 10)
    ]
    assert [clip.kind for clip in fully[9:]] == list(KINDS)
    assert all(not gate.of_expert for _, gates in tasks[len(fully) :] for gate in gates)


def test_a_template_that_fails_with_all_gates_fails_the_clip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = Asked(facts={}, drawn=0, decided=0, error="ValueError: nan")
    monkeypatch.setattr(ablation, "asked", lambda *_: {"turn": broken})
    work = _Work(clip=CLIP, folder=tmp_path, setup=Setup())
    work.__dict__.update(_known={"id": None}, _store=SimpleNamespace(signals=lambda id: {}))
    with pytest.raises(RuntimeError, match="turn: ValueError: nan"):
        work.without(NOTHING, None, "c")
