"""Replaces a folder in child processes, each killed one step later than the one before; prints what each left.

    python killed_swaps.py FOLDER MODE      MODE: exchange, renames, copies

A step is anything that touches the file system. One JSON line per step: what is there right after the kill, and what
is there once the next process has begun to write and given up.
"""

import json
import os
import shutil
import signal
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

from spatial_engine import output_folder
from spatial_engine.output_folder import atomic_folder

OURS = ("data", "media")


def fill(folder: Path, text: str) -> None:
    (folder / "media").mkdir()
    for name in ("data", "media/1", "media/2"):
        (folder / name).write_text(text)


def begin(place: Path) -> Path:
    """A folder as a former run left it, with what the user has put there since."""
    shutil.rmtree(place, ignore_errors=True)
    path = place / "a"
    (path / "mine").mkdir(parents=True)
    fill(path, "old")
    (path / "notes").write_text("notes")
    (path / "mine" / "deep").write_text("deep")
    (path / "mine" / "link").symlink_to("deep")
    return path


def replace(path: Path) -> None:
    with atomic_folder(path, OURS, lambda folder: None) as new:
        fill(new, "new")


def start_and_give_up(path: Path) -> None:
    with suppress(KeyError), atomic_folder(path, OURS, lambda folder: None):
        raise KeyError


def die_at(step: int) -> None:
    steps = count()

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event.startswith(("os.", "open", "shutil.", "exchange")) and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(audit)


def choose(mode: str) -> None:
    at_once = output_folder._exchanged_at_once

    def exchange(a: bytes, b: bytes) -> bool:
        sys.audit("exchange")
        done = mode == "exchange" and at_once(a, b)
        sys.audit("exchange")
        return done

    def no_links(source: Path, target: Path, **options: bool) -> None:
        raise OSError("no links here")

    output_folder._exchanged_at_once = exchange
    output_folder._flush = lambda folder: None  # power cuts are not tried here
    if mode == "copies":
        os.link = no_links


def state(path: Path) -> dict[str, object]:
    files = sorted(file for file in path.rglob("*") if not file.is_dir())
    beside = sorted(entry.name for entry in path.parent.iterdir())
    return {"files": {str(file.relative_to(path)): file.read_text() for file in files}, "beside": beside}


def main(place: Path, mode: str) -> None:
    choose(mode)
    for step in count():
        path = begin(place)
        child = os.fork()
        if not child:
            die_at(step)
            replace(path)
            os._exit(0)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        left = state(path)
        start_and_give_up(path)
        print(json.dumps({"step": step, "killed": killed, "left": left, "after": state(path)}))
        if not killed:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
