"""Names of pictures, as the texts of questions use them."""

from collections import Counter
from collections.abc import Mapping

from templates.columns import Json
from templates.question import Question

HINT = "hint"
"""Kind of a picture that belongs to a hint."""
NAMES = {
    "frames": "photo",
    "video": "video",
    "drawing": "map",
    "sheet": "drawing",
    HINT: "hint picture",
    "image": "image",
    "video_frame": "image",
}
"""By kind of medium."""


def named_media(question: Question) -> list[tuple[str, Mapping[str, Json]]]:
    """("photo 1", entry), ..., ("map", entry): the names that a question's text uses; options are not among them.

    Photos are always numbered, videos, maps and drawings only where there are several.
    """
    shown = [
        (NAMES.get(str(medium.get("kind")), "map"), medium) for medium in question.media if not medium.get("option")
    ]
    total, seen = Counter(name for name, _ in shown), Counter[str]()
    named = []
    for name, medium in shown:
        seen[name] += 1
        named.append((f"{name} {seen[name]}" if name == "photo" or total[name] > 1 else name, medium))
    return named
