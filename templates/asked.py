"""The questions of one clip as columns, and the reasons why other facts were not asked. Small and picklable."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer, Count, Numbers
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order
from templates.checked import returned
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.media import Drawing, Medium
from templates.offer import Offer
from templates.question import FormatName, Option, Phrasing
from templates.template import Template
from templates.unanswerable import UNDETERMINED
from templates.wording import Wording, wordings

Choose = Callable[[str, int], int]
"""Chooses a prompt: from a key and a number of prompts, the index of one."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the answers of one template about one clip come from."""

    provenance: tuple[Mapping[str, Json], ...]
    """Of every signal of every scene that the answers depend on."""
    licence: Mapping[str, Json]
    """{"footage": ..., "signals": [...], "commercial_ok": bool}"""
    sigma_factor: float = 1.0
    """What their σ is multiplied by when they are recorded (`experts.sigma_calibration.AnswerFactor`)."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The facts of one template about one clip that pass the gate in one format, before letters, words and pictures are
    made."""

    template: Template
    clip_id: str
    """"" for puzzles, which show no clip."""
    format: FormatName
    facts: Facts
    fact_ids: Texts
    answers: Answers
    """Typed, with σ and tolerance; they define what is *right*."""
    offer: Offer | None
    """None where the format has no options."""
    evidence: Mapping[str, np.ndarray]
    traps: Mapping[str, np.ndarray] = field(default_factory=dict)
    """As in `Measured`."""
    difficulty: Mapping[str, np.ndarray] = field(default_factory=dict)
    """By measure (`templates.condition.MEASURES`)."""
    p_right: Float64[np.ndarray, "n"]
    origin: Origin
    seed: int
    pictures: bool = False
    """Whether the options are pictures, so that nobody reads their words."""

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.fact_ids)

    def take(self, rows: Int64[np.ndarray, "k"]) -> "Asked":
        """The questions at the given indices."""
        return replace(
            self,
            facts=self.facts.take(rows),
            fact_ids=self.fact_ids[rows],
            answers=self.answers.take(rows),
            offer=None if self.offer is None else self.offer.take(rows),
            evidence={name: column[rows] for name, column in self.evidence.items()},
            traps={name: column[rows] for name, column in self.traps.items()},
            difficulty={name: column[rows] for name, column in self.difficulty.items()},
            p_right=self.p_right[rows],
        )

    def right_words(self) -> Texts:
        """What the right answers say, for the balance: the word of a label, yes or no, the number of a point, a count;
        "" for other numbers and pictures."""
        if self.pictures:
            return np.full(len(self), "")
        if self.counts():
            return np.char.mod(
                "%d", np.round(self.answers.column(Count, "value", np.zeros(len(self)))).astype(np.int64)
            )
        if self.offer is None or self.offer.options is None or self.offer.options.ndim == 2:
            return self.answers.labels()
        assert self.offer.right is not None
        if self.format == "yes_no":
            return np.array(["yes", "no"])[self.offer.right]
        return np.full(len(self), "") if self.offer.options.ndim == 4 else (1 + self.offer.right).astype(np.str_)

    def situations(self) -> Texts:
        """What a reader learns without a picture, for the balance: the words that a question offers, in any order, of
        yes or no those that its fact is about, and whether the photos of its fact are in the order of time, in the
        opposite order, or neither."""
        words = np.full(len(self), "")
        if self.offer is not None and self.offer.options is not None and self.offer.options.dtype.kind == "U":
            words = np.array(["\x1f".join(sorted(row)) for row in self.offer.options.tolist()], dtype=np.str_)
        elif self.format == "yes_no":
            words = self.facts.words()
        frames = self.facts.all_frames()
        later, earlier = frames[:, 1:], frames[:, :-1]
        steps = np.where((later >= 0) & (earlier >= 0), np.sign(later - earlier), 0)
        forwards, backwards = (steps > 0).any(axis=1), (steps < 0).any(axis=1)
        return np.char.add(words, np.char.mod("\x1f%d", forwards.astype(np.int64) - backwards))

    def numbers(self) -> Float64[np.ndarray, "n 3"]:
        """Value, tolerance and period of each answer that is a single number, for the balance; NaN for others and where
        numbers do not repeat."""
        found = np.full((len(self), 3), np.nan)
        for rows, answer in self.answers.stacks:
            if isinstance(answer, Numbers) and len(answer.names) == 1:
                period = np.nan if answer.period is None else answer.period
                columns = (answer.value, answer.tolerance, np.broadcast_to(period, answer.value.shape))
                found[rows] = np.concatenate(columns, axis=1)
        return found

    def counts(self) -> bool:
        """Whether the answers are counts."""
        return any(isinstance(answer, Count) for _, answer in self.answers.stacks)

    def count_options(self) -> int:
        """How many options each question offers, "cannot be determined" aside."""
        return 0 if self.offer is None or self.offer.options is None else self.offer.options.shape[1]

    def right_option(self, k: int) -> int:
        """Index of the right option of a choice."""
        assert self.offer is not None and self.offer.right is not None
        return int(self.offer.right[k])

    def offers_undetermined(self) -> Bool[np.ndarray, "n"]:
        """Whether each question offers "cannot be determined"."""
        offered = None if self.offer is None else self.offer.undetermined
        return np.zeros(len(self), dtype=bool) if offered is None else offered

    def unanswerable(self) -> Bool[np.ndarray, "n"]:
        """Whether that is the answer of each question."""
        return np.asarray(self.answers.labels() == UNDETERMINED)

    def choices_of_prompt(self) -> list[tuple[str, int]]:
        """What `Choose` is asked for each question: a key, and the number of prompts; ("", 1) where a question fails to
        be phrased. Only a template with variants of its wordings is asked to phrase each."""
        template = self.template
        if type(template).wording is Template.wording and wordings(type(template)).keys() == {*template.formats}:
            wording = template.wording(self.format)
            return [(f"{template.name}/{self.format}", len(wording.prompts))] * len(self)
        return [self._choice_of_prompt(k) for k in range(len(self))]

    def _choice_of_prompt(self, k: int) -> tuple[str, int]:
        try:
            _, name, wording = self._phrased(k, self.answers.row(k), self._offer(k))
        except Exception:  # a plug-in may raise anything; it does so again, and is counted, when it puts in words
            return "", 1
        return f"{self.template.name}/{name}", len(wording.prompts)

    @cached_property
    def rows(self) -> list[dict[str, Json]]:
        """The parameters of each fact as JSON."""
        return self.facts.to_json()

    @cached_property
    def _details(self) -> tuple[list[dict[str, Json]], ...]:
        """Mistakes, difficulty and evidence of each question: plain values by name."""
        rounded = {name: column.round(4) for name, column in self.difficulty.items()}
        return tuple(_known(part, len(self)) for part in (self.traps, rounded, self.evidence))

    @cached_property
    def _offered(self) -> "list[_Offered] | None":
        """The options of each question; None where there are none."""
        offer = self.offer
        if offer is None or offer.options is None or offer.right is None:
            return None
        mistakes = np.full(offer.options.shape[:2], "") if offer.mistakes is None else offer.mistakes
        ndim = np.full(len(self), offer.options.ndim)
        columns = (offer.options, ndim, offer.right, self.offers_undetermined(), mistakes)
        return [*map(_Offered._make, zip(*(column.tolist() for column in columns), strict=True))]

    @cached_property
    def _ids_and_p_right(self) -> list[tuple[str, float]]:
        return [(id, round(p, 4)) for id, p in zip(self.fact_ids.tolist(), self.p_right.tolist(), strict=True)]

    def _offer(self, k: int) -> Offer | None:
        return None if self.offer is None else self.offer.one(k)

    def _phrased(self, k: int, answer: Answer, offer: Offer | None) -> tuple[Phrasing, str, Wording]:
        """What the template shows and says of one question, and the name and the words of its wording."""
        made = self.template.phrase(self.format, self.rows[k], answer, offer)
        phrasing = returned("phrase", Phrasing, made)
        name = phrasing.wording or self.format
        return phrasing, name, returned("wording", Wording, self.template.wording(name))

    def drafts(self) -> "Iterator[Draft]":
        """Each question in words."""
        return (self.draft(k) for k in range(len(self)))

    def draft(self, k: int, choose: "Choose | None" = None) -> "Draft":
        """One question in words. `choose` picks the wording, by default the first."""
        fact, answer, offer = self.rows[k], self.answers.row(k), self._offer(k)
        phrasing, name, wording = self._phrased(k, answer, offer)
        if lacking := [each for each in wording.placeholders if each not in phrasing.values]:
            raise ValueError(f"Phrasing.values lacks {min(lacking)}, a placeholder of [{name}]")
        key = f"{self.template.name}/{name}"
        prompt = wording.prompts[0 if choose is None else choose(key, len(wording.prompts))]
        traps, measures, evidence = (rows[k] for rows in self._details)
        offered = None if self._offered is None else self._offered[k]
        options, media, right = _options(self.format, phrasing, offered, wording, traps)
        fact_id, p_right = self._ids_and_p_right[k]
        return Draft(
            clip_id=self.clip_id or fact_id,
            template=self.template.name,
            ability=self.template.ability,
            format=self.format,
            fact=fact,
            fact_id=fact_id,
            answer=answer,
            instructions=wording.instructions,
            prompt=prompt.format(**phrasing.values),
            media=media,
            options=options,
            traps={
                mistake: _written(self.format, value) for mistake, value in traps.items() if _fits(self.format, value)
            },
            written=right if phrasing.answer is None else phrasing.answer,
            evidence=evidence | {"p_right": p_right} | ({"difficulty": measures} if measures else {}),
            origin=self.origin,
            seed=self.seed,
        )


