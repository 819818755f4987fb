"""Writes a dataset in passes that hold no question longer than they need it.

    1. each clip is asked about, and its drafts are filed (`drafts.py`)      in workers
    2. all questions are balanced, lettered and given prompts, by small keys
    3. what is kept is put into words and drawn (`finishing.py`)             in workers, clip by clip
    4. the parts are joined, and audited by their tables (`leaks/question_table.py`)

The dataset is written whole or not at all.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from spatial_engine.annotation.executor import Crashed, run
from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.balance import DEFAULTS, Balanced, BalanceSettings, balance
from spatial_engine.dataset.card import write_card
from spatial_engine.dataset.cost import CpuClock, write_cost
from spatial_engine.dataset.dataset import Dataset, dataset_folder
from spatial_engine.dataset.drafts import Drafts
from spatial_engine.dataset.finishing import CLIP_TROUBLE, FinishClip, OpenClip, Part, collector_paused
from spatial_engine.dataset.hints import HintsBeside
from spatial_engine.dataset.keys import Keys
from spatial_engine.dataset.lines import QuestionLines, join_parts
from spatial_engine.dataset.target import Target
from spatial_engine.errors import SpatialEngineError
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.output_folder import place_file
from spatial_engine.progress import Progress, Silent
from templates.asked import ClipQuestions
from templates.columns import Json

UNREADABLE = "the clip's frames can no longer be read"
MOVED = "was the footage moved or changed? put it back, or annotate it where it lies now"
UNFINISHED = "not annotated to the end, so nothing is asked"
"""Of a clip of the store."""
CRASHED = "the program failed on this clip"
"""Begins the refusal reason of a clip that failed because of a fault of the program."""
Counts = Counter[tuple[str, str]]
"""Number of facts or questions by leaf and reason."""


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
    """Writes what is asked about clips. Replaces an earlier dataset at `path`, and nothing else.

    Equal clips, seed and settings give byte-identical `questions.jsonl`, in any order of the clips. Questions whose
    frames cannot be read are omitted and counted as `UNREADABLE`, those whose template fails by its error. `scenes`: by
    clip id the footage that a clip was cut from (by default the clip itself); no split separates clips of one scene.
    `state_tolerance`: prompts say which error still counts as right. `hints`: gives those of a question. Raises as
    `dataset_folder`: an empty dataset replaces questions only with `allow_empty`.
    """
    path, clips = Path(path), list(clips)
    path.resolve().parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.resolve().parent) as name:
        templates = {one.template.name: one.template for clip in clips for one in clip.asked}
        drafts = Drafts(folder=Path(name), templates=templates, near=balancing.near, seed=seed)
        for clip in clips:
            drafts.add(clip, "", _diagonal_px(clip, open_clip))
        task = FinishClip(
            drafts=drafts,
            keys=dict.fromkeys((clip.clip_id for clip in clips), ""),
            open_clip=open_clip,
            folder=Path(name),
            state_tolerance=state_tolerance,
            hints=hints,
        )
        return write_drafts(
            path, task, seed=seed, settings=settings, scenes=scenes, balancing=balancing, allow_empty=allow_empty
        )


def write_drafts(
    path: Path,
    task: FinishClip,
    crashed: Mapping[str, str] | None = None,
    unfinished: Collection[str] = (),
    *,
    seed: int,
    settings: Mapping[str, Json] | None = None,
    scenes: Mapping[str, str] | None = None,
    balancing: BalanceSettings = DEFAULTS,
    target: Target | None = None,
    allow_empty: bool = False,
    workers: int = 0,
    cpu: CpuClock | None = None,
    beside: Callable[[Dataset], object] | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """The same of drafts on disk, with any number of workers. `crashed`: by clip without drafts, the error.
    `unfinished`: clips without drafts because they are not annotated. `target`: which questions are drawn of all that
    could be asked. `cpu`: the time of the work, for `cost.json`. `beside`: writes more files into the folder of the
    dataset."""
    crashed = dict(crashed or {})
    with dataset_folder(path, allow_empty=allow_empty) as folder:
        parts, refused, balanced = _finished(task, crashed, seed, balancing, target, workers, progress or Silent())
        join_parts(folder, [part.lines for part in parts])
        _place_media(parts, task.folder, folder)
        clip_ids = {*task.keys, *crashed, *unfinished} - {""}
        refused += Counts({("", UNFINISHED): len(unfinished)} if unfinished else {})
        with collector_paused():
            record = audit(
                QuestionTable.joined((part.table() for part in parts), read=QuestionLines(folder)),
                refused=refused,
                dropped=balanced.dropped,
                scenes={clip_id: (scenes or {}).get(clip_id, clip_id) for clip_id in clip_ids},
                seed=seed,
                settings={**(settings or {}), "balance": asdict(balancing)},
            )
        record |= {} if balanced.target is None else {"target": balanced.target}
        write_json(folder / "audit.json", record)
        if cpu is not None:
            write_cost(folder, cpu.total_s)
        write_card(folder, record, path.name)
        if beside is not None:
            beside(Dataset(folder))
    return Dataset(path)


def balanced_drafts(
    drafts: Drafts,
    keys: Mapping[str, str],
    seed: int,
    balancing: BalanceSettings = DEFAULTS,
    target: Target | None = None,
) -> Balanced:
    """What is kept of the drafts of clips. `keys`: those of their drafts."""
    return balance(Keys.of((drafts.keys(id, keys[id]) for id in sorted(keys)), seed), seed, balancing, target)


def _finished(
    task: FinishClip,
    crashed: dict[str, str],
    seed: int,
    balancing: BalanceSettings,
    target: Target | None,
    workers: int,
    progress: Progress,
) -> tuple[list[Part], Counts, Balanced]:
    """The parts of the dataset; what was refused; what was kept and dropped.

    Balanced again without the clips that turn out unreadable and without the questions whose template fails, for
    letters and answers must be even at the end.
    """
    (task.folder / "media").mkdir(parents=True, exist_ok=True)
    unreadable: set[str] = set()
    while True:
        readable = {id: key for id, key in task.keys.items() if id not in unreadable and id not in crashed}
        balanced = balanced_drafts(task.drafts, readable, seed, balancing, target)
        selections, parts = [*balanced.selections()], dict[str, Part]()
        progress.begin("writing", len(selections))
        for selection, result in run(task, selections, workers):
            id = selection.clip_id
            if isinstance(result, Crashed):
                crashed[id] = result.error
                progress.step(id, f"failed: {result.error}")
            else:
                progress.step(result.name or id, "; ".join(sorted({f.reason for f in result.faults})) or "done")
                if result.faults:
                    task.drafts.leave_out(id, task.keys[id], result.faults)
                elif result.part is None:
                    unreadable.add(id)
                else:
                    parts[id] = result.part
        if len(parts) == len(selections):
            break
    if unreadable and not any(len(task.drafts.keys(id, key)) for id, key in readable.items()):
        raise SpatialEngineError(f"of all clips: {UNREADABLE}", MOVED)
    refused, faulty = _counted(task, crashed, unreadable)
    return [parts[id] for id in sorted(parts)], refused, replace(balanced, dropped=Counts(balanced.dropped) + faulty)


def _counted(task: FinishClip, crashed: Mapping[str, str], unreadable: Collection[str]) -> tuple[Counts, Counts]:
    """What was refused, and the questions that are lost: of faulty templates, and of clips that cannot be read."""
    refused, lost = Counts(), Counts()
    for error in crashed.values():
        refused["", f"{CRASHED}: {error}"] += 1
    for id, key in task.keys.items():
        clip = task.drafts.keys(id, key)
        for refusal in clip.refusals:
            refused[refusal.ability, refusal.reason] += refusal.count
        for fault in clip.faults:
            lost[clip.kinds[fault.table].ability, fault.reason] += 1
        for table in clip.table.tolist() if id in unreadable else ():
            lost[clip.kinds[table].ability, UNREADABLE] += 1
    return refused, lost


def _place_media(parts: Iterable[Part], drawn: Path, folder: Path) -> None:
    """Puts what the questions show into the dataset."""
    (folder / "media").mkdir()
    for part in parts:
        for file in part.files():
            target = f"{folder}/{file}"  # a path of each would take longer than the link
            if not os.path.lexists(target):
                place_file(f"{drawn}/{file}", target)


def _diagonal_px(clip: ClipQuestions, open_clip: OpenClip) -> float:
    """Of the pictures of a clip; of one that cannot be opened, and will be left out, any."""
    try:
        opened = open_clip(clip.clip_id) if clip.asked and clip.clip_id else None
    except CLIP_TROUBLE:
        return 1.0
    return 1.0 if opened is None else float(np.hypot(opened.width_px, opened.height_px))
