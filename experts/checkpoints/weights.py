"""Finds, verifies and reads the weight files of a checkpoint on this machine."""

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from experts.checkpoints.published_weights import WEIGHTS
from experts.checkpoints.weight_files import WeightFile, Weights, fault, read_lock, wanted_sha256
from experts.expert import SetupProblem

__all__ = ["RANDOM", "WEIGHTS", "WeightFile", "Weights", "folder_of", "identity", "load_state", "located", "offline"]

RANDOM = "random"
"""Names randomly initialised weights: the real code runs without any file."""
_FOLDER_VARIABLE = "SPATIAL_ENGINE_WEIGHTS"
_OFFLINE_VARIABLE = "HF_HUB_OFFLINE"
_HUB = "huggingface_hub.constants"


def folder_of(name: str, weights: str | None = None) -> Path:
    """Folder of a checkpoint, whether or not it exists. `weights`: the folder of all checkpoints; None: the one that
    SPATIAL_ENGINE_WEIGHTS names, or ~/.cache/spatial-engine/weights."""
    usual = os.environ.get(_FOLDER_VARIABLE) or Path("~/.cache/spatial-engine/weights").expanduser()
    return Path(weights or usual) / name


def located(name: str, weights: str | None) -> Path:
    """The folder of a checkpoint, after verification of its files. `weights`: the folder of all checkpoints; None: the
    user's default. Raises `SetupProblem`."""
    if name not in WEIGHTS:
        remedy = "a third-party expert adds its own to experts.checkpoints.weights.WEIGHTS"
        raise SetupProblem(f"no weights are called {name!r}", remedy)
    folder = folder_of(name, weights)
    if found := fault(WEIGHTS[name], folder):
        raise SetupProblem(found.cause, command(name, weights, pin=found.kind == "unpinned"))
    return folder


def command(name: str, weights: str | None = None, pin: bool = False) -> str:
    """The command that downloads a checkpoint, or that pins the present files."""
    words = ["spatial-engine weights", "verify --pin" if pin else "fetch", name]
    words += ["--allow-noncommercial"] if not (pin or WEIGHTS[name].commercial_ok) else []
    return " ".join([*words, *(["--weights-dir", weights] if weights else [])])


def identity(names: tuple[str, ...], weights: str | None) -> str:
    """Hash of the hashes that the named checkpoints must have, from the table or the lock file. It reads no weight file
    and does not depend on the folder."""
    wanted = {
        name: {file.name: wanted_sha256(file, read_lock(folder_of(name, weights))) for file in WEIGHTS[name].files}
        for name in names
    }
    return hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()


def load_state(path: Path) -> Any:
    """Reads the tensors of a verified weight file to the CPU, by name. Formats: safetensors, or what torch reads with
    `weights_only=True`. Pickled code is never run. Raises `SetupProblem`."""
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        import torch

        return torch.load(path, map_location="cpu", weights_only=True)
    except (ModuleNotFoundError, MemoryError):
        raise
    except Exception as error:  # pickle, zip and safetensors have errors of their own
        why = next(iter(str(error).splitlines()), type(error).__name__)
        cause = f"{path} holds more than tensors, or is not a weight file: {why}"
        raise SetupProblem(cause, "it is not loaded: use another file") from error


@contextmanager
def offline() -> Iterator[None]:
    """Builds models without the network: only `spatial-engine weights fetch` uses it."""
    before = os.environ.get(_OFFLINE_VARIABLE)
    was = getattr(sys.modules.get(_HUB), _OFFLINE_VARIABLE, (before or "").upper() in ("1", "ON", "YES", "TRUE"))
    os.environ[_OFFLINE_VARIABLE] = "1"
    _tell_hub(True)
    try:
        yield
    finally:
        os.environ.pop(_OFFLINE_VARIABLE)
        if before is not None:
            os.environ[_OFFLINE_VARIABLE] = before
        _tell_hub(was)


def _tell_hub(is_offline: bool) -> None:
    """huggingface_hub reads the variable only once, at import."""
    if (hub := sys.modules.get(_HUB)) is not None:
        setattr(hub, _OFFLINE_VARIABLE, is_offline)
