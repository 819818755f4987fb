"""What a benchmark declares: where its fields are, what it asks, and how it scores. One file a benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from spatial_engine.evaluation.benchmarks.choices import options_of, right_letter
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields
from spatial_engine.evaluation.result import Capability
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class Human:
    """What people reach."""

    score: float
    """A fraction."""
    source: str
    """Where that is stated."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What an item asks, in our forms."""

    format: str
    """Of `templates.answers.registry.FORMATS`."""
    prompt: str
    """The question without its options."""
    answer: Json
    """In the form of `Question.answer`."""
    options: Sequence[str] = ()
    scorer: str = "label"
    """`Question.scorer`."""
    unit: str = ""
    params: Mapping[str, Json] = field(default_factory=dict)
    """`Question.scorer_params`."""


class Benchmark:
    """A benchmark. A subclass gives the class variables, and overrides what is not a choice with pictures."""

    title: ClassVar[str]
    paper: ClassVar[str]
    """arXiv id."""
    layout: ClassVar[str]
    """Where its columns were looked up; "assumed: ..." for what could not be confirmed."""
    files: ClassVar[Sequence[str]] = ("*.tsv", "*.jsonl", "*.parquet", "**/*.parquet", "*.json")
    """Patterns of its tables in a folder; those of the first that any file matches are read."""
    columns: ClassVar[Columns] = {}
    """What differs from `COLUMNS`."""
    needed: ClassVar[Sequence[str]] = ("question", "answer")
    """Fields without which no item can be asked."""
    scorer: ClassVar[str] = "choices_vlmevalkit"
    """Its own metric: a name of `scoring.scorers.SCORERS`; "" for plain accuracy."""
    told: ClassVar[Json] = None
    """How an answer that was found is written for `scorer`: a text with {}, or a text for each answer. None: the scorer
    reads the whole reply, as it does in EASI's harness."""
    capability: ClassVar[Capability] = "CR"
    """Of categories that `capabilities` does not name."""
    capabilities: ClassVar[Mapping[str, Capability]] = {}
    """By category; the first key that its name contains, in any case, counts."""
    human: ClassVar[Human | None] = None

    def ask(self, fields: Fields) -> Asked:
        """What a row asks: by default a choice. Raises `BrokenRow`."""
        return choice(fields)

    def category(self, fields: Fields) -> str:
        """The group in which the benchmark reports an item."""
        return str(fields.get("category") or "all")

    def images(self, fields: Fields) -> Any:
        """The pictures of a row, in the order of the prompt; None without any."""
        return fields.get("images")

    def video(self, fields: Fields) -> str | None:
        """The video of a row, as a path below the benchmark's folder."""
        found = fields.get("video")
        return None if found is None else str(found)

    def frames(self, fields: Fields) -> Sequence[int] | None:
        """The frames of the video among which those that are shown are chosen; None for all."""
        return None

    def scored(self, fields: Fields, asked: Asked) -> Mapping[str, Json]:
        """The item as `scorer` takes it, beside its id."""
        return {
            "question": fields.text("question"),
            "options": list(asked.options),
            "answer": asked.answer,
            "category": self.category(fields),
        }

    def told_of(self, asked: Asked) -> Json:
        """`told` of an item."""
        return self.told

    def capability_of(self, category: str) -> Capability:
        """Which of the six capabilities a category tests."""
        name = category.casefold()
        return next((tag for key, tag in self.capabilities.items() if key.casefold() in name), self.capability)


COLUMNS: Columns = {
    "id": ("index", "id", "question_id", "qid", "pid"),
    "question": ("question",),
    "options": ("options", "candidates", "choices"),
    "answer": ("answer", "ground_truth", "gt_answer", "gt"),
    "category": ("category", "question_type"),
    "images": ("image", "images", "image_path"),
    "video": ("video", "video_path"),
    "scene": ("scene_name", "scene"),
}
"""By field, the columns of benchmarks that name them as most do. Options may also be one column a letter: A, B, ..."""


def choice(fields: Fields) -> Asked:
    """A choice with a list of options, a column for each, or options in the question. Raises `BrokenRow`."""
    question, options = options_of(fields, fields.text("question"))
    return Asked(format="choice", prompt=question, options=options, answer=right_letter(fields.need("answer"), options))
