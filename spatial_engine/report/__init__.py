"""A dataset to look at: a static folder that opens from disk, with everything embedded and nothing fetched."""

from spatial_engine.report.pages import check_report, report

__all__ = ["check_report", "report"]
