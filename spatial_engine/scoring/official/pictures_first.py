"""Questions for forms that show all pictures first: options that are pictures are called by their place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class PicturesFirst:
    """A question whose pictures stand before its words."""

    media: Sequence[Mapping[str, Json]]
    """Entries in the order shown: photos of the prompt, then options that are pictures."""
    prompt: str
    options: Sequence[str]
    """Texts without letters."""


def pictures_first(question: Question) -> PicturesFirst:
    """The same question; "photo 1" of its prompt stays the first picture."""
    shown = [medium for medium in question.media if not medium.get("option")]
    drawn = [medium for medium in question.media if medium.get("option")]
    place = {medium["id"]: f"picture {len(shown) + 1 + index}" for index, medium in enumerate(drawn)}
    note = f" The options are pictures {len(shown) + 1} to {len(shown) + len(drawn)}." if drawn else ""
    return PicturesFirst(
        media=[*shown, *drawn],
        prompt=question.text + note,
        options=[place.get(text, text) for text in question.options],
    )
