"""Drafts on disk: what is asked about each clip, before anything is in words. A folder that any number of processes and
machines fill, and that one takes up.

    DRAFTS/<clip id>.<key>.asked    the tables of the questions, and why other facts are not asked
    DRAFTS/<clip id>.<key>.keys     what the balance needs to know of each question; the clip is done when it is there

A key names all that the drafts of a clip depend on. Files appear whole or not at all, even if a process is killed.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from spatial_engine.dataset.array_file import DamagedFileError, read_arrays, write_arrays
from spatial_engine.dataset.clip_keys import ClipKeys, Fault, Near
from templates.answers.answers import Answers
from templates.answers.registry import stack_from_record, stack_to_record
from templates.asked import Asked, ClipQuestions, Origin, Refusal
from templates.columns import Columns, Json, column_types
from templates.offer import Offer
from templates.template import Template

PUZZLES = "puzzles"
"""In place of the id of a clip, for what shows none."""


def drafts_folder(dataset: Path) -> Path:
    """Where the drafts of a dataset lie until it is written: beside it."""
    dataset = dataset.resolve()
    return dataset.with_name(f".{dataset.name}.drafts")


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """A folder of drafts. Picklable; several processes may write and read."""

    folder: Path
    templates: Mapping[str, Template]
    """Those that ask, by name."""
    near: Near
    seed: int

    def add(self, made: ClipQuestions, key: str, diagonal_px: float) -> None:
        """Files what is asked about a clip, whose full-size pictures have that diagonal."""
        origins: list[Origin] = []
        tables = [_to_record(one, origins) for one in made.asked]
        record = {
            "clip": made.clip_id,
            "diagonal_px": diagonal_px,
            "tables": tables,
            "origins": [[origin.provenance, origin.licence, origin.sigma_factor] for origin in origins],
        }
        write_arrays(self._file(made.clip_id, key, "asked"), record)
        self._write_keys(made.clip_id, key, made.asked, diagonal_px, made.refusals, ())

    def keys(self, clip_id: str, key: str) -> ClipKeys:
        """What the balance needs to know of a clip's questions. Raises `DamagedFileError`."""
        return ClipKeys.from_record(read_arrays(self._file(clip_id, key, "keys")))

    def tables(self, clip_id: str, key: str) -> list[Asked]:
        """The questions about a clip. Raises `DamagedFileError`."""
        return self._read(clip_id, key)[0]

    def leave_out(self, clip_id: str, key: str, faults: Sequence[Fault]) -> None:
        """Counts these questions as faults of their templates, and leaves them out from now on."""
        known = self.keys(clip_id, key)
        tables, diagonal_px = self._read(clip_id, key)
        self._write_keys(clip_id, key, tables, diagonal_px, known.refusals, (*known.faults, *faults))

    def filed(self, keys: Mapping[str, str]) -> dict[str, str]:
        """Those clips, with the key of their drafts, whose drafts are there; they may be damaged."""
        there = {path.name for path in self.folder.glob("*.keys")}
        return {clip_id: key for clip_id, key in keys.items() if self._file(clip_id, key, "keys").name in there}

    def is_whole(self, clip_id: str, key: str) -> bool:
        """Whether the drafts of a clip are there and undamaged."""
        with suppress(DamagedFileError, FileNotFoundError):
            return self.keys(clip_id, key).clip_id == clip_id
        return False

    def _write_keys(
        self,
        clip_id: str,
        key: str,
        tables: Sequence[Asked],
        diagonal_px: float,
        refusals: Iterable[Refusal],
        faults: Sequence[Fault],
    ) -> None:
        keys = ClipKeys.of(clip_id, tables, diagonal_px, self.near, refusals, faults)
        # if a power failure damages the file, it does not count, and the clip is asked about again
        write_arrays(self._file(clip_id, key, "keys"), keys.to_record(), durable=False)

    def _read(self, clip_id: str, key: str) -> tuple[list[Asked], float]:
        record = read_arrays(self._file(clip_id, key, "asked"))
        origins = [
            Origin(provenance=tuple(provenance), licence=licence, sigma_factor=factor)
            for provenance, licence, factor in record["origins"]
        ]
        tables = [self._from_record(clip_id, each, origins) for each in record["tables"]]
        return tables, record["diagonal_px"]

    def _from_record(self, clip_id: str, record: dict[str, Json], origins: Sequence[Origin]) -> Asked:
        template, offer = self.templates[record["template"]], record["offer"]
        stacks = tuple((rows, stack_from_record(stack)) for rows, *stack in record["stacks"])
        return Asked(
            template=template,
            clip_id=clip_id,
            format=record["format"],
            facts=_table(template.facts, record["facts"]),  # type: ignore[arg-type]
            fact_ids=record["fact_ids"],
            answers=Answers(why=np.full(len(record["fact_ids"]), ""), stacks=stacks),
            offer=None if offer is None else Offer(why=np.full(len(record["fact_ids"]), ""), **offer),
            evidence=record["evidence"],
            traps=record["traps"],
            difficulty=record["difficulty"],
            p_right=record["p_right"],
            origin=origins[record["origin"]],
            seed=self.seed,
            pictures=record["pictures"],
        )

    def _file(self, clip_id: str, key: str, kind: str) -> Path:
        return self.folder / f"{clip_id or PUZZLES}.{key}.{kind}"


def _to_record(asked: Asked, origins: list[Origin]) -> dict[str, Json]:
    """A table as arrays and plain values; its origin is added to the others, unless it is there."""
    if asked.origin not in origins:
        origins.append(asked.origin)
    offer = asked.offer
    return {
        "template": asked.template.name,
        "format": asked.format,
        "facts": _columns(asked.facts),
        "fact_ids": asked.fact_ids,
        "stacks": [[rows, *stack_to_record(answer)] for rows, answer in asked.answers.stacks],
        "offer": None if offer is None else {f.name: getattr(offer, f.name) for f in fields(offer) if f.name != "why"},
        "evidence": asked.evidence,
        "traps": asked.traps,
        "difficulty": asked.difficulty,
        "p_right": asked.p_right,
        "origin": origins.index(asked.origin),
        "pictures": asked.pictures,
    }


def _columns(table: Columns) -> dict[str, Json]:
    names = column_types(type(table))
    return {n: _columns(c) if isinstance(c := getattr(table, n), Columns) else c for n in names}


def _table(kind: type[Columns], record: Mapping[str, Json]) -> Columns:
    declared = column_types(kind)
    return kind(**{n: _table(t, c) if (t := declared[n].table) and c is not None else c for n, c in record.items()})