class _Offered(NamedTuple):
    """What a row of `Offer` says, as plain values."""

    values: list[Json]
    ndim: int
    """Axes of `Offer.options`: 2 for words and numbers, 3 for pixels, 4 for paths, which are drawn."""
    right: int
    undetermined: bool
    mistakes: list[str]


def _options(
    format: FormatName, phrasing: Phrasing, offered: _Offered | None, wording: Wording, traps: Mapping[str, Json]
) -> tuple[tuple[Option, ...], tuple[Medium, ...], Json]:
    """The options, the media, and the right answer as far as the offer decides it."""
    if offered is None:
        return (), phrasing.media, None
    values, ndim, right, undetermined, mistakes = offered
    if format == "yes_no":
        return (), (*phrasing.media, *map(_drawing, values)), ("yes", "no")[right]
    shown: list[str | Medium]
    if phrasing.options:
        if len(phrasing.options) != len(values):
            raise ValueError(f"Phrasing.options holds {len(phrasing.options)}; the offer has {len(values)}")
        shown = [*phrasing.options]
    elif ndim == 4:
        shown, values = [*map(_drawing, values)], [None] * len(values)
    elif ndim == 3:
        shown = [wording.option(str(number)) for number in range(1, 1 + len(values))]
    else:
        shown = [wording.option(str(value)) for value in values]
    if undetermined:
        shown, values = [*shown, wording.option(UNDETERMINED)], [*values, UNDETERMINED]
    options = [
        Option(shown=each, value=value, mistake="" if number == right else _mistake(number, value, mistakes, traps))
        for number, (each, value) in enumerate(zip(shown, values, strict=True))
    ]
    return tuple(options), phrasing.media, right


