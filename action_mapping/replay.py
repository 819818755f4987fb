"""Replay of plans: the pose they lead to, its error against a reference, and the inverse plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.official_dialect import official_step
from action_mapping.pair_plan import checked_amounts, in_whole_steps
from action_mapping.plan import Plan
from action_mapping.primitives import COMPONENTS, ROTATIONS, TRANSLATIONS, Component

Dialect = Literal["geometry", "spatialtree-official"]


@dataclass(frozen=True, kw_only=True)
class Residual:
    """Error of a replayed pose."""

    translation: float
    """Distance, in path units."""
    rotation_rad: float
    """Angle."""


def replay(
    world_from_a: Float64[np.ndarray, "4 4"], plan: Plan, *, dialect: Dialect = "geometry"
) -> Float64[np.ndarray, "4 4"]:
    """The pose after `plan`, started at A.

    "geometry": T(x, y, z) · Ry(pan) · Rx(tilt) · Rz(roll) in the camera's own axes. "spatialtree-official": as the
    benchmark's scorer does, along and about the world's axes, pan about z, tilt about y, roll about x. It reproduces
    the scores, and differs from geometry as soon as the camera is rotated.
    """
    amounts = plan.amounts()
    if dialect == "spatialtree-official":
        return official_step(world_from_a, amounts)
    return world_from_a @ moved_by(amounts)


def moved_by(amounts: Mapping[Component, float]) -> Float64[np.ndarray, "4 4"]:
    """a_from_b of signed amounts (rad, path units) of the six components; the inverse of `pair_amounts`."""
    a_from_b = np.eye(4)
    a_from_b[:3, :3] = Rotation.from_euler("YXZ", [amounts[name] for name in ROTATIONS]).as_matrix()
    a_from_b[:3, 3] = [amounts[name] for name in TRANSLATIONS]
    return a_from_b


def replay_all(
    world_from_a: Float64[np.ndarray, "4 4"], plans: Sequence[Plan], *, dialect: Dialect = "geometry"
) -> Float64[np.ndarray, "n 4 4"]:
    """The start, and the pose after each of consecutive plans."""
    poses = [world_from_a]
    for plan in plans:
        poses.append(replay(poses[-1], plan, dialect=dialect))
    return np.stack(poses)


def residuals(
    world_from_target: Float64[np.ndarray, "n 4 4"], world_from_replayed: Float64[np.ndarray, "n 4 4"]
) -> list[Residual]:
    """Distances and angles between target poses and replayed ones."""
    error = np.linalg.solve(world_from_target, world_from_replayed)
    translation = np.linalg.norm(error[:, :3, 3], axis=1).tolist()
    rotation_rad = Rotation.from_matrix(error[:, :3, :3], assume_valid=True).magnitude().tolist()
    return [Residual(translation=t, rotation_rad=r) for t, r in zip(translation, rotation_rad, strict=True)]


def inverse(plan: Plan) -> Plan:
    """The plan that leads back, with the same step sizes, rounded to whole steps.

    It inverts the transform; the opposite steps alone do not lead back once the camera is rotated. Raises PlanError if
    the inverse tilts by more than 85°.
    """
    (row,) = checked_amounts(np.linalg.inv(replay(np.eye(4), plan))[None])
    amounts = dict(zip(COMPONENTS, row.tolist(), strict=True))
    return in_whole_steps(amounts, plan.translation_step, plan.rotation_step_rad)
