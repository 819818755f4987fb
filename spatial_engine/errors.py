"""What a user is told when something cannot be done: one line of cause, one line of remedy.

    SpatialEngineError
    ├── UsageError      exit 2   invalid input or options
    │   └── BusyError            another process writes there
    ├── SetupError      exit 3   something is missing on this machine
    ├── StoreError      exit 2   a folder is not a store of this format, or a file in it is damaged
    └── Interrupted     exit 130 Ctrl-C, SIGTERM

Only the command line turns them into exit codes. Trouble with one clip is recorded, never raised.
"""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

_DISK_PROBLEMS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
}


class SpatialEngineError(Exception):
    """Root of all errors meant for users."""

    exit_code: ClassVar[int] = 1

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        """What was given and what was allowed."""
        self.remedy = remedy
        """What to do next; empty if nothing helps."""

    def __str__(self) -> str:
        return f"{self.cause}\n{self.remedy}" if self.remedy else self.cause


class UsageError(SpatialEngineError):
    """What was given cannot be used."""

    exit_code = 2


class BusyError(UsageError):
    """Another process writes to the same place."""


class SetupError(SpatialEngineError):
    """Something is missing on this machine."""

    exit_code = 3


class StoreError(SpatialEngineError):
    """A folder is not a store of this format, or a file in it is damaged."""

    exit_code = 2


class Interrupted(SpatialEngineError):  # noqa: N818 - it is not an error
    """Ctrl-C or, on the command line, SIGTERM. Everything finished is kept."""

    exit_code = 130


@contextmanager
def interruptible() -> Iterator[None]:
    """Turns Ctrl-C into `Interrupted`, for resumable work."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted("stopped", "run the same command again: it goes on where it stopped") from error


def disk_error(error: BaseException) -> SetupError | None:
    """A full or read-only disk in words for users: it concerns the whole run, not the input at hand. None for any other
    error."""
    problem = _DISK_PROBLEMS.get(error.errno or 0) if isinstance(error, OSError) else None
    if problem is None or not isinstance(error, OSError):
        return None
    place = f": {error.filename}" if error.filename else ""
    remedy = "name another disk" if error.errno == errno.EROFS else "free some space, or name another disk"
    return SetupError(problem + place, f"{remedy}, and run the same command again")


def explained(error: Exception) -> SpatialEngineError | None:
    """An error in words for users; None for a fault of this program. Errors of footage are recorded before, so
    an `OSError` here concerns the folders that this program reads and writes."""
    from experts.expert import SetupProblem  # heavier than the help of the command line

    match error:
        case SpatialEngineError():
            return error
        case SetupProblem():
            return SetupError(error.cause, error.remedy)
        case ModuleNotFoundError():
            return SetupError(f"{error.name} is not installed", "spatial-engine doctor names the command that adds it")
        case OSError() if full := disk_error(error):
            return full
        case OSError():
            place = f": {error.filename}" if error.filename else ""
            remedy = "check free disk space and the permissions of that path"
            return SetupError(f"{error.strerror or error}{place}", remedy)
        case sqlite3.OperationalError():
            return SetupError(f"the store's index: {error}", "check free disk space and write permission for the store")
    return None
