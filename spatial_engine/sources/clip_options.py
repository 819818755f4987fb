"""clips.yaml: options of single clips, by file name or pattern. docs/clips.md describes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from spatial_engine.errors import UsageError
from spatial_engine.options import OpenOptions, chosen
from spatial_engine.sources.footage import Footage
from spatial_engine.sources.yaml_file import read_yaml

FILE = "clips.yaml"
KEYS = ("name", "upright", "intrinsics", "crop", "fps", "start", "end", "licence")
"""What an entry may say; all but the name are options of the command line."""
_TUPLES = {"intrinsics": float, "crop": int}
_REMEDY = "write one entry per clip, as in `kitchen.mp4: {upright: true, fps: 10}` (docs/clips.md)"


@dataclass(frozen=True, kw_only=True)
class ClipOptions:
    """The entries of a clips.yaml; none where there is no such file."""

    path: Path | None = None
    entries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Keys and values by name or pattern, in the order of the file."""

    def of(self, footage: Footage) -> dict[str, Any]:
        """The file's options for one piece of footage; of several entries the later one overrides, key by key."""
        options: dict[str, Any] = {}
        for pattern, entry in self.entries.items():
            if _matches(footage, pattern):
                options |= entry
        return options

    def apply(self, footage: Footage, options: OpenOptions) -> tuple[Footage, OpenOptions]:
        """Footage under the name that the file gives it, and its options: the file's word before the command's.
        Raises `UsageError`."""
        own = self.of(footage)
        if not own and type(options) is OpenOptions:
            return footage, options
        name = own.pop("name", footage.name)
        return replace(footage, name=name), chosen(OpenOptions, options, own)

    def check(self, taken: Sequence[Footage], root: Path) -> None:
        """Raises `UsageError` for an entry that means no footage, for a name of several pieces, and for values that
        cannot be. A single file may be opened beside a clips.yaml of its whole folder."""
        for pattern, entry in self.entries.items():
            found = [footage for footage in taken if _matches(footage, pattern)]
            beside = self.path is not None and root.is_file() and any(self.path.parent.glob(pattern.lstrip("/")))
            if not found and not beside:
                names = ", ".join(footage.name for footage in taken[:10]) + (", ..." if len(taken) > 10 else "")
                raise UsageError(f"{self.path}: {pattern!r} matches no clip", f"there are: {names}")
            if "name" in entry and len(found) > 1:
                several = ", ".join(footage.name for footage in found[:10])
                raise UsageError(f"{self.path}: {pattern!r} gives one name to {several}", "name each by its own entry")
        for footage in taken if self.entries else ():
            try:
                self.apply(footage, OpenOptions())
            except UsageError as error:
                raise UsageError(f"{self.path}: {footage.name}: {error.cause}", error.remedy) from error


def clip_options(root: Path, options: OpenOptions) -> ClipOptions:
    """The file that the options name, or the clips.yaml beside the footage, if there is one. Raises `UsageError`."""
    path = Path(options.clips) if options.clips is not None else (root.parent if root.is_file() else root) / FILE
    if options.clips is None and not path.is_file():
        return ClipOptions()
    content = read_yaml(path, _REMEDY) or {}
    if not isinstance(content, Mapping):
        raise UsageError(f"{path} holds no entries, but {str(content)[:80]}", _REMEDY)
    return ClipOptions(
        path=path, entries={str(name): _entry(path, str(name), entry) for name, entry in content.items()}
    )


def _entry(path: Path, name: str, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise UsageError(f"{path}: {name!r} holds no keys, but {str(entry)[:80]}", _REMEDY)
    if unknown := [str(key) for key in entry if key not in KEYS]:
        raise UsageError(f"{path}: {name!r} has no key {', '.join(unknown)}", f"there are: {', '.join(KEYS)}")
    return {key: _value(path, f"{name}: {key}", key, value) for key, value in entry.items()}


def _value(path: Path, where: str, key: str, value: Any) -> Any:
    """The value as `OpenOptions` takes it."""
    if key in _TUPLES:
        kind = _TUPLES[key]
        if isinstance(value, list) and len(value) == 4 and all(_is_number(part, whole=kind is int) for part in value):
            return tuple(kind(part) for part in value)
        raise UsageError(f"{path}: {where} is {value!r}", f"give four numbers of pixels: {key}: [...] (docs/clips.md)")
    allowed = {"upright": "true or false", "name": "a text", "licence": "a text"}.get(key, "a number")
    good = {
        "true or false": isinstance(value, bool),
        "a text": isinstance(value, str) and bool(value.strip()),
        "a number": _is_number(value),
    }
    if not good[allowed]:
        raise UsageError(f"{path}: {where} is {value!r}", f"give {allowed}")
    return float(value) if allowed == "a number" else value


def _is_number(value: Any, *, whole: bool = False) -> bool:
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


def _matches(footage: Footage, pattern: str) -> bool:
    """By its path below the folder that the user named, or by its file name alone."""
    return fnmatch(footage.name, pattern) or fnmatch(footage.name.rpartition("/")[2], pattern)
