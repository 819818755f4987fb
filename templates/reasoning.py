"""How an answer follows from the evidence, in sentences that a template declares beside its prompts.

    [reasoning]                # in <name>.toml
    observe = "Points 1 and 2 are marked in the photo."
    compute = "Point 1 is {ranges[0]:.2f} from the camera and point 2 {ranges[1]:.2f}."
    conclude = { 1 = "Point 1 has the smaller distance.", 2 = "Point 2 has the smaller distance." }

    [reasoning.numeric]        # steps that differ in one format
    conclude = "The ratio is wanted, the second distance over the first."

A step is a sentence, a list of sentences, or a table of these by the right label ("other": any that it does not
name). Placeholders are looked up in the record of a question: in its evidence, in its fact, then among `RECORDED`. A
sentence of which the record lacks a part is left out, so that datasets of older versions are read as well.
"""

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from templates.columns import Json
from templates.question import LETTERS, Question
from templates.wording import REASONING, WordingError, placeholders, tables_of, wording_file

STEPS = ("observe", "identify", "compute", "verify", "conclude")
"""What one looks at; what decides; the measured quantities; what would be a mistake; what follows."""
RECORDED = ("value", "sigma", "tolerance", "unit", "margin", "options", "answer")
"""Fields of a question that sentences may name beside evidence and fact."""
OTHER = "other"
"""In a table by label: any label that it does not name."""

Sentences = Mapping[str, tuple[str, ...]]
"""By right label; "" alone: whatever the answer is."""


@dataclass(frozen=True, kw_only=True)
class Reasoning:
    """The steps of a template; those of a format replace the general ones."""

    steps: Mapping[str, Sentences] = field(default_factory=dict)
    formats: Mapping[str, Mapping[str, Sentences]] = field(default_factory=dict)

    def of(self, question: Question) -> dict[str, list[str]]:
        """The sentences of each step that the record of a question fills."""
        steps = {**self.steps, **self.formats.get(question.format, {})}
        record = {name: getattr(question, name) for name in RECORDED} | {**question.fact} | {**question.evidence}
        record["by_option"] = _ByOption(question)
        label = question.value if isinstance(question.value, str) else str(question.answer)
        chosen = {
            step: by_label.get("") or by_label.get(label, by_label.get(OTHER, ())) for step, by_label in steps.items()
        }
        return {step: [*filter(None, (_filled(text, record) for text in chosen.get(step, ())))] for step in STEPS}


@cache
def reasoning_of(template: type) -> Reasoning:
    """What the TOML file of a template class declares; no steps if it declares none. Raises `WordingError`."""
    try:
        path = wording_file(template)
    except WordingError:  # its words are elsewhere
        return Reasoning()
    return _read(path, tables_of(path).get(REASONING, {}))


def _read(path: Path, table: Json) -> Reasoning:
    where = f"{path}: [{REASONING}]"
    if not isinstance(table, Mapping):
        raise WordingError(f"{where} must be a table of the steps {', '.join(STEPS)}")
    formats = {name: part for name, part in table.items() if name not in STEPS}
    if odd := sorted(name for name, part in formats.items() if not isinstance(part, Mapping) or part.keys() - {*STEPS}):
        raise WordingError(f"{where}: unknown key {odd[0]!r}; allowed: {', '.join(STEPS)}, or a format with these")
    return Reasoning(
        steps={step: _sentences(where, table[step]) for step in STEPS if step in table},
        formats={
            name: {step: _sentences(where, part[step]) for step in STEPS if step in part}
            for name, part in formats.items()
        },
    )


def _sentences(where: str, value: Json) -> Sentences:
    by_label = value if isinstance(value, Mapping) else {"": value}
    read = {label: (texts,) if isinstance(texts, str) else texts for label, texts in by_label.items()}
    for texts in read.values():
        if not isinstance(texts, Sequence) or not all(isinstance(text, str) and text.strip() for text in texts):
            raise WordingError(f"{where}: a step is a sentence, a list of sentences, or a table of these by label")
        try:
            for text in texts:
                placeholders(text)
        except WordingError as error:
            raise WordingError(f"{where}: {error}") from error
    return {label: tuple(texts) for label, texts in read.items()}


@dataclass(frozen=True)
class _ByOption:
    """Looks up a list of the evidence whose items belong to options 1, 2, ...: "A 5.1, B 3.2"."""

    question: Question

    def __getitem__(self, name: str) -> dict[str, Json]:
        items, values = self.question.evidence[name], self.question.scorer_params["option_values"]
        return {letter: items[int(value) - 1] for letter, value in zip(LETTERS, values, strict=False)}


class _Record(string.Formatter):
    """Formats what a record holds. Raises `LookupError` for what it lacks.

    Lists are enumerated, each of their items in the format; in brackets it makes a place of them: "[.0f]". Lists within
    lists are places. "lines" joins the lines of a text.
    """

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value at a path such as "first[name]"."""
        try:
            return super().get_field(field_name, args, kwargs)
        except (TypeError, AttributeError) as error:  # the record has another shape there
            raise LookupError(field_name) from error

    def format_field(self, value: Any, format_spec: str) -> str:
        """The value in words."""
        if value is None or value == "" or value == [] or (isinstance(value, float) and not math.isfinite(value)):
            raise LookupError("not known")
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {self.format_field(item, format_spec)}" for name, item in value.items())
        if isinstance(value, Sequence) and not isinstance(value, str):
            return self._list([item for item in value if item is not None], format_spec)
        if format_spec == "lines":
            return "; ".join(value.splitlines())
        if isinstance(value, float) and not format_spec:
            format_spec = ".4g"
        text = format(value, format_spec)
        return text.removeprefix("-") if not text.strip("-0.") else text

    def _list(self, items: Sequence[Any], format_spec: str) -> str:
        if not items:
            raise LookupError("not known")
        if format_spec.startswith("["):
            return f"[{', '.join(self.format_field(item, format_spec.strip('[]')) for item in items)}]"
        are_places = isinstance(items[0], Sequence) and not isinstance(items[0], str)
        return enumerated(
            [self.format_field(item, f"[{format_spec}]" if are_places else format_spec) for item in items]
        )


def _filled(text: str, record: Mapping[str, Json]) -> str:
    """The sentence; "" where the record lacks a part of it."""
    try:
        filled = _Record().format(text, **record)
    except (LookupError, ValueError):  # ValueError: a text where a number belongs
        return ""
    return filled[:1].upper() + filled[1:]


def enumerated(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
