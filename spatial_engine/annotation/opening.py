"""Footage into clips: all of it is opened, each clip counts once, and what was skipped is reported and recorded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experts.clip import Clip
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executors import executor_of
from spatial_engine.errors import SpatialEngineError, UsageError
from spatial_engine.options import AnnotateOptions, OpenOptions, chosen
from spatial_engine.progress import Progress, counted
from spatial_engine.sequences import Sequence as TrueSequence
from spatial_engine.sources import (
    ClipError,
    Footage,
    Found,
    ImageFolder,
    Opened,
    Skipped,
    VideoFile,
    find_footage,
    open_footage,
)
from spatial_engine.sources.clip_options import ClipOptions, clip_options
from spatial_engine.sources.finding import NONE_KNOWN, VIDEO_ENDINGS, KnownFootage
from spatial_engine.store.finished import FinishedClip, FinishedFootage
from spatial_engine.store.store import FootageRecord, Store

_OUR_MARKERS = ("store.json", "questions.jsonl", "export_report.json")
"""Files that mark a folder as an output of this program: `run . -o out` must not open its own pictures."""

_NEW_COPY = "copy or export it anew, or leave it out"


@dataclass(frozen=True, kw_only=True)
class OpenFootage:
    """The task of a worker: opens one file or folder of footage."""

    store_path: Path
    options: OpenOptions
    clip_options: ClipOptions
    """Options of single clips."""

    def __call__(self, footage: Footage) -> Opened | ClipError:
        """Its clips, or the reason why there are none."""
        try:
            named, options = self.clip_options.apply(footage, self.options)
            return open_footage(named, options, cache=Store(self.store_path))
        except ClipError as error:
            return error


@dataclass(frozen=True, kw_only=True)
class OpenedFootage:
    """The footage of a run."""

    clips: Sequence[Clip]
    """Those that were opened, each once, by id."""
    ids: Mapping[str, tuple[Footage, tuple[str, ...]]]
    """By place, footage that was opened, and the ids of its clips."""
    unchanged: Sequence[FinishedClip]
    """The clips of the other footage, of which nothing is missing."""


def find(path: Path, options: OpenOptions, progress: Progress, known: KnownFootage = NONE_KNOWN) -> Found:
    """The footage at a path; reports what is skipped. `known`: of earlier runs, which is not read again if it is as it
    was. Raises `UsageError`, or `SpatialEngineError` for broken videos."""
    found = find_footage(path, options.images, known)
    marked = _marked(found)
    ours = tuple(one for one in found.taken if marked and marked & {*Path(one.place).parents})
    own = tuple(Skipped(path=Path(footage.place).parent, reason="written by this program") for footage in ours)
    found = Found(taken=tuple(each for each in found.taken if each not in ours), skipped=found.skipped + own)
    of_clips = clip_options(path, options)
    silent = _read_beside(found) | {of_clips.path}
    for skipped in (each for each in found.skipped if each.path not in silent):
        progress.say(f"left out: {skipped.path}: {skipped.reason}")
    if not found.taken:
        why = "; ".join(sorted({skipped.reason for skipped in found.skipped})) or "it is empty"
        kind = SpatialEngineError if any(map(_is_broken_video, found.skipped)) else UsageError
        raise kind(f"no footage at {path}: {why}", "give a video, or a folder of videos or of images")
    of_clips.check(found.taken, path)
    opening = chosen(OpenOptions, options)
    _check_times([of_clips.apply(footage, opening) for footage in found.taken])
    return found


def _read_beside(found: Found) -> set[Path | None]:
    """Files named as detections of the footage are: `find_detections` says what they hold."""
    json = [skipped.path for skipped in found.skipped if skipped.path.suffix == ".json"]
    taken = found.taken if json else ()
    files = [path for one in taken for path in ((one.path,) if isinstance(one, VideoFile) else one.paths)]
    stems = {"detections", *(path.stem for path in files)}
    return {path for path in json if path.name.removesuffix(".json").removesuffix(".detections") in stems}


def _check_times(taken: Sequence[tuple[Footage, OpenOptions]]) -> None:
    """Raises `UsageError` if a range in seconds is given for all footage, and none has time stamps."""
    if all(
        isinstance(footage, ImageFolder) and options.fps is None and (options.start, options.end) != (None, None)
        for footage, options in taken
    ):
        raise UsageError("--start/--end: images have no times", "give their rate with --fps")


def _marked(found: Found) -> set[Path]:
    """Folders that are a store, a dataset, an export, or the output of a whole run."""
    marks = (skipped.path.absolute() for skipped in found.skipped if skipped.path.name in _OUR_MARKERS)
    folders = {mark.parent for mark in marks if mark.is_file()}
    return folders | {folder.parent for folder in folders if folder.name == "store"}


def _is_broken_video(skipped: Skipped) -> bool:
    return skipped.path.suffix.lower() in VIDEO_ENDINGS and not skipped.path.name.startswith(".")


def open_all(
    found: Found,
    root: Path,
    store: Store,
    options: AnnotateOptions,
    progress: Progress,
    unchanged: Mapping[str, FinishedFootage],
) -> OpenedFootage:
    """Opens footage, but not what is unchanged, by place. What cannot be opened is recorded."""
    opening = chosen(OpenOptions, options)
    task = OpenFootage(store_path=store.path, options=opening, clip_options=clip_options(root, opening))
    progress.begin("opening", len(found.taken))
    results: dict[str, Opened | ClipError | Crashed] = {}

    def open_now(several: Sequence[Footage]) -> None:
        for footage, result in executor_of(options)(task, several, options.workers):
            results[footage.place] = result
            progress.step(footage.name, _opening_outcome(result))

    open_now([footage for footage in found.taken if footage.place not in unchanged])
    open_now(_with_twins(found.taken, unchanged, results))
    for footage in (footage for footage in found.taken if footage.place not in results):
        progress.step(footage.name, _of_clips(len(unchanged[footage.place].clips)))
    taken = [footage for footage in found.taken if footage.place in results]
    broken = {str(skipped.path.absolute()): skipped for skipped in found.skipped if _is_broken_video(skipped)}
    for place, skipped in broken.items():
        store.write_footage(FootageRecord(path=place, name=skipped.path.name, error=skipped.reason, remedy=_NEW_COPY))
    clips, ids = dict[str, Clip](), dict[str, tuple[Footage, tuple[str, ...]]]()
    for footage in taken:
        opened = results[footage.place]
        if not isinstance(opened, Opened):
            error = opened.cause if isinstance(opened, ClipError) else opened.error
            remedy = opened.remedy if isinstance(opened, ClipError) else ""
            store.write_footage(FootageRecord(path=footage.place, name=footage.name, error=error, remedy=remedy))
            continue
        for note in opened.notes:
            progress.say(f"{footage.name}: {note}")
        twins = [clips[clip.id].name for clip in opened.clips if clip.id in clips]
        if twins:
            progress.say(f"{footage.name}: the same contents as {twins[0]}")
        clips = {clip.id: clip for clip in opened.clips} | clips
        ids[footage.place] = footage, tuple(clip.id for clip in opened.clips)
        store.write_footage(FootageRecord(path=footage.place, name=footage.name, clips=ids[footage.place][1]))
    return OpenedFootage(
        clips=[clips[clip_id] for clip_id in sorted(clips)],
        ids=ids,
        unchanged=[clip for place, one in unchanged.items() if place not in results for clip in one.clips.values()],
    )


def _with_twins(
    taken: Sequence[Footage],
    unchanged: Mapping[str, FinishedFootage],
    results: Mapping[str, Opened | ClipError | Crashed],
) -> list[Footage]:
    """Unchanged footage with a clip that other footage turned out to have, too: of the two, the first counts."""
    ids = {clip.id for result in results.values() if isinstance(result, Opened) for clip in result.clips}
    return [one for one in taken if one.place in unchanged and ids & unchanged[one.place].clips.keys()]


def forget_gone(found: Found, root: Path, store: Store) -> None:
    """Clips of footage that no longer lies below `root` do not count any more."""
    broken = {str(skipped.path.absolute()) for skipped in found.skipped if _is_broken_video(skipped)}
    present = {footage.place for footage in found.taken} | broken
    for record in store.footage_but(present):
        if Path(record.path).is_relative_to(root.absolute()):
            store.forget_footage(record.path)


def keep_sequences(sequences: Sequence[TrueSequence], root: Path, store: Store) -> list[Clip]:
    """The clips of a dataset's sequences, by id; records which belong to one scene."""
    of_scene: dict[str, list[str]] = {}
    for one in sequences:
        of_scene.setdefault(scene_name(one), []).append(one.clip.id)
    for name, ids in of_scene.items():
        store.write_footage(FootageRecord(path=str(root.absolute() / name), name=name, clips=tuple(ids)))
    return sorted((one.clip for one in sequences), key=lambda clip: clip.id)


def scene_name(sequence: TrueSequence) -> str:
    """What the sequences of one scene have in common."""
    return sequence.clip.name if sequence.manifest.stills else sequence.manifest.name


def _opening_outcome(result: Opened | ClipError | Crashed) -> str:
    if isinstance(result, Opened):
        return _of_clips(len(result.clips))
    return f"failed: {result.cause if isinstance(result, ClipError) else result.error}"


def _of_clips(count: int) -> str:
    return f"done: {counted(count, 'clip')}"
