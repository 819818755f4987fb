"""The folder beside a data set that holds what people said of it: DATASET.adjudication/<annotator>.jsonl."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from spatial_engine.adjudication.showing import content_hash
from spatial_engine.adjudication.steps import History, Judgement, read_steps
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from templates.question import Question

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Verdicts:
    """All annotators' verdicts on the questions of a data set as they are now.

    Beside the data set, not in it: `generate` replaces that folder, and what is unchanged after it stays judged.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.questions: dict[str, Question] = {question.id: question for question in dataset.questions}
        if not self.questions:
            raise UsageError(f"{dataset.path} holds no question", "generate it from footage that can be asked about")
        self.contents = {id: content_hash(question) for id, question in self.questions.items()}
        self._facts = {id: question.fact_id for id, question in self.questions.items()}
        whole = dataset.path.resolve()
        self.folder = whole.with_name(f"{whole.name}.adjudication")

    def file(self, annotator: str) -> Path:
        """Of one annotator. Raises `UsageError` if the name is none for a file."""
        if not _NAME.fullmatch(annotator):
            cause = f"--annotator {annotator!r} cannot name a file"
            raise UsageError(cause, "letters, digits, dots, dashes, underscores; at most 40")
        return self.folder / f"{annotator}.jsonl"

    def annotators(self) -> list[str]:
        """Who has a file here, in alphabetical order."""
        return sorted(path.stem for path in self.folder.glob("*.jsonl") if _NAME.fullmatch(path.stem))

    def history(self, annotator: str) -> History:
        """What one annotator did. Raises `UsageError` naming a damaged line."""
        return History(self.contents, self._facts).extend(read_steps(self.file(annotator)))

    def judged(self) -> dict[str, dict[str, Judgement]]:
        """By annotator, then by question: judgements that hold a verdict; annotators without any are left out."""
        found = {name: self.history(name).judgements() for name in self.annotators()}
        return {name: judgements for name, judgements in found.items() if judgements}

    def outdated(self) -> int:
        """Questions that were judged and have changed since, or have gone."""
        return len(set().union(*(self.history(name).outdated for name in self.annotators())))

    def chosen(self, *, leaf: Sequence[str] | None, sample: int | None, seed: int) -> list[Question]:
        """Questions to judge, in an order drawn by the seed: whoever stops early has judged a random sample.

        The order depends on ids, not on what else is there. `leaf`: paths of the tree. Raises `UsageError`.
        """
        kept = [
            question
            for question in self.questions.values()
            if leaf is None or any(f"{question.ability}/".startswith(f"{path.rstrip('/')}/") for path in leaf)
        ]
        if not kept:
            there = ", ".join(sorted({question.ability for question in self.questions.values()}))
            raise UsageError(f"--leaf {','.join(leaf or ())}: no such question here", f"there are: {there}")
        kept.sort(key=lambda question: sha256(f"{seed}/{question.id}".encode()).hexdigest())
        return kept[:sample]
