"""What every template is. Number first, words last; what to ask is kept apart from what holds."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from templates.answers import Answer
from templates.cue import Cue
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Phrasing, Question
from templates.scene.pictures import Params, Pictures
from templates.scene.placing import at_marks
from templates.scene.scene import Scene


class TemplateError(Exception):
    """A template failed on a clip; its cause is what it raised."""

    def __init__(self, template: "Template") -> None:
        super().__init__(f"the template {template.name} failed")
        self.template = template


class Template(ABC):
    """One kind of question about scenes. Four methods make it; the others have defaults."""

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
    cue_formats: tuple[FormatName, ...] = ()
    """Formats whose answers `cue` tells beside other questions; none by default."""

    @abstractmethod
    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """What may be worth asking: facts in media terms, drawn by `rng`. Need not be decided."""

    @abstractmethod
    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """What `scene` (any scene that covers those media) says about each fact."""

    @abstractmethod
    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The typed answer that a measurement gives in a format, tolerance included. Pure."""

    @abstractmethod
    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Words, distractors, marks. Pure but for `rng`."""

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Parameters of a fact, drawn before any signal is seen: the yield is the share of such facts that are decided.
        None where this draw finds none. By default it raises `NotImplementedError`, and the yield says that it is not
        known."""
        raise NotImplementedError

    def placed(self, facts: Sequence[Fact], scene: Scene) -> list[Fact]:
        """Drawn facts where they can be asked, near where they were drawn. By default pixels move to the nearest that
        may carry a mark."""
        return at_marks(facts, scene)

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """What the answer of a question of `cue_formats` tells beside another one, in which `numbers` gives the number
        of the photo by frame. None where the question does not show what this template shows."""
        return None
