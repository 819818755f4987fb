"""L3/Sequential Planning/Route: in which order were these photos taken, given how the camera moves?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from action_mapping.primitives import COMPONENTS, PRIMITIVE
from action_mapping.reading import read_motion
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_label
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.perception.ego_motion import ROTATED_TOO_FAR, CameraTravel, CameraTurn, Intervals
from templates.question import FormatName, Phrasing
from templates.scene.intervals import intervals
from templates.scene.misleading import taking_turns
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene, angle_between_rad
from templates.scene.shared_view import scene_distance
from templates.template import Template

_LEAST_PHOTOS, _PHOTOS = 3, 4
_SURPLUS = 6
"""Intervals that are drawn for each fact: most motions have no single name."""
_MIN_STEP_SHARE, _MIN_STEP_RAD = 0.05, np.radians(4.0)
"""Least way and least turn from photo to photo that somebody sees; the way as a share of the distance of the scene."""
_MIN_MARGIN = 3.0
"""Least margin of every step, in σ."""
_MIN_PURITY = 0.8
"""Least share of the named motion in each step."""
_MAX_ROTATION_WHILE_MOVING_RAD = np.radians(25.0)
"""Beyond this rotation "right" and "forward" differ between the first and any other photo."""
_MAX_TURN_DEG = 120.0
"""The sum of larger turns about several axes depends on their order."""
_TURNS = ("Pan Right", "Pan Left", "Tilt Up", "Tilt Down")
_MISTAKES = ("", "reversed", "neighbours exchanged", "reversed, neighbours exchanged")


@dataclass(frozen=True, kw_only=True)
class MotionPhotos(Facts):
    """Three or four photos in random order, and how the camera moves from each to the next in order of time."""

    frames_shuffled: Int64[np.ndarray, "n k"]
    motion: Texts
    """Name of a primitive: "Dolly In"."""


@dataclass(frozen=True, kw_only=True)
class OrderForward(Template):
    """Order of shuffled photos, given the motion of the camera.

    Measures the shortest step along that motion, in mean steps. The label is the order along it, as numbers of photos
    ("3 1 2").
    """

    name: str = "order_forward"
    version: str = "1"
    ability: str = "L3/Sequential Planning/Route"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = MotionPhotos
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"gravity", "zooming_path"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MotionPhotos:
        """Evenly spaced photos of intervals whose motion has a name; each name is asked about as often as the others,
        as far as the path has it."""
        if scene.path is None or scene.path.motion not in ("general", "rotation_only"):
            return MotionPhotos.none()
        each = [intervals(scene, rng, _SURPLUS * count, k, shortest=k) for k in (_LEAST_PHOTOS, _PHOTOS)]
        shown = np.concatenate([_padded(rows) for rows in each])
        names = np.concatenate([_named(scene, shown, np.full(len(shown), turns))[0] for turns in (False, True)])
        shown = np.tile(shown, (2, 1))[names != ""]
        keys = np.where(shown < 0, 2.0, rng.random(shown.shape))
        shuffled = np.take_along_axis(shown, keys.argsort(axis=1), axis=1)
        facts = MotionPhotos(frames_shuffled=shuffled, motion=names[names != ""])
        facts = facts.take(rng.permutation(np.flatnonzero(self.measure(facts, scene).why == "")))
        return facts.take(taking_turns(facts.motion)[:count])

    def measure(self, facts: MotionPhotos, scene: Scene) -> Measured:
        """The steps along the motion; σ = systematic ⊕ positions for a way, rotation ⊕ focal length for a turn."""
        shuffled, turns = _padded(facts.frames_shuffled), np.isin(facts.motion, _TURNS)
        count = (shuffled >= 0).sum(axis=1)
        order = np.where(shuffled < 0, np.iinfo(np.int64).max, shuffled).argsort(axis=1, kind="stable")
        frames = np.take_along_axis(shuffled, order, axis=1)
        (name, name_margin), steps = _named(scene, frames, turns), _steps(scene, frames, facts.motion)
        shown = np.arange(frames.shape[1] - 1) < count[:, None] - 1
        small = ~(steps.along >= np.where(turns, _MIN_STEP_RAD, _MIN_STEP_SHARE * steps.distance)[:, None])
        mixed = ~(steps.along >= _MIN_PURITY * steps.size)
        mean = np.abs(np.where(shown, steps.along, 0.0)).sum(axis=1) / np.maximum(count - 1, 1)
        cases = {
            "fewer than three photos": count < _LEAST_PHOTOS,
            "the photos have no time stamps": np.full(len(facts), scene.clip.times_s is None),
            "the camera does not move in the stated way": name != facts.motion,
            ROTATED_TOO_FAR: ~turns & ~(steps.turned_rad <= _MAX_ROTATION_WHILE_MOVING_RAD),
            "the camera moves too little between two photos, or back": (small & shown).any(axis=1),
            "the camera moves otherwise between two photos": (mixed & shown).any(axis=1),
        }
        with np.errstate(divide="ignore", invalid="ignore"):
            along = steps.along / mean[:, None]
            shortest = np.where(shown, steps.along, np.inf).argmin(axis=1)[:, None]
            value, sigma = (
                np.take_along_axis(part, shortest, axis=1) / mean[:, None] for part in (steps.along, steps.sigma)
            )
        margin = margin_of_all(np.where(shown, steps.along, np.inf), np.where(shown, steps.sigma, 1.0))
        labels = [order_label((row[:k] + 1).tolist()) for row, k in zip(order, count.tolist(), strict=True)]
        backwards = [order_label((row[:k][::-1] + 1).tolist()) for row, k in zip(order, count.tolist(), strict=True)]
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=sigma,
            label=np.array(labels, dtype=np.str_),
            margin=np.fmin(margin, name_margin),
            evidence={
                "shortest_step": value[:, 0].round(2),
                "along": _along(order, count, along),
            },
            traps={"reversed": np.array(backwards, dtype=np.str_)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The order along the motion."""
        label = measured.as_label()
        return Answers.of(
            label, first_reason(len(facts), {"the order is too close to call": np.asarray(label.margin) < _MIN_MARGIN})
        )

    def offer(self, format: FormatName, facts: MotionPhotos, answers: Answers, chance: Chance) -> Offer | None:
        """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out."""
        if format != "choice":
            return None
        rows = [numbers_in_order(label) for label in answers.labels().tolist()]
        at = chance.index("neighbours", (facts.frames_shuffled >= 0).sum(axis=1) - 1)
        exchanged = [[*row[:k], row[k + 1], row[k], *row[k + 2 :]] for row, k in zip(rows, at.tolist(), strict=True)]
        options = [[one, one[::-1], two, two[::-1]] for one, two in zip(rows, exchanged, strict=True)]
        texts = np.array([[order_label(order) for order in each] for each in options], dtype=np.str_)
        return Offer.first_right(texts.reshape(len(rows), len(_MISTAKES)), mistakes=_MISTAKES)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos as they were shuffled."""
        media = tuple(Photo(frame=frame) for frame in fact["frames_shuffled"])
        values = {"motion": self.wording(format).option(fact["motion"]).lower()}
        if format == "order":
            return Phrasing(media=media, values=values, answer=numbers_in_order(answer.to_json().answer))
        assert offer is not None
        return Phrasing(media=media, values=values, options=tuple(v.replace(" ", ", ") for v in offer.values(0)))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Photos of an interval, and any motion."""
        frames = pictures.interval(rng, int(rng.integers(_LEAST_PHOTOS, _PHOTOS + 1)))
        if frames is None:
            return None
        names = (*CameraTravel.names, *_TURNS)
        return {"frames_shuffled": rng.permutation(frames).tolist(), "motion": names[rng.integers(len(names))]}


