"""Whether words that a judge quotes from a reply hold the answer that it found there, as far as rules can tell."""

import math
import re

from spatial_engine.scoring.reading.json_object import objects
from spatial_engine.scoring.reading.quantities import NUMBER_WORDS
from templates.question import LETTERS, Question

_LEAST_WORDS = 3
"""Of a quote that says yes or no in other words."""
_WORD = re.compile(r"[^\W\u3040-\u9fff]+|[\u3040-\u9fff]")  # a Chinese sign is a word
_NUMBER = re.compile(r"\d+(?:\.\d+)?|\.\d+")


def plain_words(text: str) -> str:
    """Words alone, lower case: neither mark-up nor line breaks keep a quote from being found."""
    return " ".join(_WORD.findall(text.casefold()))


def holds_numbers(question: Question, quote: str, answer: str) -> bool:
    """Whether the quote contains every number of the answer, without its sign, in digits or as words."""
    stated = _numbers(answer)
    return bool(stated) and stated <= _numbers(quote)


def holds_quantity(question: Question, quote: str, answer: str) -> bool:
    """The number; with a unit, which must be the reply's."""
    if re.search("[a-z]", answer, re.IGNORECASE):
        return _close(answer) in _close(quote)
    return holds_numbers(question, quote, answer)


def holds_yes_no(question: Question, quote: str, answer: str) -> bool:
    """The word itself, or a statement in other words."""
    stated, quoted = plain_words(answer), plain_words(quote).split()
    return stated in ("yes", "no") and (stated in quoted or len(quoted) >= _LEAST_WORDS)


def holds_letter(question: Question, quote: str, answer: str) -> bool:
    """The letter itself; or, of the words that distinguish options, as many of this one as of any other, or more."""
    letters = LETTERS[: len(question.options)]
    letter = answer.strip(" .:()[]*")[:1].upper()
    if not letter or letter not in letters or (answer[1:2].isalpha() and len(answer) > 1):
        return False
    if re.search(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", quote):
        return True
    if question.has_pictures_as_options:
        return False
    words = [set(plain_words(option).split()) for option in question.options]
    shared = set.intersection(*words)
    quoted = set(plain_words(quote).split())
    counts = [len((own - shared) & quoted) for own in words]
    return counts[letters.index(letter)] == max(counts) > 0


def holds_words(question: Question, quote: str, answer: str) -> bool:
    """Every word of the answer; an answer of none needs a quote alone."""
    return set(plain_words(answer).split()) <= set(plain_words(quote).split())


def holds_actions(question: Question, quote: str, answer: str) -> bool:
    """Every named action shares a word with the quote, which holds all counts."""
    quoted = set(plain_words(quote).split())
    actions = next((found.get("actions") for found in objects(answer)), None)
    named = isinstance(actions, list) and all(set(plain_words(str(action)).split()) & quoted for action in actions)
    return named and holds_numbers(question, quote, answer)


def _numbers(text: str) -> set[float]:
    digits = {float(number) for number in _NUMBER.findall(text)}
    words = {float(NUMBER_WORDS[word]) for word in plain_words(text).split() if word in NUMBER_WORDS}
    return {number for number in digits if math.isfinite(number)} | words


def _close(text: str) -> str:
    return "".join(text.casefold().split())
