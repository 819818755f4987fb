"""Names of objects: one word for each kind, without case, markup, articles and counters."""

import re
import tomllib
from functools import cache
from pathlib import Path

_MOST_WORDS = 5
_NO_NAMES = frozenset({"object", "thing", "item", "stuff", "unknown", "other", "misc", "background", "none", "n a"})


@cache
def folded(name: str) -> str:
    """The name in lower case, without markup, articles and counters, by the word that stands for its kind ("Couch_2":
    sofa).

    "" for what questions cannot use: names in other scripts, sentences, words that name no kind ("object"), and those
    of several kinds ("tv_monitor").
    """
    plain = re.sub(r"[^a-z ]+", " ", re.sub(r"<[^>]*>", " ", name.lower().replace("_", " ")))
    words = plain.split()
    words = words[1:] if words and words[0] in ("a", "an", "the") else words
    short = " ".join(words) if len(words) <= _MOST_WORDS and _is_english(name) else ""
    return "" if short in _NO_NAMES else _kinds().get(short, short)


def kind_of(name: str) -> str:
    """What equal kinds share: the folded name, or the name itself where that is empty."""
    return folded(name) or name


def _is_english(name: str) -> bool:
    """Whether all letters are ASCII."""
    return not any(letter.isalpha() and not letter.isascii() for letter in name)


@cache
def _kinds() -> dict[str, str]:
    with (Path(__file__).parent / "object_names.toml").open("rb") as file:
        return {word: kind[0] for kind in tomllib.load(file)["kinds"] for word in kind}
