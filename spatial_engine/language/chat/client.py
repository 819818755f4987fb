"""A chat server (OpenAI's protocol) through the openai SDK: retries and back-off are the SDK's."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from spatial_engine.language.chat.request import Failed, Reach, Reply, Request, TimedOut
from spatial_engine.options import Server

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_TOO_LATE = 408
_NOT_A_CHAT_SERVER = (405, 501)  # method not allowed or not implemented
_NEWER_NAMES = {"max_tokens": "max_completion_tokens"}  # the same parameter of newer servers


class Client:
    """Asks one server. To be used in an `async with` block."""

    def __init__(self, server: Server) -> None:
        local = urlsplit(server.base_url).hostname in _LOOPBACK
        self._key = os.environ.get(server.api_key_env) or ""
        attempts = _Attempts(server, trust_env=not local)  # local servers are not behind a proxy
        self._sdk = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=server.base_url,
            max_retries=server.max_retries,
            timeout=None,
            http_client=attempts,
        )
        self._names: Mapping[str, str] = {}

    async def ask(self, request: Request) -> Reply:
        """The reply. Raises `TimedOut` and `Failed`."""
        names = self._names
        try:
            return await self._ask(request, names)
        except openai.BadRequestError as error:
            if names or "max_completion_tokens" not in str(error):
                raise self._failed(error) from None
            self._names = _NEWER_NAMES
        except openai.OpenAIError as error:
            raise self._failed(error) from None  # its cause holds the request, and so the key
        return await self.ask(request)

    def _failed(self, error: openai.OpenAIError) -> Exception:
        """The error without the key, which some servers repeat."""
        failed = _failed(error)
        if isinstance(failed, Failed) and self._key:
            return Failed(str(failed).replace(self._key, "[key]"), failed.kind, failed.reach)
        return failed

    async def _ask(self, request: Request, names: Mapping[str, str]) -> Reply:
        messages: Any = request.messages()
        raw = await self._sdk.chat.completions.with_raw_response.create(
            model=request.model,
            messages=messages,
            **{names.get(name, name): value for name, value in request.parameters.items()},
        )
        return Reply(body=raw.http_response.json(), seconds=raw.http_response.elapsed.total_seconds())

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._sdk.close()


class _NoCompletion(httpx2.RemoteProtocolError):
    """A successful reply that is not a chat completion."""


class _Attempts(httpx2.AsyncClient):
    """The transport of the SDK: every attempt respects the rate limit and has its own time-out."""

    def __init__(self, server: Server, *, trust_env: bool) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        super().__init__(timeout=None, limits=limits, trust_env=trust_env, follow_redirects=True)
        self._timeout_s = server.timeout_s
        self._pause_s = 60.0 / server.requests_per_minute if server.requests_per_minute else 0.0
        self._next_s = 0.0

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        await self._turn()
        try:
            async with asyncio.timeout(self._timeout_s):
                response = await super().send(request, **options)
        except TimeoutError:  # a time-out counts: it is not tried again
            return httpx2.Response(_TOO_LATE, headers={"x-should-retry": "false"}, request=request)
        if response.is_success and (fault := _fault(response)):
            raise _NoCompletion(fault, request=request)  # tried again, as a cut connection is
        if response.status_code in _NOT_A_CHAT_SERVER:
            response.headers["x-should-retry"] = "false"
        return response

    async def _turn(self) -> None:
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next_s)
        self._next_s = turn + self._pause_s
        await asyncio.sleep(turn - now)


def _fault(response: httpx2.Response) -> str:
    """Why a successful reply is no chat completion; "" if it is one."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return f"the server's reply is not JSON: {response.content[:80]!r}"
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list) or not body["choices"]:
        error = body.get("error", body) if isinstance(body, dict) else body
        return f"the server's reply has no choices: {str(error)[:200]}"
    return "" if isinstance(body["choices"][0], dict) else "the server's first choice is not an object"


def _failed(error: openai.OpenAIError) -> Exception:
    match error:
        case openai.APIStatusError(status_code=408) if error.response.headers.get("x-should-retry") == "false":
            return TimedOut()
        case openai.APIStatusError():
            kind, reach = str(error.status_code), _reach(error)
            return Failed(f"{error.status_code}: {_server_message(error)}", kind, reach)
        case openai.APIConnectionError() if isinstance(
            error.__cause__, httpx2.ConnectError | httpx2.UnsupportedProtocol
        ):
            return Failed(f"no connection: {error.__cause__}", "no connection", "all")
        case openai.APIConnectionError() if isinstance(error.__cause__, _NoCompletion):
            return Failed(str(error.__cause__), "no completion", "item")
    return Failed(f"{error.__cause__ or error}", type(error.__cause__ or error).__name__, "passing")


def _reach(error: openai.APIStatusError) -> Reach:
    if error.status_code in (401, 403, 404, *_NOT_A_CHAT_SERVER) or error.code == "insufficient_quota":
        return "all"
    return "item" if error.status_code in (400, 413, 422) else "passing"


def _server_message(error: openai.APIStatusError) -> str:
    """The error message of the server; of a web page or an empty body the status line."""
    body = error.body
    words = body.get("message") if isinstance(body, dict) else None
    page = not body or (isinstance(body, str) and body.lstrip().startswith("<"))
    return str(words or (page and error.response.reason_phrase) or error.message)[:300]
