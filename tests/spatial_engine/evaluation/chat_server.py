"""A chat server that does what a test says, and a small dataset to ask it about."""

import atexit
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai._base_client

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.options import Server
from tests.spatial_engine.drafts import clip, clip_questions


@dataclass(frozen=True)
class Does:
    """What the server does with one request."""

    text: str = "<answer>A</answer>"
    status: int = 200
    error: str = ""
    body: bytes | None = None
    wait_s: float = 0.0
    byte_s: float = 0.0
    """Pause after each byte of the body."""
    cut: bool = False
    headers: dict[str, str] = field(default_factory=dict)


Says = Callable[[int, dict[str, Any]], Does]
"""(number of the request from 0, its JSON) -> what is done."""


def small_dataset(folder: Path, count: int = 1) -> Dataset:
    """Drawn once, then copied."""
    return Dataset(Path(shutil.copytree(_drawn(count), folder / "dataset")))


@cache
def _drawn(count: int) -> Path:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return write_dataset(Path(folder.name) / "dataset", [clip_questions(count=count)], clip, seed=0).path


def patient(url: str, **changes: Any) -> Server:
    """A server, as `evaluate` takes it."""
    return Server(**{"base_url": url, "concurrency": 2, "timeout": 10.0, "max_retries": 4} | changes)


@contextmanager
def quick_retries() -> Iterator[None]:
    """The SDK's pauses, a hundred times shorter."""
    module = openai._base_client
    before = module.INITIAL_RETRY_DELAY, module.MAX_RETRY_DELAY
    module.INITIAL_RETRY_DELAY, module.MAX_RETRY_DELAY = 0.005, 0.02
    yield
    module.INITIAL_RETRY_DELAY, module.MAX_RETRY_DELAY = before


@contextmanager
def serving(says: Says) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(base URL, the requests so far)."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    http.says, http.requests, http.lock = says, [], threading.Lock()  # type: ignore[attr-defined]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}/v1", http.requests  # type: ignore[attr-defined]
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server: Any = self.server
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with server.lock:
            number = len(server.requests)
            server.requests.append(request)
        does = server.says(number, request)
        time.sleep(does.wait_s)
        if does.cut:
            self.close_connection = True
            return
        usage = {"prompt_tokens": 11, "completion_tokens": 3}
        reply: Any = {"choices": [{"message": {"role": "assistant", "content": does.text}}], "usage": usage}
        if does.error:
            reply = {"error": {"message": does.error}}
        data = json.dumps(reply).encode() if does.body is None else does.body
        try:
            self.send_response(does.status)
            for name, value in {"Content-Type": "application/json", **does.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for part in [data] if not does.byte_s else (data[k : k + 1] for k in range(len(data))):
                self.wfile.write(part)
                time.sleep(does.byte_s)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass
