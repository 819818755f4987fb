"""Writes a data set: balances the questions, renders the media, audits. It is written whole or not at all."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from spatial_engine.atomic_file import write_json
from spatial_engine.dataset import media
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.balance import DEFAULTS, Balanced, BalanceSettings, balance
from spatial_engine.dataset.card import card
from spatial_engine.dataset.dataset import Dataset, dataset_folder
from spatial_engine.dataset.question_line import question_of, to_line
from spatial_engine.errors import SpatialEngineError
from templates.draft import ClipQuestions, Draft, Refusal
from templates.measured import Json
from templates.question import Medium, Question

UNREADABLE = "the clip's frames can no longer be read"


MOVED = "was the footage moved or changed? put it back, or annotate it where it lies now"


_CLIP_TROUBLE = (DecodingError, OSError, SpatialEngineError)


OpenClip = Callable[[str], Clip]


def write_dataset(
    path: str | Path,
    clips: Iterable[ClipQuestions],
    open_clip: OpenClip,
    *,
    seed: int,
    settings: Mapping[str, Json] | None = None,
    scenes: Mapping[str, str] | None = None,
    balancing: BalanceSettings = DEFAULTS,
    allow_empty: bool = False,
) -> Dataset:
    """Balances, renders and writes. Replaces an earlier data set at `path`, and nothing else.

    Equal clips, seed and settings give byte-identical `questions.jsonl`, in any order of the clips. Questions
    whose frames cannot be read are omitted and counted as `UNREADABLE`. `scenes`: by clip id the footage that a clip
    was cut from (by default the clip itself); no split separates clips of one scene. Raises as `dataset_folder`: an
    empty data set replaces questions only with `allow_empty`.
    """
    path, clips = Path(path), sorted(clips, key=lambda clip: clip.clip_id)
    with dataset_folder(path, allow_empty=allow_empty) as folder:
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
    questions = [question_of(arranged, opened[arranged.draft.clip_id]) for arranged in balanced.arranged]
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
    for arranged in balanced.arranged:
        phrasing = arranged.draft.phrasing
        drawn = [option.shown for option in phrasing.options if not isinstance(option.shown, str)]
        shown[arranged.draft.clip_id] += [*phrasing.media, *drawn]
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
