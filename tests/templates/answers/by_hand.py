"""Questions made from an answer alone, without a template."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.card import card
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import write_questions
from spatial_engine.dataset.question_line import from_line, to_line
from spatial_engine.leaks.question_table import QuestionTable
from templates.answers import Answer
from templates.question import Question

WIDTH, HEIGHT = 320, 240


def asked(answer: Answer, form: str, /, *, prompt: str = "Where is it?", number: int = 0, **more: Any) -> Question:
    """A question about one photo, as read from its line."""
    recorded = answer.to_json()
    photo = {
        "id": f"photo{number}", "kind": "frames", "path": f"media/{number}.png", "frames": [number], "times_s": None,
        "marks": [], "frame_size_px": [WIDTH, HEIGHT], "size_px": [WIDTH, HEIGHT],
    }  # fmt: skip
    fields: dict[str, Any] = {
        "id": f"{number:016x}", "ability": "L1/Localization/3D Grounding", "template": f"by hand {form}",
        "format": form, "instructions": "", "prompt": prompt, "options": [],
        "answer": recorded.answer, "value": recorded.value, "unit": recorded.unit, "sigma": recorded.sigma,
        "tolerance": recorded.tolerance, "margin": recorded.margin, "scorer": answer.name,
        "scorer_params": dict(recorded.scorer_params), "media": [photo], "fact": {"frame": number},
        "fact_id": f"fact {number}", "evidence": {}, "clip": "c" * 16, "seed": 0,
        "provenance": [{"expert": "hand", "version": "1"}],
        "licence": {"footage": "CC-BY-4.0", "signals": ["MIT"], "commercial_ok": True},
    }  # fmt: skip
    return from_line(to_line(Question(**{**fields, **more})))


def dataset(folder: Path, questions: Sequence[Question]) -> Dataset:
    """A dataset of these questions, with grey photos."""
    (folder / "media").mkdir(parents=True)
    for path in {medium["path"] for question in questions for medium in question.media}:
        cv2.imwrite(str(folder / path), np.full((HEIGHT, WIDTH, 3), 128, dtype=np.uint8))
    write_questions(folder, questions)
    scenes = {question.clip: question.clip for question in questions}
    record = audit(QuestionTable.of(questions), refused={}, dropped={}, scenes=scenes, seed=0, settings={})
    write_json(folder / "audit.json", record)
    (folder / "README.md").write_text(card(record, folder.name))
    return Dataset.open(folder)
