"""Reads the answer from a response: one reader per kind of answer. A reader never guesses: it says why it read none."""

from spatial_engine.scoring.reading.choice import read_choice
from spatial_engine.scoring.reading.conclusion import conclusion
from spatial_engine.scoring.reading.json_object import read_object
from spatial_engine.scoring.reading.number import read_number
from spatial_engine.scoring.reading.order import read_order
from spatial_engine.scoring.reading.places import read_places
from spatial_engine.scoring.reading.plan import read_plan
from spatial_engine.scoring.reading.point import read_point
from spatial_engine.scoring.reading.reading import Reading, Unreadable
from spatial_engine.scoring.reading.steps import read_steps
from spatial_engine.scoring.reading.text import read_text
from spatial_engine.scoring.reading.words import read_words
from spatial_engine.scoring.reading.yes_no import read_yes_no

__all__ = [
    "Reading",
    "Unreadable",
    "conclusion",
    "read_choice",
    "read_number",
    "read_object",
    "read_order",
    "read_places",
    "read_plan",
    "read_point",
    "read_steps",
    "read_text",
    "read_words",
    "read_yes_no",
]
