"""The options of `annotate`, `generate` and `run`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import StrPath, WorkerOptions, words
from spatial_engine.options.detections import DetectionOptions
from spatial_engine.options.executors import ExecutorOptions
from spatial_engine.options.hints import check_kinds
from spatial_engine.options.models import ExpertOptions
from spatial_engine.options.monitoring import MonitoringOptions
from spatial_engine.options.opening import OpenOptions
from spatial_engine.options.target import TargetOptions
from spatial_engine.options.truth import TruthOptions
from templates.condition import MEASURES, Condition
from templates.hints.kinds import LEAVES


@dataclass(frozen=True, kw_only=True)
class AnnotateOptions(OpenOptions, TruthOptions, DetectionOptions, ExpertOptions, ExecutorOptions, MonitoringOptions):
    """Options of `annotate`."""

    retry_failed: Annotated[bool, Doc("Run again the experts that failed under the same settings.")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.executor == "ray" and ":" in self.device:
            raise UsageError(f"--device {self.device} with --executor ray", "give auto or cuda: Ray assigns the GPUs")


@dataclass(frozen=True, kw_only=True)
class GenerateOptions(TargetOptions, WorkerOptions, MonitoringOptions):
    """Options of `generate`: what is asked. The questions do not depend on the number of workers."""

    abilities: Annotated[
        str | Sequence[str] | None,
        Doc(
            "Ask about these abilities only: levels, branches or leaves of the tree, such as L1,Memory or "
            "L1/Orientation/Gravity."
        ),
    ] = None
    seed: Annotated[int, Doc("Seed of everything that is drawn at random.")] = 0
    min_confidence: Annotated[float, Doc("Ask only where the answer is right with at least this probability.")] = 0.99
    difficulty: Annotated[
        str | Sequence[str] | None,
        Doc("Ask only where these hold: limits of " + ", ".join(MEASURES) + ", such as turn_deg>=20,like_named>=1."),
    ] = None
    unanswerable: Annotated[bool, Doc("Also ask what the photos shown cannot tell (docs/unanswerable.md).")] = False
    puzzles: Annotated[int, Doc("Puzzles of each template that needs no footage.")] = 0
    state_tolerance: Annotated[bool, Doc("Say in each prompt which error still counts as right.")] = False
    hints: Annotated[
        tuple[str, ...],
        Doc("Store low-level cues beside questions of L2 to L4, in words and as pictures: " + ", ".join(LEAVES) + "."),
    ] = ()
    sigma_calibration: Annotated[
        StrPath | None,
        Doc("File that `spatial-engine calibrate` wrote, with a factor for each sigma; by default the packaged one."),
    ] = None

    parquet: Annotated[
        bool,
        Doc(
            "Write the questions into parquet files, too, in DATASET/parquet; they name pictures and do not hold them."
        ),
    ] = False
    allow_empty: Annotated[bool, Doc("Replace a dataset also where nothing can be asked any more.")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.5 <= self.min_confidence <= 1:
            raise UsageError(f"--min-confidence {self.min_confidence:g}", "give a probability from 0.5 to 1")
        try:
            self.conditions  # noqa: B018
        except ValueError as error:
            raise UsageError(f"--difficulty: {error}", "write limits as in turn_deg>=20,like_named>=1") from error
        check_kinds(self.hints)
        if self.puzzles < 0:
            raise UsageError(f"--puzzles {self.puzzles}", "give a number of at least 0")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Those of `difficulty`. Raises `ValueError`."""
        return tuple(map(Condition.parsed, words(self.difficulty) or ()))


@dataclass(frozen=True, kw_only=True)
class RunOptions(AnnotateOptions, GenerateOptions):
    """Options of `run`: those of `annotate` and of `generate`."""
