"""VSI-Bench (arXiv 2412.14171): items of two kinds, and the overall score as both harnesses compute it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from spatial_engine.scoring.published.lmms_eval import extract_number, vsibench_choice
from spatial_engine.scoring.published.relative_accuracy import relative_accuracy
from spatial_engine.scoring.published.vlmevalkit import can_match_na, option_hit

Harness = Literal["lmms-eval", "vlmevalkit", "strict"]

NUMERIC = ("object_counting", "object_abs_distance", "object_size_estimation", "room_size_estimation")
DIRECTIONS = ("object_rel_direction_easy", "object_rel_direction_medium", "object_rel_direction_hard")
CHOICE = ("object_rel_distance", *DIRECTIONS, "route_planning", "obj_appearance_order")
_DIRECTION = "object_rel_direction"


@dataclass(frozen=True, kw_only=True)
class VsiBench:
    """Means by question type, the three difficulties of directions as one where they were averaged."""

    overall: float | None
    """lmms-eval: a fraction of six decimals, None where it stops with an error. VLMEvalKit: a fraction too (it prints
    x 100)."""
    types: Mapping[str, float]
    missing: tuple[str, ...]
    """Of the eight types that the overall score is meant to average."""


def score(question_type: str, response: str, answer: str, harness: Harness = "lmms-eval") -> float:
    """From 0 to 1: exact match of choices, mean relative accuracy of numbers; 0 for what cannot be read.

    A truth that is no number scores 0, a truth of 0 too under lmms-eval. Raises `ValueError` for an unknown type.
    """
    if question_type in CHOICE:
        if harness == "lmms-eval":
            return vsibench_choice(response, answer)
        return float(option_hit(response, answer, strict=harness == "strict"))
    if question_type not in NUMERIC:
        raise ValueError(f"unknown question type {question_type!r}: there is {', '.join((*NUMERIC, *CHOICE))}")
    try:
        truth = float(answer)
    except ValueError:
        return 0.0
    said = extract_number(response) if harness == "lmms-eval" else can_match_na(response)
    return relative_accuracy(said, truth, harness) or 0.0


def aggregate(items: Iterable[tuple[str, float]], harness: Harness = "lmms-eval") -> VsiBench:
    """Overall score of (question type, score) pairs: the mean over types of their means.

    The three difficulties of directions are first averaged to one, which leaves eight types. lmms-eval stops with an
    error where one of the three is missing; VLMEvalKit then counts each of them as a type; strict averages those that
    there are. All average over the types that are there, and `missing` names the others.
    """
    by_type: dict[str, list[float]] = defaultdict(list)
    for question_type, value in items:
        by_type[question_type].append(value)
    means = {name: sum(values) / len(values) for name, values in sorted(by_type.items())}
    known = [name for name in DIRECTIONS if name in means]
    if len(known) == len(DIRECTIONS) or (known and harness == "strict"):
        means[_DIRECTION] = sum(means.pop(name) for name in known) / len(known)
    wanted = (*NUMERIC, "object_rel_distance", _DIRECTION, "route_planning", "obj_appearance_order")
    missing = tuple(name for name in wanted if name not in means)
    overall: float | None = sum(means.values()) / len(means) if means else 0.0
    if harness == "lmms-eval":
        means = {name: round(mean, 6) for name, mean in means.items()}
        overall = None if _DIRECTION in missing or overall is None else round(overall, 6)
    return VsiBench(overall=overall, types=means, missing=missing)
