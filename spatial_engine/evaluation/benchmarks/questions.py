"""One row of a benchmark as a question of a dataset."""

import re
from collections.abc import Mapping, Sequence

from spatial_engine.evaluation.benchmarks.benchmark import Asked, Benchmark
from spatial_engine.evaluation.benchmarks.choices import are_fixed
from spatial_engine.evaluation.benchmarks.fields import Fields
from spatial_engine.evaluation.benchmarks.own_metric import PUBLISHED
from spatial_engine.evaluation.benchmarks.pictures import Pictures
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from templates.columns import Json
from templates.question import Question

_PLACEHOLDER = re.compile(r"<\s*(?:image|img|video)\s*[_-]?\s*(\d*)\s*>", re.IGNORECASE)
_FRAMES = "The images are frames of one video, in their order and evenly spaced."
_LICENCE: Mapping[str, Json] = {"footage": "the benchmark's", "signals": [], "commercial_ok": False}


def question_of(
    benchmark: Benchmark, name: str, fields: Fields, row_id: str, pictures: Pictures, frames: int
) -> Question:
    """The question of a row; writes what it shows. Raises `BrokenRow`.

    `ability` is "capability/benchmark/category" here, so that results by level are results by capability.
    """
    asked = benchmark.ask(fields)
    category = benchmark.category(fields)
    media, of_video = _media(benchmark, fields, row_id, pictures, frames)
    prompt, options = _named(asked, len(media))
    item = {"id": row_id, **benchmark.scored(fields, asked)}
    told = benchmark.told_of(asked)
    published = {PUBLISHED: {"scorer": benchmark.scorer, "item": item, "told": told}} if benchmark.scorer else {}
    return Question(
        id=row_id,
        ability="/".join(
            (benchmark.capability_of(category), *(name.replace("/", "-") for name in (benchmark.title, category)))
        ),
        template=name,
        format=asked.format,
        instructions=_FRAMES if of_video else "",
        prompt=prompt,
        options=options,
        answer=asked.answer,
        value=asked.answer,
        unit=asked.unit,
        sigma=None,
        tolerance=abs(asked.answer) * 0.05 if asked.scorer == "relative_number" else None,
        margin=None,
        scorer=asked.scorer,
        scorer_params={**asked.params, **({"fixed_options": True} if are_fixed(options) else {})},
        media=media,
        fact={},
        fact_id=row_id,
        evidence={},
        clip=f"{name}:{fields.get('scene') or benchmark.video(fields) or row_id}",
        seed=0,
        provenance=[],
        licence=_LICENCE,
        extra=published,
    )


def _media(
    benchmark: Benchmark, fields: Fields, row_id: str, pictures: Pictures, frames: int
) -> tuple[list[dict[str, Json]], bool]:
    """Entries of what is shown, and whether they are frames of a video."""
    images = benchmark.images(fields)
    if images is not None:
        return pictures.images(images, row_id), False
    video = benchmark.video(fields)
    if video is None:
        raise BrokenRow("no picture and no video")
    return pictures.frames(video, frames, benchmark.frames(fields)), True


def _named(asked: Asked, count: int) -> tuple[str, Sequence[str]]:
    """Prompt and options with the names of the pictures in place of "<image>": "(image 2)"."""
    seen = 0

    def name(mark: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        number = int(mark[1]) if mark[1] else seen
        return f"(image {number})" if count > 1 else "(the image)"

    prompt, *options = (_PLACEHOLDER.sub(name, text) for text in (asked.prompt, *asked.options))
    return prompt.strip(), options
