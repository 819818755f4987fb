"""Options of a targeted set: how many questions, and spread over what."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked

EVEN = ("answer", "difficulty", "scene")
AUGMENT = ("crops", "scales", "letterbox")
MOST_PER_CLIP = 10_000
"""More marks than that cannot be told apart in the pictures of a clip."""


@dataclass(frozen=True, kw_only=True)
class TargetOptions(Checked):
    """How many questions a dataset gets, and what they are spread over (docs/targeted_sets.md)."""

    count: Annotated[int | None, Doc("Draw this many questions of all that could be asked.")] = None
    per_clip: Annotated[
        int | None, Doc("At most this many questions of one clip; by default twice the mean that --count needs.")
    ] = None
    even: Annotated[
        tuple[str, ...],
        Doc("No bin holds more than twice the median bin: " + ", ".join(EVEN) + "."),
    ] = ()
    augment: Annotated[
        tuple[str, ...], Doc("Ask about each clip in other pictures of it, too: " + ", ".join(AUGMENT) + ".")
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, given in (("count", self.count), ("per-clip", self.per_clip)):
            if given is not None and given < 1:
                raise UsageError(f"--{name} {given}", "give a number of at least 1, or leave the option out")
        if self.per_clip is not None and self.per_clip > min(self.count or MOST_PER_CLIP, MOST_PER_CLIP):
            most = f"the whole set has {self.count}" if self.count else f"a clip has no room for over {MOST_PER_CLIP}"
            raise UsageError(f"--per-clip {self.per_clip}: {most}", "give a smaller number, or leave the option out")
        _check_words("even", self.even, EVEN)
        _check_words("augment", self.augment, AUGMENT)

    @property
    def is_targeted(self) -> bool:
        """Whether the questions are drawn from more that could be asked."""
        return self.count is not None or self.per_clip is not None or bool(self.even)

    def questions_per_clip(self, clips: int) -> int | None:
        """Most questions of one clip, of so many clips; None: no limit."""
        if self.per_clip is not None or self.count is None:
            return self.per_clip
        return min(2 * -(-self.count // max(clips, 1)), MOST_PER_CLIP)


def _check_words(option: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for word in given:
        if word not in known:
            near = get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(f"--{option} {word}", f"{hint}give one or more of: {','.join(known)}")
