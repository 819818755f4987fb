"""The story of a camera in words, and what typical mistakes make of it."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from action_mapping.primitives import STAY
from templates.scene.camera_story import Part, opposite

DOES: Mapping[str, str] = {
    "Dolly In": "dollies forward",
    "Dolly Out": "dollies backward",
    "Truck Left": "trucks left",
    "Truck Right": "trucks right",
    "Pedestal Up": "pedestals up",
    "Pedestal Down": "pedestals down",
    "Pan Left": "pans left",
    "Pan Right": "pans right",
    "Tilt Up": "tilts up",
    "Tilt Down": "tilts down",
    "Roll CW": "rolls clockwise",
    "Roll CCW": "rolls counterclockwise",
    STAY.name: "stays still",
}
"""What the camera does, in the terms of film makers, which the instructions explain."""
_EXCHANGED = {
    f"{one} {side}": f"{other} {side}"
    for a, b, sides in (("Truck", "Pan", ("Left", "Right")), ("Pedestal", "Tilt", ("Up", "Down")))
    for one, other in ((a, b), (b, a))
    for side in sides
}
"""By the translation that looks like a rotation, and the other way round."""

Mistake = Callable[[Sequence[Part]], tuple[Part, ...]]


def _of_each(change: Callable[[str], str]) -> Mistake:
    return lambda parts: tuple(_ordered([change(name) for name in part]) for part in parts)


def _ordered(names: Sequence[str]) -> Part:
    """Translation first."""
    return tuple(sorted(names, key=lambda name: name.startswith(("Pan", "Tilt", "Roll"))))


def _turned(*kinds: str) -> Mistake:
    return _of_each(lambda name: opposite(name) if name.startswith(kinds) else name)


def _swapped(*kinds: str) -> Mistake:
    return _of_each(lambda name: _EXCHANGED.get(name, name) if name.startswith(kinds) else name)


MISTAKES: Mapping[str, Mistake] = {
    "parts exchanged": lambda parts: tuple(parts[::-1]),
    "truck for pan": _swapped("Truck", "Pan"),
    "tilt for pedestal": _swapped("Pedestal", "Tilt"),
    "left for right": _turned("Truck", "Pan"),
    "up for down": _turned("Pedestal", "Tilt"),
    "forward for backward": _turned("Dolly"),
    "rolled the other way": _turned("Roll"),
}
"""Each made twice gives the story itself, and any two give the same in either order. So four stories that two mistakes
make of each other look alike: none is in the middle of the others."""


def is_simple(parts: Sequence[Part]) -> bool:
    """Whether every part has at most one translation and one rotation, and no part equals the next."""
    turns = [[name.startswith(("Pan", "Tilt", "Roll")) for name in part] for part in parts]
    return all(len({*kinds}) == len(kinds) for kinds in turns) and all({*a} != {*b} for a, b in pairwise(parts))


def sentence(parts: Sequence[Part], subject: str = "it") -> str:
    """ "First it dollies forward, then it trucks left while it pans right."."""
    said = [" while it ".join(DOES[name] for name in part) for part in parts]
    if len(said) == 1:
        return f"{subject} {said[0]}.".capitalize()
    starts = [f"First {subject}", *["then it"] * (len(said) - 2), "and finally it" if len(said) > 2 else "then it"]
    return ", ".join(f"{start} {words}" for start, words in zip(starts, said, strict=True)) + "."


def atomic_claims(parts: Sequence[Part]) -> list[str]:
    """What a right caption says: each motion, which go together, and in which order they come; in its own words."""
    names = [name for part in parts for name in part]
    claims = [f"The camera {DOES[name]}." for name in dict.fromkeys(names)]
    both = [part for part in parts if len(part) == 2]
    claims += [f"The camera {DOES[one]} while it {DOES[other]}." for one, other in both]
    for a, b in pairwise(parts):
        if names.count(a[0]) == names.count(b[0]) == 1:
            claims.append(f"The camera {DOES[a[0]]}, then it {DOES[b[0]]}.")
    return list(dict.fromkeys(claims))
