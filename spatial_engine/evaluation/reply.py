"""What comes of one request: a reply, a time-out, or a failure."""

from dataclasses import dataclass
from typing import Any, Literal

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
