"""L4/Goal-Driven Execution/Agentic Navigation: how to get to the place before an object that words name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from templates.answers import Answer
from templates.columns import Columns, Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.perception.object_pointing import NOT_LISTED
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import any_moves
from templates.scene.headings import along_ground, axes_of, heading_sigma_rad
from templates.scene.level_axes import NOT_UPRIGHT, level_axes
from templates.scene.misleading import taking_turns
from templates.scene.named import all_listed, unique_among
from templates.scene.object_boxes import Number, Row, boxes_of, corners_cam, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.room_walls import inside, on_floor_plan
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_BEFORE_M = (0.5, 0.75, 1.0, 1.5, 2.0)
"""How far before its front a goal is."""
_LEAST_ASIDE_M, _LEAST_BEARING_RAD = 0.3, np.radians(10.0)
"""How far the goal is to the side, at least."""
_LEAST_TURN_RAD = np.radians(25.0)
"""Least angle of a turn, and by how much it is less than half a turn."""
_CLEAR_M = 0.25
"""Least distance of the goal from walls and other objects."""
_TALLEST_M = 1.2
"""Objects that hang higher than this are no obstacles."""
PLANS = tuple(f"{side}, then {turn}" for side in ("left", "right") for turn in ("left", "right"))
"""To which side the goal lies, and which way one turns there."""


@dataclass(frozen=True, kw_only=True)
class NamedGoals(Facts):
    """Objects, each in a photo where its name singles it out. Every object of the name is listed."""

    object: ObjectRefs
    before_m: Float64[np.ndarray, "n"]
    """How far before its front the goal is, in metres."""


@dataclass(frozen=True, kw_only=True)
class GoalInWords(Template):
    """The side to which one goes, and the turn, to face an object from before its front. Measures how far the goal
    is to the right and ahead, in metres, and the angle by which one turns to the right, in degrees."""

    name: str = "goal_in_words"
    version: str = "3"
    ability: str = "L4/Goal-Driven Execution/Agentic Navigation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = NamedGoals
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": PLANS}
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation", "room"})
    reads: frozenset[str] = SURFACE | {"gravity", "object_orientation", "objects", "room"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedGoals:
        """Objects that photos show whole; the answers take turns."""
        seen = boxed(seen_objects(scene), scene)
        row = np.repeat(np.arange(len(seen)), len(_BEFORE_M))
        facts = NamedGoals(object=seen.take(row).refs(), before_m=np.tile(_BEFORE_M, len(seen)))
        found = self.measure(facts, scene)
        assert found.label is not None
        rows = rng.permutation(np.flatnonzero(found.why == ""))
        return facts.take(rng.permutation(rows[taking_turns(found.label[rows])][:count]))

    def measure(self, facts: NamedGoals, scene: Scene) -> Measured:
        """σ of the place = that of the object ⊕ its front; σ of the turn = the front."""
        frame, object = facts.object.frame, found_again(scene, facts.object)
        goal, level = _goals(scene, frame, object, facts.before_m), level_axes(scene, frame)
        metre = scene.metre_relative_sigma
        distance = np.linalg.norm(goal.offset, axis=1)
        sigma = np.sqrt(goal.sigma**2 + (metre * distance) ** 2 + (level.sigma_rad * distance) ** 2)
        aside, turn = np.abs(goal.offset[:, 0]), np.abs(goal.turn_rad)
        cases = {
            "an object is not found again": object < 0,
            "the length of a metre is not known": np.full(len(facts), not np.isfinite(metre)),
            NOT_UPRIGHT: ~level.upright,
            NOT_LISTED: ~all_listed(scene, facts.object.name),
            "its name may mean another object": ~unique_among(scene, frame, object),
            "an object moves": any_moves(scene, object),
            "the object has no single front": goal.fronts != 1,
            "the place of an object is not known": ~np.isfinite(goal.offset.sum(axis=1) + sigma + goal.turn_sigma_rad),
            "whether the goal is free is not known": np.full(len(facts), scene.room is None),
            "the goal is neither to the left nor to the right": ~(
                (aside >= _LEAST_ASIDE_M) & (aside >= np.sin(_LEAST_BEARING_RAD) * distance)
            ),
            "the turn is too small or too large": ~((turn >= _LEAST_TURN_RAD) & (turn <= np.pi - _LEAST_TURN_RAD)),
        }
        why = first_reason(len(facts), cases)
        rows = np.flatnonzero(why == "")
        taken = rows[~_is_free(scene, frame[rows], object[rows], goal.world[rows])]
        why = np.where(np.isin(np.arange(len(facts)), taken), "something stands at the goal", why)
        differences = np.column_stack([aside, turn, np.pi - turn])
        return Measured(
            why=why,
            value=np.column_stack([goal.offset, np.degrees(goal.turn_rad)]),
            sigma=np.column_stack([sigma, sigma, np.degrees(goal.turn_sigma_rad)]),
            label=_labels(goal.offset[:, 0], goal.turn_rad),
            margin=margin_of_all(differences, np.column_stack([sigma, goal.turn_sigma_rad, goal.turn_sigma_rad])),
            outlier_probability=1 - (1 - outliers(scene, object)) * (1 - np.nan_to_num(goal.outliers, nan=1.0)),
            evidence={
                "name": facts.object.name,
                "to_the_right_m": goal.offset[:, 0].round(2),
                "ahead_m": goal.offset[:, 1].round(2),
                "goal_turn_deg": np.degrees(goal.turn_rad).round(),
            },
            traps={
                "back taken for front": _labels(goal.behind[:, 0], -goal.turn_rad),
                "place of the object taken for the goal": _labels((goal.offset + goal.behind)[:, 0], goal.turn_rad),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The plan."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photo as it is: the name alone says what is meant."""
        values = {"name": fact["object"]["name"], "metres": f"{fact['before_m']:g}"}
        return Phrasing(media=(Photo(frame=fact["object"]["frame"]),), values=values)