def _along(order: Int64[np.ndarray, "n k"], count: Int64[np.ndarray, "n"], steps: Float64[np.ndarray, "n s"]) -> Texts:
    """How far along the motion each photo is, in mean steps, in the order in which they are shown."""
    texts = []
    for row, k, step in zip(order, count.tolist(), steps, strict=True):
        places = np.empty(k)
        places[row[:k]] = np.concatenate([[0.0], np.cumsum(step[: max(k - 1, 0)])])[:k]
        texts.append(", ".join(f"{place:.2f}" for place in places.tolist()))
    return np.array(texts, dtype=np.str_)


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """From photo to photo."""

    along: Float64[np.ndarray, "n s"]
    """Of the named motion, in path units or radians; negative against it."""
    size: Float64[np.ndarray, "n s"]
    """Of all motions of its kind."""
    sigma: Float64[np.ndarray, "n s"]
    distance: Float64[np.ndarray, "n"]
    """Of what the first photo shows."""
    turned_rad: Float64[np.ndarray, "n"]
    """The largest angle between the first photo and another one."""


def _padded(frames: Int64[np.ndarray, "n k"]) -> Int64[np.ndarray, "n _"]:
    """Rows with room for all photos; -1 ends a shorter one."""
    return np.pad(frames, ((0, 0), (0, max(0, _PHOTOS - frames.shape[1]))), constant_values=-1)


