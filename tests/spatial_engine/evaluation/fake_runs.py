"""Runs of models that do not exist, on a real dataset: each with its own skill per leaf."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.scored import ScoredItem
from templates.question import Question

HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>\x00\u202e </script><!-- "q" \'s & файл 影片 \ud800'
MODELS = {"acorn-7b": 0.35, "birch-32b": 0.5, "cedar-vl": 0.55, "douglas/fir:72b": 0.7, "elm-thinking": 0.8}
"""How often each is right, on the whole."""


def write_run(
    out: Path,
    name: str,
    questions: Iterable[Question],
    *,
    skill: float,
    seed: int = 0,
    baseline: bool = False,
    rotations: bool = False,
    dataset: Path | None = None,
    folder: str = "",
    **record,
) -> Path:
    """Writes one run; returns its folder."""
    rng = np.random.default_rng([seed, sum(name.encode("utf-8", "replace"))])
    path = out / (folder or name.replace("/", "_").replace(":", "_"))
    path.mkdir(parents=True)
    record = {"model": name, "baseline": baseline, "dataset": str(dataset or ""), "dataset_digest": "", **record}
    (path / "run.json").write_text(json.dumps(record))
    skills: dict[str, float] = {}
    with (path / "scores.jsonl").open("w", encoding="utf-8") as lines:
        for question in questions:
            leaf = skills.setdefault(question.ability, float(np.clip(skill + rng.normal(0, 0.12), 0, 1)))
            turns = len(question.options) if rotations and question.format == "choice" else 1
            for rotation in range(turns):
                item = scored(question, rng, 1.0 if skill == 1 else leaf, rotation)
                lines.write(json.dumps(asdict(item)) + "\n")
    return path


def write_evaluation(out: Path, dataset: Dataset, models: Mapping[str, float] = MODELS, *, seed: int = 0) -> Path:
    """All models, an oracle and a guesser."""
    questions = list(dataset.questions)
    for name, skill in models.items():
        prices = {"input": 0.5, "output": 2.0, "currency": "USD"}
        write_run(
            out, name, questions, skill=skill, seed=seed, dataset=dataset.path, rotations=name == "elm-thinking",
            prices=prices,
        )  # fmt: skip
    write_run(out, "oracle", questions, skill=1.0, baseline=True, dataset=dataset.path)
    write_run(out, "random", questions, skill=0.2, baseline=True, dataset=dataset.path)
    return out


def scored(question: Question, rng: np.random.Generator, skill: float, rotation: int = 0) -> ScoredItem:
    """An answer that is right with probability `skill`, less so over long windows."""
    frames = [frame for medium in question.media for frame in medium.get("frames") or ()]
    times = [time for medium in question.media for time in medium.get("times_s") or ()]
    window_s = max(times) - min(times) if times else None
    hard = 0.0 if skill == 1 or window_s is None else 0.05 * min(6.0, window_s)
    right = bool(rng.random() < skill - hard)
    status = "answered" if skill == 1 or rng.random() > 0.1 else str(rng.choice(STATUSES))
    extracted = None
    if status == "answered":
        shown = Presentation(question, rotation).shown
        extracted = shown.answer if right else _wrong(shown)
    thinking = "Let me see. The camera turns, so the left side comes nearer. "
    thought = HOSTILE if rng.random() < 0.05 else thinking * int(rng.integers(1, 9))
    score = float(right and status == "answered")
    return ScoredItem(
        id=question.id, rotation=rotation, ability=question.ability, format=question.format,
        template=question.template, fact_id=question.fact_id, clip=question.clip, status=status,
        response=None if status in ("timed_out", "failed", "missing") else f"{thought}\n<answer>{extracted}</answer>",
        extracted=extracted, how=str(rng.choice(HOW)) if status == "answered" else None,
        right=score == 1, score=score,
        chance=1 / len(question.options) if question.options else 0.5 if question.format == "yes_no" else 0.0,
        window_s=window_s, window_frames=max(frames) - min(frames) if frames else None,
        official=score if question.format in ("choice", "yes_no", "numeric") else None, strict=score,
        seconds=None if skill == 1 else float(rng.gamma(2, 2)), input_tokens=None if skill == 1 else 900,
        output_tokens=None if skill == 1 else int(rng.integers(4, 400)),
        detail={} if extracted is None else _detail(question, rng),
    )  # fmt: skip


def _wrong(question: Question):
    match question.format:
        case "choice":
            return "B" if question.answer == "A" else "A"
        case "yes_no":
            return "no" if question.answer == "yes" else "yes"
        case "numeric":
            return 2 * question.answer + 1
    return "somewhere else"


def _detail(question: Question, rng: np.random.Generator):
    match question.format:
        case "numeric" | "json":
            return {"gaussian": float(rng.random()), "relative_accuracy": float(rng.random())}
        case "point":
            return {"distance_px": float(rng.gamma(2, 9)), "gaussian": float(rng.random())}
        case "order":
            return {"pairs_right": float(rng.random()), "kendall_tau": float(rng.uniform(-1, 1))}
        case "plan":
            return {"progress": float(rng.random()), "spl": float(rng.random())}
    return {}


STATUSES = ("unreadable", "refused", "timed_out", "failed", "missing")
HOW = ("tags", "tags", "rules", "judge")
