"""Plans followed: where they end, how far that is from where they should, and the way back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.official_dialect import official_step
from action_mapping.pair_plan import amounts_of, counted
from action_mapping.plan import Plan
from action_mapping.primitives import ROTATIONS, TRANSLATIONS, Component

Dialect = Literal["geometry", "spatialtree-official"]


@dataclass(frozen=True, kw_only=True)
class Residual:
    """How far a replayed pose lies from the true one."""

    translation: float
    """Distance, in path units."""
    rotation_rad: float
    """Angle."""


def replay(
    world_from_a: Float64[np.ndarray, "4 4"], plan: Plan, *, dialect: Dialect = "geometry"
) -> Float64[np.ndarray, "4 4"]:
    """The pose that `plan` leads to from A.

    "geometry": T(x, y, z) · Ry(pan) · Rx(tilt) · Rz(roll) in the camera's own axes. "spatialtree-official": as the
    benchmark's scorer does, translations along the world's axes, turns about the world's, pan about z, tilt about y,
    roll about x (to reproduce its numbers; wrong as soon as the camera has turned).
    """
    amounts = plan.amounts()
    if dialect == "spatialtree-official":
        return official_step(world_from_a, amounts)
    return world_from_a @ moved_by(amounts)


def moved_by(amounts: Mapping[Component, float]) -> Float64[np.ndarray, "4 4"]:
    """a_from_b after signed amounts (rad, path units) of the six components: what `pair_amounts` reads back."""
    a_from_b = np.eye(4)
    a_from_b[:3, :3] = Rotation.from_euler("YXZ", [amounts[name] for name in ROTATIONS]).as_matrix()
    a_from_b[:3, 3] = [amounts[name] for name in TRANSLATIONS]
    return a_from_b


def replay_all(
    world_from_a: Float64[np.ndarray, "4 4"], plans: Sequence[Plan], *, dialect: Dialect = "geometry"
) -> Float64[np.ndarray, "n 4 4"]:
    """The poses after each plan, one after the other; the start is the first."""
    poses = [world_from_a]
    for plan in plans:
        poses.append(replay(poses[-1], plan, dialect=dialect))
    return np.stack(poses)


def residuals(
    world_from_true: Float64[np.ndarray, "n 4 4"], world_from_replayed: Float64[np.ndarray, "n 4 4"]
) -> list[Residual]:
    """Distances and angles between true poses and replayed ones."""
    off = np.linalg.solve(world_from_true, world_from_replayed)
    way = np.linalg.norm(off[:, :3, 3], axis=1)
    turn = Rotation.from_matrix(off[:, :3, :3], assume_valid=True).magnitude()
    return [Residual(translation=w, rotation_rad=t) for w, t in zip(way.tolist(), turn.tolist(), strict=True)]


def inverse(plan: Plan) -> Plan:
    """The plan that leads back, in the same units. It inverts the transform: steps with opposite signs would not,
    once the camera has turned. Rounded to whole steps; raises PlanError where the way back tilts by 85° or more."""
    there = replay(np.eye(4), plan)
    return counted(amounts_of(np.linalg.inv(there)), plan.translation_step, plan.rotation_step_rad)
