"""How an option stands among the others: letter, length, size of its number, likeness to the rest."""

import re

import numpy as np
from jaxtyping import Float64

from spatial_engine.leaks.guesses import has_words
from templates.question import Question

_LETTERS = 6
CUES = _LETTERS + 8


def option_cues(question: Question) -> Float64[np.ndarray, "k 14"]:
    """A row per option: its letter (A to F); longest, shortest; largest, smallest, middle number; most and least like
    the others; the share of its words that the prompt has. An option that is a picture has its letter alone."""
    cues = np.zeros((len(question.options), CUES))
    for k in range(min(len(question.options), _LETTERS)):
        cues[k, k] = 1
    if not has_words(question) or len(question.options) < 2:
        return cues
    options = [option.lower() for option in question.options]
    _mark(cues, _LETTERS, [float(len(option)) for option in options])
    numbers = [re.search(r"-?\d+(?:\.\d+)?", option) for option in options]
    if all(numbers):
        values = [float(found.group()[:30]) for found in numbers if found]
        _mark(cues, _LETTERS + 2, values)
        if len(set(values)) == len(values) > 2:
            cues[np.argsort(values)[1:-1], _LETTERS + 4] = 1
    words = [set(re.findall(r"\w+", option)) for option in options]
    likeness = [sum(len(own & other) / max(1, len(own | other)) for other in words) for own in words]
    _mark(cues, _LETTERS + 5, [round(value, 9) for value in likeness])
    prompt = set(re.findall(r"\w+", question.prompt.lower()))
    cues[:, _LETTERS + 7] = [len(own & prompt) / max(1, len(own)) for own in words]
    return cues


def _mark(cues: Float64[np.ndarray, "k 14"], column: int, sizes: list[float]) -> None:
    """Two columns: the largest, the smallest; nothing where all are equal."""
    if len(set(sizes)) > 1:
        cues[:, column] = [size == max(sizes) for size in sizes]
        cues[:, column + 1] = [size == min(sizes) for size in sizes]
