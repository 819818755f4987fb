"""A question as a row of SpatialTree-Bench, as the task `spatialtreebench` of lmms-eval reads it."""

import json
import math
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from action_mapping.official_dialect import official_replay
from action_mapping.primitives import COMPONENTS, PRIMITIVES, primitive
from spatial_engine.scoring.official.pictures_first import pictures_first
from spatial_engine.scoring.official.weights import official_name
from templates.answers.score import Unscored
from templates.measured import Json
from templates.question import LETTERS, Question

_GRAVITY = ("roll", "pitch", "vfov")


_KEYS = (
    " The scorer reads keys, not names: write "
    + ", ".join(f'"{p.symbol}" for {p.name}' for p in PRIMITIVES if p.component in COMPONENTS)
    + "."
)


_SYMBOLS = {known.name: known.symbol for known in PRIMITIVES}


_Metric = tuple[str, str, dict[str, Json]]
"""Name of the metric, the answer as text, the hint."""


def row(question: Question) -> dict[str, Json] | Unscored:
    """One row; `Unscored` where no official metric scores the question."""
    found = _metric(question)
    if isinstance(found, Unscored):
        return found
    metric, answer, hint = found
    keys = _KEYS if metric == "agenticnaveval" else ""
    asked = pictures_first(question)
    return {
        "session_id": question.id,
        "question": asked.prompt + keys,
        "option": [f"{letter}. {text}" for letter, text in zip(LETTERS, asked.options, strict=False)],
        "answer": answer,
        "question_type": "mcq" if question.format == "choice" else "open",
        "hint": json.dumps(hint) if hint else "",
        "extra_info": json.dumps({"metricfunc": metric, **tags(question.ability), "fact_id": question.fact_id}),
        "image": [image_path(medium["path"]) for medium in asked.media],
        "video": [],
        "video_info": [{"frame_index": [frame for medium in asked.media for frame in medium.get("frames", ())]}],
    }


def tags(ability: str) -> dict[str, str]:
    """The place in the tree. No blanks: the official lookup removes them from its own names, and then compares."""
    return {f"spatree{depth}": name.replace(" ", "") for depth, name in enumerate(official_name(ability).split("/"))}


def _metric(question: Question) -> _Metric | Unscored:
    match question.format:
        case "choice":
            return "multichoiceeval", str(question.answer), {}
        case "yes_no":
            return "judge", str(question.answer), {}
        case "numeric":
            if "period" in question.scorer_params:
                return Unscored(reason="relative accuracy is not defined for directions")
            if question.answer <= 0:
                return Unscored(reason="relative accuracy is not defined for numbers that are not positive")
            return "meanrelativeacc", str(question.answer), {}
        case "json" if question.ability == "L1/Orientation/Gravity":
            return _gravity(question)
        case "plan" if "point_fraction" in question.scorer_params:
            return Unscored(reason="the navigation score needs metres, and the clip's scale is relative")
        case "plan":
            return _navigation(question)
    return Unscored(reason=f"no official metric for {question.ability} in the format {question.format}")


def _gravity(question: Question) -> _Metric | Unscored:
    """All three angles in degrees, each with the σ that widens the official kernel."""
    if set(question.answer) != set(_GRAVITY):
        return Unscored(reason="the gravity score needs roll, pitch and vfov, and one of them is not known well enough")
    hint = {f"{name}_unc": float(question.sigma[name]) for name in _GRAVITY}
    return "gravityeval", json.dumps({name: question.answer[name] for name in _GRAVITY}), hint


def _navigation(question: Question) -> _Metric:
    """The right plan in keys, and where it leads by the scorer's own arithmetic (metres, rad, quaternions xyzw).

    That arithmetic rotates about permuted axes. A target that is replayed by the same arithmetic has the same axes, so
    a right plan gets full marks and a wrong one fewer by its distance; a measured pose would be compared across axes.
    """
    steps = {
        "translation_step_size": float(question.scorer_params["translation_step_m"]),
        "rotation_step_size": math.radians(question.scorer_params["rotation_step_deg"]),
    }
    plan = {
        "actions": [primitive(name).symbol for name in question.answer["actions"]],
        "step_nums": list(question.answer["step_nums"]),
    }
    start, (metres, radians) = np.eye(4), steps.values()
    goal = official_replay(start, *plan.values(), translation_step=metres, rotation_step_rad=radians)
    poses = [[*pose[:3, 3].tolist(), *Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()] for pose in (start, goal)]
    return "agenticnaveval", json.dumps(plan, ensure_ascii=False), {"optimal_rel_pose": poses, "0->1": steps}


def restated(question: Question, value: Json) -> str | None:
    """An answer in the form that the benchmark's own prompts ask for, where ours ask for another; None elsewhere."""
    if question.format == "choice":
        return f"Answer: {value}"
    if question.format == "plan":
        keys = {**value, "actions": [_SYMBOLS.get(name, name) for name in value["actions"]]}
        return f"```json\n{json.dumps(keys, ensure_ascii=False)}\n```"
    return None


def image_path(path: str) -> str:
    return f"images/{Path(path).name}"
