"""The chosen option."""

import re
from collections.abc import Mapping
from typing import Any

from spatial_engine.scoring.reading import read_choice
from spatial_engine.scoring.strict.rows import RowFault, strict_metric, value_of

_FEWEST = 4
"""Letters that are read where a row lists no options."""


@strict_metric
def multichoiceeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """1 if the option that the response concludes with is the right one. What cannot be read is wrong, never guessed.

    `answer`: a letter, alone or before its option ("B", "B. table"); `extra_info["option"]`: the options in order.
    """
    letter = letter_of(answer)
    options = extra_info.get("option") or []
    if not isinstance(options, list | tuple) or not all(isinstance(option, str) for option in options):
        raise RowFault("the options are not a list of texts")
    place = ord(letter) - ord("A")
    if options and place >= len(options):
        raise RowFault(f"the answer {letter} is none of {len(options)} options")
    said = value_of(read_choice(response, options or [""] * max(_FEWEST, place + 1)))
    return float(said == letter), {"said": said}


def letter_of(answer: Any) -> str:
    """The letter of a row's answer. Raises `RowFault`."""
    found = re.match(r"\s*\(?([A-Z])(?:\W|$)", answer, re.IGNORECASE) if isinstance(answer, str) else None
    if found is None:
        raise RowFault("the answer is not a letter")
    return found[1].upper()
