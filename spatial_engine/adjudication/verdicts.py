"""The folder of verdicts beside a dataset: DATASET.adjudication/<annotator>.jsonl."""

import re
from collections.abc import Container, Iterable, Sequence
from hashlib import sha256
from pathlib import Path

from spatial_engine.adjudication.items import Item, item_of
from spatial_engine.adjudication.showing import content_hash
from spatial_engine.adjudication.steps import History, Judgement, Step, read_steps
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from templates.question import Question

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


class Verdicts:
    """The verdicts of all annotators on the current questions of a dataset.

    They lie beside the dataset because `generate` replaces it; verdicts on unchanged questions stay valid.
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
        self.items: dict[str, Item] = {}
        """What people corrected or wrote, by id."""
        self._read_items()

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
        return self._judged(self.questions)

    def judged_items(self) -> dict[str, dict[str, Judgement]]:
        """Judgements of items, by annotator and item: also those of the authors, who hold them to be right."""
        found = self._judged(self.items)
        for id, item in self.items.items():
            found.setdefault(item.author, {})[id] = item.judgement
        return found

    def question(self, id: str) -> Question:
        """A question of the dataset, or that of an item."""
        return self.items[id].question if id in self.items else self.questions[id]

    def outdated(self) -> int:
        """Number of judged questions that have changed since or no longer exist."""
        return len(set().union(*(self.history(name).outdated for name in self.annotators())))

    def chosen(
        self,
        *,
        leaf: Sequence[str] | None,
        sample: int | None,
        seed: int,
        among: Iterable[Question] | None = None,
    ) -> list[Question]:
        """Questions to judge, in random order by `seed`: an annotator who stops early has judged a random sample.

        The order depends on ids only. `leaf`: paths of the tree. `among`: by default the questions of the dataset.
        Raises `UsageError`.
        """
        among = [*(self.questions.values() if among is None else among)]
        kept = [
            question
            for question in among
            if leaf is None or any(f"{question.ability}/".startswith(f"{path.rstrip('/')}/") for path in leaf)
        ]
        if not kept:
            there = ", ".join(sorted({question.ability for question in among}))
            raise UsageError(f"--leaf {','.join(leaf or ())}: no such question", f"there are: {there}")
        kept.sort(key=lambda question: sha256(f"{seed}/{question.id}".encode()).hexdigest())
        return kept[:sample]

    def _judged(self, among: Container[str]) -> dict[str, dict[str, Judgement]]:
        found = {
            name: {id: one for id, one in self.history(name).judgements().items() if id in among}
            for name in self.annotators()
        }
        return {name: judgements for name, judgements in found.items() if judgements}

    def _read_items(self) -> None:
        """Again while there are new ones: items may be about items of others."""
        known = -1
        while known < len(self.items):
            known = len(self.items)
            for name in self.annotators():
                for step in self.history(name).items():
                    self._add_item(name, step)

    def _add_item(self, author: str, step: Step) -> None:
        about = self.items.get(step.question)
        try:
            item = item_of(self.question(step.question), about.stands_for if about else step.question, step, author)
        except ValueError as error:
            cause = f"the item of {step.at} in {self.file(author)} cannot be used: {error}"
            raise UsageError(cause, "correct or remove that line") from error
        self.items[item.question.id] = item
        self.contents[item.question.id] = content_hash(item.question)
        self._facts[item.question.id] = item.question.fact_id
