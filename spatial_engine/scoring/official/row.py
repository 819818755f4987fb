"""A question as a row of SpatialTree-Bench, as the task `spatialtreebench` of lmms-eval reads it."""

import json
from pathlib import Path

from action_mapping.primitives import COMPONENTS, PRIMITIVES
from spatial_engine.scoring.official.pictures_first import pictures_first
from spatial_engine.scoring.official.weights import official_name
from spatial_engine.scoring.own import by_format
from templates.answers.score import Unscored
from templates.columns import Json
from templates.question import LETTERS, Question

_KEYS = (
    " The scorer reads keys, not names: write "
    + ", ".join(f'"{p.symbol}" for {p.name}' for p in PRIMITIVES if p.component in COMPONENTS)
    + "."
)


def row(question: Question) -> dict[str, Json] | Unscored:
    """One row; `Unscored` where no official metric scores the question."""
    found = by_format(question, lambda form: form.official(question))
    if isinstance(found, Unscored):
        return found
    metric, answer, hint, more, options = found
    more += _KEYS if metric in ("agenticnaveval", "manipulateeval") else ""
    asked = pictures_first(question)
    videos = [medium for medium in asked.media if medium.get("kind") == "video"]
    if videos and len(asked.media) > 1:
        return Unscored(reason="the official task shows pictures or one video, not both")
    frames = [frame for medium in asked.media for frame in medium.get("frames", ())]
    return {
        "session_id": question.id,
        "question": asked.prompt + more,
        "option": [f"{letter}. {text}" for letter, text in zip(LETTERS, asked.options or options, strict=False)],
        "answer": answer,
        "question_type": "mcq" if question.options or options else "open",
        "hint": json.dumps(hint) if hint else "",
        "extra_info": json.dumps({"metricfunc": metric, **tags(question.ability), "fact_id": question.fact_id}),
        "image": [image_path(medium["path"]) for medium in asked.media if not videos],
        "video": [image_path(medium["path"]) for medium in videos],
        # Of a video file the official task reads these frames: all of them.
        "video_info": [{"frame_index": list(range(len(frames))) if videos else frames}],
    }


def tags(ability: str) -> dict[str, str]:
    """The place in the tree. No blanks: the official lookup removes them from its own names, and then compares."""
    return {f"spatree{depth}": name.replace(" ", "") for depth, name in enumerate(official_name(ability).split("/"))}


def image_path(path: str) -> str:
    return f"images/{Path(path).name}"
