"""A process of another interpreter that runs `experts.runtime.workers.runner`: its pipes, its folder, its termination.

Private pipes carry length-prefixed JSON; arrays are .npy files in a private folder. Upstream's output goes to stderr,
whose last lines are kept.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import experts.runtime.workers.runner as runner
from experts.runtime.device import is_out_of_memory

_STDERR_KEPT = 8192
_CHUNK = 1 << 16
_MAX_READS = 64
_POLL_S = 0.5  # a process has ended but a grandchild may keep its pipes open: check this often


class WorkerError(Exception):
    """The other environment gave no result."""


class WorkerTimedOut(WorkerError):  # noqa: N818 - names the event
    """No reply within the time limit; the process was terminated."""


class WorkerCrashed(WorkerError):  # noqa: N818 - names the event
    """The process ended, or sent an invalid reply; the message has the last lines of its stderr."""


class WorkerFailed(WorkerError):  # noqa: N818 - names the event
    """The code in the other process raised an error; the process continues."""

    def __init__(self, kind: str, message: str, traceback: str = "") -> None:
        super().__init__(kind, message, traceback)
        self.kind = kind
        """Name of the error's class."""
        self.message = message
        self.traceback = traceback
        """As the other process would have printed it."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class OutOfMemoryError(WorkerFailed):
    """Memory ran out in the other process. `experts.runtime.device.is_out_of_memory` recognises it by its name."""


class WorkerProcess:
    """The process, its pipes and its folder. Both are removed by `end`, or when this process ends."""

    def __init__(self, python: str, script: Path, env: Mapping[str, str]) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
        requests, self.requests_fd = os.pipe()
        self.replies_fd, replies = os.pipe()
        self.stderr_fd, stderr = os.pipe()
        self._fds = (self.requests_fd, self.replies_fd, self.stderr_fd)
        self.folder = Path(tempfile.mkdtemp(prefix="spatial-engine-worker-"))  # mode 0700
        self.stderr, self.talks = b"", True
        command = [python, runner.__file__, str(script), str(self.folder), str(requests), str(replies)]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=stderr,
                stderr=stderr,
                pass_fds=(requests, replies),
                env=inherited | {"PYTHONUNBUFFERED": "1"} | dict(env),
                start_new_session=True,
            )
        except OSError:
            _release(self._fds, self.folder)
            raise
        finally:
            for fd in (requests, replies, stderr):
                os.close(fd)
        for fd in self._fds:
            os.set_blocking(fd, False)
        self._end = weakref.finalize(self, _end, self.process, self._fds, self.folder)

    def ask(
        self, request: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, only_load: bool, limit_s: float
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The script's reply. After any error other than `WorkerFailed` the process must be terminated."""
        deadline_s = time.monotonic() + limit_s
        names = runner.write_arrays(self.folder, "request", arrays)
        self._send(runner.packed({"request": dict(request), "arrays": names, "only_load": only_load}), deadline_s)
        (length,) = runner.HEADER.unpack(self._received(runner.HEADER.size, deadline_s))
        if length > runner.LARGEST_MESSAGE:
            raise WorkerCrashed(f"the worker announced a reply of {length} bytes")
        body = self._received(length, deadline_s)
        try:
            reply = json.loads(body)
            if "error" not in reply:
                return dict(reply["result"]), runner.read_arrays(self.folder, reply["arrays"])
            failure = {name: str(reply["error"][name]) for name in ("kind", "message", "traceback")}
        except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError) as error:
            raise WorkerCrashed(f"the worker's answer cannot be read: {error!r}") from error
        short = failure["kind"] in ("OutOfMemoryError", "MemoryError")
        short |= is_out_of_memory(RuntimeError(failure["message"]))
        raise (OutOfMemoryError if short else WorkerFailed)(**failure)

    def end(self) -> None:
        """Kills the process and what it started."""
        self._end()

    def _send(self, data: bytes, deadline_s: float) -> None:
        while data:
            if self._ready(self.requests_fd, select.POLLOUT, deadline_s):
                try:
                    data = data[os.write(self.requests_fd, data[:_CHUNK]) :]
                except BrokenPipeError:
                    raise self._crash() from None

    def _received(self, size: int, deadline_s: float) -> bytes:
        data = b""
        while len(data) < size:
            if self._ready(self.replies_fd, select.POLLIN, deadline_s):
                part = os.read(self.replies_fd, min(size - len(data), _CHUNK))
                if not part:
                    raise self._crash()
                data += part
        return data

    def _ready(self, fd: int, event: int, deadline_s: float) -> bool:
        """Waits briefly for the pipe, and drains stderr meanwhile. Raises if the time is up or the process has
        ended."""
        left_s = deadline_s - time.monotonic()
        if left_s <= 0:
            raise WorkerTimedOut(f"no reply from the worker in time{self._stderr_tail()}")
        poller = select.poll()
        poller.register(fd, event)
        if self.talks:
            poller.register(self.stderr_fd, select.POLLIN)
        dead = self.process.poll() is not None  # checked before the pipes: its reply may be its last action
        found = dict(poller.poll(1000 * min(_POLL_S, left_s)))
        if self.stderr_fd in found:
            self._drain()
        if dead and fd not in found:
            raise self._crash()
        return fd in found

    def _drain(self) -> bool:
        """Reads once from stderr; False if nothing is available."""
        try:
            piece = os.read(self.stderr_fd, _CHUNK)
        except BlockingIOError:
            return False
        self.stderr = (self.stderr + piece)[-_STDERR_KEPT:]
        self.talks = bool(piece)
        return self.talks

    def _crash(self) -> WorkerCrashed:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_POLL_S)
        code = self.process.poll()
        if code is None:
            how = "closed its pipe"
        elif code < 0:
            how = f"was ended by {signal.Signals(-code).name}"
            how += " (the system may be out of memory)" if -code == signal.SIGKILL else ""
        else:
            how = f"ended with exit code {code}"
        return WorkerCrashed(f"the worker {how}{self._stderr_tail()}")

    def _stderr_tail(self) -> str:
        for _ in range(_MAX_READS):  # it may write without end
            if not self._drain():
                break
        lines = self.stderr.decode(errors="replace").splitlines()[-8:]
        return ": " + " | ".join(lines) if lines else ""


def _end(process: "subprocess.Popen[bytes]", fds: tuple[int, ...], folder: Path) -> None:
    with suppress(ProcessLookupError, PermissionError):  # the group has already ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _release(fds, folder)


def _release(fds: tuple[int, ...], folder: Path) -> None:
    for fd in fds:
        os.close(fd)
    shutil.rmtree(folder, ignore_errors=True)
