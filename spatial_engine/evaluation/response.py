"""One line of `responses.jsonl`: what came back for one question."""

import json
from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Response:
    """A model's reply to one presentation of a question. Of answers made elsewhere only `id` and `text` are needed."""

    id: str
    """The question's id."""
    text: str | None
    """The reply as it came, None if none came."""
    rotation: int = 0
    """Which presentation: position p showed option (p + rotation) mod k."""
    item: str = ""
    """Hash of what was asked (`evaluation.item.item_hash`); "" where it is not known."""
    outcome: Literal["answered", "timed_out", "failed"] = "answered"
    error: str = ""
    """Why no reply came."""
    judged: str | None = None
    """The answer that a language model found in `text`, where rules found none; None if none was asked."""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    def to_line(self) -> str:
        """One line, without its end."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)
