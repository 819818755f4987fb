"""A data set to look at: a static folder that opens from disk, with everything embedded and nothing fetched."""

from spatial_engine.report.pages import report

__all__ = ["report"]
