"""Scores of responses: `official` as published, `strict` as it should be, `own` for our own questions, `scorers` for
other benchmarks.

from spatial_engine.scoring.own import score        # score(question, response) -> Score | Unscored
from spatial_engine.scoring.reward import reward    # for GRPO
"""

from templates.answers.score import Score, Unscored

__all__ = ["Score", "Unscored"]
