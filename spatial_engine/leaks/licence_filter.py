"""Questions that may be used commercially."""

import re
from collections import Counter
from collections.abc import Iterable

from templates.question import Question

_UNKNOWN = frozenset(("", "unknown", "none", "null"))
_FORBIDS = re.compile(r"(?<![a-z])nc(?![a-z])|non-?_? ?commercial|research[- ]only|academic", re.IGNORECASE)


def obstacle(question: Question) -> str | None:
    """Why a question may not be used commercially; None if it may."""
    if question.licence.get("commercial_ok") is not True:
        return "code or weights of an expert forbid commercial use"
    footage = str(question.licence.get("footage") or "").strip()
    if footage.lower() in _UNKNOWN:
        return "licence of the footage is not known"
    if _FORBIDS.search(footage):
        return "licence of the footage forbids commercial use"
    return None


def commercial(questions: Iterable[Question]) -> tuple[list[Question], dict[str, int]]:
    """Those that may, and how many may not, by reason."""
    kept, reasons = [], Counter[str]()
    for question in questions:
        if (reason := obstacle(question)) is None:
            kept.append(question)
        else:
            reasons[reason] += 1
    return kept, dict(sorted(reasons.items()))
