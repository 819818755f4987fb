"""What every expert is: two sets of signal names, a page of settings, and one call."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from experts.clip import Clip
from experts.signals import NoEstimate, Signal, Signals


@runtime_checkable
class Expert(Protocol):
    """Turns a clip (and other experts' signals) into signals, or says why not.

    `name`, `version`, `settings` and the declared `options` enter the key under which a signal is stored: change
    the version whenever the output can change. Experts may also have what the functions below ask for.
    """

    name: str
    """Registry name."""
    version: str
    """Changes with the output."""
    provides: frozenset[str]
    """Names of signals (`experts.signals.SIGNAL_TYPES`) that the call returns."""
    needs: frozenset[str]
    """Names of signals that the call reads. A needed signal may be `NoEstimate`: the expert decides what then."""
    options: frozenset[str]
    """Fields of `experts.clip.OpeningOptions` that the call reads, and "times_s" if it reads the clock: the others are
    not shown to it."""
    settings: Any
    """A frozen dataclass of thresholds and floors, each with its unit and source."""

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Loads weights, once per process. Nothing to do for experts without.

        Args:
            weights: the folder that holds weight files (None: the user's usual one), or "random".
            device: "auto", "cpu", "cuda" or "cuda:1".
            dtype: "float32", "float16" or "bfloat16"; None: what the device does best.

        Raises:
            SetupProblem: a package, a file or memory is missing, or a file is not the pinned one.
        """
        ...

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """One entry per name in `provides`. Never raises for footage that it cannot answer for: it abstains."""
        ...

    def close(self) -> None:
        """Frees what `load` took."""
        ...


def may_use(expert: Expert) -> frozenset[str]:
    """Names of signals that the call reads where an expert of the same run provides them; else they are not in
    `signals`."""
    return getattr(expert, "may_use", frozenset())


def joins(expert: Expert) -> bool:
    """Whether the expert only draws conclusions from other signals, cheaply: it joins a run that meets its needs."""
    return getattr(expert, "joins", False)


def needs_weights(expert: Expert) -> bool:
    """Whether the expert rests on a trained model: it runs only if asked for by name."""
    return bool(getattr(expert, "weight_names", ()))


def weights_identity(expert: Expert, weights: str | None) -> str | None:
    """Names the weights that `load(weights)` would load, without loading: "random", or a hash. None: it has none."""
    identity = getattr(expert, "weights_identity", None)
    return None if identity is None else identity(weights)
