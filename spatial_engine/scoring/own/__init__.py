"""Our own scores: a response is right by the definition of `templates/answer.py`, graded scores stand in the detail."""

from spatial_engine.scoring.own.formats import chance, read, score, score_read

__all__ = ["chance", "read", "score", "score_read"]
