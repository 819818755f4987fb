"""Draws docs/questions.png: six questions of the demo's data set, as `make demo` writes it.

python docs/questions_figure.py demo/dataset
"""

import sys
import textwrap
from pathlib import Path

import cv2
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import Question

INK, SOFT, RIGHT, CARD = "#1c2733", "#5d6b7a", "#0b6e4f", "#ffffff"
SHOWN = (
    ("range_ratio", "choice"),
    ("same_point", "choice"),
    ("place_direction", "choice"),
    ("which_moves", "choice"),
    ("path_map", "choice"),
    ("camera_turn", "numeric"),
)
COLUMNS, ROWS = 3, 2
WIDTH, HEIGHT = 13.5, 7.6


def media(card: SubFigure, dataset: Dataset, question: Question) -> None:
    """The photos in one row; the maps of a question about maps in a second one."""
    photos = [medium for medium in question.media if medium["kind"] == "frames"]
    maps = [medium for medium in question.media if medium["kind"] != "frames"]
    bottom = 0.93
    for row in filter(None, (photos, maps)):
        height = min(0.44, 0.92 / len(row) * 0.75 * WIDTH / COLUMNS / (HEIGHT / ROWS))
        bottom -= height + 0.02
        for k, medium in enumerate(row):
            axis = card.add_axes((0.04 + k * 0.92 / len(row), bottom, 0.9 / len(row), height), anchor="NW")
            axis.imshow(cv2.cvtColor(cv2.imread(str(dataset.path / medium["path"])), cv2.COLOR_BGR2RGB))
            axis.set_axis_off()
            for mark in medium.get("marks", ()):
                axis.plot(*mark["xy_px"], "o", ms=4, color="#ffd400", mec="black", mew=0.6)
                axis.annotate(
                    mark["text"], mark["xy_px"], (4, 4), textcoords="offset points", fontsize=8, color="white",
                    bbox={"boxstyle": "round,pad=0.15", "fc": INK, "lw": 0},
                )  # fmt: skip
    text = textwrap.fill(question.prompt, 66)
    card.text(0.04, bottom - 0.03, text, fontsize=8.5, color=INK, va="top", linespacing=1.25)


def words(card: SubFigure, question: Question) -> None:
    """Ability, options and answer."""
    card.text(0.04, 0.965, question.ability, fontsize=9, color=RIGHT, weight="bold", va="center")
    options = [f"map {k + 1}" if question.template == "path_map" else o for k, o in enumerate(question.options)]
    for k, option in enumerate(options):
        letter = chr(ord("A") + k)
        style = {"color": RIGHT, "weight": "bold"} if letter == question.answer else {"color": SOFT}
        card.text(0.04 + 0.48 * (k % 2), 0.155 - 0.05 * (k // 2), f"{letter}  {option}", fontsize=8.5, **style)
    card.text(0.04, 0.03, decided(question), fontsize=8, color=RIGHT, va="bottom")


def decided(question: Question) -> str:
    """The answer, and how certain it is."""
    if question.margin is not None:
        return f"{question.answer}: decided by {question.margin:.1f} σ"
    if question.options:
        return f"{question.answer}: P(right) = {question.evidence['p_right']:.3f}"
    return f"{question.answer}° ± {question.sigma:.1f}° (1 σ)"


def main(folder: str) -> None:
    dataset = Dataset.open(folder)
    first = {(q.template, q.format): q for q in reversed(list(dataset.questions))}
    figure = Figure(figsize=(WIDTH, HEIGHT), facecolor="#f4f6f8")
    canvas = FigureCanvasAgg(figure)
    cards = figure.subfigures(ROWS, COLUMNS, wspace=0.02, hspace=0.02)
    for card, shown in zip(np.ravel(cards), SHOWN, strict=True):
        card.set_facecolor(CARD)
        media(card, dataset, first[shown])
        words(card, first[shown])
    canvas.print_figure(Path(__file__).with_name("questions.png"), dpi=110, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main(sys.argv[1])
