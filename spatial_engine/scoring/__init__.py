"""Scores of responses: `official` as published, `strict` as it should be, `score` for our own questions."""

from spatial_engine.scoring.score import Score, Unscored

__all__ = ["Score", "Unscored"]