def _named(
    scene: Scene, frames: Int64[np.ndarray, "n k"], turns: Bool[np.ndarray, "n"]
) -> tuple[Texts, Float64[np.ndarray, "n"]]:
    """Name and margin of the motion from the first to the last photo, of its turn or of its translation; "" where it
    has none."""
    facts = Intervals(frames=frames)
    turn, travel = CameraTurn().measure(facts, scene), CameraTravel().measure(facts, scene)
    assert turn.label is not None and travel.label is not None and turn.margin is not None and travel.margin is not None
    plain = (turn.why == "") & (turn.value[:, 0] <= _MAX_TURN_DEG) & np.isin(turn.label, _TURNS)
    name = np.where(turns, np.where(plain, turn.label, ""), np.where(travel.why == "", travel.label, ""))
    return name, np.where(turns, turn.margin, travel.margin)


def _steps(scene: Scene, frames: Int64[np.ndarray, "n k"], motion: Texts) -> _Steps:
    """By the motion from each photo to the next, in the axes of the earlier one."""
    pairs = np.stack([frames[:, :-1], frames[:, 1:]], axis=2)
    poses = scene.world_from_cam(pairs)
    each = read_motion(*poses.reshape(-1, 2, 4, 4).swapaxes(0, 1)).camera_axes.reshape(*pairs.shape[:2], 6)
    named = [PRIMITIVE[name] for name in motion.tolist()]
    columns = np.array([COMPONENTS.index(one.component) for one in named if one.component], dtype=np.int64)
    signs = np.array([one.sign for one in named], dtype=np.int64)
    along = signs[:, None] * each[np.arange(len(motion)), :, columns]
    turns = np.isin(motion, _TURNS)[:, None]
    turn, way = (np.linalg.norm(each[..., part], axis=2) for part in (slice(0, 3), slice(3, 6)))
    turn_sigma = scene.relative_rotation_sigma_rad(pairs.reshape(-1, 2)).reshape(way.shape)
    positions = scene.offset_sigma(pairs)
    rotations = scene.world_from_cam(frames)[..., :3, :3]
    return _Steps(
        along=along,
        size=np.where(turns, turn, way),
        sigma=np.where(turns, turn_sigma, np.hypot(np.hypot(scene.direction_sigma_rad, turn_sigma) * way, positions)),
        distance=scene_distance(scene, frames[:, 0]),
        turned_rad=np.fmax.reduce(angle_between_rad(rotations[:, :1], rotations), axis=1),
    )
