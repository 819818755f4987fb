"""What every template is. Number first, words last; what to ask is kept apart from what holds."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from templates.answers import Answer
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Phrasing
from templates.scene.scene import Scene


@runtime_checkable
class Template(Protocol):
    """One kind of question about scenes."""

    name: str
    """Registry name."""
    version: str
    """Changes whenever what it asks or says can change."""
    ability: str
    """Leaf of the tree ("L1/Geometry/Distance")."""
    formats: tuple[FormatName, ...]
    """Ways of asking one fact."""
    needs: frozenset[str]
    """Signals without which nothing can be asked."""
    reads: frozenset[str]
    """Signals that its answers may rest on, `needs` among them: their makers stand in the provenance."""

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """What may be worth asking: facts in media terms, drawn by `rng`. Need not be decided."""
        ...

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """What `scene` (any scene that covers those media) says about each fact."""
        ...

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The typed answer that a measurement gives in a format, tolerance included. Pure."""
        ...

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Words, distractors, marks. Pure but for `rng`."""
        ...
