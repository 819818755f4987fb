"""The published metrics as they should be: `f(response, answer, extra_info) -> {"score", "detail"}`.

What a response does not conclude with is wrong, never guessed; a format error never scores; angles are wrapped;
plans are held against the real goal. docs/scoring.md lists every difference. None of them raises.
"""

from spatial_engine.scoring.strict.aggregate import aggregate
from spatial_engine.scoring.strict.choice import multichoiceeval
from spatial_engine.scoring.strict.cognitive_map import cogmapeval
from spatial_engine.scoring.strict.gravity import gravityeval
from spatial_engine.scoring.strict.judge_reply import gpteval
from spatial_engine.scoring.strict.manipulation import manipulateeval
from spatial_engine.scoring.strict.mask import aff_mask_metric
from spatial_engine.scoring.strict.navigation import agenticnaveval
from spatial_engine.scoring.strict.relative_accuracy import meanrelativeacc
from spatial_engine.scoring.strict.yes_no import judgemodel

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
