"""One request to a chat server: words and pictures in order, and what its reply is kept under."""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from spatial_engine.evaluation.item import media_hash
from templates.measured import Json

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
