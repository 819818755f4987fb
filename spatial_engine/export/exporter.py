"""Exporters by name, and what every export has: it appears whole or not at all, and says what it left out."""

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from experts.registry import Registry, UnknownNameError
from spatial_engine.atomic_file import one_writer, write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.part import commercial_part, rewritten
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.hints import hinted
from spatial_engine.export.mixture import opened_mixture
from spatial_engine.language.reasoning import check_choice
from spatial_engine.options.hints import check_kinds
from spatial_engine.output_folder import atomic_folder
from templates.columns import Json
from templates.question import Question


def questions_by_split(dataset: Dataset) -> dict[str, Iterator[Question]]:
    """Questions of each split that has any, in the order of `audit.json`; read anew for each, one at a time.

    Raises `UsageError` for a clip that no split names: the two files are not of one dataset.
    """
    split_of = {clip: name for name, clips in dataset.audit["splits"].items() for clip in clips}
    used = set()
    for question in dataset.questions:
        if question.clip not in split_of:
            raise UsageError(f"no split of audit.json names clip {question.clip}", "generate the dataset again")
        used.add(split_of[question.clip])
    return {name: _of(dataset, split_of, name) for name in dataset.audit["splits"] if name in used}


def _of(dataset: Dataset, split_of: dict[str, str], name: str) -> Iterator[Question]:
    return (question for question in dataset.questions if split_of[question.clip] == name)


def shows_video(question: Question) -> bool:
    """Whether a question shows a video, which forms of pictures alone cannot hold."""
    return any(medium.get("kind") == "video" for medium in question.media)


def slug(dataset: Path) -> str:
    """Lower-case letters, digits and "_": spatial_ and a dataset's folder, of OUT/dataset the folder OUT."""
    path = dataset.resolve()
    name = path.parent.name if path.name == "dataset" else path.name
    return "_".join(["spatial", *re.findall(r"[a-z0-9]+", name.lower())])


EXPORTERS = Registry(
    "spatial_engine.exporters",
    {
        "spatialtree": "spatial_engine.export.spatialtree:export_spatialtree",
        "lmms-eval": "spatial_engine.export.lmms_eval:export_lmms_eval",
        "vlmevalkit": "spatial_engine.export.vlmevalkit:export_vlmevalkit",
        "hf": "spatial_engine.export.hf:export_hf",
        "webdataset": "spatial_engine.export.webdataset:export_webdataset",
        "trl": "spatial_engine.export.trl:export_trl",
        "llava": "spatial_engine.export.conversations:export_llava",
        "llava-1.5": "spatial_engine.export.conversations:export_llava_15",
        "sharegpt": "spatial_engine.export.conversations:export_sharegpt",
    },
)
"""All exporters: `(dataset, folder) -> Exported`. One whose form has system messages also takes the keyword
`system_prompt`, one that writes files of a limited size `shard_mb`, one of conversations `mix`, one that trains models
`reasoning`. Third parties add theirs as entry points of that group."""

