"""Our published metrics and VLMEvalKit's own code, on the same replies to the same items."""

import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.evaluation.score import score
from spatial_engine.options import BenchmarkOptions
from templates.question import Question
from tests.spatial_engine.evaluation.benchmarks.copies import COPIES

ROUNDS = 40
THEIRS: Mapping[str, tuple[str, str, str]] = {
    "vsi_bench tsv": ("vsibench", "VsiBench", "overall"),
    "site tsv": ("sitebench", "SiteBenchImage", "overall_caa"),
    "mmsi_bench tsv": ("mmsibench", "MMSIBench", "overall"),
    "omnispatial tsv": ("omnispatialbench", "OmniSpatialBench", "overall"),
    "mindcube_tiny tsv": ("mindcubebench", "MindCubeBench", "overall"),
    "stare tsv": ("starebench", "StareBench", "macro"),
    "spatialviz tsv": ("spatialvizbench", "SpatialVizBench", "overall"),
}
"""By layout of `COPIES`: module, class, and the number of its summary that is compared."""
CHOICES: tuple[Callable[[str, str], str], ...] = (
    lambda a, b: f"<answer>{a}</answer>",
    lambda a, b: f"<think>Is it {b}? It is {a}.</think><answer>{b}</answer>",
    lambda a, b: f"<think>First {a}, then {b}</think>\n{b}",
    lambda a, b: f"The answer is {a}.",
    lambda a, b: f"**{a}**",
    lambda a, b: f"{a}. to the left of it",
    lambda a, b: f"Option {a}: wrong\nOption {b}: right\nso I choose ({b})",
    lambda a, b: f"Either {a} or {b}",
    lambda a, b: f"<answer>{a}. chair</answer> No, wait: <answer>{b}</answer>",
    lambda a, b: f"\\boxed{{{a}}}",
    lambda a, b: f"答案：{a}",
    lambda a, b: f"A big dog stands there, so {b.lower()}",
    lambda a, b: f"<answer>chair {a}",
    lambda a, b: "I cannot tell from these images.",
    lambda a, b: "",
)
NUMBERS = (
    "<answer>{}</answer>",
    "about {} metres",
    "{}",
    "<think>10 or 11</think> {}",
    "1,{}",
    "{} to 9",
    "three",
    "none",
)


def replies(question: Question, chance: random.Random) -> str:
    """A reply that is right or wrong, well-formed or not."""
    if question.format == "numeric":
        number = round(question.answer * chance.choice((1, 1.04, 1.1, 1.2, 0.7, 2)), 2)
        return chance.choice(NUMBERS).format(number)
    letters = "ABCD"[: len(question.options)]
    return chance.choice(CHOICES)(chance.choice((question.answer, *letters)), chance.choice(letters))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, list[tuple[float, float]]]]:
    """By layout, ours and theirs of every round."""
    checkout, python = os.environ.get("SPATIAL_ENGINE_VLMEVALKIT"), os.environ.get("SPATIAL_ENGINE_VLMEVALKIT_PYTHON")
    if not checkout or not python:
        pytest.skip("no checkout is named: make accept-vlmevalkit VLMEVALKIT=DIR (tests/accept_vlmevalkit/README.md)")
    root, chance = tmp_path_factory.mktemp("accept"), random.Random(0)
    ours: dict[str, list[float]] = {}
    asked: dict[str, Any] = {}
    for layout, (module, name, _) in THEIRS.items():
        ours[layout], rounds = [], []
        benchmark, write = COPIES[layout]
        (root / layout).mkdir()
        items = prepare(
            write(root / layout), root / benchmark / "items", BenchmarkOptions(benchmark=benchmark, frames=2)
        )
        questions = list(items.questions)
        for number in range(ROUNDS):
            said = {question.id: replies(question, chance) for question in questions}
            file = root / f"{benchmark}-{number}.jsonl"
            file.write_text("".join(f"{json.dumps({'id': id, 'text': text})}\n" for id, text in said.items()))
            result = read_json(score(items, file, root / benchmark) / "result.json")
            ours[layout].append(result["published"]["score"])
            rounds.append([_row(question, index, said[question.id]) for index, question in enumerate(questions)])
        asked[layout] = {"module": module, "class": name, "rounds": rounds}
    script = Path(__file__).with_name("their_scores.py")
    done = subprocess.run([python, str(script), checkout], input=json.dumps(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    theirs = json.loads(done.stdout)
    yield {
        layout: list(zip(ours[layout], [found[key] / 100 for found in theirs[layout]], strict=True))
        for layout, (_, _, key) in THEIRS.items()
    }


def _row(question: Question, index: int, prediction: str) -> dict[str, Any]:
    """A row of VLMEvalKit's table of predictions."""
    item = question.extra["published"]["item"]
    category = item.get("question_type") or item["category"]
    return {
        "index": index,
        "question": item.get("question", question.prompt),
        "question_type": category,
        "category": category,
        "task": category,
        "task_type": category,
        "sub_task_type": category,
        "candidates": str(list(question.options)),
        "answer": str(item.get("ground_truth") or item["answer"]),
        "prediction": prediction,
    }


@pytest.mark.parametrize("layout", THEIRS)
def test_scores_are_equal(layout: str, compared: dict[str, list[tuple[float, float]]]) -> None:
    pairs = compared[layout]
    print(f"{layout}: {len(pairs)} rounds, ours {pairs[0][0]:.4f}, theirs {pairs[0][1]:.4f} in the first")
    assert len({ours for ours, _ in pairs}) > 3, "replies that always score the same compare nothing"
    assert [ours for ours, _ in pairs] == pytest.approx([theirs for _, theirs in pairs], abs=1e-9)
