"""An evaluation to look at: who is how good at what, and what went wrong where."""

from spatial_engine.report.evaluation.pages import is_evaluation, report_evaluation

__all__ = ["is_evaluation", "report_evaluation"]
