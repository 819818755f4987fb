"""An HTTP server that only this machine reaches: its port, its thread, its end."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from spatial_engine.errors import UsageError

HOST = "127.0.0.1"
Server = TypeVar("Server", bound="LoopbackServer")


class LoopbackServer:
    """Serves while its `with` block runs. Handlers find it as `self.server.owner`."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int, *, taken_by: str) -> None:
        """
        Args:
            handler: answers requests, a thread each.
            port: 0 takes any that is free.
            taken_by: who may have the port, for the message ("another annotator").

        Raises:
            UsageError: the port is taken.
        """
        try:
            self._http = _Http((HOST, port), handler)
        except OSError as error:
            cause = f"port {port} of {HOST}: {error.strerror}"
            raise UsageError(cause, f"is {taken_by} there? --port 0 takes any that is free") from error
        self._http.owner = self
        self.port = int(self._http.server_address[1])

    def serve(self) -> None:
        """Serves until Ctrl-C, or the end of the `with` block."""
        self._http.serve_forever(poll_interval=0.05)

    def close(self) -> None:
        """Frees the port."""
        self._http.server_close()

    def __enter__(self: Server) -> Server:
        self._thread = threading.Thread(target=self.serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self.close()


class LoopbackHandler(BaseHTTPRequestHandler):
    """Answers requests of this machine's own programs and pages only, with a short body."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or every body waits 40 ms for its headers to be acknowledged
    server_version, sys_version = "spatial-engine", ""
    timeout = 60  # of a silent connection
    server: Any  # whose `owner` is the `LoopbackServer`

    def foreign(self) -> str:
        """Why the request must be refused; empty if it comes from this machine.

        A page elsewhere whose name was made to mean this machine (DNS rebinding) shows in Host, a request that another
        page sends shows in Origin.
        """
        ours = {f"{name}:{self.server.owner.port}" for name in (HOST, "localhost")}
        if self.headers.get("Host", "").lower() not in ours:
            return "only for this machine"
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() not in {f"http://{name}" for name in ours}:
            return "not from elsewhere"
        return ""

    def body(self, most_bytes: int) -> bytes | None:
        """The body of the request; None if its length is not stated or too large: then the connection is to end."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 12 and int(length) <= most_bytes):
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing of every request."""


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: Any

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none of ours."""