def _mistake(number: int, value: Json, mistakes: list[str], traps: Mapping[str, Json]) -> str:
    """Which mistake leads to an option; "" for none."""
    made = "" if value == UNDETERMINED else mistakes[number]
    return made or next((mistake for mistake, led_to in traps.items() if led_to == value), "")


def _fits(format: FormatName, value: Json) -> bool:
    """Whether a mistake gives an answer in that format; those that lead to options are stored with them."""
    if format == "order":
        return isinstance(value, str) and all(number.isdigit() for number in value.split()) and " " in value
    return value in ("yes", "no") if format == "yes_no" else format == "numeric" and not isinstance(value, str)


def _written(format: FormatName, value: Json) -> Json:
    """The answer of a mistake as a question of that format records it: of an order the list of numbers."""
    return numbers_in_order(value) if format == "order" else value


def _drawing(path: list[list[float | None]]) -> Drawing:
    return Drawing(polylines=(tuple((x, y) for x, y in path if x is not None and x == x),))  # type: ignore[misc]


def _known(columns: Mapping[str, np.ndarray], count: int) -> list[dict[str, Json]]:
    """What is known of each question, without NaN and ""."""
    if not columns:
        return [{}] * count
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    rows = [dict(zip(columns, row, strict=True)) for row in values]
    if all(
        column.dtype.kind in "biu" or (column.dtype.kind == "f" and not np.isnan(column).any())
        for column in columns.values()
    ):
        return rows
    return [{name: value for name, value in row.items() if value != "" and value == value} for row in rows]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """One question in words, before its letters, ids of media and pictures are assigned."""

    clip_id: str
    """For a puzzle, its fact's id: each is a clip and a scene of its own, so that splits may divide them."""
    template: str
    ability: str
    """Leaf of the tree."""
    format: FormatName
    fact: Mapping[str, Json]
    """Parameters of the template."""
    fact_id: str
    answer: Answer
    instructions: str
    """What is the same for every question of this kind; with the prompt it is complete."""
    prompt: str
    media: tuple[Medium, ...]
    options: tuple[Option, ...] = ()
    """In provisional order."""
    written: Json = None
    """The answer in the form of the format; for a choice, the index of the right option. None: the typed answer gives
    it (`Answer.to_json`)."""
    evidence: Mapping[str, Json]
    traps: Mapping[str, Json] = field(default_factory=dict)
    """By typical mistake, the answer to which it leads; for choices, see `Option.mistake`."""
    origin: Origin
    seed: int

    @property
    def has_pictures_as_options(self) -> bool:
        """Whether an option is a picture; else they are texts."""
        return any(not isinstance(option.shown, str) for option in self.options)

    def with_tolerance(self) -> "Draft":
        """The question; its prompt says which error still counts as right, where it asks for a number or a point."""
        words = "" if self.options or self.format == "yes_no" else self.answer.tolerance_in_words()
        return replace(self, prompt=f"{self.prompt} Counts as right: {words}.") if words else self


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Facts that were not asked, counted by reason."""

    clip_id: str
    template: str
    ability: str
    format: FormatName | None
    """None where the fact was not measured, or none was proposed."""
    reason: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ClipQuestions:
    """Everything that `templates.generate` makes of one clip, or all puzzles."""

    clip_id: str
    """"" for puzzles."""
    asked: tuple[Asked, ...]
    refusals: tuple[Refusal, ...]

    def __len__(self) -> int:
        """Number of questions."""
        return sum(map(len, self.asked))
