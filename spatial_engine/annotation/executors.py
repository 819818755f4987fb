"""Chooses who runs a task over many items: processes of this machine, or a Ray cluster."""

from spatial_engine.annotation.executor import Executor, run
from spatial_engine.annotation.ray_executor import RayExecutor
from spatial_engine.options import ExecutorOptions


def executor_of(options: ExecutorOptions, *, models: bool = False) -> Executor:
    """The executor of the options. `models`: whether the task runs models on a GPU, where there is one."""
    if options.executor == "processes":
        return run
    gpus = options.gpus_per_worker if models or options.gpus_per_worker == 0 else 0.0
    return RayExecutor(address=options.ray_address, gpus=gpus)
