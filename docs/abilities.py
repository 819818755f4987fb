"""Writes docs/abilities.md: one real question of every template and format, with its picture; and docs/questions.png.

python docs/abilities.py demo/dataset every_leaf/dataset

The questions come from datasets: from the demo's, as `make demo` writes it, and, for what that does not show, from
that of rendered rooms and episodes, whose objects are known exactly: `python -m examples.every_leaf` writes it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from docs import questions_figure
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.protocol import named_media
from templates.ability import LEVELS, TREE
from templates.columns import Json
from templates.question import LETTERS, Question
from templates.registry import create_templates
from templates.template import Template

HERE = Path(__file__).parent
PICTURES = HERE / "abilities"
HEIGHT_PX, SMALL_PX, WIDTH_PX, GAP_PX = 240, 150, 960, 8
MANY = 4
"""Pictures; more are drawn smaller."""
VIDEO_FRAMES = 4
INTRODUCTION = """# Abilities

The tree of spatial abilities has 27 leaves (SpatialTree). This page shows one question of every template and format
that asks about them. The footage is rendered; `python docs/abilities.py demo/dataset every_leaf/dataset` writes the
page. Every template has ten or more wordings of a format, of which this page shows one.
"""

Shown = dict[tuple[str, str], tuple[Question, Path]]
"""By template and format: a question, and the folder of its media."""


def montage(question: Question, folder: Path) -> Image.Image:
    """All that a question shows, in one row or several."""
    names = [name for name, _ in named_media(question)] if len(question.media) > 1 else [""]
    names += LETTERS[: len(question.media) - len(names)]
    pictures = [
        named(picture, name, HEIGHT_PX if len(question.media) <= MANY else SMALL_PX)
        for name, medium in zip(names, _in_order(question), strict=True)
        for picture in _pictures(medium, folder)
    ]
    rows: list[list[Image.Image]] = [[]]
    for picture in pictures:
        if rows[-1] and sum(one.width + GAP_PX for one in rows[-1]) + picture.width > WIDTH_PX:
            rows.append([])
        rows[-1].append(picture)
    width = max(sum(one.width + GAP_PX for one in row) for row in rows) - GAP_PX
    height = pictures[0].height + GAP_PX
    sheet = Image.new("RGB", (width, len(rows) * height - GAP_PX), "white")
    for number, row in enumerate(rows):
        left = 0
        for picture in row:
            sheet.paste(picture, (left, number * height))
            left += picture.width + GAP_PX
    return sheet


def _pictures(medium: Mapping[str, Json], folder: Path) -> Iterator[Image.Image]:
    file = folder / Path(medium["path"]).name
    if medium["kind"] != "video":
        yield Image.open(file).convert("RGB")
        return
    import av

    with av.open(str(file)) as container:
        frames = [frame.to_image() for frame in container.decode(video=0)]
    yield from (frames[k] for k in np.linspace(0, len(frames) - 1, VIDEO_FRAMES).round().astype(int))


def _in_order(question: Question) -> list[Mapping[str, Json]]:
    """What is shown with the words, then the options by their letters."""
    options = {medium["id"]: medium for medium in question.media if medium.get("option")}
    return [medium for _, medium in named_media(question)] + [options[id] for id in question.options if id in options]


def named(picture: Image.Image, name: str, height_px: int) -> Image.Image:
    """At the height of a row, with its name as the words of the question say it."""
    small = picture.resize((max(1, round(picture.width * height_px / picture.height)), height_px))
    ImageDraw.Draw(small).text((6, 3), name, fill="white", stroke_width=2, stroke_fill="black", font_size=18)
    return small


def entry(question: Question, picture: str) -> str:
    """A question as Markdown: picture, words, answer, and how certain it is."""
    lines = [f"![what the question shows](abilities/{picture})", "", *_quoted(question.text)]
    if question.has_pictures_as_options:
        lines += [">", f"> Options: the pictures A to {LETTERS[len(question.options) - 1]}."]
    elif question.options:
        options = zip(LETTERS, question.options, strict=False)
        lines += [">", "> " + " · ".join(f"{letter}. {text}" for letter, text in options)]
    lines += ["", f"Answer: **{_said(question.answer)}** ({_certainty(question)})."]
    if traps := question.evidence.get("traps"):
        mistakes = "; ".join(f"{mistake} → {_said(wrong)}" for mistake, wrong in traps.items())
        lines[-1] += f" Typical mistakes: {mistakes}."
    return "\n".join([*lines, ""])


def _quoted(text: str) -> list[str]:
    return [f"> {line}" for line in text.splitlines()]


def _said(answer: Json) -> str:
    return str(answer).replace("'", "").replace("{", "").replace("}", "")


def _certainty(question: Question) -> str:
    if question.margin is not None:
        return f"{min(question.margin, 99):.0f} σ from any other answer"
    return f"P(correct) = {question.evidence['p_right']:.3f}"


def first_paragraph(template: Template) -> str:
    """Of its docstring."""
    return (type(template).__doc__ or "").partition("\n\n")[0]


def page(shown: Shown, described: Mapping[str, str]) -> Iterator[str]:
    """The page, in parts."""
    yield INTRODUCTION
    leaves = {question.ability for question, _ in shown.values()}
    yield f"{len(leaves)} of 27 leaves are asked about, by {len({name for name, _ in shown})} templates.\n"
    for level, branches in TREE.items():
        yield f"## {level} {LEVELS[level]}\n"
        for branch, names in branches.items():
            for leaf in names:
                yield f"### {branch}: {leaf}\n"
                here = {key: found for key, found in shown.items() if found[0].ability == f"{level}/{branch}/{leaf}"}
                if not here:
                    yield "No template asks about it yet.\n"
                yield from _entries(here, described)


def _entries(shown: Shown, described: Mapping[str, str]) -> Iterator[str]:
    last, files = "", {}
    for (template, format), (question, folder) in shown.items():
        if template != last:
            yield f"#### `{template}`\n\n{described[template]}\n"
        last = template
        looks = str([medium["id"] for medium in question.media])
        if looks not in files:
            files[looks] = f"{template}_{format}.jpg"
            montage(question, folder).save(PICTURES / files[looks], quality=80, optimize=True)
        yield f"{format}:\n\n{entry(question, files[looks])}"


def main(folders: Sequence[str]) -> None:
    """Writes the page and the figure."""
    datasets, templates = [Dataset.open(folder) for folder in folders], create_templates()
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.jpg"):
        old.unlink()
    found: Shown = {}
    for dataset in datasets:
        for question in dataset.questions:
            found.setdefault((question.template, question.format), (question, dataset.path / "media"))
    order = [(name, format) for name, template in templates.items() for format in template.formats]
    shown = {key: found[key] for key in order if key in found}
    described = {name: " ".join(first_paragraph(template).split()) for name, template in templates.items()}
    (HERE / "abilities.md").write_text("\n".join(page(shown, described)), encoding="utf-8")
    six = {key: shown[key] for key in questions_figure.SHOWN}
    questions_figure.draw({key: (question, montage(question, folder)) for key, (question, folder) in six.items()})
    if missing := [f"{name} ({format})" for name, format in order if (name, format) not in found]:
        print("no question of", ", ".join(missing))


if __name__ == "__main__":
    main(sys.argv[1:])
