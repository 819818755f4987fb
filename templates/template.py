"""The base class of templates. Proposing facts, measuring, answering, offering options and phrasing are separate."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.cue import Cue
from templates.facts import Facts
from templates.measured import Measured
from templates.offer import Offer, fixed_options
from templates.question import FormatName, Phrasing, Question
from templates.scene.pictures import Pictures
from templates.scene.placing import at_marks
from templates.scene.scene import Scene
from templates.wording import Wording, WordingError, wordings
from templates.world import AnyWorld, World

OwnFacts = Any
"""Facts of the class that the template declares as `facts`."""


class TemplateError(Exception):
    """A template failed on a clip; the cause is the original error."""

    def __init__(self, template: "Template") -> None:
        super().__init__(f"the template {template.name} failed")
        self.template = template


class Template(ABC):
    """One kind of question. Four methods are abstract; the others have defaults.

    All but `phrase` and `cue` work on columns: a row is a fact.
    """

    name: str
    """Registry name."""
    version: str
    """Changes whenever its questions or answers can change."""
    ability: str
    """Leaf of the ability tree ("L1/Geometry/Distance")."""
    formats: tuple[FormatName, ...]
    """Formats in which a fact is asked."""
    world: ClassVar[type[World]] = Scene
    """What it asks about: `Scene` (any clip), `Episode` (a clip in which something is done), or `Procedural` (no
    footage)."""
    facts: ClassVar[type[Facts]]
    """The parameters of its facts."""
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {}
    """By format with options: the words that every question offers. Other options: `offer`."""
    needs: frozenset[str]
    """Signals without which no fact can be asked."""
    instead: ClassVar[Mapping[str, str]] = {}
    """Signals that do as well as one that it needs: the `zooming_path` for what reads poses alone."""
    reads: frozenset[str]
    """Signals that its answers may depend on, including `needs`; provenance and licence name their experts. Those that
    only help to choose facts, or tell how hard they are, do not count."""
    with_bars: ClassVar[bool] = False
    """Whether it may ask about pictures with black bars (`ReframedClip.bars_px`): nothing that it reads ends where the
    picture does, as masks of objects, fields of view and the horizon do."""
    spare: ClassVar[int] = 4
    """Facts proposed for each one that may be asked: the gate refuses most of them."""
    not_worth_asking: ClassVar[frozenset[str]] = frozenset()
    """Reasons for which a fact is not asked although its answer is known, wholly or in part (NaN elsewhere): ground
    truth compares such facts all the same. They come last among the reasons of a fact."""
    cue_formats: tuple[FormatName, ...] = ()
    """Formats whose answers `cue` turns into hints; none by default."""

    def lacks(self, world: World) -> list[str]:
        """Signals without which nothing can be asked about the world."""
        known = world.signals.keys()
        return sorted(name for name in self.needs if not known & {name, self.instead.get(name, name)})

    @abstractmethod
    def propose(self, world: AnyWorld, rng: np.random.Generator, count: int) -> Facts:
        """About `count` facts that may be worth asking, drawn by `rng`; the measurement may still refuse them."""

    @abstractmethod
    def measure(self, facts: OwnFacts, world: AnyWorld) -> Measured:
        """The measurement of each fact on `world`, which may be any world of the same media."""

    @abstractmethod
    def answer(self, format: FormatName, facts: OwnFacts, measured: Measured) -> Answer | Answers:
        """The typed answers in a format, tolerance included, as a stack; `Answers` where some facts have none. Pure.
        Facts with a reason (`Measured.why`) are left out."""

    def offer(self, format: FormatName, facts: OwnFacts, answers: Answers, chance: Chance) -> Offer | None:
        """The options of each question; None for a format without options. By default the words of `labels`."""
        if format not in self.labels:
            return None
        return fixed_options(self.labels[format], answers.labels())

    @abstractmethod
    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Prompt, media and options of one question. `fact`: a row as JSON; `offer`: its row. Pure."""

    def wording(self, key: str) -> Wording:
        """What it says in a format, or in a variant of it: by default from `<name>.toml` beside its module. Raises
        `WordingError`."""
        known = wordings(type(self))
        if key not in known:
            raise WordingError(f"{self.name}.toml has no [{key}]; it has {', '.join(known)}")
        return known[key]

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Parameters of a random fact, drawn before any signal is known: the yield is the share of such facts that are
        asked. None where this draw finds none; by default always, and the yield of the template is unknown."""
        return None

    def placed(self, facts: OwnFacts, scene: Scene) -> Facts:
        """Drawn facts, moved to places nearby that can be measured. By default pixels move to the nearest markable
        ones."""
        return at_marks(facts, scene)

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The answer to a question of `cue_formats` as a hint. None where the question lacks this template's photos or
        marks.

        `numbers`: number of each photo in the question with the hint, by frame.
        """
        return None
