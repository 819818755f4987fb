"""The questions of a dataset as columns: what audits compare of them. A question takes about 400 bytes; its words are
read again where a baseline needs them."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from itertools import chain, islice, pairwise

import numpy as np
from jaxtyping import Bool, Float64, Int8, Int16, Int64, UInt64

from experts.provenance import MAKER
from spatial_engine.leaks.compact import Coded, Ragged, grouped
from spatial_engine.scoring.own import by_format, chance
from templates.answers import Answer
from templates.answers.answer import joined, stacked
from templates.answers.registry import recorded_answer, stack_from_record, stack_to_record
from templates.answers.score import Unscored
from templates.columns import Json
from templates.question import Question
from templates.unanswerable import UNDETERMINED, offers_undetermined

FOOTAGE = ("frames", "video")
"""Kinds of media that show frames of a clip."""
Read = Callable[[Sequence[int]], Sequence[Question]]
"""The questions in some rows."""
LONGEST, SHORTEST = 2, 1
"""Kinds of options by their lengths; 0: neither."""
FORWARDS, BACKWARDS, MIXED = 1, 2, 3
"""Orders of time in which photos are shown; 0: there are not two."""
Mark = tuple[Json, Sequence[Sequence[float]]]
"""Text and points of a mark."""
_AT_ONCE = 256
"""Tables that are joined at once."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """The written answers of some questions that are numbers, of one template, format and period."""

    key: str
    """What they have in common."""
    rows: Int64[np.ndarray, "k"]
    answers: Answer


@dataclass(frozen=True, kw_only=True)
class QuestionTable:
    """One row per question, in their order."""

    id: np.ndarray
    fact: np.ndarray
    clip: Coded
    ability: Coded
    template: Coded
    format: Coded
    words: Coded
    """The right answer in words, as `Question.right_words`."""
    letter: Coded
    """The right letter; None without options."""
    licence: Coded
    """As JSON."""
    experts: Coded
    """Those whose signals the answer uses, as JSON."""
    puzzle: Bool[np.ndarray, "n"]
    offers: Bool[np.ndarray, "n"]
    """Whether "cannot be determined" is offered."""
    unanswerable: Bool[np.ndarray, "n"]
    """Whether that is right."""
    yes_no: Bool[np.ndarray, "n"]
    """Whether the answer is yes or no."""
    video: Bool[np.ndarray, "n"]
    """Whether it shows a video."""
    media: Int16[np.ndarray, "n"]
    """Number of photos, videos and drawings."""
    options: Int16[np.ndarray, "n"]
    right: Int16[np.ndarray, "n"]
    """Index of the right option; -1 for none."""
    chance: Float64[np.ndarray, "n"]
    number: Float64[np.ndarray, "n"]
    """The answer where it is one number; else NaN."""
    direction: Int8[np.ndarray, "n"]
    """Order of time of the photos."""
    possible: Ragged
    """Hashes of the possible answers, the right one first (`Format.possible`)."""
    lengths: Ragged
    """Kind of each option by its length; none for pictures."""
    photos: Ragged
    """Ids of photos and videos."""
    files: Ragged
    """Their paths, for those that have one."""
    stills: Ragged
    """Whether each file is a photo."""
    shown: UInt64[np.ndarray, "n"]
    """Hash of template, format and texts of marks; without photos of all words and drawings."""
    frames: UInt64[np.ndarray, "n"]
    """Hash of the frames that photos and videos show."""
    marks: Ragged
    """Points of all marks, in diagonals of the picture."""
    answer: UInt64[np.ndarray, "n"]
    """Hash of the answer."""
    stacks: tuple[Stack, ...]
    read: Read = field(compare=False)

    @classmethod
    def of(cls, questions: Iterable[Question], read: Read | None = None) -> "QuestionTable":
        """Of questions in memory."""
        asked = [*questions]
        words = [question.right_words for question in asked]
        levels = [chance(question) for question in asked]
        photos = [_photos(question) for question in asked]
        files = [[medium for medium in own if medium.get("path")] for own in photos]
        marks = [[_marks(medium) for medium in own] for own in files]
        return cls(
            id=_bytes(question.id for question in asked),
            fact=_bytes(question.fact_id for question in asked),
            clip=Coded.of(question.clip for question in asked),
            ability=Coded.of(question.ability for question in asked),
            template=Coded.of(question.template for question in asked),
            format=Coded.of(question.format for question in asked),
            words=Coded.of(words),
            letter=Coded.of(str(question.answer) if question.options else None for question in asked),
            licence=_dumped([question.licence for question in asked], dict),
            experts=_dumped([question.provenance for question in asked], _experts),
            puzzle=np.array([question.is_puzzle for question in asked], dtype=np.bool_),
            offers=np.array([offers_undetermined(question) for question in asked], dtype=np.bool_),
            unanswerable=np.array([question.value == UNDETERMINED for question in asked], dtype=np.bool_),
            yes_no=np.array([question.answer in ("yes", "no") for question in asked], dtype=np.bool_),
            video=np.array([any(m.get("kind") == "video" for m in q.media) for q in asked], dtype=np.bool_),
            media=np.array([len(question.media) for question in asked], dtype=np.int16),
            options=np.array([len(question.options) for question in asked], dtype=np.int16),
            right=np.array([-1 if (k := q.right_option) is None else k for q in asked], dtype=np.int16),
            chance=np.array(levels, dtype=np.float64),
            number=np.array([_number(question.answer) for question in asked], dtype=np.float64),
            direction=np.array([_direction(question) for question in asked], dtype=np.int8),
            possible=Ragged.of([[*map(_hash, _possible(question))] for question in asked], "u8"),
            lengths=Ragged.of([_lengths(question) for question in asked], "i1"),
            photos=Ragged.of([[_encoded(str(m.get("id"))) for m in own] for own in photos], "S"),
            files=Ragged.of([[_encoded(str(m["path"])) for m in own] for own in files], "S"),
            stills=Ragged.of([[m.get("kind") == "frames" for m in own] for own in files], "?"),
            shown=np.array([*map(_shown, asked, marks)], dtype=np.uint64),
            frames=np.array([*map(_frames, asked, files)], dtype=np.uint64),
            marks=Ragged.of([*map(_points, files, marks)], "f8", (2,)),
            answer=np.array([_hash(_dumps(question.answer)) for question in asked], dtype=np.uint64),
            stacks=_stacks(asked, [w is None or not level for w, level in zip(words, levels, strict=True)]),
            read=read or (lambda rows: [asked[row] for row in rows]),
        )

    @classmethod
    def joined(cls, parts: Iterable["QuestionTable"], read: Read) -> "QuestionTable":
        """The rows of all parts, one after the other. Of very many parts some at a time: a small table takes much more
        memory than its rows."""
        left = iter(parts)
        tables = [cls._joined(some, read) for some in iter(lambda: [*islice(left, _AT_ONCE)], [])]
        return tables[0] if len(tables) == 1 else cls._joined(tables, read)

    @classmethod
    def _joined(cls, parts: Sequence["QuestionTable"], read: Read) -> "QuestionTable":
        columns: dict[str, list[Json]] = {name: [] for name in _COLUMNS}
        stacks: dict[str, list[Stack]] = {}
        count = 0
        for part in chain([cls.of([])], parts):
            for name, column in columns.items():
                column.append(getattr(part, name))
            for stack in part.stacks:
                stacks.setdefault(stack.key, []).append(replace(stack, rows=stack.rows + count))
            count += len(part)
        return cls(
            **{name: _concatenated(columns.pop(name)) for name in _COLUMNS},
            stacks=tuple(
                Stack(key=key, rows=np.concatenate([s.rows for s in own]), answers=joined([s.answers for s in own]))
                for key, own in stacks.items()
            ),
            read=read,
        )

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.id)

    def by_template(self) -> dict[str, Int64[np.ndarray, "k"]]:
        """The rows of each template and format, "NAME (FORMAT)", in the order of the names."""
        rows = grouped(np.arange(len(self)), self.template.index, self.format.index)
        named = {f"{self.template.first(own)} ({self.format.first(own)})": own for own in rows}
        return dict(sorted(named.items()))

    def to_record(self) -> dict[str, Json]:
        """As `write_arrays` files it."""
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return {
            **{n: v.to_record() if isinstance(v, Coded | Ragged) else v for n, v in columns.items()},
            "stacks": [[stack.key, stack.rows, *stack_to_record(stack.answers)] for stack in self.stacks],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Json]) -> "QuestionTable":
        """The inverse of `to_record`, without the questions themselves: it is to be `joined`."""
        columns = {n: t.from_record(record[n]) if t in (Coded, Ragged) else record[n] for n, t in _COLUMNS.items()}
        stacks = (Stack(key=key, rows=rows, answers=stack_from_record(s)) for key, rows, *s in record["stacks"])
        return cls(**columns, stacks=tuple(stacks), read=_unread)


_COLUMNS = {f.name: f.type for f in fields(QuestionTable) if f.name not in ("stacks", "read")}


def _unread(rows: Sequence[int]) -> Sequence[Question]:
    raise RuntimeError("a part of a dataset's table cannot read questions")


def written(question: Question) -> Answer | None:
    """The written answer of a question as a typed answer; None if it is invalid."""
    found = by_format(question, lambda form: form.stated(question, recorded_answer(question)))
    return found if isinstance(found, Answer) else None


def _stacks(asked: Sequence[Question], wanted: Sequence[bool]) -> tuple[Stack, ...]:
    found: dict[tuple[Json, ...], list[tuple[int, Answer]]] = {}
    for n, question in enumerate(asked):
        answer = written(question) if wanted[n] else None
        if answer is not None and answer.numbers is not None:
            period = str(question.scorer_params.get("period"))
            key = (question.template, question.format, answer.name, getattr(answer, "names", ()), period)
            found.setdefault(key, []).append((n, answer))
    return tuple(
        Stack(key=_dumps(key), rows=np.array([n for n, _ in own]), answers=stacked([answer for _, answer in own]))
        for key, own in found.items()
    )


def _concatenated(parts: Sequence[Json]) -> Json:
    kind = type(parts[0])
    return kind.joined(parts) if kind in (Coded, Ragged) else np.concatenate(parts)


def _bytes(texts: Iterable[str]) -> np.ndarray:
    return np.array([*map(_encoded, texts)], dtype="S")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_dumps = json.JSONEncoder(check_circular=False, sort_keys=True).encode


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(_encoded(text), digest_size=8).digest(), "big")


def _dumped(values: Sequence[Json], of: Callable[[Json], Json]) -> Coded:
    """What many questions share, as JSON; each object is looked at once."""
    known: dict[int, str] = {}
    for value in values:
        if id(value) not in known:
            known[id(value)] = _dumps(of(value))
    return Coded.of(known[id(value)] for value in values)


def _experts(provenance: Sequence[Mapping[str, Json]]) -> list[Json]:
    """What the audit says of each expert, and of those from whose signals its own was computed."""
    experts = [each for record in provenance for each in (record, *record.get("made_from", ()))]
    return [[each.get(name) for name in MAKER] for each in experts]


def _number(answer: Json) -> float:
    return float(answer) if isinstance(answer, int | float) else np.nan


def _possible(question: Question) -> Sequence[str]:
    found = by_format(question, lambda form: form.possible(question))
    return () if isinstance(found, Unscored) else found


def _lengths(question: Question) -> list[int]:
    if question.right_option is None or question.has_pictures_as_options:
        return []
    sizes = [len(option) for option in question.options]
    ends = {max(sizes): LONGEST, min(sizes): SHORTEST} if len(set(sizes)) > 1 else {}
    return [ends.get(size, 0) for size in sizes]


def _direction(question: Question) -> int:
    frames = [frame for medium in question.media if not medium.get("option") for frame in medium.get("frames") or ()]
    steps = {b > a if a != b else None for a, b in pairwise(frames)}
    return (FORWARDS if steps == {True} else BACKWARDS if steps == {False} else MIXED) if steps else 0


def _photos(question: Question) -> list[Mapping[str, Json]]:
    """Photos and videos; equal drawings may well be made of different footage."""
    return [medium for medium in question.media if medium.get("kind") in FOOTAGE]


def _marks(medium: Mapping[str, Json]) -> list[Mark]:
    marks = [(mark.get("text"), mark.get("points_px") or [mark["xy_px"]]) for mark in medium.get("marks") or ()]
    return sorted(marks, key=lambda mark: str(mark[0]))


def _points(files: Sequence[Mapping[str, Json]], marks: Sequence[Sequence[Mark]]) -> list[tuple[float, float]]:
    found = []
    for medium, own in zip(files, marks, strict=True):
        diagonal_px = math.hypot(*medium.get("frame_size_px") or (1.0, 1.0))
        found += [(x / diagonal_px, y / diagonal_px) for _, points_px in own for x, y in points_px]
    return found


def _shown(question: Question, marks: Sequence[Sequence[Mark]]) -> int:
    content: list[Json] = [[(text, len(points_px)) for text, points_px in own] for own in marks]
    if not content:
        content = [question.text, sorted(question.options), sorted(str(m.get("id")) for m in question.media)]
    return _hash(_dumps([question.template, question.format, content]))


def _frames(question: Question, files: Sequence[Mapping[str, Json]]) -> int:
    return _hash(_dumps([[question.clip, medium.get("frames") or medium["path"]] for medium in files]))
