"""The published metrics as they should be: `f(response, answer, extra_info) -> {"score", "detail"}`.

An answer that cannot be read is wrong and never guessed; a format error scores 0; angles are wrapped; plans are
compared with the real goal. docs/scoring.md lists every difference. None of the metrics raises.
"""

from spatial_engine.scoring.strict.aggregate import aggregate
from spatial_engine.scoring.strict.cognitive_map import cogmapeval
from spatial_engine.scoring.strict.metrics import (
    aff_mask_metric,
    gpteval,
    gravityeval,
    judgemodel,
    meanrelativeacc,
    multichoiceeval,
)
from spatial_engine.scoring.strict.plans import agenticnaveval, manipulateeval

__all__ = [
    "aff_mask_metric",
    "agenticnaveval",
    "aggregate",
    "cogmapeval",
    "gpteval",
    "gravityeval",
    "judgemodel",
    "manipulateeval",
    "meanrelativeacc",
    "multichoiceeval",
]
