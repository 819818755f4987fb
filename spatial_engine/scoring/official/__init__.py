"""The published scores of SpatialTree-Bench, quirks included.

`f(response, answer, extra_info, *, unsafe=False) -> dict` with "score".
"""

from spatial_engine.scoring.official.aggregate import aggregate
from spatial_engine.scoring.official.choice import multichoiceeval
from spatial_engine.scoring.official.cognitive_map import cogmapeval
from spatial_engine.scoring.official.manipulation import manipulateeval
from spatial_engine.scoring.official.mask import aff_mask_metric
from spatial_engine.scoring.official.metrics import gpteval, gravityeval, judgemodel, meanrelativeacc
from spatial_engine.scoring.official.navigation import agenticnaveval
from spatial_engine.scoring.official.process_results import process_results

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
    "process_results",
]
