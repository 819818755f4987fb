"""Letters of multiple choice, found as lmms-eval's spatialtreebench finds them (after MMMU's parser)."""

import re
from functools import lru_cache
from typing import Any

from spatial_engine.scoring.official.reference import Result, metric

_STATEMENTS = (
    "The correct option is #", "The answer is #", "The correct answer is #", "Option # is correct",
    "The right choice is #", "Thus, the answer is #", "Therefore, the correct option is #", "The answer should be #",
    "Hence, the correct answer is #", "The correct choice is #", "Accordingly, the answer is #",
    "Consequently, the correct option is ?The correct option is #",  # two, for want of a comma in the reference
    "Answer: #", "Answer #", "Choice #", "Select #", "# is correct", "# is the answer", "# is the correct option",
    "Correct: #", "Right: #", "<|begin_of_box|>#<|end_of_box|>",
)  # fmt: skip
"""In the reference's order, without those that it repeats: the same statement fails the same way. # is the letter."""


_STEMS = ("nswer", "ption", "hoice", "elect", "orrect", "ight: ", "begin_of_box")
"""Every statement has one of them, and most responses have none."""


def _compiled(statement: str) -> tuple[str, str, re.Pattern[str]]:
    """Its stem, its longest part without letters (both cheap to look for), and the whole."""
    stem = next(stem for stem in _STEMS if stem in statement)
    whole = re.escape(statement).replace(r"\#", "([A-Z])").replace(r"\?", "[A-Z]")
    return stem, max(re.split("[#?]", statement), key=len), re.compile(whole)


_PATTERNS = tuple(_compiled(statement) for statement in _STATEMENTS)
_ENDS = ",.!?;:'"
_FEW_WORDS = 5


@metric
def multichoiceeval(response: Any, answer: Any, extra_info: Any) -> Result:
    """1 if the letter found equals `answer` verbatim, else 0. `extra_info["option"]`: the options, A first.

    Where no letter is found, the reference draws one at random. The score is then its expectation, and `detail` holds
    {"expectation": True, "options": n}.
    """
    options = extra_info["option"]
    letters = _letters(len(options))
    letter = find_letter(response, letters, options)
    details = {"parsed_pred": letter, "answer": answer}
    if letter is not None:
        return {"score": int(letter == answer), "details": details}
    if not letters:
        raise IndexError("a random choice among no options")
    detail = {"expectation": True, "options": len(letters)}
    return {"score": list(letters).count(answer) / len(letters), "details": details, "detail": detail}


@lru_cache
def _letters(count: int) -> str:
    return "".join(chr(ord("A") + index) for index in range(count))


def find_letter(response: Any, letters: str, options: Any) -> str | None:
    """The letter that the reference reads; None where it would draw one. Raises TypeError if `response` is no text."""
    stems = [stem for stem in _STEMS if stem in response]
    for stem, literal, pattern in _PATTERNS if stems else ():
        if stem in stems and literal in response and (found := pattern.search(response)) and found[1] in letters:
            return found[1]
    _, colon, tail = response.rpartition("Answer:")
    if colon and len(inside := [letter for letter in letters if letter in tail]) == 1:
        return inside[0]
    for end in _ENDS:
        response = response.strip(end)
    return _mentioned(f" {response} ", letters, options)


def _mentioned(text: str, letters: str, options: Any) -> str | None:
    """The last letter in the first of four notations that occurs: (X), "X ", "X.", the text of the option."""
    if "(" in text and (bracketed := [letter for letter in letters if f"({letter})" in text]):
        return max(bracketed, key=lambda letter: text.rfind(f"({letter})"))
    for follower in " .":
        if found := [letter for letter in letters if letter + follower in text]:
            return max(found, key=lambda letter: text.rfind(f" {letter} "))
    if len(text.split(maxsplit=_FEW_WORDS)) <= _FEW_WORDS:
        return None
    text = text.lower()
    places = {letter: text.rfind(option.lower()) for letter, option in zip(letters, options, strict=True)}
    letter = max(places, key=places.__getitem__, default=None)
    return letter if letter is not None and places[letter] >= 0 else None
