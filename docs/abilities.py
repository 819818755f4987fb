"""Writes docs/abilities.md: one real question of every template and format, with its picture; and docs/questions.png.

python docs/abilities.py demo/dataset

The questions come from the demo's data set, as `make demo` writes it, and from furnished rooms rendered here, whose
objects are known exactly.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np
from PIL import Image, ImageDraw

from docs import questions_figure
from experts.clip import Clip
from spatial_engine.dataset import media
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import question_of
from spatial_engine.evaluation.protocol import named_media
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.rooms import random_room
from templates.ability import LEVELS, TREE
from templates.asked import ClipQuestions
from templates.columns import Json
from templates.generate import ask_clip, ask_puzzles
from templates.question import LETTERS, Question
from templates.registry import create_templates
from templates.settings import AskSettings
from templates.template import Template
from tests.templates.test_facing_in_rooms import leaning
from tests.templates.test_maps_in_rooms import around
from tests.templates.test_motion_in_rooms import busy_room
from tests.templates.test_motion_stories_in_rooms import staged

HERE = Path(__file__).parent
PICTURES = HERE / "abilities"
ROOMS = (("orbit", 11), ("look_round", 7), ("through_the_door", 5), ("orbit", 23))
"""Path of the camera, and seed."""
HEIGHT_PX, SMALL_PX, WIDTH_PX, GAP_PX = 240, 150, 960, 8
MANY = 4
"""Pictures; more are drawn smaller."""
VIDEO_FRAMES = 4
INTRODUCTION = """# Abilities

The tree of spatial abilities has 27 leaves (SpatialTree). This page shows one question of every template and format
that asks about them. The footage is rendered; `python docs/abilities.py demo/dataset` writes the page. Wordings vary:
every template has eight or more for a format, and this page shows one.
"""

Shown = dict[tuple[str, str], tuple[Question, Path]]
"""By template and format: a question, and the folder of its media."""


def scenes() -> Iterator[RenderedScene]:
    """Furnished rooms; one with round objects, one whose small objects are tipped over, some with sliding objects; one
    in which a camera turns all round."""
    for path, seed in ROOMS:
        room = furnished_room(
            np.random.default_rng(seed), frames=24, width_px=640, height_px=480, path=path, movers=2  # type: ignore[arg-type]
        )  # fmt: skip
        yield room
    yield furnished_room(np.random.default_rng(31), frames=24, width_px=640, height_px=480, round_objects=True)
    yield leaning(room, 1)
    yield from map(busy_room, (1, 2, 3))
    yield staged(4)
    yield random_room(np.random.default_rng(1), frames=36, width_px=640, height_px=480, path=around)


def asked_in_rooms(folder: Path) -> Iterator[Question]:
    """Questions about furnished rooms, and puzzles; writes their media."""
    puzzles = ask_puzzles([*create_templates().values()], 4, 0)
    yield from _drawn(puzzles, None, folder)
    for scene in scenes():
        clip = as_clip(scene)
        templates, settings = [*create_templates().values()], AskSettings(facts_per_template=8)
        found = ask_clip(clip, true_signals(scene, clip, stride=2), templates, settings, 0)
        yield from _drawn(found, clip, folder)


def _drawn(found: ClipQuestions, clip: Clip | None, folder: Path) -> Iterator[Question]:
    """The surest question of each template and format, with its media."""
    for asked in found.asked:
        draft = asked.draft(int(np.argmax(asked.p_right)))
        order = np.random.default_rng(crc32(draft.fact_id.encode())).permutation(len(draft.options)).tolist()
        drawn = [option.shown for option in draft.options if not isinstance(option.shown, str)]
        media.render(clip, [*draft.media, *drawn], folder)
        yield question_of(draft, order, clip)


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


def _first(questions: Iterable[tuple[Question, Path]]) -> Shown:
    shown: Shown = {}
    for question, folder in questions:
        shown.setdefault((question.template, question.format), (question, folder))
    return shown


def main(folder: str) -> None:
    """Writes the page and the figure."""
    dataset, templates = Dataset.open(folder), create_templates()
    PICTURES.mkdir(exist_ok=True)
    for old in PICTURES.glob("*.jpg"):
        old.unlink()
    with TemporaryDirectory() as temporary:
        rooms = ((question, Path(temporary)) for question in asked_in_rooms(Path(temporary)))
        demo = ((question, dataset.path / "media") for question in dataset.questions)
        found = _first([*demo, *rooms])
        order = [(name, format) for name, template in templates.items() for format in template.formats]
        shown = {key: found[key] for key in order if key in found}
        described = {name: " ".join(first_paragraph(template).split()) for name, template in templates.items()}
        (HERE / "abilities.md").write_text("\n".join(page(shown, described)), encoding="utf-8")
        six = {key: shown[key] for key in questions_figure.SHOWN}
        questions_figure.draw({key: (question, montage(question, folder)) for key, (question, folder) in six.items()})
    if missing := [f"{name} ({format})" for name, format in order if (name, format) not in found]:
        print("no question of", ", ".join(missing))


if __name__ == "__main__":
    main(sys.argv[1])
