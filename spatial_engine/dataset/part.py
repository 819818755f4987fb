"""Parts of a dataset, which are datasets themselves: some questions, their media, and an audit of their own."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.card import write_card
from spatial_engine.dataset.dataset import Dataset, dataset_folder, scenes_of
from spatial_engine.dataset.lines import write_questions
from spatial_engine.errors import UsageError
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.output_folder import place_file
from templates.columns import Json
from templates.question import Question

_UNKNOWN = frozenset(("", "unknown", "none", "null"))
_FORBIDS = re.compile(r"(?<![a-z])nc(?![a-z])|non-?_? ?commercial|research[- ]only|academic", re.IGNORECASE)


def obstacle(question: Question) -> str | None:
    """Why a question may not be used commercially; None if it may."""
    if question.licence.get("commercial_ok") is not True:
        return "code or weights of an expert forbid commercial use"
    footage = str(question.licence.get("footage") or "").strip()
    if footage.lower() in _UNKNOWN:
        return "licence of the footage is not known"
    if _FORBIDS.search(footage):
        return "licence of the footage forbids commercial use"
    return None


def commercial(questions: Iterable[Question]) -> tuple[list[Question], dict[str, int]]:
    """The questions that may be used commercially, with such hints only, and the number of the others by reason."""
    kept, reasons = [], Counter[str]()
    for question in questions:
        if (reason := obstacle(question)) is None:
            hints = [hint for hint in question.hints if hint["licence"]["commercial_ok"]]
            kept.append(replace(question, hints=hints))
        else:
            reasons[reason] += 1
    return kept, dict(sorted(reasons.items()))


def write_part(
    whole: Dataset,
    path: Path,
    questions: Sequence[Question],
    splits: Mapping[str, Sequence[str]],
    part: Mapping[str, Json],
) -> Dataset:
    """Writes some questions of `whole` as a dataset. `splits`: its clips by split. `part`: how it was chosen.

    Media are hard links if the file system supports them. Refusals and ground truth stay in the audit of the whole,
    because they are counted over all clips. Raises `UsageError` if `path` holds something else than a dataset.
    """
    record, table = whole.audit, QuestionTable.of(questions)
    clips = {clip for names in splits.values() for clip in names}
    scenes = {clip: scene for clip, scene in scenes_of(record, table.clip.known_texts).items() if clip in clips}
    with dataset_folder(path) as folder:
        (folder / "media").mkdir()
        for file in sorted({file for question in questions for file in question.files}):
            place_file(whole.path / file, folder / file)
        write_questions(folder, questions)
        own = audit(
            table,
            refused={},
            dropped={},
            scenes=scenes,
            seed=int(record.get("seed") or 0),
            settings=record.get("settings") or {},
            splits=splits,
        )
        own["part"] = dict(part)
        write_json(folder / "audit.json", own)
        write_card(folder, own, path.name)
    return Dataset(path)


def check_outside(whole: Dataset, out: Path) -> None:
    """Raises `UsageError` if `out` is the dataset itself, or lies inside it."""
    if whole.path.resolve() in (out.resolve(), *out.resolve().parents):
        raise UsageError(f"{out} is the dataset itself, or lies inside it", "name another folder")


@contextmanager
def commercial_part(whole: Dataset, inside: Path, wanted: bool) -> Iterator[tuple[Dataset, dict[str, int]]]:
    """The commercially usable part of a dataset, and the number of other questions by reason; the whole unless
    `wanted`. The part is a folder below `inside` that is deleted when the block ends."""
    if not wanted:
        yield whole, {}
        return
    kept, left_out = commercial(whole.questions)
    record = whole.audit
    with TemporaryDirectory(dir=inside) as place:
        splits = record.get("splits") or {}
        yield write_part(whole, _same_name(whole, place), kept, splits, {"left_out": left_out}), left_out


@contextmanager
def rewritten(
    whole: Dataset, inside: Path, rewrite: Callable[[Iterable[Question]], Iterable[Question]] | None
) -> Iterator[Dataset]:
    """The dataset with rewritten questions, in a folder below `inside` that is deleted when the block ends; the whole
    where `rewrite` is None."""
    if rewrite is None:
        yield whole
        return
    with TemporaryDirectory(dir=inside) as place:
        splits = whole.audit.get("splits") or {}
        yield write_part(whole, _same_name(whole, place), list(rewrite(whole.questions)), splits, {})


def _same_name(whole: Dataset, place: str) -> Path:
    """A folder that is called as that of the whole, in one that is called as the whole's: exports are named after
    them."""
    path = whole.path.resolve()
    (Path(place) / path.parent.name).mkdir(exist_ok=True)
    return Path(place) / path.parent.name / path.name
