"""Draws docs/questions.png, the README's picture: six questions of docs/abilities.md."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from PIL import Image

from templates.question import LETTERS, Question

INK, SOFT, RIGHT, CARD = "#1c2733", "#5d6b7a", "#0b6e4f", "#ffffff"
SHOWN = (
    ("nearest_object", "choice"),
    ("depth_order", "order"),
    ("horizon_line", "choice"),
    ("object_direction", "choice"),
    ("place_direction", "choice"),
    ("path_map", "choice"),
)
"""Template and format."""
COLUMNS, ROWS = 3, 2
WIDTH, HEIGHT = 13.5, 8.0
CHARACTERS = 62
"""In a line of text."""
PICTURE, BELOW, LINE = 0.54, 0.06, 0.047
"""Heights as shares of a card: most of the picture, the gap below it, a line of text."""


def draw(examples: Mapping[tuple[str, str], tuple[Question, Image.Image]]) -> None:
    """Writes the picture, given the question and the pictures of each template and format."""
    figure = Figure(figsize=(WIDTH, HEIGHT), facecolor="#f4f6f8")
    canvas = FigureCanvasAgg(figure)
    for card, shown in zip(np.ravel(figure.subfigures(ROWS, COLUMNS, wspace=0.02, hspace=0.02)), SHOWN, strict=True):
        card.set_facecolor(CARD)
        _card(card, *examples[shown])
    canvas.print_figure(Path(__file__).with_name("questions.png"), dpi=110, pil_kwargs={"optimize": True})


def _card(card: SubFigure, question: Question, picture: Image.Image) -> None:
    """Ability, picture, words, options with the right one in green, the answer and how certain it is."""
    card.text(0.04, 0.955, question.ability.replace("/", " · "), fontsize=9, color=RIGHT, weight="bold", va="center")
    height = min(PICTURE, 0.92 * WIDTH / COLUMNS * picture.height / picture.width / (HEIGHT / ROWS))
    axis = card.add_axes((0.04, 0.91 - height, 0.92, height), anchor="NW")
    axis.imshow(picture)
    axis.set_axis_off()
    top = 0.91 - height - BELOW
    lines = textwrap.wrap(question.prompt, CHARACTERS)
    card.text(0.04, top, "\n".join(lines), fontsize=9, color=INK, va="top", linespacing=1.25)
    top -= LINE * (len(lines) + 0.6)
    for k, option in enumerate(() if question.has_pictures_as_options else question.options):
        letter = LETTERS[k]
        style = {"color": RIGHT, "weight": "bold"} if letter == question.answer else {"color": SOFT}
        text = f"{letter}  {option}"
        card.text(0.04 + 0.48 * (k % 2), top - LINE * (k // 2), text, fontsize=9, va="top", **style)
    card.text(0.04, 0.03, f"{question.answer}: {_certainty(question)}", fontsize=8, color=RIGHT, va="bottom")


def _certainty(question: Question) -> str:
    if question.margin is not None:
        return f"decided by {min(question.margin, 99):.2g} σ"
    return f"P(right) = {question.evidence['p_right']:.3f}"
