"""The free text of a reply."""

from spatial_engine.scoring.reading.conclusion import conclusion, marked
from spatial_engine.scoring.reading.reading import Reading, Unreadable


def read_text(response: str) -> Reading | Unreadable:
    """What stands in the last answer tags; without any, the reply without its reasoning."""
    text = conclusion(response)
    tagged = next((mark.text.strip() for mark in reversed(marked(text)) if mark.text.strip()), None)
    if tagged is None and not text:
        return Unreadable(reason="nothing found" if response.strip() else "empty")
    return Reading(value=tagged or text, how="tags" if tagged else "rules")
