"""One request to a chat server: words and pictures in order, its reply, and where it is sent."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

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
