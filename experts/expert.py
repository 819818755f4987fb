"""The interface of an expert: the signals that it reads and provides, its settings, and one call."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from experts.clip import Clip
from experts.signals import SIGNAL_TYPES, NoEstimate, Signal, Signals


class SetupProblem(Exception):  # noqa: N818 - a state of the machine, not a fault of the program
    """This machine cannot run an expert: a package, a weight file, a device or memory is missing, or a file has other
    bytes than the pinned ones. It concerns the machine, never a clip."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        """What is missing or wrong."""
        self.remedy = remedy
        """The exact command or flag that solves it."""

    def __str__(self) -> str:
        return f"{self.cause}; {self.remedy}"


_CHECK = "_check"


@runtime_checkable
class Expert(Protocol):
    """Computes signals from a clip (and from other experts' signals), or returns the reason why it cannot.

    `name`, `version`, `settings` and the declared `options` are part of the key under which a signal is stored. Change
    the version whenever the output can change. The functions below name further, optional attributes.
    """

    name: str
    """Registry name."""
    version: str
    """Changes whenever the output can change."""
    provides: frozenset[str]
    """Names of the signals (`experts.signals.SIGNAL_TYPES`) that the call returns."""
    needs: frozenset[str]
    """Names of the signals that the call reads. A needed signal may be `NoEstimate`; the expert handles that case."""
    options: frozenset[str]
    """Fields of `experts.clip.OpeningOptions` that the call reads, and "times_s" if it reads the clock. All others are
    hidden from it."""
    settings: Any
    """A frozen dataclass of thresholds and noise floors, each with its unit and source."""

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Loads weights, once per process. Experts without weights do nothing.

        Args:
            weights: the folder that holds weight files (None: the user's default folder), or "random".
            device: "auto", "cpu", "cuda" or "cuda:1".
            dtype: "float32", "float16" or "bfloat16"; None: the best one for the device.

        Raises:
            SetupProblem: a package, a file or memory is missing, or a file is not the pinned one.
        """
        ...

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """Returns one entry per name in `provides`. Never raises for unsuitable footage: it returns `NoEstimate`
        instead."""
        ...

    def close(self) -> None:
        """Frees what `load` allocated."""
        ...


class WeightFreeExpert:
    """Base of experts without a trained model: there is nothing to load or to free."""

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""


def may_use(expert: Expert) -> frozenset[str]:
    """Names of optional signals: the call reads them if another expert of the same run provides them. Otherwise
    `signals` lacks them."""
    return getattr(expert, "may_use", frozenset())


def joins(expert: Expert) -> bool:
    """Whether the expert only combines other signals at little cost. Such an expert joins every run that meets its
    needs."""
    return getattr(expert, "joins", False)


def runs_by_default(expert: Expert) -> bool:
    """Whether the expert runs where the user names none: it has no weights, and needs nothing else of the user."""
    return not needs_weights(expert) and getattr(expert, "by_default", True)


def needs_weights(expert: Expert) -> bool:
    """Whether the expert uses a trained model. Such an expert runs only if the user names it."""
    return bool(getattr(expert, "weight_names", ()))


def weights_identity(expert: Expert, weights: str | None) -> str | None:
    """Identifies the weights that `load(weights)` would load, without loading them: "random" or a hash. None: no
    weights."""
    identity = getattr(expert, "weights_identity", None)
    return None if identity is None else identity(weights)


class AsCheck:
    """Runs an expert as the independent second estimate of signals that another expert provides. Its signals are
    renamed to `<name>_check`. Signals without a check, and the expert's own checks, are dropped."""

    def __init__(self, expert: Expert) -> None:
        self.expert = expert
        self.name = f"{expert.name}{_CHECK}"
        self.version = expert.version
        self.provides = frozenset(f"{name}{_CHECK}" for name in expert.provides) & SIGNAL_TYPES.keys()
        self.needs, self.may_use, self.options = expert.needs, may_use(expert), expert.options
        self.settings: Any = expert.settings
        self.code_licence = getattr(expert, "code_licence", "Apache-2.0")
        self.weight_names = getattr(expert, "weight_names", ())

    def weights_identity(self, weights: str | None) -> str | None:
        """That of the wrapped expert."""
        return weights_identity(self.expert, weights)

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Loads the wrapped expert."""
        self.expert.load(weights, device, dtype)

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """The signals of the wrapped expert, renamed."""
        results = self.expert(clip, signals)
        return {name: results[name.removesuffix(_CHECK)] for name in self.provides}

    def close(self) -> None:
        """Closes the wrapped expert."""
        self.expert.close()


def original(expert: Expert) -> Expert:
    """The wrapped expert of an `AsCheck`; any other expert itself."""
    return expert.expert if isinstance(expert, AsCheck) else expert
