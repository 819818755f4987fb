"""Files over HTTP on this machine alone, with ranges; the connection can be made to break."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(kw_only=True)
class Served:
    """What the server has, and what it was asked for."""

    files: dict[str, bytes]
    breaks_after: int | None = None
    """Sends at most so many bytes of an answer."""
    url: str = ""
    ranges: list[str | None] = field(default_factory=list)


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Served]:
    """A server on a free port of the loopback interface."""
    served = Served(files=files)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            served.ranges.append(asked)
            content = served.files.get(self.path.lstrip("/"))
            if content is None:
                self.send_error(404)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            self.wfile.write(content[start:][: served.breaks_after])

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
