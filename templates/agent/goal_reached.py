"""L4/Goal-Driven Execution/Agentic Navigation: is the camera at its goal, within one step and one turn?"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from action_mapping.pair_plan import ROUND_METRES
from templates.agent.legs import ROTATES, motion, point_in, unit_of_length
from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import places
from templates.scene.misleading import taking_turns
from templates.scene.offsets import POSITION_UNKNOWN
from templates.scene.pictures import Pictures
from templates.scene.scene import SURFACE, Scene, angle_between_rad
from templates.scene.shared_view import shared_views
from templates.template import Template

_PLACES = 20
_INSIDE, _OUTSIDE = 0.5, 3.0
"""In steps or turns: a camera at its goal is at most half of one away, any other at least two beyond the limit of 1."""
_TURNS_DEG = (5.0, 10.0, 15.0, 20.0, 30.0)
_FRACTIONS = (3, 4, 5, 6, 8, 10, 12, 15, 20)
_METRES = tuple(length for length in ROUND_METRES if 0.05 <= length <= 1.5)
_OVERLAP = 0.6
"""Share of photo 1 that photo 2 shows from which on the two look alike."""
_BETWEEN = "the camera is neither clearly at its goal nor clearly away from it"
ARRIVED, MOVES, TURNS, BOTH = "arrived", "moves", "turns", "both"


@dataclass(frozen=True, kw_only=True)
class Arrivals(Facts):
    """A goal, where the camera is, and how far one step and one turn go."""

    frame_goal: Int64[np.ndarray, "n"]
    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    """In the photo of the goal; its distance defines the step on a relative path, NaN on a metric one."""
    step: Float64[np.ndarray, "n"]
    """In metres; or k, for a step of 1/k of the distance to the point."""
    turn_deg: Float64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class GoalReached(Template):
    """Whether photo 2 was taken within one step and one turn of the goal, photo 1. Measures how far it is, in steps and
    in turns."""

    name: str = "goal_reached"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Agentic Navigation"
    formats: tuple[FormatName, ...] = ("yes_no", "choice")
    facts: ClassVar[type[Facts]] = Arrivals
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": (ARRIVED, MOVES, TURNS, BOTH)}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_BETWEEN})
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Arrivals:
        """Pairs of frames with steps of all sizes. For each size as many have arrived as have not, and where they have
        not, the three reasons take turns."""
        facts = _candidates(scene, rng, count)
        found = self.measure(facts, scene)
        assert found.label is not None and found.margin is not None
        sure = np.flatnonzero((found.why == "") & (found.margin >= 3.0))
        sizes = np.column_stack([facts.step, facts.turn_deg])[sure]
        kept = [_even(found.label[sure][(sizes == size).all(axis=1)], rng) for size in np.unique(sizes, axis=0)]
        rows = [sure[(sizes == size).all(axis=1)][k] for size, k in zip(np.unique(sizes, axis=0), kept, strict=True)]
        return facts.take(rng.permutation(np.concatenate([sure[:0], *rows]))[:count])

    def measure(self, facts: Arrivals, scene: Scene) -> Measured:
        """Distance and angle over those of one step and one turn; σ of the distance = that of translations ⊕ the unit
        of length."""
        frames, relative = np.column_stack([facts.frame_goal, facts.frame]), np.isfinite(facts.point_px).all(axis=1)
        moved = motion(scene, frames)
        poses = scene.world_from_cam(frames)
        unit, unit_sigma, outlier_probability = unit_of_length(scene, facts.frame_goal, facts.point_px)
        with np.errstate(invalid="ignore", divide="ignore"):
            step = unit * np.where(relative, 1 / facts.step, facts.step)
            steps = np.linalg.norm(moved.amounts[:, ~ROTATES], axis=1) / step
            steps_sigma = np.hypot(moved.sigma[:, ~ROTATES].max(axis=1) / step, unit_sigma * steps)
        turn = np.radians(facts.turn_deg)
        turns = angle_between_rad(poses[:, 0, :3, :3], poses[:, 1, :3, :3]) / turn
        turns_sigma = scene.relative_rotation_sigma_rad(frames) * np.sqrt(3) / turn
        value, sigma = np.column_stack([steps, turns]), np.column_stack([steps_sigma, turns_sigma])
        far = value > 1
        cases = {
            POSITION_UNKNOWN: np.isnan(poses).any(axis=(1, 2, 3)),
            "the length of a step is not known": ~np.isfinite(steps + steps_sigma),
            "how far the camera is turned is not known": ~np.isfinite(turns + turns_sigma),
            _BETWEEN: ((value > _INSIDE) & (value < _OUTSIDE)).any(axis=1),
        }
        overlap = _overlaps(scene, frames)
        return Measured(
            why=first_reason(len(facts), cases),
            value=value,
            sigma=sigma,
            label=np.where(far[:, 0], np.where(far[:, 1], BOTH, MOVES), np.where(far[:, 1], TURNS, ARRIVED)),
            margin=margin_of_all(np.abs(value - 1), sigma),
            outlier_probability=outlier_probability,
            evidence={"steps": steps.round(2), "turns": turns.round(2)},
            traps={
                "photos that look alike": np.where(overlap, "yes", "no"),
                "forgets that it is turned": np.where(far[:, 0], MOVES, ARRIVED),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """What is left to do; or whether nothing is."""
        label = measured.as_label()
        if format == "choice":
            return label
        return type(label)(
            text=np.where(np.asarray(label.text) == ARRIVED, "yes", "no"),
            margin=label.margin,
            outlier_probability=label.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Both photos; the goal has the mark that defines steps of relative length."""
        marks = {} if fact["point_px"] is None else {"P": fact["point_px"]}
        media = (Photo.marked(fact["frame_goal"], marks), Photo(frame=fact["frame"]))
        key = f"{format}.point" if marks else f"{format}.metres"
        length = f"1/{fact['step']:g}" if marks else f"{fact['step']:g}"
        options = self.wording(key).options
        texts = () if offer is None or not offer.values(0) else tuple(options[name] for name in offer.values(0))
        return Phrasing(
            media=media, wording=key, values={"length": length, "turn_deg": f"{fact['turn_deg']:g}"}, options=texts
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two frames, with or without a marked corner, and sizes of a step and of a turn."""
        drawn = pictures.points(rng, 1)
        if drawn is None or len(pictures.clip.frames) < 2:
            return None
        point = drawn[1][0] if rng.integers(2) else None
        return {
            "frame_goal": drawn[0],
            "frame": pictures.other_frame(drawn[0], rng),
            "point_px": point,
            "step": float(rng.choice(_METRES if point is None else _FRACTIONS)),
            "turn_deg": float(rng.choice(_TURNS_DEG)),
        }


def _candidates(scene: Scene, rng: np.random.Generator, count: int) -> Arrivals:
    """All pairs of frames that share something or nothing, with some sizes of a step each."""
    frames, metric = places(scene, _PLACES), np.isfinite(scene.metre_relative_sigma)
    sizes, rows = [*product(_METRES if metric else map(float, _FRACTIONS), _TURNS_DEG)], []
    for goal in rng.permutation(frames).tolist():
        point = None if metric else point_in(scene, goal, rng)
        if point is None and not metric:
            continue
        for frame in frames[frames != goal].tolist():
            for k in rng.choice(len(sizes), 8, replace=False).tolist():
                step, turn = sizes[k]
                rows.append({"frame_goal": goal, "frame": frame, "point_px": point, "step": step, "turn_deg": turn})
    return Arrivals.from_json(rows)


def _even(labels: np.ndarray, rng: np.random.Generator) -> Int64[np.ndarray, "k"]:
    """As many rows with `ARRIVED` as with other labels, which take turns."""
    arrived = rng.permutation(np.flatnonzero(labels == ARRIVED))
    others = rng.permutation(np.flatnonzero(labels != ARRIVED))
    others = others[taking_turns(labels[others])]
    each = min(len(arrived), len(others))
    return np.concatenate([arrived[:each], others[:each]])


def _overlaps(scene: Scene, frames: Int64[np.ndarray, "n 2"]) -> Bool[np.ndarray, "n"]:
    """Whether the second photo of each pair shows most of what the first does."""
    each, row = np.unique(frames, return_inverse=True)
    row = row.reshape(frames.shape)
    return np.asarray(shared_views(scene, each).share[row[:, 0], row[:, 1]] >= _OVERLAP)
