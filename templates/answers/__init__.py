"""Answer types and the formats that ask for them: one file each, listed in `registry`.

An answer type defines which answers are *right*: its JSON, P(right), the wording of its tolerance, the score of a
prediction. A format defines how the answer is asked for: as a letter, in words, as a number. Gate, dataset, audit,
scoring, exports and rewards use both through their base classes: a new one is one class, in the registry or an entry
point.
"""

from templates.answers.answer import RIGHT, UNDECIDED, WRONG, Answer
from templates.answers.arm_plan import ArmPlan
from templates.answers.box import Box
from templates.answers.box_3d import Box3D
from templates.answers.count import Count
from templates.answers.floor_map import FloorMap
from templates.answers.label import Label
from templates.answers.numbers import Numbers
from templates.answers.plan import Plan
from templates.answers.point import Point
from templates.answers.region import Region
from templates.answers.shape import Shape
from templates.answers.text import Text

__all__ = [
    "RIGHT",
    "UNDECIDED",
    "WRONG",
    "Answer",
    "ArmPlan",
    "Box",
    "Box3D",
    "Count",
    "FloorMap",
    "Label",
    "Numbers",
    "Plan",
    "Point",
    "Region",
    "Shape",
    "Text",
]
