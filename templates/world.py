"""The world of a template, on which facts are measured: that of a clip (`Scene`, `Episode`), or one without footage."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from experts.provenance import Provenance, allows_commercial_use
from experts.signals import NoEstimate, Signal

NO_FOOTAGE = "no footage"
"""In place of the footage's licence, for questions that show none."""
AnyWorld = Any
"""A world of the class that the template declares as `world`."""


@dataclass(frozen=True, kw_only=True)
class World:
    """Base of worlds: what asking needs to know of each."""

    signals: Mapping[str, Signal] = field(default_factory=dict)
    """Estimated signals, by name."""
    no_estimates: Mapping[str, NoEstimate] = field(default_factory=dict)
    """Signals without an estimate, with the reason, by name."""
    judged_by: Mapping[str, Provenance] = field(default_factory=dict)
    """Provenance of what decided which signals count and how large their σ is, by name."""
    second: "World | None" = None
    """An independent estimate of the same world. Every fact is measured on it too."""

    @property
    def clip_id(self) -> str:
        """Id of the clip that is shown; "" without footage."""
        return ""

    @property
    def footage_licence(self) -> str:
        """Licence of what is shown."""
        return NO_FOOTAGE


@dataclass(frozen=True, kw_only=True)
class Procedural(World):
    """A world without footage: the template itself makes it, by a rule, from a seed. Each of its facts is a puzzle,
    shown by drawings alone."""

    name: str
    """Of the template."""
    seed: int

    @classmethod
    def of(cls, name: str, version: str, seed: int, licence: str = "unknown") -> "Procedural":
        """The world of a template; its provenance names no expert but the template."""
        free = allows_commercial_use(licence)
        maker = Provenance(expert=name, version=version, seed=seed, code_licence=licence, commercial_ok=free)
        return cls(name=name, seed=seed, judged_by={"puzzle": maker})
