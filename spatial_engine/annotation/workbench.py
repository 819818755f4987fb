"""The experts of one process: each is loaded once, and one that cannot be is tried once."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field

from experts.expert import Expert, SetupProblem, joins, needs_weights, weights_identity
from experts.runtime.device import is_out_of_memory, place, worker_device
from experts.runtime.model_expert import hindrance
from spatial_engine.annotation.executor import one_line, worker_number
from spatial_engine.annotation.plugin_errors import expert_error
from spatial_engine.errors import SetupError, UsageError
from spatial_engine.options import ModelOptions

_DOCTOR = "see: spatial-engine doctor"
_TOO_BIG = "--device cpu, --dtype float16, fewer --workers, or end what else uses the memory"


@dataclass(kw_only=True)
class Workbench:
    """Loads experts when they are first needed."""

    model_options: ModelOptions
    """Which weights, where."""
    _loaded: dict[str, Expert] = field(default_factory=dict, init=False)
    _broken: dict[str, SetupProblem] = field(default_factory=dict, init=False)
    _identities: dict[str, str | None] = field(default_factory=dict, init=False)
    _gpu_lost: SetupProblem | None = field(default=None, init=False)

    def load(self, expert: Expert) -> None:
        """Makes an expert ready. Raises `SetupProblem` where this machine lacks something: each time, at no cost."""
        if self._gpu_lost and needs_weights(expert):
            raise _again(self._gpu_lost)
        if expert.name in self._broken:
            raise _again(self._broken[expert.name])
        if expert.name not in self._loaded:
            try:
                self._load(expert)
            except SetupProblem as problem:
                self._broken[expert.name] = problem
                raise
            self._loaded[expert.name] = expert

    def _load(self, expert: Expert) -> None:
        device = self.model_options.device
        if needs_weights(expert):
            device = worker_device(device, worker_number())
        try:
            expert.load(self.model_options.weights, device, self.model_options.dtype)
        except SetupProblem as problem:
            raise hindrance(expert, self.model_options.weights) or problem from problem
        except (Exception, SystemExit) as error:  # no clip was looked at: whatever it is, it concerns this machine
            remedy = _TOO_BIG if is_out_of_memory(error) else _DOCTOR
            raise SetupProblem(f"{expert.name} cannot be loaded: {expert_error(expert, error)}", remedy) from error

    def weights_identity(self, expert: Expert) -> str | None:
        """Names the weights that `load` would load; None also where they cannot be named yet: loading says why."""
        if expert.name not in self._identities:
            try:
                self._identities[expert.name] = weights_identity(expert, self.model_options.weights)
            except SetupProblem:
                return None
        return self._identities[expert.name]

    def lose_gpu(self, error: BaseException) -> None:
        """No expert with a model can work in this process any more."""
        cause = f"the GPU failed on an earlier clip ({one_line(error)}), and this process cannot use it any more"
        self._gpu_lost = SetupProblem(
            cause, "run the same command again; with --workers 1 or more it goes on by itself"
        )

    def close(self) -> None:
        """Frees what was loaded."""
        for expert in self._loaded.values():
            expert.close()
        self._loaded.clear()


def gpu_count(device: str) -> int:
    """Number of GPUs that the workers share (`worker_device`); 0 where the user names a single device."""
    if device not in ("auto", "cuda"):
        return 0
    try:
        import torch
    except ImportError:
        return 0  # loading reports what is missing
    return int(torch.cuda.device_count())


def obstacles(experts: Sequence[Expert], model_options: ModelOptions) -> dict[str, SetupProblem]:
    """What is missing for each expert that cannot run here, by name. Loads nothing."""
    problems = {expert.name: hindrance(expert, model_options.weights) for expert in experts}
    for expert in experts:
        if problems[expert.name] is None and needs_weights(expert):
            try:
                place(model_options.device, model_options.dtype)
            except SetupProblem as problem:
                problems[expert.name] = problem
    return {name: problem for name, problem in problems.items() if problem is not None}


def check_able(experts: Sequence[Expert], model_options: ModelOptions) -> None:
    """Raises `SetupError` where none of the experts can run here but those that only join others."""
    found = obstacles(experts, model_options)
    if found and all(expert.name in found or joins(expert) for expert in experts):
        causes, remedies = ([getattr(problem, part) for problem in found.values()] for part in ("cause", "remedy"))
        raise SetupError(
            f"none of the experts can run here: {'; '.join(dict.fromkeys(causes))}", "; ".join(dict.fromkeys(remedies))
        )


def check_sendable(experts: Sequence[Expert]) -> None:
    """Raises `UsageError` for an expert that no other process can get."""
    for expert in experts:
        try:
            pickle.dumps(expert)
        except Exception as error:  # pickle raises whatever it stumbles over
            raise UsageError(
                f"expert {expert.name} cannot be sent to a worker process: {one_line(error)}",
                "take workers=0, or make it of what can be pickled: it loads its model in `load`",
            ) from error


def _again(problem: SetupProblem) -> SetupProblem:
    """An equal one: an exception that is raised again and again drags a growing traceback along."""
    return SetupProblem(problem.cause, problem.remedy)
