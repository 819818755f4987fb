"""One request to a chat server: words and pictures in order, its reply, and where it is sent."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.item import media_hash
from templates.measured import Json

Reach = Literal["item", "all", "passing"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a server sent."""

    body: dict[str, Any]
    """Its JSON, as it came; has at least one choice."""
    seconds: float
    """Of the attempt that succeeded."""

    @property
    def text(self) -> str:
        """The words of the first choice; a refusal's words where there are no others."""
        message = self.body["choices"][0].get("message")
        message = message if isinstance(message, dict) else {}
        content = message.get("content")
        if isinstance(content, list):  # parts, as some servers send them
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        return str(content or message.get("refusal") or "")

    def tokens(self, which: Literal["prompt_tokens", "completion_tokens"]) -> int | None:
        """As the server counted them; None if it did not say."""
        usage = self.body.get("usage")
        count = usage.get(which) if isinstance(usage, dict) else None
        return count if isinstance(count, int) else None


class TimedOut(Exception):  # noqa: N818 - it is an outcome
    """No whole reply within the time allowed."""


class Failed(Exception):  # noqa: N818 - it is an outcome
    """No reply, after all retries."""

    def __init__(self, cause: str, kind: str, reach: Reach) -> None:
        super().__init__(cause)
        self.kind = kind
        """Equal for equal causes: "401", "404", "no connection"."""
        self.reach = reach
        """ "all": every request will fail so; "item": perhaps this one only; "passing": it may work later."""


Outcome = Reply | TimedOut | Failed


_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a model is asked."""

    model: str
    parts: tuple[str | Path, ...]
    """Texts, and the files of pictures, in the order shown."""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """temperature, max_tokens, ...: as the server takes them."""

    @property
    def key(self) -> str:
        """sha256 of model, texts, bytes of the pictures, and parameters: the same request on any machine."""
        parts = [part if isinstance(part, str) else {"sha256": media_hash(part)} for part in self.parts]
        text = json.dumps([self.model, parts, dict(self.parameters)], sort_keys=True, separators=(",", ":"))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def content(self) -> list[dict[str, Any]]:
        """The parts as a chat message holds them; pictures as data: URLs of the files' own bytes."""
        return [_text(part) if isinstance(part, str) else _picture(part) for part in self.parts]

    @property
    def pictures(self) -> list[Path]:
        """Files of the pictures."""
        return [part for part in self.parts if isinstance(part, Path)]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text.encode("utf-8", "replace").decode()}


def _picture(file: Path) -> dict[str, Any]:
    url = f"data:{_TYPES.get(file.suffix.lower(), 'image/jpeg')};base64,{b64encode(file.read_bytes()).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


_SUCH = "a URL such as http://127.0.0.1:8000/v1"


@dataclass(frozen=True, kw_only=True)
class Server:
    """A chat server that speaks OpenAI's protocol. Nothing here changes an answer. Raises `UsageError`."""

    base_url: str = ""
    """ "http://127.0.0.1:8000/v1": what stands before `/chat/completions`. "" where nothing is asked (a replay)."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key. A server that wants none gets a placeholder."""
    concurrency: int = 8
    """Requests under way at once."""
    requests_per_minute: float | None = None
    """Attempts, retries included; None: no limit of ours."""
    timeout_s: float = 120.0
    """For one attempt, from the request to the last byte of the reply."""
    max_retries: int = 6
    """After 429, 5xx, cut connections and replies that are no JSON; the pause doubles, or is what the server says."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if self.base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise UsageError(f"--base-url {self.base_url!r}", f"give {_SUCH}")
        if self.concurrency < 1 or self.max_retries < 0:
            raise UsageError(
                f"concurrency {self.concurrency}, retries {self.max_retries}",
                "allow one request, and no retry, at least",
            )
        if self.timeout_s <= 0 or (self.requests_per_minute is not None and self.requests_per_minute <= 0):
            raise UsageError("time-outs and rates are positive", "leave the option out for the default")

    def check_address(self) -> None:
        """Raises `UsageError` if there is none to ask at."""
        if not self.base_url:
            raise UsageError("no server is named", f"--base-url takes {_SUCH}; --replay with --cache needs none")
