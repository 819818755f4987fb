"""Weight files: where they come from, which bytes they must be, under which licence; and where they lie here."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from experts.setup_problem import SetupProblem

RANDOM = "random"
"""Stands for weights drawn by chance: the real code runs without any file."""


@dataclass(frozen=True, kw_only=True)
class WeightFile:
    """One file of a checkpoint."""

    name: str
    """Path below the checkpoint's own folder."""
    sha256: str | None
    """None: not known when this table was written; the first fetch pins it in the folder's lock file."""
    bytes: int | None


@dataclass(frozen=True, kw_only=True)
class Weights:
    """A published checkpoint."""

    name: str
    source: str
    """ "huggingface:OWNER/NAME" or a URL prefix."""
    revision: str | None
    """Commit of the repository (or release tag). None: the first fetch pins it."""
    files: tuple[WeightFile, ...]
    licence: str
    commercial_ok: bool
    instead: str = ""
    """Permissive substitute, as a user would name it to --experts."""


WEIGHTS: dict[str, Weights] = {}
"""Every checkpoint by name."""


def located(name: str, weights: str | None) -> Path:
    """The folder of a checkpoint, its files verified. `weights`: the folder that holds all of them, None: the user's
    usual one. Raises `SetupProblem`."""
    raise SetupProblem(f"weights {name} are not here", f"spatial-engine weights fetch {name}")


def identity(names: tuple[str, ...], weights: str | None) -> str:
    """Hash over the bytes that the named checkpoints must have, from the table or the lock file; reads no big file."""
    return hashlib.sha256(json.dumps([names, weights]).encode()).hexdigest()
