"""A question of every leaf, for the card: kept in `audit.json`, shown with its pictures."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from spatial_engine.leaks.compact import grouped
from spatial_engine.leaks.question_table import QuestionTable
from templates.ability import LEAVES
from templates.columns import Json
from templates.question import LETTERS, Question

_STRIP = 6
"""Photos at the top of the section."""


def examples(table: QuestionTable) -> dict[str, Json]:
    """By leaf, in the order of the tree, what the card shows of a question: one without a video if there is any, and
    with the fewest pictures."""
    best: dict[str, Question] = {}
    for rows in grouped(np.arange(len(table)), table.ability.index):
        first = rows[np.lexsort((table.media[rows], table.video[rows]))[:1]]
        best[table.ability.first(rows)] = table.read(first.tolist())[0]
    order = sorted(best, key=lambda leaf: (LEAVES.index(leaf) if leaf in LEAVES else len(LEAVES), leaf))
    return {leaf: _shown(best[leaf]) for leaf in order}


def files_of(shown: Mapping[str, Json]) -> list[str]:
    """The files of all examples."""
    return sorted({medium["path"] for example in shown.values() for medium in example["media"]})


def _shown(question: Question) -> dict[str, Json]:
    keys = ("id", "kind", "path", "option")
    return {
        "id": question.id,
        "text": question.text,
        "options": list(question.options),
        "answer": question.answer,
        "unit": question.unit,
        "sigma": None if question.options else _rounded(question.sigma),
        "media": [{key: medium[key] for key in keys if key in medium} for medium in question.media],
    }


def _rounded(sigma: Json) -> Json:
    """σ to two significant digits, or each part of it."""
    if isinstance(sigma, Mapping):
        return {name: _rounded(part) for name, part in sigma.items()}
    return float(f"{sigma:.2g}") if isinstance(sigma, float) else sigma


def examples_in_words(shown: Mapping[str, Json], pictures: str) -> str:
    """The section of the card. `pictures`: the folder of the pictures, from the card."""
    first = {leaf: example["media"][0] for leaf, example in shown.items() if example["media"]}
    photos = [(leaf, medium) for leaf, medium in first.items() if medium["kind"] == "frames"][:_STRIP]
    strip = [_row([_picture(medium, leaf, pictures) for leaf, medium in photos])] if photos else []
    return "\n\n".join([*strip, *(_example(leaf, example, pictures) for leaf, example in shown.items())])


def _example(leaf: str, example: Mapping[str, Json], pictures: str) -> str:
    """One leaf, folded."""
    options = {medium["id"]: medium for medium in example["media"] if medium.get("option")}
    media = [medium for medium in example["media"] if not medium.get("option")]
    names = [f"{'video' if medium['kind'] == 'video' else 'picture'} {n}" for n, medium in enumerate(media, start=1)]
    shown = [_picture(medium, name, pictures) for name, medium in zip(names, media, strict=True)]
    lettered = [
        f"- {letter}: {_picture(options[option], letter, pictures) if option in options else literal(option)}"
        for letter, option in zip(LETTERS, example["options"], strict=False)
    ]
    answer = example["answer"] if isinstance(example["answer"], str) else json.dumps(example["answer"])
    unit = f" {example['unit']}" if example["unit"] else ""
    sigma = "" if example["sigma"] is None else f" (σ {json.dumps(example['sigma'])}{unit})"
    parts = (
        f"<details><summary>{literal(leaf)}</summary>",
        *([_row(shown)] if shown else []),
        "\n".join(f"> {literal(line)}  " for line in example["text"].split("\n")),
        *(["\n".join(lettered)] if lettered else []),
        f"Answer: {literal(answer)}{unit}{sigma}",
        "</details>",
    )
    return "\n\n".join(parts)


def _picture(medium: Mapping[str, Json], name: str, pictures: str) -> str:
    """The picture, or a link to the video."""
    place = f"{pictures}/{medium['path'].rpartition('/')[2]}"
    return f"{'' if medium['kind'] == 'video' else '!'}[{literal(name)}]({place})"


def _row(cells: Sequence[str]) -> str:
    """Cells beside each other."""
    return f"| {' | '.join(cells)} |\n|{' --- |' * len(cells)}"


def literal(text: str) -> str:
    """The text on one line, with Markdown escaped."""
    flat = " ".join(text.split())
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+!|~&" else c for c in flat)
