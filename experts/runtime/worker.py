"""Calls code that lives in another Python environment, through one process that is restarted after a crash or a
timeout.

The other side is `experts.runtime.workers.runner`; `experts.runtime.worker_process` implements the communication.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from experts.expert import SetupProblem
from experts.runtime.device import is_lost
from experts.runtime.worker_process import (
    OutOfMemoryError,
    WorkerCrashed,
    WorkerError,
    WorkerFailed,
    WorkerProcess,
    WorkerTimedOut,
)

__all__ = [
    "Environment",
    "OutOfMemoryError",
    "Worker",
    "WorkerCrashed",
    "WorkerError",
    "WorkerFailed",
    "WorkerTimedOut",
    "environment",
]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Another Python environment, and the upstream checkout that it runs."""

    python: str
    """Its interpreter."""
    upstream: Path
    """Folder of the checkout."""


def environment(expert: str, *, packages: str, checkout: str, python: str | None = None) -> Environment:
    """The environment that SPATIAL_ENGINE_PYTHON_<EXPERT> and SPATIAL_ENGINE_UPSTREAM_<EXPERT> name.

    `packages` and `checkout` are the commands that create the two; `python` is the default of the first variable.
    Raises `SetupProblem` with the remaining steps.
    """
    suffix = expert.upper()
    interpreter = os.environ.get(f"SPATIAL_ENGINE_PYTHON_{suffix}") or python
    upstream = os.environ.get(f"SPATIAL_ENGINE_UPSTREAM_{suffix}")
    if not interpreter:
        remedy = f"{packages}; export SPATIAL_ENGINE_PYTHON_{suffix}=.../bin/python (that environment's)"
        raise SetupProblem(f"{expert} runs in a separate Python environment, which is not configured", remedy)
    if shutil.which(interpreter) is None:
        raise SetupProblem(
            f"the interpreter of {expert} cannot be run: {interpreter!r}",
            f"set SPATIAL_ENGINE_PYTHON_{suffix} to the bin/python of its environment ({packages})",
        )
    if not upstream or not Path(upstream).is_dir():
        cause = f"no folder {upstream!r}" if upstream else "no checkout is named"
        remedy = f"{checkout}; export SPATIAL_ENGINE_UPSTREAM_{suffix}=that folder"
        raise SetupProblem(f"the source code of {expert} was not found: {cause}", remedy)
    return Environment(python=interpreter, upstream=Path(upstream).resolve())


class Worker:
    """A child process of another interpreter. It runs `load(request) -> state` of a script once, then `run(state,
    request, arrays) -> (dict, arrays)`. It starts with the first call and ends with this process."""

    def __init__(
        self,
        python: str,
        script: Path,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        *,
        load_timeout_s: float = 900.0,
        variable: str = "",
    ) -> None:
        """Args:
        python: the interpreter.
        script: the file with `load` and `run`; it cannot import our packages.
        timeout_s: time limit of one call.
        env: added to the environment; PYTHONPATH is not inherited, so name upstream's folder here.
        load_timeout_s: added for the call that loads.
        variable: the environment variable that names `python`, for messages."""
        self.python, self.script, self.timeout_s, self.load_timeout_s = python, script, timeout_s, load_timeout_s
        self.env = dict(env or {})
        self.variable = variable
        self._child: WorkerProcess | None = None
        self._loaded = False

    def load(self, request: Mapping[str, Any]) -> None:
        """Loads without any other request. Raises `SetupProblem` where a package is missing, the process ends, or the
        script raises a `SetupProblem` of its own with "cause; remedy"; otherwise as `call`. After an error the process
        ends."""
        named = f" ({self.variable})" if self.variable else ""
        try:
            self._exchange(request, {}, only_load=True)
        except WorkerFailed as error:
            self.close()
            if error.kind == "SetupProblem":
                cause, _, remedy = error.message.partition("; ")
            elif error.kind in ("ModuleNotFoundError", "ImportError"):
                cause, remedy = error.message, f"install what is missing into the environment of {self.python}{named}"
            else:
                raise
            raise SetupProblem(cause, remedy) from error
        except WorkerError as error:
            raise SetupProblem(str(error), f"check the environment of {self.python}{named}") from error

    def call(
        self, request: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The result of `run` for the request (JSON values) and the arrays (any dtype but object).

        Raises `WorkerFailed` (`OutOfMemoryError`) if the script raises an error, and `WorkerCrashed` or
        `WorkerTimedOut` if the process is lost; the next call then starts a new one. Raises `SetupProblem` if the
        interpreter does not exist.
        """
        return self._exchange(request, arrays, only_load=False)

    def close(self) -> None:
        """Ends the process and removes its folder."""
        if self._child is not None:
            self._child.end()
        self._child, self._loaded = None, False

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _exchange(
        self, request: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, only_load: bool
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        limit_s = self.timeout_s if self._loaded else self.timeout_s + self.load_timeout_s
        if self._child is None:
            self._child = self._started()
        try:
            result = self._child.ask(request, arrays, only_load=only_load, limit_s=limit_s)
        except WorkerFailed as error:
            if _lost_the_device(error):
                self.close()
            raise
        except BaseException:  # also Ctrl-C: a late reply must not be mistaken for the next one
            self.close()
            raise
        self._loaded = True
        return result

    def _started(self) -> WorkerProcess:
        try:
            return WorkerProcess(self.python, self.script, self.env)
        except OSError as error:
            remedy = (
                f"set {self.variable} to the bin/python of its environment" if self.variable else "name another one"
            )
            raise SetupProblem(f"the interpreter cannot be run: {self.python!r} ({error.strerror})", remedy) from error


def _lost_the_device(error: WorkerFailed) -> bool:
    """Whether every later use of the GPU by that process will fail too."""
    return not isinstance(error, OutOfMemoryError) and is_lost(RuntimeError(error.message))
