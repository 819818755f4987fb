"""Small keys of the questions about one clip: what the balance needs to know of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int32, UInt64

from spatial_engine.dataset.repeated_facts import repeated_facts
from templates.asked import Asked, Refusal
from templates.columns import Json, Texts
from templates.condition import MEASURES


class Near(NamedTuple):
    """What counts as nearly the same fact (`BalanceSettings`)."""

    share: float
    frames: float


class Fault(NamedTuple):
    """A question whose template fails to put it in words."""

    table: int
    row: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What all questions of a table have in common."""

    template: str
    ability: str
    format: str
    options: int
    """Number of options of a choice, "cannot be determined" aside; 0 for other formats."""
    fixed: bool
    """Whether all choices of the template offer the same words."""
    counts: bool
    """Whether the answers are counts."""

    @classmethod
    def of(cls, asked: Asked) -> "Kind":
        """Of a table."""
        return cls(
            template=asked.template.name,
            ability=asked.template.ability,
            format=asked.format,
            options=asked.count_options() if asked.format == "choice" else 0,
            fixed=bool(asked.template.labels),
            counts=asked.counts(),
        )


@dataclass(frozen=True, kw_only=True)
class ClipKeys:
    """One row per question, sorted by fact and format; faulty ones are left out."""

    clip_id: str
    kinds: tuple[Kind, ...]
    """Of each table."""
    table: Int32[np.ndarray, "n"]
    row: Int32[np.ndarray, "n"]
    """Its row in that table."""
    fact: UInt64[np.ndarray, "n"]
    """Id of the fact as a number."""
    words: Texts
    """What the right answer says; "": nothing that can be compared."""
    situation: UInt64[np.ndarray, "n"]
    """Hash of template, offered words and order of time: what a reader learns without a picture."""
    numbers: Float64[np.ndarray, "n 3"]
    """Value, tolerance and period of an answer that is a single number (`Asked.numbers`)."""
    difficulty: Float32[np.ndarray, "n m"]
    """A column for each of `MEASURES`; NaN where it is not known."""
    right: Int32[np.ndarray, "n"]
    """Index of the right option; -1 where there are none."""
    offers: Bool[np.ndarray, "n"]
    """Whether "cannot be determined" is offered."""
    unanswerable: Bool[np.ndarray, "n"]
    """Whether that option is right."""
    repeats: Bool[np.ndarray, "n"]
    """Whether it nearly repeats another question of the clip."""
    prompt_key: Texts
    """Key of the wording, and how many prompts that has: what `Choose` is asked."""
    prompts: Int32[np.ndarray, "n"]
    refusals: tuple[Refusal, ...]
    """Why other facts are not asked."""
    faults: tuple[Fault, ...]

    @classmethod
    def of(
        cls,
        clip_id: str,
        tables: Sequence[Asked],
        diagonal_px: float,
        near: Near,
        refusals: Iterable[Refusal] = (),
        faults: Sequence[Fault] = (),
    ) -> "ClipKeys":
        """Of the questions about a clip, whose full-size pictures have that diagonal."""
        faulty = [[fault.row for fault in faults if fault.table == k] for k in range(len(tables))]
        rows = [np.setdiff1d(np.arange(len(one)), own) for one, own in zip(tables, faulty, strict=True)]
        left = [one.take(own) if len(own) < len(one) else one for one, own in zip(tables, rows, strict=True)]
        prompts = [choice for one in left for choice in one.choices_of_prompt()]
        keys = cls(
            clip_id=clip_id,
            kinds=tuple(map(Kind.of, tables)),
            table=np.repeat(np.arange(len(tables), dtype=np.int32), list(map(len, left))),
            row=_joined(rows, np.int32),
            fact=np.array([int(id, 16) for one in left for id in one.fact_ids.tolist()], dtype=np.uint64),
            words=_texts(word for one in left for word in one.right_words().tolist()),
            situation=np.array([n for one in left for n in _situations(one)], dtype=np.uint64),
            numbers=np.concatenate([np.empty((0, 3)), *(one.numbers() for one in left)]),
            difficulty=np.concatenate([np.empty((0, len(MEASURES)), np.float32), *map(_difficulty, left)]),
            right=_joined([_right(one) for one in left], np.int32),
            offers=_joined([one.offers_undetermined() for one in left], np.bool_),
            unanswerable=_joined([one.offers_undetermined() & one.unanswerable() for one in left], np.bool_),
            repeats=_joined(repeated_facts(left, {clip_id: diagonal_px}, *near), np.bool_),
            prompt_key=_texts(key for key, _ in prompts),
            prompts=np.array([count for _, count in prompts], dtype=np.int32),
            refusals=tuple(refusals),
            faults=tuple(faults),
        )
        formats = np.array([kind.format for kind in keys.kinds] or [""])[keys.table] if len(keys) else keys.words
        return keys._take(np.lexsort((formats, keys.fact)))

    def __len__(self) -> int:
        """Number of questions."""
        return len(self.table)

    def to_record(self) -> dict[str, Json]:
        """As `write_arrays` files it. Texts stand once."""
        coded = {name: np.unique(getattr(self, name), return_inverse=True) for name in ("words", "prompt_key")}
        return {
            **vars(self),
            "kinds": [asdict(kind) for kind in self.kinds],
            **{name: [texts.tolist(), rows.astype(np.int32)] for name, (texts, rows) in coded.items()},
            "refusals": [asdict(refusal) for refusal in self.refusals],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Json]) -> "ClipKeys":
        """The inverse of `to_record`."""
        changed = {
            "kinds": tuple(Kind(**kind) for kind in record["kinds"]),
            **{name: _texts(record[name][0])[record[name][1]] for name in ("words", "prompt_key")},
            "refusals": tuple(Refusal(**refusal) for refusal in record["refusals"]),
            "faults": tuple(Fault(*fault) for fault in record["faults"]),
        }
        return cls(**{**record, **changed})

    def _take(self, rows: np.ndarray) -> "ClipKeys":
        columns = {name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **columns)


def _difficulty(asked: Asked) -> Float32[np.ndarray, "n m"]:
    unknown = np.full(len(asked), np.nan)
    return np.stack([asked.difficulty.get(name, unknown) for name in MEASURES], axis=1).astype(np.float32)


def _right(asked: Asked) -> np.ndarray:
    if asked.format != "choice" or asked.offer is None or asked.offer.right is None:
        return np.full(len(asked), -1)
    return asked.offer.right


def _situations(asked: Asked) -> list[int]:
    """Numbers that are equal where template and `Asked.situations` are."""
    texts, rows = np.unique(asked.situations(), return_inverse=True)
    named = (f"{asked.template.name}\0{text}".encode("utf-8", "surrogatepass") for text in texts)
    numbers = [int.from_bytes(blake2b(name, digest_size=8).digest(), "big") for name in named]
    return [numbers[row] for row in rows.tolist()]


def _joined(parts: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=dtype), *parts]).astype(dtype)


def _texts(texts: Iterable[str]) -> Texts:
    return np.array([*texts], dtype=np.str_)
