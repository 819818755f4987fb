"""What questions cost on one core, from the store to the dataset: all templates, exact signals, clips of four rooms.

OMP_NUM_THREADS=1 python -m benchmarks.end_to_end
"""

import pickle
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from experts.clip import Clip, Picture
from experts.provenance import Provenance
from experts.signals import Matches, PointTracks, Signal
from spatial_engine.dataset import media
from spatial_engine.dataset.audit import audit
from spatial_engine.dataset.balance import DEFAULTS, Selection, balance
from spatial_engine.dataset.drafts import Drafts
from spatial_engine.dataset.finishing import collector_paused, in_words
from spatial_engine.dataset.keys import Keys
from spatial_engine.dataset.lines import write_questions
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room
from spatial_engine.store.store import ClipRecord, Store, create_store
from templates.asked import ClipQuestions, Draft
from templates.generate import ask_clip
from templates.media import Drawing, Medium
from templates.question import Question
from templates.registry import create_templates
from templates.scene.correspondence import corresponding_points
from templates.scene.marks import grid_px
from templates.scene.point_motion import point_motion
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings

_CLIPS = 4
_FACTS = 200
"""Per template and clip."""
_ROUNDS = 3
"""The best counts."""
_STARTS, _TARGETS, _CELLS = 6, 5, 16
"""Tracks begin in every sixth frame, in 16 x 16 cells; matches lead to every fifth."""
_PHOTO_PX = (640, 480)
_KEY = "0" * 16
_TEMPLATES = [*create_templates().values()]

Result = TypeVar("Result")
Seconds = dict[str, float]


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """The same picture in every frame: decoding is no part of the measurement."""

    picture: Picture

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """A picture per frame."""
        return (self.picture for _ in frames)


def walk(seed: int) -> RenderedScene:
    """A walk through a rendered room in which something moves."""
    path = partial(camera_paths.walk, turn_rad=1.2)
    rng = np.random.default_rng(seed)
    return random_room(rng, frames=60, width_px=320, height_px=240, path=path, moving_object=True)


def exact_clip(room: RenderedScene) -> tuple[Clip, dict[str, Signal]]:
    """The clip of a rendered room, and its exact signals."""
    clip = as_clip(room)
    signals: dict[str, Signal] = {**true_signals(room, clip, clip.frames.tolist())}
    tracks = _tracks(clip, signals)
    return clip, signals | {"tracks": tracks, "matches": _matches(tracks)}


def _tracks(clip: Clip, signals: Mapping[str, Signal]) -> PointTracks:
    """Of points all over every sixth frame, by geometry."""
    (scene,), frames, xy_px = scenes_of(clip, signals), clip.frames, grid_px(clip, _CELLS)
    start, first_px = np.repeat(frames[::_STARTS], len(xy_px)), np.tile(xy_px, (len(frames[::_STARTS]), 1))
    every, shape = np.broadcast_to(frames, (len(start), len(frames))), (len(start), len(frames))
    there = corresponding_points(
        scene, np.repeat(start, len(frames)), np.repeat(first_px, len(frames), axis=0), every.ravel()
    )
    seen = ((there.why == "") & (there.label == "")).reshape(shape)
    motion = point_motion(scene, start, first_px, every)
    assert motion.label is not None
    moves = np.where(motion.why != "", -1, np.where(motion.label == "yes", 1, 0)).astype(np.int32)
    return PointTracks(
        frames=frames,
        xy_px=np.where(seen[..., None], there.value.reshape(*shape, 2), np.nan),
        visible=seen,
        sigma_px=np.full(shape, 0.05),
        outlier_probability=np.zeros(len(start)),
        motion=moves,
        residual_px=np.where(moves == 1, 20.0, 0.0),
        moving_pairs=np.where(moves == 1, len(frames), 0).astype(np.int32),
        parallax_px=np.full(len(start), 20.0),
        provenance=Provenance(expert="renderer", version="1"),
    )


def _matches(tracks: PointTracks) -> Matches:
    """Of every pair of a frame in which tracks begin and every fifth frame."""
    starts, cells = np.arange(0, len(tracks.frames), _STARTS), _CELLS**2
    columns = [(k, a, b) for k, a in enumerate(starts) for b in range(0, len(tracks.frames), _TARGETS) if a != b]
    shown = [tracks.visible[k * cells : (k + 1) * cells, [a, b]].all(axis=1) for k, a, b in columns]
    rows = [k * cells + np.flatnonzero(own) for (k, *_), own in zip(columns, shown, strict=True)]
    count = sum(map(len, rows))
    return Matches(
        pairs=np.array([[tracks.frames[a], tracks.frames[b]] for _, a, b in columns]),
        pair=np.repeat(np.arange(len(columns)), [len(row) for row in rows]),
        xy_a_px=np.concatenate([tracks.xy_px[row, a] for row, (_, a, _) in zip(rows, columns, strict=True)]),
        xy_b_px=np.concatenate([tracks.xy_px[row, b] for row, (_, _, b) in zip(rows, columns, strict=True)]),
        sigma_px=np.full(count, 0.05),
        outlier_probability=np.zeros(count),
        confirmed_by=np.ones(count, dtype=np.int32),
        provenance=tracks.provenance,
    )


