"""How many different puzzles there are of each kind, and how fast they are made and drawn on one core.

    python -m benchmarks.puzzles [COUNT]

Asks for COUNT puzzles (by default 1000) of each template. Prints how many different ones were made, and questions per
second: without pictures, with pictures in memory, and with pictures written as PNG.
"""

import sys
import tempfile
import time
from pathlib import Path

import cv2

from spatial_engine.dataset import drawing, media
from templates.asked import Draft
from templates.generate import ask_puzzles
from templates.media import Sheet
from templates.registry import create_templates
from templates.template import Template
from templates.world import Procedural

_DRAWN = 200
"""Questions of which pictures are drawn."""


def main(count: int) -> None:
    """Prints a row for each template."""
    cv2.setNumThreads(1)
    print(f"{'template':16}{'puzzles':>9}{'made/s':>9}{'drawn/s':>9}{'written/s':>11}")
    for name, template in create_templates().items():
        if issubclass(template.world, Procedural):
            print(f"{name:16}{_row(template, count)}", flush=True)


def _row(template: Template, count: int) -> str:
    start = time.process_time()
    asked = ask_puzzles([template], count, 0).asked
    made = time.process_time()
    drafts = [one.draft(k) for one in asked for k in range(min(len(one), _DRAWN // len(asked)))]
    sheets = [sheet for draft in drafts for sheet in _sheets(draft)]
    worded = time.process_time()
    for sheet in sheets:
        drawing.drawn_sheet(sheet)
    drawn = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        media.render(None, sheets, Path(folder))
    written = time.process_time()
    made_s = (made - start) / sum(map(len, asked)), (worded - made) / len(drafts)
    drawn_s, written_s = (drawn - worded) / len(drafts), (written - drawn) / len(drafts)
    rates = (1 / made_s[0], 1 / (sum(made_s) + drawn_s), 1 / (sum(made_s) + written_s))
    facts = len({id for one in asked for id in one.fact_ids.tolist()})
    return f"{facts:9}{rates[0]:9.0f}{rates[1]:9.0f}{rates[2]:11.0f}"


def _sheets(draft: Draft) -> list[Sheet]:
    shown = (*draft.media, *(option.shown for option in draft.options))
    return [medium for medium in shown if isinstance(medium, Sheet)]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
