"""The report of an evaluation: scores by model and ability, and the answers."""

from spatial_engine.report.evaluation.pages import is_evaluation, report_evaluation

__all__ = ["is_evaluation", "report_evaluation"]
