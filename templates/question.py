"""A question as stored: one JSON object per line (docs/data_card.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

from templates.columns import Json
from templates.media import MEDIA, Medium

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters of options, in order."""
BY_PEOPLE = "by_people"
"""`Question.template` of what people corrected or wrote: nobody measured it, so it has neither σ nor margin."""

FormatName = str
"""Name of a format in `templates.answers.registry.FORMATS`: choice, yes_no, numeric, json, point, order, plan, map,
set, text, or that of a plug-in."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a choice: what is shown, and its value."""

    shown: str | Medium
    """A text without a letter, or a picture."""
    value: Json = None
    """Its value in the form of `Question.value` (a label, a pixel); None for drawings, whose points are the value."""
    mistake: str = ""
    """The typical mistake that leads to it ("mirrored"); "" for none."""


@dataclass(frozen=True, kw_only=True)
class Phrasing:
    """What a template shows and says of one fact, as `Template.phrase` makes it."""

    media: tuple[Medium, ...]
    """Shown with the prompt, in order: "photo 1", "photo 2", ... in the words."""
    wording: str = ""
    """Key of the template's wordings; by default the format."""
    values: Mapping[str, object] = field(default_factory=dict)
    """What fills the placeholders of the wording."""
    options: tuple[str | Medium, ...] = ()
    """Texts or pictures of the offered options; by default the texts of the wording."""
    answer: Json = None
    """The written answer, where the typed answer does not give it (`Answer.to_json`)."""

    def __post_init__(self) -> None:
        """Raises `TypeError` for parts that no question can be made of."""
        for name, part in (("media", self.media), ("options", self.options)):
            if not isinstance(part, tuple):
                raise TypeError(f"Phrasing.{name} is {type(part).__name__}; allowed: tuple")
        if odd := [type(medium).__name__ for medium in self.media if not isinstance(medium, MEDIA)]:
            raise TypeError(f"Phrasing.media holds {odd[0]}; allowed: {', '.join(medium.__name__ for medium in MEDIA)}")
        if odd := [type(option).__name__ for option in self.options if not isinstance(option, (str, *MEDIA))]:
            raise TypeError(f"Phrasing.options holds {odd[0]}; allowed: str, {', '.join(m.__name__ for m in MEDIA)}")


@dataclass(frozen=True, kw_only=True)
class Question:
    """One line of `questions.jsonl`."""

    id: str
    """16 hex digits of (fact_id, format)."""
    ability: str
    """Leaf of the tree, spelt "L1/Geometry/Distance"."""
    template: str
    format: FormatName
    instructions: str
    """What is the same for every question of this kind: axes, how to count, form of the answer; may be empty. With the
    prompt it is complete."""
    prompt: str
    options: Sequence[str]
    """Texts without letters, or ids of media. Empty unless format is choice."""
    answer: Json
    """letter | "yes"/"no" | number | object | [x, y] | list of numbers or of words |
    {"actions": [], "step_nums": []}."""
    value: Json
    """The measurement behind the answer. For a plan: its target, {"pan", "tilt", ..., "dolly"} in its own steps."""
    unit: str
    sigma: Json
    """In the shape of a numeric answer; null for labels, which have `margin`."""
    tolerance: Json
    """In the shape of a numeric answer; null for labels."""
    margin: float | None
    """Distance of the measurement from the nearest other label, in σ."""
    scorer: str
    """Answer type, which defines what is right: label | numbers | count | point | region | box | box_3d |
    floor_map | shape | plan | arm_plan | text, or that of a plug-in."""
    scorer_params: Mapping[str, Json]
    """Parameters of the score beside answer and tolerance: `period`, sizes of steps, `option_values` (the value of each
    option, in the form of `value`)."""
    media: Sequence[Mapping[str, Json]]
    """Entries of what is shown, as `docs/data_card.md` lists them: {id, kind, path, ...}. Includes media that are
    options; they have "option": true."""
    fact: Mapping[str, Json]
    """Parameters of the template, in media terms."""
    fact_id: str
    """Shared by all formats of one fact; splits keep them together."""
    evidence: Mapping[str, Json]
    """Details of the measurement; `p_right`; `difficulty`: by measure, see `templates.condition`; `traps`: by typical
    mistake, the answer to which it leads."""
    clip: str
    """Clip id; for a puzzle, which shows no footage, that of its fact."""
    seed: int
    provenance: Sequence[Mapping[str, Json]]
    """Of every signal that the answer depends on."""
    licence: Mapping[str, Json]
    """{"footage": ..., "signals": [...], "commercial_ok": bool}"""
    hints: Sequence[Mapping[str, Json]] = ()
    """What may stand beside it on request, as `docs/hints.md` describes it: {"kind", "text": [], "pictures": [],
    "licence"}. A line without hints has no such key."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Keys of the line that this version does not know; reading and writing preserve them."""

    @property
    def text(self) -> str:
        """Instructions and prompt, as a model reads them."""
        return f"{self.instructions}\n{self.prompt}" if self.instructions else self.prompt

    @property
    def is_puzzle(self) -> bool:
        """Whether it shows no footage."""
        return self.clip == self.fact_id

    @property
    def right_option(self) -> int | None:
        """Index of the right option; None without options, or where the answer is the letter of none."""
        letters = LETTERS[: len(self.options)]
        found = letters.find(self.answer) if isinstance(self.answer, str) and len(self.answer) == 1 else -1
        return found if found >= 0 else None

    @property
    def has_pictures_as_options(self) -> bool:
        """Whether the options are pictures; else they are texts."""
        return any(medium.get("option") for medium in self.media)

    @property
    def right_words(self) -> str | None:
        """The right answer in words: the text of an option, yes or no; None for numbers, points and pictures."""
        if not self.options:
            return self.answer if isinstance(self.answer, str) else None
        if self.has_pictures_as_options or self.right_option is None:
            return None
        return self.options[self.right_option]

    def to_json(self) -> dict[str, Json]:
        """The object of one line: fields in this order, unknown keys last."""
        hints = {"hints": self.hints} if self.hints else {}
        return {name: getattr(self, name) for name in FIELDS} | hints | dict(self.extra)

    @property
    def files(self) -> list[str]:
        """Paths of all pictures and videos, those of hints included."""
        shown = [*self.media, *(picture for hint in self.hints for picture in hint["pictures"])]
        return [str(medium["path"]) for medium in shown if medium.get("path")]


FIELDS = tuple(field.name for field in fields(Question) if field.name not in ("hints", "extra"))
"""Keys that every line of a dataset has."""
