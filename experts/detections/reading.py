"""Reads a file of detections, or a folder with a file per picture; and what identifies its contents."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from experts.detections.json_formats import merged, read_json
from experts.detections.stated import Frame, NotDetections, StatedFile, StatedFrame

NAMES_FILES = ("classes.txt", "names.txt", "obj.names", "data.yaml", "dataset.yaml")
"""Files with names of categories: one per line, or the "names" of a YOLO data set. They lie beside the detections, or
one folder up."""

MOST_BYTES = 256 << 20
"""Largest file of JSON that is read: in memory it takes some ten times as much."""


def read_detections(path: Path) -> StatedFile:
    """The detections of a file or folder, at most `MOST_PER_FRAME` per frame.

    Raises:
        NotDetections: nothing in it can be read as detections.
        OSError: it cannot be read.
    """
    names = _names_beside(path)
    file: StatedFile | None = None
    for one in files_of(path):
        try:
            part = _yolo(one, names) if one.suffix == ".txt" else _json(one, names)
        except NotDetections as error:
            if not path.is_dir():
                raise
            part = StatedFile(format="")
            part.leave_out(f"a file is not read ({error})")
        file = part if file is None else merged(file, part)
        file.format = file.format or part.format
    if file is None:
        raise NotDetections("the folder holds neither .json nor .txt files")
    file.keep_best()
    return file


def files_of(path: Path) -> list[Path]:
    """The files of detections in a folder, in order; a file itself."""
    if not path.is_dir():
        return [path]
    found = (one for one in path.iterdir() if one.suffix in (".json", ".txt") and one.is_file())
    return sorted(one for one in found if one.name not in NAMES_FILES and not one.name.startswith("."))


def digest_of(path: Path) -> str:
    """sha256 of the bytes of the files and of the names beside them, and of the names of files in a folder."""
    digest = sha256()
    for one in [*files_of(path), *_names_files(path)]:
        digest.update(f"{one.name if path.is_dir() else ''}\n".encode() + sha256(one.read_bytes()).digest())
    return digest.hexdigest()


def _json(path: Path, names: dict[int, str]) -> StatedFile:
    if path.stat().st_size > MOST_BYTES:
        raise NotDetections(f"it has more than {MOST_BYTES >> 20} MiB: split it into a file for each clip or picture")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if not text.strip():
            raise NotDetections("it is empty")
        return read_json(json.loads(text), path.stem, names)
    except (ValueError, RecursionError) as error:
        if isinstance(error, NotDetections):
            raise
        raise NotDetections(f"it is no JSON ({' '.join(str(error).split())[:80]})") from error


def _yolo(path: Path, names: dict[int, str]) -> StatedFile:
    """One picture: a detection per line, number of its name and shares of the picture: a box (centre, width, height) or
    the corners of an outline, and a score if one is stated."""
    one = StatedFrame(frame=Frame(name=path.stem))
    file = StatedFile(format="YOLO", frames=[one])
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        numbers = _numbers(line)
        if numbers is None:
            continue
        label, *rest = numbers
        name = names.get(int(label)) if np.isfinite(label) else None
        score = rest.pop() if len(rest) == 5 or (len(rest) > 5 and len(rest) % 2) else None
        if not np.isfinite(rest).all() or len(rest) < 4 or len(rest) == 5:
            file.leave_out("an entry is not understood", name or "*")
        elif len(rest) == 4:
            x, y, wide, high = rest
            box = x - wide / 2, y - high / 2, x + wide / 2, y + high / 2
            file.add(one, name, score, box=box, relative=True)
        else:
            file.add(one, name, score, polygons=(np.array(rest).reshape(-1, 2),), relative=True)
    return file


def _numbers(line: str) -> list[float] | None:
    """The numbers of a line; NaN where a word is none. None for an empty line."""

    def number(word: str) -> float:
        try:
            return float(word)
        except ValueError:
            return float("nan")

    words = line.split()
    return [number(word) for word in words] if words else None


def _names_files(path: Path) -> Iterator[Path]:
    """The first file of names that there is."""
    folders = (path, path.parent) if path.is_dir() else (path.parent, path.parent.parent)
    found = (folder / name for folder in folders for name in NAMES_FILES if (folder / name).is_file())
    if (first := next(found, None)) is not None:
        yield first


def _names_beside(path: Path) -> dict[int, str]:
    for file in _names_files(path):
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".yaml":
            return _names_in_yaml(text)
        return {number: line.strip() for number, line in enumerate(text.splitlines()) if line.strip()}
    return {}


def _names_in_yaml(text: str) -> dict[int, str]:
    import yaml

    try:
        content: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    names = content.get("names") if isinstance(content, dict) else None
    if isinstance(names, dict):
        return {int(number): str(name) for number, name in names.items() if re.fullmatch(r"\d+", str(number))}
    return {number: str(name) for number, name in enumerate(names)} if isinstance(names, list) else {}