@dataclass(frozen=True, kw_only=True)
class _Goals(Columns):
    """Places before the fronts of n objects; NaN where unknown."""

    world: Float64[np.ndarray, "n 3"]
    offset: Float64[np.ndarray, "n 2"]
    """To the right and ahead of the camera, along the floor, in path units."""
    behind: Float64[np.ndarray, "n 2"]
    """The same for the place behind the object."""
    sigma: Number
    turn_rad: Number
    """From the heading of the camera to that towards the object, to the right."""
    turn_sigma_rad: Number
    fronts: Row
    outliers: Number
    """Probability that the front is another side."""


def _goals(scene: Scene, frame: Row, object: Row, before_m: Number) -> _Goals:
    axes, level = axes_of(scene, frame, object), level_axes(scene, frame)
    corners, place_sigma = corners_cam(scene, frame, object)
    middle, facing = corners.mean(axis=1), along_ground(axes.front_cam, level.up)
    with np.errstate(invalid="ignore", divide="ignore"):
        ray = middle / np.linalg.norm(middle, axis=1, keepdims=True)
    reach = np.einsum("nki,ni->nk", corners - middle[:, None], facing).max(axis=1) + before_m
    goal, behind = middle + reach[:, None] * facing, middle - reach[:, None] * facing
    turn_sigma = heading_sigma_rad(axes, ray, level.up)
    pose = scene.world_from_cam(frame)
    return _Goals(
        world=np.einsum("nij,nj->ni", pose[:, :3, :3], goal) + pose[:, :3, 3],
        offset=_along_floor(goal, level.right, level.ahead),
        behind=_along_floor(behind, level.right, level.ahead),
        sigma=np.hypot(place_sigma, turn_sigma * reach),
        turn_rad=np.arctan2(*_along_floor(-facing, level.right, level.ahead).T),
        turn_sigma_rad=turn_sigma,
        fronts=axes.fronts,
        outliers=axes.outlier_probability,
    )


def _along_floor(
    xyz_cam: Float64[np.ndarray, "n 3"], right: Float64[np.ndarray, "n 3"], ahead: Float64[np.ndarray, "n 3"]
) -> Float64[np.ndarray, "n 2"]:
    return np.column_stack([np.einsum("ni,ni->n", xyz_cam, axis) for axis in (right, ahead)])


def _labels(to_right: Number, turn_rad: Number) -> Texts:
    return np.array(PLANS)[2 * (to_right > 0) + (turn_rad > 0)]


def _is_free(scene: Scene, frame: Row, object: Row, goal: Float64[np.ndarray, "n 3"]) -> Bool[np.ndarray, "n"]:
    """Whether the goals are on the floor of the room, away from its walls and from all objects; also True where that is
    not known, and False where an obstacle has no box."""
    room, objects = scene.room, scene.objects
    if room is None or objects is None:
        return np.ones(len(goal), dtype=bool)
    xy, angle = on_floor_plan(room, goal), np.radians(np.arange(0, 360, 45))
    around = xy[:, None] + _CLEAR_M * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    free = inside(room.outline, np.nan_to_num(around, nan=np.inf).reshape(-1, 2)).reshape(-1, 8).all(axis=1)
    up = room.world_from_floor[:3, 2]
    for other in range(len(objects.labels)):
        at = np.full(len(goal), other)
        known, pose, size, *_ = boxes_of(scene, frame, at)
        local = np.einsum("nji,nj->ni", pose[:, :3, :3], goal - pose[:, :3, 3])
        upwards = np.einsum("nji,j->ni", pose[:, :3, :3], up)
        local = local - np.einsum("ni,ni->n", local, upwards)[:, None] * upwards
        beyond = np.linalg.norm(np.maximum(np.abs(local) - size / 2, 0), axis=1)
        height = np.einsum("ni,i->n", pose[:, :3, 3] - room.world_from_floor[:3, 3], up)
        low = height - np.einsum("ni,ni->n", np.abs(upwards), size) / 2
        with np.errstate(invalid="ignore"):
            free &= (known & (beyond >= _CLEAR_M)) | (low >= _TALLEST_M) | (object == other)
    return np.asarray(free)
