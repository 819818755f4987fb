"""The base class of templates. Proposing facts, measuring them and phrasing them are separate methods."""

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
    """A template failed on a clip; the cause is the original error."""

    def __init__(self, template: "Template") -> None:
        super().__init__(f"the template {template.name} failed")
        self.template = template


class Template(ABC):
    """One kind of question about scenes. Four methods are abstract; the others have defaults."""

    name: str
    """Registry name."""
    version: str
    """Changes whenever its questions or answers can change."""
    ability: str
    """Leaf of the ability tree ("L1/Geometry/Distance")."""
    formats: tuple[FormatName, ...]
    """Formats in which a fact is asked."""
    needs: frozenset[str]
    """Signals without which no fact can be asked."""
    reads: frozenset[str]
    """Signals that its answers may depend on, including `needs`; provenance names their experts."""
    cue_formats: tuple[FormatName, ...] = ()
    """Formats whose answers `cue` turns into hints; none by default."""

    @abstractmethod
    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Facts that may be worth asking, drawn by `rng`; the measurement may still refuse them."""

    @abstractmethod
    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """The measurement of each fact on `scene`, which may be any scene of the same media."""

    @abstractmethod
    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The typed answer to a fact in a format, tolerance included. Pure."""

    @abstractmethod
    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Prompt, marks and distractors. Pure except for `rng`."""

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Parameters of a random fact, drawn before any signal is known: the yield is the share of such facts that are
        asked. None where this draw finds none; by default always, and the yield of the template is unknown."""
        return None

    def placed(self, facts: Sequence[Fact], scene: Scene) -> list[Fact]:
        """Drawn facts, moved to places nearby that can be measured. By default pixels move to the nearest markable
        ones."""
        return at_marks(facts, scene)

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The answer to a question of `cue_formats` as a hint. None where the question lacks this template's photos or
        marks.

        `numbers`: number of each photo in the question with the hint, by frame.
        """
        return None
