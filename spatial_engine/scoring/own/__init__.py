"""Our own scores: right by the definition of the answer type (`templates.answers`), graded scores in the detail."""

from spatial_engine.scoring.own.scores import bare, by_format, chance, holds, read, score, score_read

__all__ = ["bare", "by_format", "chance", "holds", "read", "score", "score_read"]
