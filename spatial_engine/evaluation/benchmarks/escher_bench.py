"""Escher-Bench (EscherVerse): choices, statements and gaps about videos of people and things."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from spatial_engine.evaluation.benchmarks.benchmark import Asked, Benchmark, Human, choice
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from spatial_engine.evaluation.result import Capability
from spatial_engine.scoring.published.escherverse import letters
from templates.columns import Json


class EscherBench(Benchmark):
    """EscherVerse (arXiv 2601.01547)."""

    title: ClassVar[str] = "Escher-Bench"
    paper: ClassVar[str] = "2601.01547"
    layout: ClassVar[str] = "its README (Escher-Bench.json, videos/FILE); how Q lists its options is assumed: A. or A)"
    files: ClassVar[Sequence[str]] = ("Escher-Bench.json", "*.json", "*.jsonl")
    columns: ClassVar[Columns] = {
        "question": ("Q",),
        "answer": ("A",),
        "category": ("C",),
        "video": ("P",),
        "kind": ("question_type",),
        "options": (),
    }
    needed: ClassVar[Sequence[str]] = ("question", "answer", "video", "kind")
    scorer: ClassVar[str] = "escherverse"
    capability: ClassVar[Capability] = "CR"
    capabilities: ClassVar[Mapping[str, Capability]] = {"Perspective": "PT", "Deform": "DA", "Relation": "SR"}
    human: ClassVar[Human | None] = Human(
        score=0.9062, source="README of Grady10086/EscherVerse, first-pass human mean"
    )

    def ask(self, fields: Fields) -> Asked:
        """Single-Choice, Multiple-Select (a set of letters), True/False or Fill-in-the-Blank."""
        kind, question, answer = fields.text("kind"), fields.text("question"), fields.text("answer")
        if kind == "Single-Choice":
            return choice(fields)
        if kind == "Multiple-Select":
            return Asked(format="set", prompt=question, answer=letters(answer))
        if kind == "True/False":
            params: dict[str, Json] = {"form": "True or False", "chance": 0.5, "guesses": ["True", "False"]}
            return Asked(format="reply", prompt=question, answer=answer, scorer=self.scorer, params=params)
        if kind == "Fill-in-the-Blank":
            params = {"form": "the words that fill the blank, nothing else"}
            return Asked(format="reply", prompt=question, answer=answer, scorer=self.scorer, params=params)
        raise BrokenRow("an unknown question_type")

    def scored(self, fields: Fields, asked: Asked) -> Mapping[str, Json]:
        """Answer, kind and category."""
        return {"A": fields.text("answer"), "question_type": fields.text("kind"), "C": self.category(fields)}
