"""Typed answers and the formats that ask for them: a file each, listed in `registry`.

An answer type says what is *right*: its JSON, P(right), the words of its tolerance, the score of a prediction. A format
says how it is asked for: by a letter, in words, as a number. Gate, data set, audit, scoring, exports and rewards know
neither by name: a new one is one class, named in the registry or by an entry point.
"""

from templates.answers.answer import RIGHT, UNDECIDED, WRONG, Answer
from templates.answers.label import Label
from templates.answers.numbers import Numbers
from templates.answers.plan import Plan
from templates.answers.point import Point
from templates.answers.shape import Shape

__all__ = ["RIGHT", "UNDECIDED", "WRONG", "Answer", "Label", "Numbers", "Plan", "Point", "Shape"]
