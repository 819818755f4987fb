"""Where the published metrics look for JSON in a response. Linear in its length, unlike the reference's patterns."""

from typing import Any


def fenced(text: Any, opening: str, closing: str = "\n```") -> str | None:
    """What stands between the first `opening` and the next `closing`. Raises TypeError if `text` is no text."""
    if opening not in text:
        return None
    start = text.index(opening) + len(opening)
    end = text.find(closing, start)  # without one here there is none after a later opening
    return None if end < 0 else text[start:end]


def braced(text: str) -> str | None:
    """From the first "{" to the last "}", in that order."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else None
