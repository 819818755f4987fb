"""Answer types and formats by name. Third parties add theirs as entry points `spatial_engine.answers` and
`spatial_engine.formats`."""

from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

from experts.registry import Registry
from templates.columns import Json
from templates.question import Question

if TYPE_CHECKING:
    from templates.answers.answer import Answer
    from templates.answers.format import Format

ANSWERS = Registry(
    "spatial_engine.answers",
    {
        "label": "templates.answers.label:Label",
        "numbers": "templates.answers.numbers:Numbers",
        "relative_number": "templates.answers.relative_number:RelativeNumber",
        "point": "templates.answers.point:Point",
        "shape": "templates.answers.shape:Shape",
        "plan": "templates.answers.plan:Plan",
        "arm_plan": "templates.answers.arm_plan:ArmPlan",
        "count": "templates.answers.count:Count",
        "box": "templates.answers.box:Box",
        "box_3d": "templates.answers.box_3d:Box3D",
        "floor_map": "templates.answers.floor_map:FloorMap",
        "region": "templates.answers.region:Region",
        "text": "templates.answers.text:Text",
    },
)
"""Answer types, by `Question.scorer`."""

FORMATS = Registry(
    "spatial_engine.formats",
    {
        "choice": "templates.answers.choice:Choice",
        "yes_no": "templates.answers.yes_no:YesNo",
        "numeric": "templates.answers.numbers:Numeric",
        "json": "templates.answers.numbers:NumbersByName",
        "point": "templates.answers.point:Pixel",
        "order": "templates.answers.order:Order",
        "plan": "templates.answers.plan:PlanOfSteps",
        "arm_plan": "templates.answers.arm_plan:PlanOfArm",
        "map": "templates.answers.floor_map:MapOfObjects",
        "set": "templates.answers.words:Words",
        "text": "templates.answers.text:FreeText",
        "reply": "templates.answers.reply:Reply",
    },
)
"""Formats, by `Question.format`."""


@cache
def answer_type(name: str) -> "type[Answer]":
    """The answer type of that name. Raises `UnknownNameError`."""
    found: type[Answer] = ANSWERS.load(name)
    return found


@cache
def format_of(name: str) -> "Format":
    """The format of that name. Raises `UnknownNameError`."""
    found: Format = FORMATS.load(name)()
    return found


def recorded_answer(question: Question) -> "Answer":
    """The typed answer of a question. Raises what `Answer.from_json` raises, and `UnknownNameError` for an unknown
    scorer."""
    return answer_type(question.scorer).from_json(question)


def stack_to_record(answers: "Answer") -> list[Json]:
    """A stack of answers as arrays and plain values: the name of its type, and its fields."""
    return [answers.name, {field.name: getattr(answers, field.name) for field in fields(answers) if field.init}]


def stack_from_record(record: Sequence[Json]) -> "Answer":
    """The inverse of `stack_to_record`."""
    name, values = record
    return answer_type(name)(**{field: _tuples(value) for field, value in values.items()})


def _tuples(value: Json) -> Json:
    """Lists as the tuples that they were."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
