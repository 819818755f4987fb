"""What a run asks: settings that answers depend on, and the requests that follow from them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.item import dataset_digest, item_hashes
from spatial_engine.evaluation.protocol import Presentation, presentations, sample
from spatial_engine.evaluation.request import Request
from templates.measured import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a model is asked, and how: all that an answer depends on."""

    model: str
    temperature: float | None = 0.0
    """None: the server's own; some models take no other."""
    max_tokens: int | None = None
    """Of a reply; None: the server's own limit."""
    circular: bool = False
    """Show every choice once for each rotation of its options."""
    blind: bool = False
    """Show no picture: what can be guessed from the words alone."""
    hints: tuple[str, ...] = ()
    """Low-level cues to add, by name: correspondence, depth, size."""
    limit: int | None = None
    """Ask this many questions, drawn by chance; None: all."""
    seed: int = 0
    """Of that draw."""

    @property
    def parameters(self) -> dict[str, Json]:
        """As the server takes them."""
        chosen = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in chosen.items() if value is not None}


@dataclass(frozen=True)
class Work:
    """All that one run asks about a data set."""

    dataset: Dataset
    asking: Asking

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Item hashes of the whole data set, by question id. Reads every medium once."""
        return item_hashes(self.dataset)

    def presentations(self) -> Iterator[Presentation]:
        """All that is to be answered, in the order of the data set."""
        chosen = sample(list(self.hashes), self.asking.limit, self.asking.seed)
        asked = (question for question in self.dataset.questions if question.id in chosen)
        return presentations(asked, circular=self.asking.circular)

    def prompt(self, presentation: Presentation) -> protocol.Prompt:
        """Words and pictures, in order. Raises `UsageError` for hints that there are not."""
        return protocol.prompt(
            presentation.question,
            rotation=presentation.rotation,
            hints=self.asking.hints,
            blind=self.asking.blind,
            others=self._of_clip.get(presentation.question.clip, ()),
        )

    def request(self, presentation: Presentation) -> Request:
        """As it is sent."""
        shown = self.prompt(presentation)
        parts = (part if isinstance(part, str) else self.dataset.path / part["path"] for part in shown.parts)
        return Request(model=self.asking.model, parts=tuple(parts), parameters=self.asking.parameters)

    @cached_property
    def _of_clip(self) -> dict[str, list[Question]]:
        """What hints may be taken from: all questions by clip."""
        found: dict[str, list[Question]] = {}
        for question in self.dataset.questions if self.asking.hints else ():
            found.setdefault(question.clip, []).append(question)
        return found

    def _hints_given(self) -> dict[str, int]:
        """How many presentations have each kind of hint; the others' would state the answer, or nothing is known."""
        kinds = dict.fromkeys(self.asking.hints, 0)
        given = (kind for shown in self.presentations() for kind in self.prompt(shown).hints_given)
        return kinds | Counter(given if kinds else ())

    def record(self, name: str) -> dict[str, Json]:
        """`run.json`."""
        asking = self.asking
        return {
            "name": name,
            "model": asking.model,
            "baseline": False,
            "dataset": str(self.dataset.path.resolve()),
            "dataset_digest": dataset_digest(self.hashes),
            "circular": asking.circular,
            "blind": asking.blind,
            "hints": list(asking.hints),
            "hints_given": self._hints_given(),
            "limit": asking.limit,
            "seed": asking.seed,
            "settings": asking.parameters,
        }
