"""L4/Goal-Driven Execution/Robotic Arm: the plan, step by step, that takes a gripper or hand from photo to photo."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from action_mapping.pair_plan import FEWEST_STEPS, amounts_of
from action_mapping.plan import MAX_STEPS
from templates.agent.legs import ROTATES
from templates.answers import Answer, ArmPlan
from templates.answers.answers import Answers
from templates.answers.plan import p_within
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.effector import (
    BETWEEN,
    CLOSED,
    HIDDEN,
    NO_CAMERA,
    OUT_OF_VIEW,
    effector_of,
    fingers_hidden,
    grip,
    in_view,
    motions,
)
from templates.scene.episode import Episode
from templates.scene.scene import Scene
from templates.template import Template
from templates.world import World

MOST = 6
"""Most steps of a plan."""
_TRIES = 6
_LENGTHS = (0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1)
"""Of a unit, in metres, ..."""
_ANGLES = tuple(np.radians([5.0, 6.0, 8.0, 10.0, 12.0, 15.0]).tolist())
"""... and its angles; the largest one is also the largest tolerance, as for directions."""
_VISIBLE = 0.02
"""Least length of a unit, in distances from the camera to the wrist."""
_LEAST_WAY = 2.0
"""Least distance from the start to the end of a plan, in units: staying must not be right."""
_SURE = 0.9995
"""Least P(right) of one translation or rotation, so that those of all steps hold together with 0.99."""


@dataclass(frozen=True, kw_only=True)
class PhotosOfArm(Facts):
    """Photos of one effector, from the start to the end of each step."""

    frames: Int64[np.ndarray, "n k"]
    """In order of time; -1 ends a row of fewer than seven."""
    count: Int64[np.ndarray, "n"]
    """Wanted units of the largest move."""
    effector: Texts
    """ "gripper" or "hand"."""


@dataclass(frozen=True, kw_only=True)
class PlanArm(Template):
    """Moves, turns and the state of the gripper in each step. Measures the motion from photo 1 to each later photo (six
    components in rad and metres, in the axes of photo 1's camera), then 1 for each photo in which it is closed."""

    name: str = "arm_plan"
    version: str = "1"
    ability: str = "L4/Goal-Driven Execution/Robotic Arm"
    formats: tuple[FormatName, ...] = ("arm_plan",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = PhotosOfArm
    needs: frozenset[str] = frozenset({"effector_path"})
    reads: frozenset[str] = frozenset({"effector_path", "camera_path", "calibration"})

    def propose(self, episode: Episode, rng: np.random.Generator, count: int) -> Facts:
        """Two to seven photos between which something happens in each step."""
        known, path = grip(episode), episode.effector
        if path is None or len(known.frames) < 2:
            return PhotosOfArm.none()
        clear = known.frames[known.state != BETWEEN]
        rows = []
        for number in range(_TRIES * count):
            steps = 1 + number % MOST
            if len(clear) > steps:
                shown = np.sort(rng.choice(clear, steps + 1, replace=False)).tolist()
                wanted = int(rng.integers(FEWEST_STEPS, MAX_STEPS + 1))
                rows.append({"frames": shown, "count": wanted, "effector": path.effector})
        facts = PhotosOfArm.from_json(rows)
        answers = plans(self.measure(facts, episode), facts)
        return facts.take(np.flatnonzero(answers.why == "")[:count])

    def measure(self, facts: PhotosOfArm, scene: Scene) -> Measured:
        """σ as that of the path."""
        frames = np.full((len(facts), MOST + 1), -1)
        frames[:, : facts.frames.shape[1]] = facts.frames
        shown, path = frames >= 0, effector_of(scene)
        moved, state = motions(scene, frames), grip(scene).at(frames)
        amounts, sigma = moved.amounts[:, 1:], moved.sigma[:, 1:]
        closed = np.where(shown, state == CLOSED, np.nan)[:, 1:]
        steps = np.where(shown[:, 1:], np.diff(frames, axis=1), 1)
        known = np.isfinite(moved.matrix).all(axis=(2, 3)) & np.isfinite(moved.distance)[:, None]
        cases = {
            "the length of a step is not known": path is None or path.scale.kind != "metric",
            "the photos are not in order of time": ~shown[:, 1] | (steps <= 0).any(axis=1),
            NO_CAMERA: (~known & shown).any(axis=1),
            "turns too steeply for a plan": (np.isnan(amounts).any(axis=2) & shown[:, 1:]).any(axis=1),
            OUT_OF_VIEW: (~in_view(scene, frames) & shown).any(axis=1),
            HIDDEN: (fingers_hidden(scene, frames) & shown)[:, 1:].any(axis=1),
            "half open in a photo": ((state == BETWEEN) & shown).any(axis=1),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.concatenate([amounts.reshape(len(facts), 6 * MOST), closed], axis=1),
            sigma=np.concatenate([sigma.reshape(len(facts), 6 * MOST), 0 * closed], axis=1),
            evidence={"distance_m": moved.distance, "closed_at_first": (state[:, 0] == CLOSED).astype(np.int64)},
        )

    def answer(self, format: FormatName, facts: PhotosOfArm, measured: Measured) -> Answers:
        """The plan in round units whose counts are near the drawn ones."""
        return plans(measured, facts)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """All photos."""
        assert isinstance(answer, ArmPlan)
        steps = len(fact["frames"]) - 1
        values = {
            "effector": fact["effector"],
            "steps": "one step" if steps == 1 else f"{steps} steps",
            "length": f"{answer.translation_step:g}",
            "turn_deg": f"{answer.rotation_step_deg:g}",
        }
        return Phrasing(media=tuple(Photo(frame=frame) for frame in fact["frames"]), values=values)


def plans(measured: Measured, facts: PhotosOfArm) -> Answers:
    """A plan for each fact, refused where no round unit gives one, or where nothing happens in a step."""
    amounts, closed = measured.value[:, : 6 * MOST].reshape(-1, MOST, 6), measured.value[:, 6 * MOST :]
    sigma = measured.sigma[:, : 6 * MOST].reshape(-1, MOST, 6)
    length, moves = _moves(amounts[..., ~ROTATES], sigma[..., ~ROTATES], facts.count, measured.evidence["distance_m"])
    angle, turns = _turns(amounts[..., ROTATES], sigma[..., ROTATES])
    shown = np.isfinite(closed)
    steps = np.concatenate([turns, moves, closed[..., None]], axis=-1)
    before = np.column_stack([measured.evidence["closed_at_first"], closed[:, :-1]])
    idle = shown & (steps[..., :6] == 0).all(axis=-1) & (closed == before)
    plan = ArmPlan(
        steps=np.where(shown[..., None], steps, np.nan),
        translation_step=length,
        rotation_step_rad=angle,
        targets=np.where(shown[..., None], amounts, np.nan),
        sigma=np.where(shown[..., None], sigma, np.nan),
        outlier_probability=measured.outliers,
    )
    cases = {
        "no round unit gives three to ten counts and small errors": np.isnan(length) | np.isnan(angle),
        "nothing happens in a step": idle.any(axis=1),
        "ends where it starts": np.linalg.norm(np.nan_to_num(moves).sum(axis=1), axis=1) < _LEAST_WAY,
    }
    why = np.where(measured.why == "", first_reason(len(facts), cases), measured.why)
    return Answers.of(plan, why)


def _moves(
    targets: Float64[np.ndarray, "n k 3"],
    sigma: Float64[np.ndarray, "n k 3"],
    count: Int64[np.ndarray, "n"],
    distance: Float64[np.ndarray, "n"],
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n k 3"]]:
    """Lengths of a unit, and counts in each step; NaN where no length fits. Errors of rounding do not add up."""
    sizes, ended = np.array(_LENGTHS), np.isnan(targets).any(axis=-1)
    to = targets[:, None] / sizes[:, None, None]
    reached = np.rint(to)
    spread = np.where(ended, 0, sigma.max(axis=-1))[:, None] / sizes[:, None]
    error = np.where(ended[:, None], 0, np.linalg.norm(to - reached, axis=-1))
    counts = np.nan_to_num(np.diff(reached, axis=2, prepend=0.0))
    most = np.abs(counts).max(axis=(2, 3))
    fits = (p_within(error, spread, 1.0) >= _SURE).all(axis=-1) & (sizes >= _VISIBLE * distance[:, None])
    fits &= (most >= FEWEST_STEPS) & (most <= MAX_STEPS)
    return _best(sizes, fits, np.abs(most - count[:, None]), counts)


def _turns(
    targets: Float64[np.ndarray, "n k 3"], sigma: Float64[np.ndarray, "n k 3"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n k 3"]]:
    """The same of turns, which follow one another about fixed axes."""
    ended, sizes = np.isnan(targets).any(axis=-1), np.array(_ANGLES)
    there = Rotation.from_euler("YXZ", np.nan_to_num(targets).reshape(-1, 3)).as_matrix().reshape(*ended.shape, 3, 3)
    counts = np.zeros((len(targets), len(sizes), *targets.shape[1:]))
    error = np.zeros(counts.shape[:3])
    for s, size in enumerate(sizes.tolist()):
        here = np.tile(np.eye(3), (len(targets), 1, 1))
        for k in range(targets.shape[1]):
            left = np.tile(np.eye(4), (len(targets), 1, 1))
            left[:, :3, :3] = there[:, k] @ here.swapaxes(1, 2)
            counts[:, s, k] = np.where(ended[:, k, None], 0, np.rint(amounts_of(left)[:, ROTATES] / size))
            turn = Rotation.from_euler("YXZ", np.nan_to_num(counts[:, s, k]) * size).as_matrix()
            here = turn @ here
            apart = Rotation.from_matrix(there[:, k].swapaxes(1, 2) @ here).magnitude()
            error[:, s, k] = np.where(ended[:, k], 0, apart / size)
    most = np.abs(counts).max(axis=(2, 3))
    spread = np.where(ended, 0, sigma.max(axis=-1))[:, None] / sizes[:, None]
    fits = (p_within(error, spread, 1.0) >= _SURE).all(axis=-1) & (most <= MAX_STEPS)
    return _best(sizes, fits, np.broadcast_to(np.arange(len(sizes))[::-1], fits.shape), counts)


def _best(
    sizes: Float64[np.ndarray, "s"], fits: np.ndarray, cost: np.ndarray, counts: Float64[np.ndarray, "n s k 3"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n k 3"]]:
    best = np.where(fits, cost, np.inf).argmin(axis=1)
    found = fits.any(axis=1)
    return np.where(found, sizes[best], np.nan), counts[np.arange(len(best)), best]
