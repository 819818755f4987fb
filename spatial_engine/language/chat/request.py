"""A request to a chat server: text and pictures in order, and its outcome."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from spatial_engine.language.chat.media_hash import media_hash
from templates.columns import Json

Reach = Literal["item", "all", "passing"]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The reply of a server."""

    body: dict[str, Any]
    """Its JSON, with at least one choice."""
    seconds: float
    """Duration of the successful attempt."""

    @property
    def text(self) -> str:
        """The text of the first choice, or of its refusal."""
        message = self.body["choices"][0].get("message")
        message = message if isinstance(message, dict) else {}
        content = message.get("content")
        if isinstance(content, list):  # parts, as some servers send them
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        return str(content or message.get("refusal") or "")

    def tokens(self, which: Literal["prompt_tokens", "completion_tokens"]) -> int | None:
        """Number of tokens by the count of the server; None if it gives none."""
        usage = self.body.get("usage")
        count = usage.get(which) if isinstance(usage, dict) else None
        return count if isinstance(count, int) else None


class TimedOut(Exception):  # noqa: N818 - it is an outcome
    """No complete reply within the time allowed."""


class Failed(Exception):  # noqa: N818 - it is an outcome
    """No reply, after all retries."""

    def __init__(self, cause: str, kind: str, reach: Reach) -> None:
        super().__init__(cause)
        self.kind = kind
        """Kind of the cause: "401", "404", "no connection"."""
        self.reach = reach
        """ "all": affects every request; "item": possibly only this one; "passing": may succeed later."""


Outcome = Reply | TimedOut | Failed


_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".mp4": "video/mp4"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request to a model."""

    model: str
    system: str = ""
    """The system message; "" for none."""
    parts: tuple[str | Path, ...]
    """Texts and files of pictures and videos, in the order of the prompt."""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """Parameters of the server: temperature, max_tokens, ..."""

    @property
    def key(self) -> str:
        """sha256 of model, texts, bytes of the pictures and parameters: equal on every machine."""
        parts = [part if isinstance(part, str) else {"sha256": media_hash(part)} for part in self.parts]
        content = [self.model, parts, dict(self.parameters), *([self.system] if self.system else [])]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def messages(self) -> list[dict[str, Any]]:
        """The system message, if any, and the user's. Pictures are data: URLs of the bytes of their files, videos parts
        of the kind `video_url`, which vLLM and SGLang take."""
        content = [_text(part) if isinstance(part, str) else _picture(part) for part in self.parts]
        system = [{"role": "system", "content": [_text(self.system)]}] if self.system else []
        return [*system, {"role": "user", "content": content}]

    @property
    def pictures(self) -> list[Path]:
        """Files of the pictures and videos."""
        return [part for part in self.parts if isinstance(part, Path)]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text.encode("utf-8", "replace").decode()}


def _picture(file: Path) -> dict[str, Any]:
    type = _TYPES.get(file.suffix.lower(), "image/jpeg")
    kind = "video_url" if type.startswith("video/") else "image_url"
    return {"type": kind, kind: {"url": f"data:{type};base64,{b64encode(file.read_bytes()).decode()}"}}
