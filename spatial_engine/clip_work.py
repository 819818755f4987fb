"""One clip on its way through the experts: keys, failures, seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from experts.clip import Clip
from experts.expert import Expert, may_use
from experts.signals import Abstained, Signal
from spatial_engine.run_key import run_key
from spatial_engine.store import Failure

_RETRY = "--retry-failed"

Results = Mapping[str, Signal | Abstained]


@dataclass(kw_only=True)
class ClipWork:
    """A clip on its way through the experts."""

    clip: Clip
    failures: dict[str, Failure]
    """By key, former settings included."""
    keys: dict[str, str] = field(default_factory=dict)
    """Of each signal whose expert had its turn, by name."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each expert that ran, by name."""

    def read_by(self, expert: Expert) -> list[str]:
        """Signals that the expert reads: what it needs, and what it may use and somebody provides."""
        return sorted(expert.needs | (may_use(expert) & self.keys.keys()))

    def add_key(self, expert: Expert, weights: str | None) -> str:
        """The expert's key, from now on that of each signal that it provides. Its needs come first."""
        needs = {name: self.keys[name] for name in self.read_by(expert)}
        failed = {name for name in needs if needs[name] in self.failures}
        key = run_key(self.clip, expert, needs, failed=failed, weights=weights)
        self.keys.update(dict.fromkeys(expert.provides, key))
        return key

    def refusal(self, expert: Expert) -> Results | None:
        """What stands for the expert's signals where one that it needs failed; None where it can run."""
        broken = [name for name in sorted(expert.needs) if self.keys[name] in self.failures]
        if not broken:
            return None
        remedy = self.failures[self.keys[broken[0]]].remedy or _RETRY
        refused = Abstained(reason=f"needs {broken[0]}, which failed", remedy=remedy)
        return dict.fromkeys(expert.provides, refused)
