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


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: Any

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is none of ours."""
