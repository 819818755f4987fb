"""Writes a data set: balances the questions, renders the media, audits. It is written whole or not at all."""

import gc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from spatial_engine.annotation.plugin_errors import template_error
from spatial_engine.atomic_file import write_json
from spatial_engine.dataset import media
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.balance import DEFAULTS, Arranged, BalanceSettings, balance, even_choice
from spatial_engine.dataset.card import card
from spatial_engine.dataset.dataset import Dataset, dataset_folder
from spatial_engine.dataset.hints import HintsBeside, with_hints
from spatial_engine.dataset.lines import write_questions
from spatial_engine.dataset.question_line import question_of
from spatial_engine.errors import SpatialEngineError, disk_error
from templates.asked import Asked, ClipQuestions, Draft, Refusal
from templates.columns import Json
from templates.media import Medium
from templates.question import Question

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
    state_tolerance: bool = False,
    allow_empty: bool = False,
    hints: HintsBeside | None = None,
) -> Dataset:
    """Balances, renders and writes. Replaces an earlier data set at `path`, and nothing else.

    Equal clips, seed and settings give byte-identical `questions.jsonl`, in any order of the clips. Questions whose
    frames cannot be read are omitted and counted as `UNREADABLE`, those whose template fails by its error. `scenes`: by
    clip id the footage that a clip was cut from (by default the clip itself); no split separates clips of one scene.
    `state_tolerance`: prompts say which error still counts as right. `hints`: gives those of a question. Raises as
    `dataset_folder`: an empty data set replaces questions only with `allow_empty`.
    """
    path, clips = Path(path), sorted(clips, key=lambda clip: clip.clip_id)
    with dataset_folder(path, allow_empty=allow_empty) as folder:
        (folder / "media").mkdir()
        questions, dropped = _finish(clips, open_clip, seed, balancing, folder / "media", state_tolerance, hints)
        with collector_paused():
            write_questions(folder, questions)
            clip_ids = [*(clip.clip_id for clip in clips if clip.clip_id), *(q.clip for q in questions if q.is_puzzle)]
            record = audit(
                questions,
                refused=[refusal for clip in clips for refusal in clip.refusals],
                dropped=dropped,
                scenes={clip_id: (scenes or {}).get(clip_id, clip_id) for clip_id in clip_ids},
                seed=seed,
                settings={**(settings or {}), "balance": asdict(balancing)},
            )
        write_json(folder / "audit.json", record)
        (folder / "README.md").write_bytes(card(record, path.name).encode("utf-8", "replace"))
    return Dataset(path)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Python searches for no cycles meanwhile: among many new records that takes as long as making them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _finish(
    clips: Sequence[ClipQuestions],
    open_clip: OpenClip,
    seed: int,
    balancing: BalanceSettings,
    folder: Path,
    state_tolerance: bool,
    hints: HintsBeside | None,
) -> tuple[list[Question], list[Refusal]]:
    """Questions with their media drawn into `folder`; what was dropped on the way.

    Balanced again without the clips that turn out unreadable and without the questions whose template fails, for
    letters and answers must be even at the end.
    """
    refused: list[Refusal] = []
    asked = [one for clip in clips for one in clip.asked]
    opened = _opened({one.clip_id for one in asked} - {""}, open_clip)
    while True:
        readable = [one for one in asked if _is_readable(one, opened)]
        diagonals_px = {id: float(np.hypot(clip.width_px, clip.height_px)) for id, clip in opened.items()}
        balanced = balance(readable, diagonals_px, seed, balancing)
        with collector_paused():
            questions, drafts, faulty = in_words(balanced.arranged, opened, seed, state_tolerance)
        questions, pictures = with_hints(questions, hints, opened)
        unreadable = _draw(drafts, pictures, opened, folder)
        if not faulty and not unreadable:
            break
        opened = {id: clip for id, clip in opened.items() if id not in unreadable}
        asked = _without([one for one, _ in faulty], asked)
        refused += [_dropped(one.asked, reason, 1) for one, reason in faulty]
    if asked and not readable:
        raise SpatialEngineError(f"of all clips: {UNREADABLE}", MOVED)
    _remove_unused(questions, folder)
    lost = sorted((one for one in asked if not _is_readable(one, opened)), key=_kind)
    return questions, [*balanced.dropped, *refused, *(_dropped(one, UNREADABLE, len(one)) for one in lost)]


def in_words(
    arranged: Iterable[Arranged], opened: Mapping[str, Clip], seed: int, state_tolerance: bool = False
) -> tuple[list[Question], list[Draft], list[tuple[Arranged, str]]]:
    """The questions and their drafts; those whose template fails, with the reason."""
    questions, drafts, faulty, choose = [], [], [], even_choice(seed)
    entries: dict[str, dict[Medium, dict[str, Json]]] = defaultdict(dict)
    for one in arranged:
        try:
            draft = one.draft(choose)
            draft = draft.with_tolerance() if state_tolerance else draft
            questions.append(question_of(draft, one.order, opened.get(one.clip_id), entries[one.clip_id]))
            drafts.append(draft)
        except Exception as error:  # a plug-in may raise anything
            faulty.append((one, template_error(one.asked.template, error)))
    return questions, drafts, faulty


def _without(faulty: Iterable[Arranged], asked: Iterable[Asked]) -> list[Asked]:
    """The tables without the rows of these questions."""
    rows: dict[int, list[int]] = defaultdict(list)
    for one in faulty:
        rows[id(one.asked)].append(one.row)
    left = [one.take(np.delete(np.arange(len(one)), rows[id(one)])) if id(one) in rows else one for one in asked]
    return [one for one in left if len(one)]


def _is_readable(asked: Asked, opened: Mapping[str, Clip]) -> bool:
    """Puzzles show no footage."""
    return asked.clip_id in opened or not asked.clip_id


def _opened(clip_ids: Iterable[str], open_clip: OpenClip) -> dict[str, Clip]:
    """The clips that can be opened."""
    opened = {}
    for id in sorted(clip_ids):
        with suppress(*_CLIP_TROUBLE):
            opened[id] = open_clip(id)
    return opened


def _draw(
    drafts: Iterable[Draft], pictures: Mapping[str, Sequence[Medium]], opened: Mapping[str, Clip], folder: Path
) -> set[str]:
    """Renders what is shown, clip by clip, and the pictures of hints; returns the clips whose frames cannot be read."""
    shown: dict[str, list[Medium]] = defaultdict(list, {id: list(media) for id, media in pictures.items()})
    for draft in drafts:
        drawn = [option.shown for option in draft.options if not isinstance(option.shown, str)]
        shown[draft.clip_id] += [*draft.media, *drawn]
    unreadable = set()
    for id, wanted in shown.items():
        try:
            media.render(opened.get(id), wanted, folder)
        except _CLIP_TROUBLE as error:
            if id not in opened or disk_error(error):
                raise
            unreadable.add(id)
    return unreadable


def _remove_unused(questions: Iterable[Question], folder: Path) -> None:
    used = {Path(file).name for question in questions for file in question.files}
    for file in folder.iterdir():
        if file.name not in used:
            file.unlink()


def _kind(asked: Asked) -> tuple[str, str, str]:
    return asked.clip_id, asked.template.name, asked.format


def _dropped(asked: Asked, reason: str, count: int) -> Refusal:
    return Refusal(
        clip_id=asked.clip_id,
        template=asked.template.name,
        ability=asked.template.ability,
        format=asked.format,
        reason=reason,
        count=count,
    )
