"""Finds the user's own detections beside the footage, and states them to the clips for the expert "detections"."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from experts.clip import Clip, StatedDetections
from experts.detections.detections_expert import detections_of, in_words
from experts.detections.reading import digest_of, read_detections
from experts.detections.stated import NotDetections, StatedFile, cleaned
from experts.footage.decoding import ImageReader
from experts.objects.object_names import kind_of
from spatial_engine.annotation.plan import named_expert
from spatial_engine.errors import UsageError
from spatial_engine.options import AnnotateOptions, words
from spatial_engine.progress import Progress, counted
from spatial_engine.sources import Footage, VideoFile
from spatial_engine.sources.cropping import CroppedReader
from spatial_engine.sources.finding import VIDEO_ENDINGS

_HELP = "docs/detections.md shows each format"
_SHOWN_NAMES = 8


@dataclass(frozen=True, kw_only=True)
class Source:
    """A video, or the pictures of one folder."""

    name: str
    files: tuple[Path, ...]
    is_video: bool

    @property
    def place(self) -> str:
        """Identifies it."""
        return str(self.files[0].absolute())


@dataclass(frozen=True, kw_only=True)
class UsersDetections:
    """The file of detections of each source that has one."""

    paths: Mapping[str, Path] = field(default_factory=dict)
    """By place of the source."""
    lines: tuple[str, ...] = ()
    """What was found, in words."""
    complete: tuple[str, ...] = ()

    def attached(self, clips: Sequence[Clip], progress: Progress) -> list[Clip]:
        """The clips, each with its detections; says what cannot be used."""
        last: dict[str, int] = {}
        for clip in clips:
            place = source_of(clip).place
            last[place] = max(last.get(place, 0), int(clip.frames[-1]) + 1)
        told: set[str] = set()
        out = []
        for clip in clips:
            source = source_of(clip)
            path = self.paths.get(source.place)
            if path is not None:
                stated = self._stated(clip, source, path, last[source.place])
                if source.place not in told and (lost := _loss(stated)):
                    progress.say(f"{source.name}: {path.name}: {lost}")
                told.add(source.place)
                clip = clip.with_options(detections=stated)
            out.append(clip)
        return out

    def _stated(self, clip: Clip, source: Source, path: Path, frames: int) -> StatedDetections:
        whole = clip.reader.reader if isinstance(clip.reader, CroppedReader) else clip.reader
        width, height = getattr(whole, "width_px", clip.width_px), getattr(whole, "height_px", clip.height_px)
        crop = clip.reader.crop if isinstance(clip.reader, CroppedReader) else (0, 0, clip.width_px, clip.height_px)
        return StatedDetections(
            path=str(path.absolute()),
            sha256=digest_of(path),
            frames=frames if source.is_video else len(source.files),
            width_px=width,
            height_px=height,
            crop=crop,
            video=source.files[0].stem if source.is_video else "",
            pictures=() if source.is_video else tuple(file.name for file in source.files),
            complete=self.complete,
        )


def _loss(stated: StatedDetections) -> str:
    try:
        file, frames = detections_of(stated)
    except (NotDetections, OSError) as error:
        return f"not read: {error}"
    return in_words(file.left_out) if frames else f"none of its frames is in the clips; {in_words(file.left_out)}"


def source_of(footage: Footage | Clip) -> Source:
    """The files of a clip, or of footage before it is opened."""
    if isinstance(footage, VideoFile):
        return Source(name=footage.name, files=(footage.path,), is_video=True)
    if not isinstance(footage, Clip):
        return Source(name=footage.name, files=footage.paths, is_video=False)
    reader: Any = footage.reader.reader if isinstance(footage.reader, CroppedReader) else footage.reader
    pictures = isinstance(reader, ImageReader)
    files = reader.paths if pictures else (Path(getattr(reader, "path", footage.name)),)
    return Source(name=footage.name, files=files, is_video=not pictures)


def find_detections(footage: Iterable[Footage | Clip], options: AnnotateOptions) -> UsersDetections:
    """The detections that the options name, or that lie beside the footage.

    Raises:
        UsageError: the named file does not exist, or describes one of several videos; or `complete` without detections.
    """
    sources = {source.place: source for source in map(source_of, footage)}
    given = None if options.detections is None else Path(options.detections)
    if given is not None and not given.exists():
        raise UsageError(
            f"--detections {given}: there is no such file", "give a file, or a folder with a file per clip"
        )
    paths, lines, known = dict[str, Path](), [], set[str]()
    names_in = cache(_names_in)
    for place, source in sources.items():
        path = _beside(source, names_in) if given is None else _within(given, source)
        if path is None:
            continue
        try:
            file = read_detections(path)
            known |= {kind_of(name) for name in file.names}
            lines.append(f"{source.name}: {path.name}: {_summary(file)}")
        except (NotDetections, OSError) as error:
            guessed = given is None and path.name == f"{source.files[0].stem}.json"
            lines.append(f"{source.name}: {path.name} holds no detections that can be read: {error} ({_HELP})")
            if guessed:
                continue
        paths[place] = path
    if given is not None:
        _check_one_each(paths, sources)
    complete = tuple(name if name == "*" else cleaned(name) for name in words(options.complete) or [])
    if complete and not paths:
        raise UsageError(f"--complete {','.join(complete)}: there are no detections", "give them with --detections")
    lines += [f"--complete {name}: no detection has this name" for name in complete if _is_unknown(name, known)]
    return UsersDetections(paths=paths, lines=tuple(lines), complete=complete)


def _is_unknown(name: str, known: set[str]) -> bool:
    return name != "*" and kind_of(name) not in known


def with_expert(found: UsersDetections, options: AnnotateOptions, progress: Progress) -> AnnotateOptions:
    """The options with the expert "detections", where it has something to read. Detections that are not named give way
    to experts that are, if these find objects."""
    for line in found.lines:
        progress.say(line)
    named = words(options.experts) or []
    if not found.paths or "detections" in (getattr(word, "name", str(word).lstrip("+")) for word in named):
        return options
    if options.detections is None:
        others = [word for word in named if not (isinstance(word, str) and word[:1] in ("+", "-"))]
        finders = [
            expert.name
            for word in named
            if not str(word).startswith("-")
            and "objects" in (expert := named_expert(word.lstrip("+")) if isinstance(word, str) else word).provides
        ]
        if finders or (others and not options.truth):
            progress.say(f"the detections are not used beside --experts {finders[0] if finders else ''}".strip())
            return options
    return replace(options, experts=[*named, "+detections"] if not named or _changes(named) else [*named, "detections"])


def _changes(named: Sequence[Any]) -> bool:
    return all(isinstance(word, str) and word[:1] in ("+", "-") for word in named)


def _names_in(folder: Path) -> tuple[frozenset[str], int]:
    """Of all files and folders in a folder, and the number of videos among them."""
    entries = [*folder.iterdir()]
    return frozenset(one.name for one in entries), sum(one.suffix.lower() in VIDEO_ENDINGS for one in entries)


def _beside(source: Source, names_in: Callable[[Path], tuple[frozenset[str], int]]) -> Path | None:
    """The detections beside a video or in a folder of pictures."""
    first, folder = source.files[0], source.files[0].parent
    names, videos = names_in(folder)
    if source.is_video:
        own = [f"{first.stem}{ending}" for ending in (".detections.json", ".json", ".detections")]
        shared = ["detections.json", "detections"] if videos == 1 else []
        return next((folder / name for name in [*own, *shared] if name in names), None)
    if inside := [name for name in ("detections.json", "detections") if name in names]:
        return folder / inside[0]
    above = folder.with_name(f"{folder.name}.detections.json")
    if above.name in names_in(folder.parent)[0]:
        return above
    labelled = any(name.endswith(".json") for name in names) and any(
        f"{one.stem}.json" in names for one in source.files
    )
    return folder if labelled else None


def _within(given: Path, source: Source) -> Path:
    """The part of what the user names that describes one source."""
    stem = source.files[0].stem if source.is_video else source.files[0].parent.name
    own = [given / f"{stem}{ending}" for ending in (".detections.json", ".json", "")] if given.is_dir() else []
    return next((one for one in own if one.exists()), given)


def _check_one_each(paths: Mapping[str, Path], sources: Mapping[str, Source]) -> None:
    """Raises `UsageError` for one file of several videos, or of several folders whose pictures have the same names."""
    for path in set(paths.values()):
        sharing = [sources[place] for place, other in paths.items() if other == path]
        stems = [file.stem for source in sharing for file in source.files]
        if len(sharing) > 1 and (any(source.is_video for source in sharing) or len(set(stems)) < len(stems)):
            names = ", ".join(source.name for source in sharing[:5])
            raise UsageError(
                f"--detections {path} would describe {counted(len(sharing), 'clip')} alike: {names}",
                "give a folder that holds NAME.json for each of them",
            )


def _summary(file: StatedFile) -> str:
    count = sum(len(one.detections) for one in file.frames)
    shown = ", ".join(file.names[:_SHOWN_NAMES]) + (", ..." if len(file.names) > _SHOWN_NAMES else "")
    masks = sum(detection.has_mask for one in file.frames for detection in one.detections)
    lost = f"; {in_words(file.left_out)}" if file.left_out else ""
    with_masks = f", {masks} with masks" if masks else ", boxes only"
    return (
        f"{file.format or 'unknown format'}: {counted(count, 'detection')} in {counted(len(file.frames), 'picture')}"
        f"{with_masks}: {shown or 'no names'}{lost}"
    )
