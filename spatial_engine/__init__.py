"""Command line and Python API: from the user's files to stores, datasets, scores and reports.

May import the other packages (templates, experts, action_mapping). Decides no answer. `import spatial_engine` is the
documented API; it loads lazily.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spatial_engine.adjudication import adjudicate
    from spatial_engine.annotation.write_detections import write_detections
    from spatial_engine.closed_loop.navigate import navigate
    from spatial_engine.dataset.dataset import Dataset
    from spatial_engine.dataset.rephrase import rephrase
    from spatial_engine.dataset.split import split
    from spatial_engine.errors import SpatialEngineError
    from spatial_engine.evaluation.evaluate import evaluate
    from spatial_engine.evaluation.judge import Judge
    from spatial_engine.evaluation.merging import merge_runs
    from spatial_engine.evaluation.score import score
    from spatial_engine.export import export
    from spatial_engine.export.push import push
    from spatial_engine.options import (
        AnnotateOptions,
        BenchmarkOptions,
        ExpertOptions,
        GenerateOptions,
        JudgeOptions,
        ModelOptions,
        MonitoringOptions,
        NavigationOptions,
        OpenOptions,
        Prices,
        RephraseOptions,
        RequestOptions,
        RunOptions,
        Server,
        Spending,
        ViewOptions,
    )
    from spatial_engine.pipeline import annotate, generate, plan, plan_questions, run
    from spatial_engine.report import report
    from spatial_engine.sequences import open_sequence
    from spatial_engine.store.damage import check_store, repair_store
    from spatial_engine.store.garbage import gc_store
    from spatial_engine.store.merging import merge_stores
    from spatial_engine.store.statistics import store_stats
    from spatial_engine.store.store import Store, open_store
    from spatial_engine.trust.audit_dataset import audit_labels
    from spatial_engine.trust.audit_leaks import audit_leaks
    from spatial_engine.trust.calibrating import calibrate
    from spatial_engine.view import view

__version__ = "0.1.0"

_HOMES = {
    "AnnotateOptions": "options",
    "BenchmarkOptions": "options",
    "Dataset": "dataset.dataset",
    "ExpertOptions": "options",
    "GenerateOptions": "options",
    "Judge": "evaluation.judge",
    "JudgeOptions": "options",
    "ModelOptions": "options",
    "MonitoringOptions": "options",
    "NavigationOptions": "options",
    "OpenOptions": "options",
    "Prices": "options",
    "RephraseOptions": "options",
    "RequestOptions": "options",
    "RunOptions": "options",
    "Server": "options",
    "Spending": "options",
    "SpatialEngineError": "errors",
    "Store": "store.store",
    "ViewOptions": "options",
    "adjudicate": "adjudication",
    "annotate": "pipeline",
    "audit_labels": "trust.audit_dataset",
    "audit_leaks": "trust.audit_leaks",
    "calibrate": "trust.calibrating",
    "check_store": "store.damage",
    "evaluate": "evaluation.evaluate",
    "export": "export",
    "gc_store": "store.garbage",
    "generate": "pipeline",
    "merge_runs": "evaluation.merging",
    "merge_stores": "store.merging",
    "navigate": "closed_loop.navigate",
    "open_sequence": "sequences",
    "open_store": "store.store",
    "plan": "pipeline",
    "plan_questions": "pipeline",
    "push": "export.push",
    "rephrase": "dataset.rephrase",
    "repair_store": "store.damage",
    "report": "report",
    "run": "pipeline",
    "score": "evaluation.score",
    "split": "dataset.split",
    "store_stats": "store.statistics",
    "view": "view",
    "write_detections": "annotation.write_detections",
}

__all__ = [
    "AnnotateOptions",
    "BenchmarkOptions",
    "Dataset",
    "ExpertOptions",
    "GenerateOptions",
    "Judge",
    "JudgeOptions",
    "ModelOptions",
    "MonitoringOptions",
    "NavigationOptions",
    "OpenOptions",
    "Prices",
    "RephraseOptions",
    "RequestOptions",
    "RunOptions",
    "Server",
    "SpatialEngineError",
    "Spending",
    "Store",
    "ViewOptions",
    "adjudicate",
    "annotate",
    "audit_labels",
    "audit_leaks",
    "calibrate",
    "check_store",
    "evaluate",
    "export",
    "gc_store",
    "generate",
    "merge_runs",
    "merge_stores",
    "navigate",
    "open_sequence",
    "open_store",
    "plan",
    "plan_questions",
    "push",
    "repair_store",
    "rephrase",
    "report",
    "run",
    "score",
    "split",
    "store_stats",
    "view",
    "write_detections",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"spatial_engine has no {name!r}; it has: {', '.join(__all__)}")
    return getattr(import_module(f"spatial_engine.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Api(ModuleType):
    """Importing the folders `export`, `report` and `view` must not hide the functions of the same names."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Api
