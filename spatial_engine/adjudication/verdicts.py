"""The folder of verdicts beside a data set: DATASET.adjudication/<annotator>.jsonl."""

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
    """The verdicts of all annotators on the current questions of a data set.

    They lie beside the data set because `generate` replaces it; verdicts on unchanged questions stay valid.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.questions: dict[str, Question] = {question.id: question for question in dataset.questions}
        if not self.questions:
            raise UsageError(f"{dataset.path} has no questions", "generate it from other footage")
        self.contents = {id: content_hash(question) for id, question in self.questions.items()}
        self._facts = {id: question.fact_id for id, question in self.questions.items()}
        whole = dataset.path.resolve()
        self.folder = whole.with_name(f"{whole.name}.adjudication")

    def file(self, annotator: str) -> Path:
        """The file of one annotator. Raises `UsageError` if the name cannot name a file."""
        if not _NAME.fullmatch(annotator):
            cause = f"--annotator {annotator!r} cannot name a file"
            raise UsageError(cause, "letters, digits, dots, dashes, underscores; at most 40")
        return self.folder / f"{annotator}.jsonl"

    def annotators(self) -> list[str]:
        """Names with a file, sorted."""
        return sorted(path.stem for path in self.folder.glob("*.jsonl") if _NAME.fullmatch(path.stem))

    def history(self, annotator: str) -> History:
        """The steps of one annotator. Raises `UsageError` naming a damaged line."""
        return History(self.contents, self._facts).extend(read_steps(self.file(annotator)))

    def judged(self) -> dict[str, dict[str, Judgement]]:
        """Judgements with a verdict, by annotator and question; annotators without any are omitted."""
        found = {name: self.history(name).judgements() for name in self.annotators()}
        return {name: judgements for name, judgements in found.items() if judgements}

    def outdated(self) -> int:
        """Number of judged questions that have changed since or no longer exist."""
        return len(set().union(*(self.history(name).outdated for name in self.annotators())))

    def chosen(self, *, leaf: Sequence[str] | None, sample: int | None, seed: int) -> list[Question]:
        """Questions to judge, in random order by `seed`: an annotator who stops early has judged a random sample.

        The order depends on ids only. `leaf`: paths of the tree. Raises `UsageError`.
        """
        kept = [
            question
            for question in self.questions.values()
            if leaf is None or any(f"{question.ability}/".startswith(f"{path.rstrip('/')}/") for path in leaf)
        ]
        if not kept:
            there = ", ".join(sorted({question.ability for question in self.questions.values()}))
            raise UsageError(f"--leaf {','.join(leaf or ())}: no such question", f"there are: {there}")
        kept.sort(key=lambda question: sha256(f"{seed}/{question.id}".encode()).hexdigest())
        return kept[:sample]
