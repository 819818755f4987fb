"""Datasets in the forms that others read. An exporter alone knows a benchmark's fields, tags and metrics."""

from spatial_engine.export.exporter import EXPORTERS, Exported, export

__all__ = ["EXPORTERS", "Exported", "export"]
