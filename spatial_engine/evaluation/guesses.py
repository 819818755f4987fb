"""Answers that use no picture: wrong ones, that of doing nothing, random ones. In the form of `Question.answer`."""

from hashlib import sha256

import numpy as np

from spatial_engine.scoring.own import score_read
from templates.answers.registry import format_of
from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question


def wrong(question: Question) -> Json | None:
    """A near answer that scores 0; None if there is none."""
    for value in format_of(question.format).near_misses(question):
        found = score_read(question, value)
        if isinstance(found, Score) and found.value == 0:
            return value
    return None


def no_op(question: Question) -> Json | None:
    """The answer of doing nothing; None for a choice."""
    return format_of(question.format).no_op(question)


def drawn(question: Question, seed: int) -> Json | None:
    """A uniform guess: the same for the same question, order of options and seed."""
    content = "/".join((str(seed), question.id, *question.options))
    rng = np.random.default_rng(int(sha256(content.encode("utf-8", "replace")).hexdigest()[:16], 16))
    return format_of(question.format).guess(question, rng)
