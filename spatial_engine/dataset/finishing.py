"""Puts the questions about a clip that are kept into words, and draws what they show."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from spatial_engine.annotation.plugin_errors import template_error
from spatial_engine.dataset import media
from spatial_engine.dataset.array_file import read_arrays, write_arrays
from spatial_engine.dataset.balance import Selection
from spatial_engine.dataset.clip_keys import Fault
from spatial_engine.dataset.drafts import PUZZLES, Drafts
from spatial_engine.dataset.hints import HintsBeside, with_hints
from spatial_engine.dataset.lines import write_part
from spatial_engine.dataset.question_line import question_of
from spatial_engine.errors import SpatialEngineError, disk_error
from spatial_engine.leaks.question_table import QuestionTable
from templates.asked import Asked
from templates.columns import Json
from templates.media import Medium
from templates.question import Question

OpenClip = Callable[[str], Clip]
CLIP_TROUBLE = (DecodingError, OSError, SpatialEngineError)
"""What footage that is gone or damaged raises."""


@dataclass(frozen=True)
class Part:
    """The questions about one clip, on disk."""

    lines: Path
    """Their lines. The part is whole when this file is there."""

    def write(self, questions: Sequence[Question]) -> None:
        """Files the questions."""
        files = sorted({file for question in questions for file in question.files})
        write_arrays(self._table, {"files": files, "table": QuestionTable.of(questions).to_record()})
        write_part(self.lines, questions)

    def files(self) -> list[str]:
        """Paths of all that the questions show."""
        return list(read_arrays(self._table)["files"])

    def table(self) -> QuestionTable:
        """The questions as columns."""
        return QuestionTable.from_record(read_arrays(self._table)["table"])

    @property
    def _table(self) -> Path:
        return self.lines.with_suffix(".table")


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What became of the questions about one clip."""

    name: str = ""
    """The clip's, for the user."""
    part: Part | None = None
    """The questions; None where some are faulty, or the clip cannot be read."""
    faults: tuple[Fault, ...] = ()
    """Questions that their template fails to put in words."""


@dataclass(frozen=True, kw_only=True)
class FinishClip:
    """The task of a worker: the kept questions about a clip, in words and pictures. What is there already stays."""

    drafts: Drafts
    keys: Mapping[str, str]
    """Key of the drafts of each clip."""
    open_clip: OpenClip
    folder: Path
    """Gets `words/`, with a file for each selection of a clip's questions, and `media/`."""
    state_tolerance: bool = False
    hints: HintsBeside | None = None
    said: str = ""
    """What the words depend on beside the drafts."""

    def __call__(self, selection: Selection) -> Finished:
        """Puts in words, draws, and writes a part of `questions.jsonl`."""
        part = self._part(selection)
        if part.lines.is_file():
            return Finished(part=part)
        try:
            clip = self.open_clip(selection.clip_id) if selection.clip_id else None
        except CLIP_TROUBLE:
            return Finished()
        name = PUZZLES if clip is None else clip.name
        with collector_paused():
            tables = self.drafts.tables(selection.clip_id, self.keys[selection.clip_id])
            questions, shown, faults = in_words(selection, tables, clip, self.state_tolerance)
        if faults:
            return Finished(name=name, faults=tuple(faults))
        questions, pictures = with_hints(questions, self.hints, clip)
        try:
            self.draw(clip, [*shown, *pictures])
        except CLIP_TROUBLE as error:
            if clip is None or disk_error(error):
                raise
            return Finished(name=name)
        with collector_paused():
            part.write(questions)
        return Finished(name=name, part=part)

    def draw(self, clip: Clip | None, shown: Iterable[Medium]) -> None:
        """Draws what is not there yet."""
        media.render(clip, shown, self.folder / "media")

    def _part(self, selection: Selection) -> Part:
        what = (self.keys[selection.clip_id], selection.digest, self.said)
        digest = sha256("/".join(what).encode()).hexdigest()[:16]
        return Part(self.folder / "words" / f"{selection.clip_id or PUZZLES}.{digest}.jsonl")


def in_words(
    selection: Selection, tables: Sequence[Asked], clip: Clip | None, state_tolerance: bool = False
) -> tuple[list[Question], list[Medium], list[Fault]]:
    """The questions and all that they show; those whose template fails, with the reason. `clip`: None for puzzles."""
    questions: list[Question] = []
    faults = []
    entries: dict[Medium, dict[str, Json]] = {}
    for table, row, order, prompt in selection.rows():
        try:
            draft = tables[table].draft(row, lambda _, count, prompt=prompt: prompt % count)  # type: ignore[misc]
            draft = draft.with_tolerance() if state_tolerance else draft
            questions.append(question_of(draft, order, clip, entries))
        except Exception as error:  # a plug-in may raise anything
            faults.append(Fault(table, row, template_error(tables[table].template, error)))
    return questions, [*entries], faults


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
