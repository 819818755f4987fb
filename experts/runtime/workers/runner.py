"""Runs in another interpreter, started as a file by `experts.runtime.worker`: answers requests one at a time.

Usage: runner.py SCRIPT FOLDER REQUESTS REPLIES (the last two are file descriptors of private pipes, which upstream's
output cannot reach). Standard library and numpy only, Python 3.9 or newer: this environment need not have our package.
A message is 8 bytes of length, big endian, and JSON; arrays are .npy files in FOLDER.
"""

import gc
import importlib.util
import json
import os
import select
import shutil
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Optional

import numpy as np

HEADER = struct.Struct(">Q")
LARGEST_MESSAGE = 16 << 20
"""Limit of the JSON size in bytes; a larger announcement is an error."""
_WATCH_MS = 500


def packed(message: Mapping[str, Any]) -> bytes:
    """Serialises a message for the pipe."""
    body = json.dumps(message).encode()
    if len(body) > LARGEST_MESSAGE:
        raise ValueError(f"a message of {len(body)} bytes: send large data as arrays")
    return HEADER.pack(len(body)) + body


def write_arrays(folder: Path, who: str, arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Writes .npy files; returns file names by array name."""
    names = {}
    for number, (name, array) in enumerate(arrays.items()):
        names[name] = f"{who}-{number}.npy"
        np.save(folder / names[name], np.asarray(array), allow_pickle=False)
    return names


def read_arrays(folder: Path, names: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Reads and removes the files of `write_arrays`."""
    arrays = {}
    for name, file in names.items():
        path = folder / Path(file).name
        arrays[name] = np.load(path, allow_pickle=False)
        path.unlink()
    return arrays


class Answering:
    """Loads the script at the first request and calls it from then on."""

    def __init__(self, script: Path, folder: Path) -> None:
        self.script, self.folder = script, folder
        self.module: Any = None
        self.state: Any = None
        self.loaded = False

    def __call__(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The reply: the result of `run`, or the error."""
        try:
            return self._answer(message)
        except (Exception, SystemExit) as error:
            failure = {
                "kind": type(error).__name__,
                "message": str(error),
                "traceback": "".join(traceback.format_exception(type(error), error, error.__traceback__)),
            }
        _forget_cached()  # the traceback held the tensors until here
        return {"error": failure}

    def _answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        arrays = read_arrays(self.folder, message["arrays"])
        if not self.loaded:
            self.module = self.module or _imported(self.script)
            self.state = self.module.load(message["request"])
            self.loaded = True
        if message["only_load"]:
            return {"result": {}, "arrays": {}}
        result, results = self.module.run(self.state, message["request"], arrays)
        return {"result": result, "arrays": write_arrays(self.folder, "reply", results)}


def _imported(script: Path) -> Any:
    spec = importlib.util.spec_from_file_location("worker_script", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _forget_cached() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        try:
            torch.cuda.empty_cache()
        except RuntimeError:  # the GPU is lost to this process: the parent sees that from the first error
            return


def _received(requests: BinaryIO) -> Optional[dict[str, Any]]:  # noqa: UP045 - Python 3.9
    """The next request; None after the parent has closed the pipe."""
    header = requests.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    if length > LARGEST_MESSAGE:
        raise ValueError(f"a request of {length} bytes")
    body = requests.read(length)
    return json.loads(body) if len(body) == length else None


def _watch(parent: int, requests_fd: int, folder: Path) -> None:
    """Terminates this process group when the parent has ended, however busy upstream is."""
    poller = select.poll()
    poller.register(requests_fd, 0)  # reports only that the other end is closed
    while os.getppid() == parent and not poller.poll(_WATCH_MS):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main(script: str, folder: str, requests_fd: str, replies_fd: str) -> None:
    """Answers requests until the parent closes the pipe."""
    here = Path(__file__).parent.resolve()  # upstream must not import our files
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here]
    for number in (requests_fd, replies_fd):
        os.set_inheritable(int(number), False)
    watched = (os.getppid(), int(requests_fd), Path(folder))
    watching = threading.Thread(target=_watch, args=watched, daemon=True)
    watching.start()
    answering = Answering(Path(script), Path(folder))
    with os.fdopen(int(requests_fd), "rb") as requests, os.fdopen(int(replies_fd), "wb") as replies:
        while (message := _received(requests)) is not None:
            reply = answering(message)
            try:
                data = packed(reply)
            except (TypeError, ValueError) as error:  # the result of `run` is not JSON
                data = packed({"error": {"kind": type(error).__name__, "message": str(error), "traceback": ""}})
            replies.write(data)
            replies.flush()
        watching.join()  # it removes the folder: an interpreter that ends first would interrupt it


if __name__ == "__main__":
    main(*sys.argv[1:])
