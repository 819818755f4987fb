"""Rows of a general instruction set beside ours: three for each of ours, say, so that a model forgets less of what it
knew. Read in LLaVA's and in ShareGPT's form; broken rows are counted and left out."""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from spatial_engine.errors import UsageError
from spatial_engine.output_folder import place_file
from templates.columns import Json

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "system": "system"}
_TOKENS = {"<image>": "images", "<video>": "videos"}
PREFIX = "mix_"
"""Begins the names of the files of other rows."""


@dataclass(frozen=True, kw_only=True)
class OtherRow:
    """A conversation of the other set."""

    id: str
    turns: Sequence[tuple[str, str]]
    """(role, text): perhaps system first, then user and assistant in turn."""
    images: Sequence[Path]
    videos: Sequence[Path]


class _Broken(ValueError):  # noqa: N818 - counted, not shown
    """Why a row cannot be used."""


@dataclass(kw_only=True)
class Mixture:
    """Rows of a file, drawn at random. Raises `UsageError` where it cannot be read."""

    path: Path
    """JSON (a list) or JSON Lines."""
    ratio: float
    """Rows of it for each of ours."""
    media: Path
    """Folder from which its relative paths start."""
    broken: Counter[str] = field(default_factory=Counter)
    """Rows that were drawn and cannot be used, by reason."""
    taken: int = 0
    wanted: int = 0

    def rows(self, own: int) -> Iterator[OtherRow]:
        """`ratio` times `own` rows, or as many as there are. The same file gives the same rows."""
        records = _records(self.path)
        random.Random(0).shuffle(records)
        self.wanted = round(self.ratio * own)
        for number, record in records:
            if self.taken == self.wanted:
                return
            try:
                row = _row(record, f"{PREFIX}{number}", self.media)
            except _Broken as reason:
                self.broken[str(reason)] += 1
                continue
            self.taken += 1
            yield row

    def record(self) -> dict[str, Json]:
        """What the report of the export says."""
        return {
            "file": self.path.name,
            "ratio": self.ratio,
            "wanted": self.wanted,
            "rows": self.taken,
            "broken": dict(sorted(self.broken.items())),
        }


def opened_mixture(path: str | Path | None, ratio: float, media: str | Path | None) -> Mixture | None:
    """The mixture with a file; None without one. Raises `UsageError`."""
    if path is None:
        return None
    if not ratio > 0:
        raise UsageError(f"--ratio {ratio:g}", "give how many other rows there are to be for each of ours: --ratio 3")
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"--mix {path}: no such file", "name a file of rows in LLaVA's or ShareGPT's form")
    folder = Path(media) if media is not None else path.parent
    if not folder.is_dir():
        raise UsageError(f"--mix-media {folder}: no such folder", "name the folder of the rows' images")
    return Mixture(path=path, ratio=ratio, media=folder)


def placed(file: Path, folder: Path) -> str:
    """A media file of another row, linked into a folder under a name of its own; the name."""
    name = f"{PREFIX}{sha256(str(file.resolve()).encode()).hexdigest()[:16]}{file.suffix.lower()}"
    if not (folder / name).exists():
        place_file(file, folder / name)
    return name


def _records(path: Path) -> list[tuple[int, Any]]:
    """(number from 0, row); a line that is no JSON is None."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix != ".jsonl":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"--mix {path} is not JSON: {error}", "JSON Lines must be called .jsonl") from error
        if not isinstance(found, list):
            raise UsageError(f"--mix {path} holds no list of rows", "name a file of rows in LLaVA's or ShareGPT's form")
        return list(enumerate(found))
    return [(number, _json(line)) for number, line in enumerate(text.splitlines()) if line.strip()]


def _json(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _row(record: Any, id: str, media: Path) -> OtherRow:
    if not isinstance(record, dict):
        raise _Broken("no object")
    turns = _turns(record)
    files = {kind: _files(record, kind, media) for kind in ("images", "videos")}
    if files["videos"] and not files["images"]:  # LLaVA gives a video the token of an image
        turns = [(role, text.replace("<image>", "<video>")) for role, text in turns]
    for token, kind in _TOKENS.items():
        if sum(text.count(token) for _, text in turns) != len(files[kind]):
            raise _Broken(f"{token} tokens and {kind} differ in number")
    return OtherRow(id=id, turns=turns, images=files["images"], videos=files["videos"])


def _turns(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    listed = record.get("messages", record.get("conversations"))
    if not isinstance(listed, list) or not all(isinstance(turn, dict) for turn in listed):
        raise _Broken("no conversation")
    turns = [
        (_ROLES.get(str(turn.get("role", turn.get("from")))), turn.get("content", turn.get("value"))) for turn in listed
    ]
    if isinstance(record.get("system"), str) and record["system"]:
        turns.insert(0, ("system", record["system"]))
    if not all(isinstance(text, str) and text.strip() for _, text in turns):
        raise _Broken("an empty turn")
    spoken = [role for role, _ in turns if role != "system"]
    late = any(role == "system" for role, _ in turns[1:])
    if not spoken or late or spoken != ["user", "assistant"] * (len(spoken) // 2):
        raise _Broken("user and assistant do not take turns")
    return [(str(role), text) for role, text in turns]


def _files(record: Mapping[str, Any], kind: str, media: Path) -> list[Path]:
    named = record.get(kind, record.get(kind.removesuffix("s"))) or []
    named = [named] if isinstance(named, str) else named
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise _Broken(f"{kind} that are no paths")
    found = [media / name for name in named]
    if not all(file.is_file() for file in found):
        raise _Broken(f"{kind} that are missing")
    return found