_OPTIONS = {
    "system_prompt": "system messages",
    "shard_mb": "shards",
    "mix": "rows of conversations to mix others with",
    "reasoning": "reasoning",
}
"""What a form lacks that does not take an option."""
REPORT = "export_report.json"
NO_VIDEOS = "this form holds no videos"
"""A reason for `Exported.left_out`."""


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What an exporter wrote."""

    rows: int
    left_out: Mapping[str, int]
    """Questions that the form cannot hold, by reason."""
    files: tuple[str, ...]
    """Names of files and folders that it wrote: the next export replaces them."""
    splits: Mapping[str, int] = field(default_factory=dict)
    """Rows of each split, of forms that keep splits apart."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """What else the report says, by name."""


Exporter = Callable[..., Exported]


def export(
    dataset: Dataset | str | Path,
    out: str | Path,
    *,
    to: str,
    commercial_ok: bool = False,
    system_prompt: bool = False,
    hints: Sequence[str] = (),
    hint_pictures: Sequence[str] = (),
    shard_mb: int | None = None,
    mix: str | Path | None = None,
    ratio: float = 3.0,
    mix_media: str | Path | None = None,
    reasoning: str = "none",
) -> Path:
    """Writes a dataset in another form into the folder `out`; replaces an earlier export there. `commercial_ok`:
    leaves out, and counts, what may not be used commercially or whose footage has no known licence. `system_prompt`:
    a question's instructions are a system message, not the first words of its prompt. `hints`, `hint_pictures`: kinds
    of hints (docs/hints.md) that prompts say, or that are further pictures, which prompts explain. `shard_mb`: largest
    size of a file, of forms that have several; by default 500. `mix`: a file of other training rows in LLaVA's or
    ShareGPT's form, `ratio` of which come to each row of the training split; paths in it start from `mix_media`, by
    default its folder. `reasoning`: none, auto (by level) or all: the chains of thought that stand before the answers
    (docs/reasoning.md).

    Raises `UsageError` for an unknown form, an option that the form does not have, an unknown kind of hint or
    reasoning, a folder that is no dataset, or an `out` that holds something else.
    """
    check_kinds((*hints, *hint_pictures))
    check_choice(reasoning)
    dataset = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    try:
        exporter: Exporter = EXPORTERS.load(to)
    except UnknownNameError as error:
        raise UsageError(f"no export to {to!r}", f"there is: {', '.join(EXPORTERS.targets())}") from error
    if shard_mb is not None and shard_mb < 1:
        raise UsageError(f"--shard-mb {shard_mb}", "give at least 1")
    mixture = opened_mixture(mix, ratio, mix_media)
    given = {
        "system_prompt": system_prompt or None,
        "shard_mb": shard_mb,
        "mix": mixture,
        "reasoning": None if reasoning == "none" else reasoning,
    }
    wanted = {option: value for option, value in given.items() if value is not None}
    for option in wanted:
        _check_takes(exporter, to, option)
    out = Path(out)
    with (
        one_writer(out),
        atomic_folder(out, _written_before(out), _check) as folder,
        commercial_part(dataset, folder, commercial_ok) as (allowed, barred),
        rewritten(allowed, folder, _with_hints(hints, hint_pictures)) as shown,
    ):
        done = exporter(shown, folder, **wanted)
        record = {
            "to": to,
            "system_prompt": system_prompt,
            "hints": list(hints),
            "hint_pictures": list(hint_pictures),
            "reasoning": reasoning,
            "rows": done.rows,
            "licences": shown.audit["licences"]["footage"],
            "left_out": {**done.left_out, **barred},
            "splits": dict(done.splits),
            **done.detail,
        }
        record["files"] = [*done.files, REPORT]
        write_json(folder / REPORT, record)
    return out


def _with_hints(
    hints: Sequence[str], hint_pictures: Sequence[str]
) -> Callable[[Iterable[Question]], Iterable[Question]] | None:
    """Puts hints into questions; None where none are wanted."""
    if not hints and not hint_pictures:
        return None

    def rewrite(questions: Iterable[Question]) -> Iterator[Question]:
        for _, of_clip in groupby(questions, key=lambda question: question.clip):
            others = list(of_clip)
            yield from (hinted(question, hints, hint_pictures, others) for question in others)

    return rewrite


def _check_takes(exporter: Exporter, to: str, option: str) -> None:
    """Raises `UsageError` if a form does not have an option."""
    if option not in inspect.signature(exporter).parameters:
        forms = EXPORTERS.load_all().items()
        those = ", ".join(name for name, one in forms if option in inspect.signature(one).parameters)
        cause = f"{to} has no {_OPTIONS[option]}"
        raise UsageError(cause, f"leave out --{option.replace('_', '-')}, or export to one of: {those}")


def write_rows(path: Path, rows: Iterable[Mapping[str, Json]]) -> None:
    """JSON objects, one a line."""
    with path.open("w", encoding="utf-8", newline="\n") as lines:
        lines.writelines(f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in rows)


def counted(reasons: Iterable[str]) -> dict[str, int]:
    """Reasons by how often they occur."""
    return dict(sorted(Counter(reasons).items()))


def _written_before(out: Path) -> list[str]:
    file = out / REPORT
    return list(json.loads(file.read_text(encoding="utf-8"))["files"]) if file.is_file() else []


def _check(path: Path) -> None:
    if not (path / REPORT).is_file():
        raise UsageError(f"{path} holds something that is not an export", "name a folder that does not exist yet")
