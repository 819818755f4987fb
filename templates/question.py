"""A question as it is kept: one JSON object a line (DESIGN §9)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from templates.measured import Json

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of options, in order."""

FormatName = str
"""A way of asking, by its name in `templates.answers.registry.FORMATS`: choice, yes_no, numeric, json, point, order,
plan, or that of a plug-in."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A lettered point drawn into a picture."""

    text: str
    """One or two characters."""
    xy_px: tuple[float, float]
    """Where, in pixels of the upright full-size frame."""


@dataclass(frozen=True, kw_only=True)
class Photo:
    """One frame of the clip, with marks."""

    frame: int
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture made of lines, in map units (x right, y up)."""

    polylines: tuple[tuple[tuple[float, float], ...], ...]
    """Each a path; the first point of each is drawn as its start, the last as an arrow head."""
    points: tuple[Mark, ...] = ()
    """Labelled points; `xy_px` is in map units here."""


Medium = Photo | Drawing


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a choice: what is shown, and what that says."""

    shown: str | Medium
    """A text without a letter, or a picture."""
    value: Json = None
    """What it says, in the form of `Question.value` (a label, a pixel); None of drawings that show their own points."""


@dataclass(frozen=True, kw_only=True)
class Phrasing:
    """A fact and its answer in words: what `Template.phrase` makes, by a pure function."""

    prompt: str
    """Text of the question. Photos are named "photo 1", "photo 2", ... in the order of `media`."""
    media: tuple[Medium, ...]
    """What is shown with the prompt, in order."""
    answer: Json = None
    """The index of the right option of a choice; what a format asks for where the typed answer does not say it (yes or
    no about a drawing, an order); None: as the typed answer says (`Answer.to_json`)."""
    options: tuple[Option, ...] = ()
    """Their order is not final: letters are arranged when the data set is balanced."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One line of `questions.jsonl`."""

    id: str
    """16 hex digits of (fact_id, format)."""
    ability: str
    """Leaf of the tree, spelt "L1/Geometry/Distance"."""
    template: str
    format: FormatName
    prompt: str
    options: Sequence[str]
    """Texts without letters, or ids of media. Empty unless format is choice."""
    answer: Json
    """letter | "yes"/"no" | number | object | [x, y] | list of photo numbers | {"actions": [], "step_nums": []}."""
    value: Json
    """The measurement behind the answer. Of a plan: where it leads, {"pan", "tilt", ..., "dolly"} in its own steps."""
    unit: str
    sigma: Json
    """Of the shape of a numeric answer; null for labels, which carry `margin`."""
    tolerance: Json
    """Of the shape of a numeric answer; null for labels."""
    margin: float | None
    """How decided a label is, in σ."""
    scorer: str
    """Type of the answer, which says what is right: label | numbers | point | shape | plan, or that of a plug-in."""
    scorer_params: Mapping[str, Json]
    """What the score needs beside answer and tolerance: `period`, sizes of steps, `option_values` (what each option
    says, in the form of `value`)."""
    media: Sequence[Mapping[str, Json]]
    """{id, kind: "frames", path, frames, times_s, marks} or {id, kind: "drawing", path, polylines, points}.
    Media that are options stand here too and carry "option": true."""
    fact: Mapping[str, Json]
    """The parameters of the template, in media terms."""
    fact_id: str
    """Shared by all formats of one fact; a split never separates them."""
    evidence: Mapping[str, Json]
    clip: str
    """Clip id."""
    seed: int
    provenance: Sequence[Mapping[str, Json]]
    """Of every signal that the answer rests on."""
    licence: Mapping[str, Json]
    """{"footage": ..., "signals": [...], "commercial_ok": bool}"""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Keys of a line that this version does not know; they survive reading and writing."""

    def to_json(self) -> dict[str, Json]:
        """One line's object: fields in this order, unknown keys last."""
        record = asdict(self)
        record |= record.pop("extra")
        return record
