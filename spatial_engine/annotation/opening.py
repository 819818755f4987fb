"""Footage into clips: all of it is opened, each clip counts once, and what was skipped is reported and recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experts.clip import Clip
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executors import executor_of
from spatial_engine.errors import SpatialEngineError, UsageError
from spatial_engine.options import AnnotateOptions, OpenOptions, Shard, chosen
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
from spatial_engine.sources.finding import VIDEO_ENDINGS
from spatial_engine.store.store import FootageRecord, Store

_OUR_MARKERS = ("store.json", "questions.jsonl", "export_report.json", "store/store.json")
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


def find(path: Path, options: OpenOptions, progress: Progress) -> Found:
    """The footage at a path; reports what is skipped. Raises `UsageError`, or `SpatialEngineError` for broken
    videos."""
    found = find_footage(path, options.images)
    ours = tuple(footage for footage in found.taken if _is_ours(Path(footage.place).parent, path.absolute()))
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
    _check_times([of_clips.apply(footage, options) for footage in found.taken])
    return found


def _read_beside(found: Found) -> set[Path | None]:
    """Files named as detections of the footage are: `find_detections` says what they hold."""
    files = [path for one in found.taken for path in ((one.path,) if isinstance(one, VideoFile) else one.paths)]
    stems = {"detections", *(path.stem for path in files)}
    json = (skipped.path for skipped in found.skipped if skipped.path.suffix == ".json")
    return {path for path in json if path.name.removesuffix(".json").removesuffix(".detections") in stems}


def _check_times(taken: Sequence[tuple[Footage, OpenOptions]]) -> None:
    """Raises `UsageError` if a range in seconds is given for all footage, and none has time stamps."""
    if all(
        isinstance(footage, ImageFolder) and options.fps is None and (options.start, options.end) != (None, None)
        for footage, options in taken
    ):
        raise UsageError("--start/--end: images have no times", "give their rate with --fps")


def _is_ours(folder: Path, root: Path) -> bool:
    """Whether a folder lies in a store, data set, export, or the output of a whole run, at or below `root`."""
    inside = [place for place in (folder, *folder.parents) if place.is_relative_to(root)]
    return any((place / marker).is_file() for place in inside for marker in _OUR_MARKERS)


def _is_broken_video(skipped: Skipped) -> bool:
    return skipped.path.suffix.lower() in VIDEO_ENDINGS and not skipped.path.name.startswith(".")


def open_all(
    found: Found, root: Path, store: Store, options: AnnotateOptions, shard: Shard, progress: Progress
) -> list[Clip]:
    """The clips of a shard's footage, each once, by id. What cannot be opened is recorded."""
    taken = [footage for footage in found.taken if shard.holds(footage.name)]
    opening = chosen(OpenOptions, options)
    task = OpenFootage(store_path=store.path, options=opening, clip_options=clip_options(root, opening))
    progress.begin("opening", len(taken))
    results: dict[str, Opened | ClipError | Crashed] = {}
    for footage, result in executor_of(options)(task, taken, options.workers):
        results[footage.place] = result
        progress.step(footage.name, _opening_outcome(result))
    broken = {str(skipped.path.absolute()): skipped for skipped in found.skipped if _is_broken_video(skipped)}
    for place, skipped in broken.items():
        store.write_footage(FootageRecord(path=place, name=skipped.path.name, error=skipped.reason, remedy=_NEW_COPY))
    clips: dict[str, Clip] = {}
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
        ids = tuple(clip.id for clip in opened.clips)
        store.write_footage(FootageRecord(path=footage.place, name=footage.name, clips=ids))
    present = {footage.place for footage in found.taken} | broken.keys()
    for record in store.footage():
        if record.path not in present and Path(record.path).is_relative_to(root.absolute()):
            store.forget_footage(record.path)
    return [clips[clip_id] for clip_id in sorted(clips)]


def keep_sequences(sequences: Sequence[TrueSequence], root: Path, store: Store) -> list[Clip]:
    """The clips of a data set's sequences, by id; records which belong to one scene."""
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
        return f"done: {counted(len(result.clips), 'clip')}"
    return f"failed: {result.cause if isinstance(result, ClipError) else result.error}"
