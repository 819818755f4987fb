"""What every expert is: two sets of signal names, a page of settings, and one call."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from experts.clip import Clip
from experts.signals import Abstained, Signal, Signals


@runtime_checkable
class Expert(Protocol):
    """Turns a clip (and other experts' signals) into signals, or says why not.

    `name`, `version`, `settings` and the declared `options` enter the key under which a signal is stored: change
    the version whenever the output can change.
    """

    name: str
    """Registry name."""
    version: str
    """Changes with the output."""
    provides: frozenset[str]
    """Names of signals (`experts.signals.SIGNAL_TYPES`) that the call returns."""
    needs: frozenset[str]
    """Names of signals that the call reads. A needed signal may be `Abstained`: the expert decides what then."""
    options: frozenset[str]
    """Fields of `experts.clip.OpeningOptions` that the call reads, and "times_s" if it reads the clock: the others are
    not shown to it."""
    settings: Any
    """A frozen dataclass of thresholds and floors, each with its unit and source."""

    def load(self, weights: str | None = None, device: str = "cpu", dtype: str | None = None) -> None:
        """Loads weights, once per process. Nothing to do for experts without."""
        ...

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | Abstained]:
        """One entry per name in `provides`. Never raises for footage that it cannot answer for: it abstains."""
        ...

    def close(self) -> None:
        """Frees what `load` took."""
        ...
