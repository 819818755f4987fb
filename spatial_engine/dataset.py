"""A data set on disk: DATASET/{questions.jsonl, media/, audit.json, README.md}. Appears whole or not at all."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from spatial_engine import media
from spatial_engine.atomic_file import read_json, write_json
from spatial_engine.atomic_folder import atomic_folder, check_free
from spatial_engine.audit import FORMAT_VERSION, audit
from spatial_engine.balance import DEFAULTS, Balanced, BalanceSettings, balance
from spatial_engine.card import card
from spatial_engine.errors import SpatialEngineError, UsageError
from spatial_engine.question_line import from_line, question_of, to_line
from templates.draft import ClipQuestions, Draft, Refusal
from templates.measured import Json
from templates.question import Medium, Question

UNREADABLE = "the clip's frames can no longer be read"
MOVED = "was the footage moved or changed? put it back, or annotate it where it lies now"
_OURS = frozenset({"questions.jsonl", "media", "audit.json", "README.md", "report"})

_CLIP_TROUBLE = (DecodingError, OSError, SpatialEngineError)

OpenClip = Callable[[str], Clip]


@dataclass(frozen=True)
class Dataset:
    """A finished data set."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "Dataset":
        """The data set in a folder. Raises `UsageError` if there is none, or one of another format."""
        _check(Path(path))
        return cls(Path(path))

    @property
    def questions(self) -> Iterator[Question]:
        """All questions, by (clip, fact, format), read one at a time."""
        with (self.path / "questions.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield from_line(line)
                except (json.JSONDecodeError, KeyError) as error:
                    cause = f"line {number} of {self.path / 'questions.jsonl'} is not a question: {error}"
                    raise UsageError(cause, "generate the data set again") from error

    @property
    def audit(self) -> dict[str, Json]:
        """What `audit.json` says."""
        return dict(read_json(self.path / "audit.json"))


def write_dataset(
    path: str | Path,
    clips: Iterable[ClipQuestions],
    open_clip: OpenClip,
    *,
    seed: int,
    settings: Mapping[str, Json] | None = None,
    scenes: Mapping[str, str] | None = None,
    balancing: BalanceSettings = DEFAULTS,
) -> Dataset:
    """Balances, draws and writes. Replaces a data set of ours at `path`, and nothing else.

    Equal clips, seed and settings give byte-identical `questions.jsonl`, in whatever order the clips come. What a
    clip can no longer show is left out, counted under `UNREADABLE`. `scenes` names, by clip id, the footage that a
    clip was cut from (its own if not named): no split separates clips of one scene. Raises `UsageError` if `path`
    holds something that is not a data set.
    """
    path, clips = Path(path), sorted(clips, key=lambda clip: clip.clip_id)
    with dataset_folder(path) as folder:
        (folder / "media").mkdir()
        questions, dropped = _finish(clips, open_clip, seed, balancing, folder / "media")
        with (folder / "questions.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(f"{to_line(question)}\n" for question in questions)
        record = audit(
            questions,
            refused=[refusal for clip in clips for refusal in clip.refusals],
            dropped=dropped,
            scenes={clip.clip_id: (scenes or {}).get(clip.clip_id, clip.clip_id) for clip in clips},
            seed=seed,
            settings={**(settings or {}), "balance": asdict(balancing)},
        )
        write_json(folder / "audit.json", record)
        (folder / "README.md").write_bytes(card(record, path.name).encode("utf-8", "replace"))
    return Dataset(path)


def dataset_folder(path: Path) -> AbstractContextManager[Path]:
    """A new folder that becomes the data set at `path` if the block ends without an error. Raises `UsageError` if
    `path` holds something that is not a data set."""
    return atomic_folder(path, _OURS, _check)


def check_target(path: str | Path) -> None:
    """Raises `UsageError` if `write_dataset` would refuse `path`: to be asked before the work, not after."""
    check_free(Path(path), _check)


def _finish(
    clips: Sequence[ClipQuestions], open_clip: OpenClip, seed: int, balancing: BalanceSettings, folder: Path
) -> tuple[list[Question], list[Refusal]]:
    """Questions with their media drawn into `folder`; what was dropped on the way.

    Balanced again without the clips that turn out unreadable, for letters and answers must be even at the end.
    """
    drafts = [draft for clip in clips for draft in clip.drafts]
    opened = _opened({draft.clip_id for draft in drafts}, open_clip)
    while True:
        readable = [draft for draft in drafts if draft.clip_id in opened]
        diagonals_px = {id: float(np.hypot(clip.width_px, clip.height_px)) for id, clip in opened.items()}
        balanced = balance(readable, diagonals_px, seed, balancing)
        unreadable = _draw(balanced, opened, folder)
        if not unreadable:
            break
        opened = {id: clip for id, clip in opened.items() if id not in unreadable}
    if drafts and not opened:
        raise SpatialEngineError(f"of all clips: {UNREADABLE}", MOVED)
    questions = [question_of(dealt, opened[dealt.draft.clip_id]) for dealt in balanced.dealt]
    _remove_unused(questions, folder)
    return questions, [*balanced.dropped, *_lost(draft for draft in drafts if draft.clip_id not in opened)]


def _opened(clip_ids: Iterable[str], open_clip: OpenClip) -> dict[str, Clip]:
    """The clips that can be opened."""
    opened = {}
    for id in sorted(clip_ids):
        with suppress(*_CLIP_TROUBLE):
            opened[id] = open_clip(id)
    return opened


def _draw(balanced: Balanced, opened: Mapping[str, Clip], folder: Path) -> set[str]:
    """Renders what is shown, clip by clip; returns the clips whose frames cannot be read."""
    shown: dict[str, list[Medium]] = defaultdict(list)
    for dealt in balanced.dealt:
        phrasing = dealt.draft.phrasing
        drawn = [option for option in phrasing.options if not isinstance(option, str)]
        shown[dealt.draft.clip_id] += [*phrasing.media, *drawn]
    unreadable = set()
    for id, wanted in shown.items():
        try:
            media.render(opened[id], wanted, folder)
        except _CLIP_TROUBLE:
            unreadable.add(id)
    return unreadable


def _remove_unused(questions: Iterable[Question], folder: Path) -> None:
    used = {Path(entry["path"]).name for question in questions for entry in question.media}
    for file in folder.iterdir():
        if file.name not in used:
            file.unlink()


def _lost(drafts: Iterable[Draft]) -> list[Refusal]:
    counts = Counter((d.clip_id, d.template, d.ability, d.format) for d in drafts)
    return [
        Refusal(clip_id=clip, template=template, ability=ability, format=format, reason=UNREADABLE, count=count)
        for (clip, template, ability, format), count in sorted(counts.items())
    ]


def _check(path: Path) -> None:
    """Raises `UsageError` unless `path` holds a data set of this format."""
    if not path.exists():
        raise UsageError(f"{path} is not a data set: there is nothing at that path", "is it written right?")
    try:
        version = read_json(path / "audit.json")["format_version"]
    except (OSError, ValueError, TypeError, KeyError):
        raise UsageError(
            f"{path} is not a data set: it has no audit.json that names a format version",
            "name a data set made by `spatial-engine generate`, or a folder that does not exist yet",
        ) from None
    if version != FORMAT_VERSION or not (path / "questions.jsonl").is_file():
        raise UsageError(
            f"{path} is a data set of format {version}; this version reads and replaces format {FORMAT_VERSION}",
            "generate it again into a new folder",
        )
