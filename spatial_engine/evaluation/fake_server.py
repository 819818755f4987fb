"""A chat server (OpenAI's protocol) on this machine with a fake model behind it: to try and to test the whole way."""

import json
import socket
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.fake_model import Behaviour, FakeModel
from spatial_engine.loopback import HOST, LoopbackHandler, LoopbackServer
from spatial_engine.progress import printable

_RETRY = {"Retry-After": "1", "retry-after-ms": "50"}
_MAX_BODY_BYTES = 1 << 28


class FakeServer(LoopbackServer):
    """Serves while its `with` block runs. Raises `UsageError` if the port is taken."""

    def __init__(
        self, dataset: Dataset, behaviour: Behaviour, *, port: int = 0, seed: int = 0, delay_s: float = 2.0
    ) -> None:
        self.model = FakeModel(dataset, behaviour, seed)
        self.delay_s = delay_s if behaviour == "slow" else 0.0
        self.counts: Counter[str] = Counter()
        """Requests by what came of them: "answered", "unknown", "busy", "broken", "cut", "garbled", "bad"."""
        super().__init__(_Handler, port, taken_by="another server")
        self.base_url = f"http://{HOST}:{self.port}/v1"


class _Handler(LoopbackHandler):
    server: Any  # whose `owner` is a FakeServer

    def do_GET(self) -> None:  # noqa: N802 - http.server calls it so
        if refusal := self.foreign():
            self._refuse(403, refusal)
            return
        if not self.path.rstrip("/").endswith("/models"):
            self._refuse(404, f"no such place: {self.path}")
            return
        name = f"fake-{self.server.owner.model.behaviour}"
        self._send(200, {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "spatial-engine"}]})

    def do_POST(self) -> None:  # noqa: N802 - http.server calls it so
        fake = self.server.owner
        body = self.body(_MAX_BODY_BYTES)
        if body is None:
            self._refuse(413, "a body of known, bearable length is needed")
        elif refusal := self.foreign():
            self._refuse(403, refusal)
        elif not self.path.rstrip("/").endswith("/chat/completions"):
            self._refuse(404, f"no such place: {self.path}")
        elif fault := fake.model.fault(body):
            fake.counts[fault] += 1
            self._fail(fault)
        else:
            time.sleep(fake.delay_s)
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        fake = self.server.owner
        try:
            reply, known = fake.model.completion(json.loads(body))
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            fake.counts["bad"] += 1
            self._refuse(400, f"not a chat request: {error}")
            return
        fake.counts["answered" if known else "unknown"] += 1
        if not known:
            print("a question that is not of this dataset", file=sys.stderr, flush=True)
        self._send(200, reply, {} if known else {"X-Unknown-Question": "1"})

    def _fail(self, fault: str) -> None:
        match fault:
            case "busy":
                self._refuse(429, "too many requests", _RETRY)
            case "broken":
                self._refuse(500, "something broke", {"retry-after-ms": "50"})
            case "cut":
                self.close_connection = True
                with suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)
            case _:
                self._send(200, b'{"choices": [{"message": {"content": "the ')

    def _refuse(self, status: int, words: str, headers: dict[str, str] | None = None) -> None:
        error = {"message": printable(words), "type": "fake", "code": str(status)}
        self._send(status, {"error": error}, headers)

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        with suppress(OSError):  # it may have hung up
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)


def serve(dataset: str | Path, behaviour: Behaviour, *, port: int = 8765, seed: int = 0, delay_s: float = 2.0) -> None:
    """Serves until Ctrl-C, and says where. Raises `UsageError`."""
    server = FakeServer(Dataset.open(dataset), behaviour, port=port, seed=seed, delay_s=delay_s)
    print(f"{behaviour}: {len(server.model)} questions at {server.base_url}", flush=True)
    print(f"try: spatial-engine evaluate {dataset} --model fake-{behaviour} --base-url {server.base_url} -o OUT")
    print("Ctrl-C ends it", flush=True)
    with suppress(KeyboardInterrupt):
        server.serve()
    server.close()
