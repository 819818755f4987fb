"""How hard questions are to answer by looking: measured for every fact, stored with its questions, selectable."""

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Label, Numbers
from templates.answers.answers import Answers
from templates.columns import column_types
from templates.facts import Facts, ObjectRefs
from templates.scene.objects import objects_in_photos
from templates.scene.scene import Scene, angle_between_rad
from templates.world import World

Measure = Float64[np.ndarray, "n"]


def difficulty(facts: Facts, world: World) -> dict[str, Measure]:
    """The measures of each fact, whatever its answer (`templates.condition.MEASURES`); NaN where one is not known."""
    if not isinstance(world, Scene):
        return {}
    frames = np.concatenate([facts.all_frames(), *(refs.frame[:, None] for refs in _objects(facts))], axis=1)
    return _known({
        "photos": _distinct(frames),
        "turn_deg": np.degrees(_largest_turn_rad(world, frames)),
        "range_m": _largest_range_m(facts, world),
        **_among_objects(facts, world, frames),
    })  # fmt: skip


def difficulty_of_answers(answers: Answers) -> dict[str, Measure]:
    """The measures that depend on the answers, and on their format."""
    return _known({"margin": _margin(answers)})


def _known(measures: dict[str, Measure]) -> dict[str, Measure]:
    return {name: column for name, column in measures.items() if not np.isnan(column).all()}


def _margin(answers: Answers) -> Measure:
    """Of a label in σ; of numbers, their smallest tolerance in σ."""
    found = np.asarray(answers.column(Label, "margin", np.full(len(answers), np.nan)))
    for rows, answer in answers.stacks:
        if isinstance(answer, Numbers):
            with np.errstate(divide="ignore", invalid="ignore"):
                found[rows] = np.min(answer.tolerance / answer.sigma, axis=-1)
    return np.where(np.isfinite(found), found, np.nan)


def _objects(facts: Facts) -> list[ObjectRefs]:
    tables = (getattr(facts, name) for name, declared in column_types(type(facts)).items() if declared.table)
    return [table for table in tables if isinstance(table, ObjectRefs)]


def _distinct(frames: Int64[np.ndarray, "n k"]) -> Measure:
    ordered = np.sort(frames, axis=1)
    new = np.concatenate([ordered[:, :1] >= 0, (np.diff(ordered, axis=1) != 0) & (ordered[:, 1:] >= 0)], axis=1)
    return np.where(new.any(axis=1), new.sum(axis=1), np.nan)


def _largest_turn_rad(scene: Scene, frames: Int64[np.ndarray, "n k"]) -> Measure:
    """NaN for one photo, and where a rotation is not known."""
    frames = np.where(frames < 0, frames[:, :1], frames)
    rotations = scene.world_from_cam(frames)[..., :3, :3]
    angles = [angle_between_rad(rotations[:, :k], rotations[:, k, None]).max(axis=1) for k in range(1, frames.shape[1])]
    largest = np.max(angles, axis=0, initial=0.0) if angles else np.zeros(len(frames))
    return np.where(_distinct(frames) > 1, largest, np.nan)


def _largest_range_m(facts: Facts, scene: Scene) -> Measure:
    """Of points of a single photo; NaN without metric scale."""
    frame, unknown = getattr(facts, "frame", None), np.full(len(facts), np.nan)
    pixels = [column for name, column in facts.arrays() if name.endswith("_px") and column.ndim == 2]
    if frame is None or not pixels or np.isnan(scene.metre_relative_sigma):
        return unknown
    return np.max([scene.surface(frame, xy_px).range for xy_px in pixels], axis=0)


def _among_objects(facts: Facts, scene: Scene, frames: Int64[np.ndarray, "n k"]) -> dict[str, Measure]:
    seen = objects_in_photos(scene)
    shown, counts = np.unique(seen.frame, return_counts=True)
    if not len(shown):
        return {}
    at = np.clip(np.searchsorted(shown, frames), 0, len(shown) - 1)
    objects = np.where(shown[at] == frames, counts[at], np.nan)
    measures = {"objects": np.fmax.reduce(objects, axis=1)} if frames.shape[1] else {}
    if refs := _objects(facts):
        photo_px = scene.clip.width_px * scene.clip.height_px
        shares = [np.prod(each.box_px[:, 1] - each.box_px[:, 0], axis=1) / photo_px for each in refs]
        measures["picture_share"] = np.min(shares, axis=0)
        measures["like_named"] = np.max([_rivals(each, seen.frame, seen.called) for each in refs], axis=0)
    return measures


def _rivals(refs: ObjectRefs, frame: Int64[np.ndarray, "m"], name: np.ndarray) -> Measure:
    same = (refs.frame[:, None] == frame) & (refs.name[:, None] == name)
    return np.maximum(same.sum(axis=1) - 1.0, 0.0)
