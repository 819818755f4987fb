"""What a user may set, stated once: every field is an option of the command line and of Python, under one name.

    RunOptions
    ├── AnnotateOptions           retry_failed
    │   ├── OpenOptions           how footage becomes clips
    │   ├── TruthOptions          whether it has ground truth
    │   ├── DetectionOptions      objects that the user has detected
    │   ├── MonitoringOptions     where the run is recorded
    │   ├── ExecutorOptions       where the workers run
    │   │   └── WorkerOptions
    │   └── ExpertOptions         which experts run
    │       ├── ModelOptions      where models run
    │       │   └── FetchOptions  which licences are accepted
    │       │       └── WeightsFolder
    │       └── WorkerOptions
    └── GenerateOptions           what is asked
        ├── TargetOptions         how many questions, spread over what
        ├── MonitoringOptions
        └── WorkerOptions

`evaluate` takes RequestOptions, MonitoringOptions, Server, JudgeOptions, Prices and BenchmarkOptions; `score` takes
JudgeOptions; `navigate` takes NavigationOptions and Server; `adjudicate` takes AdjudicateOptions; `rephrase` takes
RephraseOptions, Server and Spending; `view` takes ViewOptions. `Shard` is the share of one of several machines.

Imports nothing heavy: the help of the command line is made from it.
"""

from spatial_engine.options.adjudication import AdjudicateOptions
from spatial_engine.options.benchmarks import BenchmarkOptions
from spatial_engine.options.checked import StrPath, WorkerOptions, chosen, words
from spatial_engine.options.commands import AnnotateOptions, GenerateOptions, RunOptions
from spatial_engine.options.detections import DetectionOptions
from spatial_engine.options.evaluation import JudgeOptions, NavigationOptions, Prices, RequestOptions, Server
from spatial_engine.options.executors import ExecutorOptions
from spatial_engine.options.models import ExpertOptions, FetchOptions, ModelOptions, WeightsFolder
from spatial_engine.options.monitoring import MonitoringOptions
from spatial_engine.options.opening import MIN_SIDE_PX, OpenOptions
from spatial_engine.options.rephrasing import RephraseOptions, Spending
from spatial_engine.options.shard import Shard
from spatial_engine.options.target import TargetOptions
from spatial_engine.options.truth import TruthOptions
from spatial_engine.options.viewing import ViewOptions

__all__ = [
    "MIN_SIDE_PX",
    "AdjudicateOptions",
    "AnnotateOptions",
    "BenchmarkOptions",
    "DetectionOptions",
    "ExecutorOptions",
    "ExpertOptions",
    "FetchOptions",
    "GenerateOptions",
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
    "Shard",
    "Spending",
    "StrPath",
    "TargetOptions",
    "TruthOptions",
    "ViewOptions",
    "WeightsFolder",
    "WorkerOptions",
    "chosen",
    "words",
]
