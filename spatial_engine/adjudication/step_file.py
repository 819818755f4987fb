"""`<annotator>.jsonl`: steps, appended and synced one by one, so that a kill loses none."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from spatial_engine.adjudication.step import Step, step_of
from spatial_engine.errors import UsageError


class StepFile:
    """An annotator's file that this process holds."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file

    def append(self, step: Step) -> None:
        """One line more: on disk when this returns. Raises `OSError`, and then the file is as it was before."""
        before = self._file.seek(0, os.SEEK_END)
        try:
            self._file.write(f"{step.to_line()}\n".encode("utf-8", "surrogatepass"))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(before)
            raise


@contextmanager
def holding(path: Path) -> Iterator[StepFile]:
    """Takes the file for this process and mends its end. Raises `UsageError` if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            cause = f"{path}: another process has this annotator's file open"
            raise UsageError(cause, "end that one, or choose another --annotator") from error
        _mend(path, file)
        yield StepFile(path, file)


def read_steps(path: Path) -> list[Step]:
    """All steps. A last line that was cut short is left out. Raises `UsageError` naming any other damaged line."""
    return list(_steps(path)) if path.is_file() else []


def _steps(path: Path) -> Iterator[Step]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield step_of(json.loads(line))
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    return  # killed while writing it
                cause = f"line {number} of {path} is no verdict: {error}"
                raise UsageError(cause, "remove that line: what it judged is asked again") from error


def _mend(path: Path, file: BinaryIO) -> None:
    """Ends the last line if it is whole, else takes it away."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole == len(content):
        return
    try:
        step_of(json.loads(content[whole:]))
    except (ValueError, RecursionError):
        file.truncate(whole)
    else:
        file.write(b"\n")
