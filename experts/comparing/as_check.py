"""Another expert as the second opinion: its signals go out as `<name>_check` and are held against the first one's."""

from collections.abc import Mapping
from typing import Any

from experts.clip import Clip
from experts.expert import Expert, may_use, weights_identity
from experts.signals import SIGNAL_TYPES, NoEstimate, Signal, Signals

_SUFFIX = "_check"


class AsCheck:
    """An expert whose signals somebody else already provides. What has no `_check` of its own is dropped, and with it
    the expert's own second opinion."""

    def __init__(self, expert: Expert) -> None:
        self.expert = expert
        self.name = f"{expert.name}{_SUFFIX}"
        self.version = expert.version
        self.provides = frozenset(f"{name}{_SUFFIX}" for name in expert.provides) & SIGNAL_TYPES.keys()
        self.needs, self.may_use, self.options = expert.needs, may_use(expert), expert.options
        self.settings: Any = expert.settings
        self.code_licence = getattr(expert, "code_licence", "Apache-2.0")
        self.weight_names = getattr(expert, "weight_names", ())

    def weights_identity(self, weights: str | None) -> str | None:
        """The expert's own."""
        return weights_identity(self.expert, weights)

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """The expert's own."""
        self.expert.load(weights, device, dtype)

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """The expert's signals, renamed."""
        results = self.expert(clip, signals)
        return {name: results[name.removesuffix(_SUFFIX)] for name in self.provides}

    def close(self) -> None:
        """The expert's own."""
        self.expert.close()


def original(expert: Expert) -> Expert:
    """The expert itself, where it stands as another one's check."""
    return expert.expert if isinstance(expert, AsCheck) else expert
