"""Answers made without looking: wrong ones, idle ones, drawn ones; each of the form of `Question.answer`, or None."""

from hashlib import sha256

import numpy as np

from spatial_engine.scoring.own import score_read
from templates.answers.registry import format_of
from templates.answers.score import Score
from templates.measured import Json
from templates.question import Question


def wrong(question: Question) -> Json | None:
    """An answer that scores 0; None where there is none."""
    for value in format_of(question.format).near_misses(question):
        found = score_read(question, value)
        if isinstance(found, Score) and found.value == 0:
            return value
    return None


def no_op(question: Question) -> Json | None:
    """What doing nothing comes to; None for a choice."""
    return format_of(question.format).no_op(question)


def drawn(question: Question, seed: int) -> Json | None:
    """An even guess: the same for the same question, order of options and seed."""
    content = "/".join((str(seed), question.id, *question.options))
    rng = np.random.default_rng(int(sha256(content.encode("utf-8", "replace")).hexdigest()[:16], 16))
    return format_of(question.format).guess(question, rng)
