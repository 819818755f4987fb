"""Which experts the accepted licences allow."""

from collections.abc import Iterable

from experts.expert import Expert, original
from spatial_engine.errors import UsageError
from spatial_engine.options import ModelOptions


def check_licences(experts: Iterable[Expert], model_options: ModelOptions) -> None:
    """Raises `UsageError` for an expert that forbids commercial use, unless the user allows that."""
    for expert in experts:
        if problem := licence_problem(expert, model_options):
            raise problem


def licence_problem(expert: Expert, model_options: ModelOptions) -> UsageError | None:
    """The error if the accepted licences exclude the expert; else None. Random weights have no licence."""
    expert = original(expert)
    binding = "code_commercial_ok" if model_options.random_weights else "commercial_ok"
    if model_options.allow_noncommercial or getattr(expert, binding, True):
        return None
    instead = getattr(expert, "permissive_substitute", "")
    return UsageError(
        f"expert {expert.name} may not be used commercially ({licence_of(expert)})",
        f"say --allow-noncommercial{f', or take {instead} instead' if instead else ''}",
    )


def licence_of(expert: Expert) -> str:
    """Licences of the code and weights of an expert, in words."""
    expert = original(expert)
    code = getattr(expert, "code_licence", "Apache-2.0")
    weights = getattr(expert, "weights_licence", None)
    return f"{code}, weights {weights}" if weights else f"{code}, no weights"