def main() -> None:
    """Prints questions per second, the parts of the time, and sizes."""
    made = [exact_clip(walk(seed)) for seed in range(_CLIPS)]
    clips = [clip for clip, _ in made]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = _stored(folder / "store", made)
        fixed = min(_timed(lambda: _asked(store, clips, 1))[1] for _ in range(_ROUNDS)) / _CLIPS
        rounds = [_round(store, clips, folder)[2] for _ in range(_ROUNDS)]
        asked, kept, last = _round(store, clips, folder)
        parts = min([*rounds, last], key=lambda seconds: sum(seconds.values()))
        number, total = sum(map(len, asked)), sum(parts.values())
        in_memory, stored = len(pickle.dumps(asked)) / number, (folder / "questions.jsonl").stat().st_size / len(kept)
        print(f"{_CLIPS} clips, all templates, {_FACTS} facts each: {number} questions asked, {len(kept)} written")
        print("CPU seconds: " + ", ".join(f"{part} {seconds:.3f}" for part, seconds in parts.items()))
        print(f"from store to audit: {number / total:.0f} questions/s asked, {len(kept) / total:.0f} written")
        print(f"fixed cost of a clip, with 1 fact per template: {fixed:.3f} s")
        print(f"size of a question: {in_memory:.0f} B in memory, {stored:.0f} B in its record")
        for kind, rate in drawn(clips[0], kept, folder).items():
            print(f"drawn, questions with {kind}: {rate:.0f}/s")


def _stored(path: Path, made: Sequence[tuple[Clip, Mapping[str, Signal]]]) -> Store:
    store = create_store(path)
    for clip, signals in made:
        for name, signal in signals.items():
            store.write(clip.id, name, _KEY, signal)
        store.write_record(clip.id, ClipRecord(clip={"name": clip.name}, signals=dict.fromkeys(signals, _KEY)))
    return store


def _asked(store: Store, clips: Sequence[Clip], facts: int) -> list[ClipQuestions]:
    settings = AskSettings(facts_per_template=facts)
    return [ask_clip(clip, store.signals(clip.id), _TEMPLATES, settings, 0) for clip in clips]


def _round(store: Store, clips: Sequence[Clip], folder: Path) -> tuple[list[ClipQuestions], list[Draft], Seconds]:
    """What is asked, what of it is written, and the CPU time of each part."""
    seconds: Seconds = {}
    drafts = Drafts(folder=folder / "drafts", templates={t.name: t for t in _TEMPLATES}, near=DEFAULTS.near, seed=0)
    opened = {clip.id: clip for clip in clips}
    diagonals_px = {clip.id: float(np.hypot(clip.width_px, clip.height_px)) for clip in clips}
    asked, seconds["loading and asking"] = _timed(lambda: _asked(store, clips, _FACTS))
    _, seconds["drafts and keys"] = _timed(lambda: [drafts.add(one, "", diagonals_px[one.clip_id]) for one in asked])
    keys = (drafts.keys(id, "") for id in sorted(opened))
    balanced, seconds["balance"] = _timed(lambda: balance(Keys.of(keys, 0), 0))
    selections = [*balanced.selections()]
    with collector_paused():  # as the workers do
        words = partial(_questions, drafts, opened)
        questions, seconds["words and records"] = _timed(lambda: [q for each in selections for q in words(each)])
        _, seconds["writing"] = _timed(lambda: write_questions(folder, questions))
        table, seconds["table"] = _timed(lambda: QuestionTable.of(questions))
        nothing = {"refused": {}, "dropped": {}, "settings": {}}
        _, seconds["audit"] = _timed(lambda: audit(table, scenes={id: id for id in opened}, seed=0, **nothing))
    tables = {each.clip_id: drafts.tables(each.clip_id, "") for each in selections}
    kept = [tables[each.clip_id][k].draft(row) for each in selections for k, row, *_ in each.rows()]
    return asked, kept, seconds


def _questions(drafts: Drafts, opened: Mapping[str, Clip], selection: Selection) -> list[Question]:
    return in_words(selection, drafts.tables(selection.clip_id, ""), opened[selection.clip_id])[0]


def drawn(clip: Clip, drafts: Sequence[Draft], folder: Path) -> dict[str, float]:
    """Questions about a clip per second whose pictures are drawn and stored, maps apart. Decoding is no part of it."""
    (picture,) = (cv2.resize(picture, _PHOTO_PX) for _, picture in clip.read([0]))
    shown = replace(clip, width_px=_PHOTO_PX[0], height_px=_PHOTO_PX[1], reader=_Shown(picture=picture))
    parts: dict[str, list[list[Medium]]] = defaultdict(list)
    for draft in drafts:
        if draft.clip_id == clip.id:
            media_shown = [
                *draft.media,
                *(option.shown for option in draft.options if not isinstance(option.shown, str)),
            ]
            maps = [medium for medium in media_shown if isinstance(medium, Drawing)]
            parts["maps" if maps else "photos of {} x {}".format(*_PHOTO_PX)].append(maps or media_shown)
    rates = {}
    for name, questions in parts.items():
        (folder / name).mkdir()
        draw = partial(media.render, shown, [medium for question in questions for medium in question], folder / name)
        rates[name] = len(questions) / _timed(draw)[1]
    return rates


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    return work(), time.process_time() - start


if __name__ == "__main__":
    main()
