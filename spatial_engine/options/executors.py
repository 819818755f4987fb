"""Which processes do the work: those of this machine, or those of a Ray cluster."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import WorkerOptions


@dataclass(frozen=True, kw_only=True)
class ExecutorOptions(WorkerOptions):
    """Where the workers run. Raises `UsageError` for options of Ray without it."""

    executor: Annotated[
        Literal["processes", "ray"], Doc("Who starts the workers: this program, on this machine, or Ray, on a cluster.")
    ] = "processes"
    ray_address: Annotated[
        str | None, Doc("Ray cluster to use, such as auto or HOST:6379; by default one is started on this machine.")
    ] = None
    gpus_per_worker: Annotated[
        float | None,
        Doc(
            "GPUs that each worker of Ray reserves: with 0.5, two share one. By default 1 for experts with models, if "
            "the cluster has GPUs."
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.executor == "processes" and (self.ray_address, self.gpus_per_worker) != (None, None):
            raise UsageError("--ray-address and --gpus-per-worker are options of Ray", "add --executor ray")
        if self.executor == "ray" and self.workers == 0:
            raise UsageError("--executor ray --workers 0", "give the number of workers on the cluster: --workers 8")
        if self.gpus_per_worker is not None and self.gpus_per_worker < 0:
            raise UsageError(f"--gpus-per-worker {self.gpus_per_worker:g}", "give 0 or more, such as 0.5")
