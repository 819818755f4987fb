"""The questions of a dataset as scripts: a page that is opened from disk may load scripts, and read no other files.

    questions/index.js     the values of each filter, and which of them each question has
    questions/00000.js     the cards of the first `SHARD` questions; 00001.js those of the next ones, ...

The page (html/cards.js) reads the index, and of the rest what it shows.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.lines import SHARED
from spatial_engine.dataset.question_line import dumped
from spatial_engine.output_folder import place_file
from spatial_engine.report.cards import question_card
from templates.ability import LEAVES
from templates.columns import Json
from templates.question import Question

FOLDER = "questions"
FILTERS = ("ability", "template", "format", "split", "clip")
SHARD = 200
"""Questions per script. A page shows 24 questions, so it loads at most 24 scripts of about half a megabyte."""
PUZZLES = "puzzles"
"""The value of all puzzles in the filter of clips."""


@dataclass(kw_only=True)
class Gallery:
    """What the other pages say about the questions."""

    by_clip: Counter[str] = field(default_factory=Counter)
    """Number of questions by id of the clip; puzzles under `PUZZLES`."""
    fewest: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By leaf that shows photos, its question with the fewest pictures: their number, and the first photo."""

    def add(self, question: Question) -> None:
        """Counts a question."""
        self.by_clip[_clip(question)] += 1
        photos = [medium["path"] for medium in question.media if medium["kind"] == "frames"]
        count, _ = self.fewest.get(question.ability, (len(question.media) + 1, ""))
        if photos and len(question.media) < count:
            self.fewest[question.ability] = len(question.media), photos[0]

    @property
    def samples(self) -> list[tuple[str, str]]:
        """A picture of each leaf, in the order of the tree."""
        return [(leaf, self.fewest[leaf][1]) for leaf in LEAVES if leaf in self.fewest]


def write_gallery(dataset: Dataset, folder: Path, *, bring_media: bool) -> Gallery:
    """Writes the scripts, reading one script's questions at a time. `bring_media`: puts what they show into
    `folder`/media, too."""
    (folder / FOLDER).mkdir()
    split_of = {clip: name for name, clips in (dataset.audit["splits"] or {}).items() for clip in clips}
    codes: dict[str, list[int]] = {name: [] for name in FILTERS}
    places: dict[str, dict[str, int]] = {name: {} for name in FILTERS}
    gallery, questions, number = Gallery(), dataset.questions, 0
    while some := list(islice(questions, SHARD)):
        for question in some:
            gallery.add(question)
            split = str(split_of.get(question.clip, "no split"))
            values = (question.ability, question.template, question.format, split, _clip(question))
            for name, value in zip(FILTERS, values, strict=True):
                codes[name].append(places[name].setdefault(value, len(places[name])))
            for path in question.files if bring_media else ():
                if not (folder / path).exists():
                    place_file(dataset.path / path, folder / path)
        _write(folder / FOLDER / f"{number:05}.js", f"SHARDS[{number}]", _shard(some))
        number += 1
    found = {name: {"values": [*places[name]], "codes": codes[name]} for name in FILTERS}
    _write(folder / FOLDER / "index.js", "const INDEX", {"size": SHARD, "filters": found})
    return gallery


def _clip(question: Question) -> str:
    return PUZZLES if question.is_puzzle else question.clip


def _shard(questions: Sequence[Question]) -> dict[str, Json]:
    """The cards, and what many of them share, once."""
    places: dict[str, int] = {}
    cards = [question_card(question) for question in questions]
    for card in cards:
        own = dumped({name: card["question"].pop(name) for name in SHARED})
        card["shared"] = places.setdefault(own, len(places))
    return {"shared": [json.loads(own) for own in places], "cards": cards}


def _write(path: Path, variable: str, value: dict[str, Json]) -> None:
    """A script that gives a variable its value. What is no Unicode becomes question marks."""
    path.write_bytes(f"{variable} = {dumped(value)};\n".encode("utf-8", "replace"))
