"""Paths of known motion, made by scipy's exponential map, the inverse of the logarithm under test."""

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.primitives import CAMERA_AXIS, COMPONENTS, PRIMITIVES

MOVES = [primitive for primitive in PRIMITIVES if primitive.component in COMPONENTS]
DOWN_Y_UP = np.array([0.0, -1.0, 0.0])
"""Direction of the sky in a world with the axes of a level camera."""


def twist(primitive, amount):
    """Exponential coordinates (rotation, translation) of one primitive by a positive amount."""
    coordinates = np.zeros(6)
    offset = 0 if primitive.unit == "rad" else 3
    coordinates[offset + CAMERA_AXIS[primitive.component]] = primitive.sign * amount
    return coordinates


def walk(twists_per_s, fps=30.0, start=None):
    """Poses of a camera that moves by one twist (rotation, translation) per second in each step, and their times."""
    pose = RigidTransform.identity() if start is None else RigidTransform.from_matrix(start)
    poses = [pose.as_matrix()]
    for per_s in twists_per_s:
        pose = pose * RigidTransform.from_exp_coords(np.asarray(per_s, dtype=float) / fps)
        poses.append(pose.as_matrix())
    return np.stack(poses), np.arange(len(poses)) / fps


def posed(heading_deg=0.0, pitch_deg=0.0, roll_deg=0.0, xyz=(0.0, 0.0, 0.0)):
    """A camera in a y-down world, rotated to the right, then up, then clockwise."""
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("YXZ", [heading_deg, pitch_deg, roll_deg], degrees=True).as_matrix()
    matrix[:3, 3] = xyz
    return matrix


def random_walks(rng, n):
    """n poses of any attitude, and the poses that one step of any size leads to."""
    a, step = (
        RigidTransform.from_components(rng.normal(size=(n, 3)), rotation)
        for rotation in (Rotation.random(n, rng=rng), Rotation.from_rotvec(rng.normal(scale=0.4, size=(n, 3))))
    )
    return a.as_matrix(), (a * step).as_matrix()


def noisy(poses, rng, position_sigma, rotation_sigma_rad):
    """White noise on each pose, per axis."""
    shaken = poses.copy()
    shaken[:, :3, 3] += position_sigma * rng.normal(size=(len(poses), 3))
    turn = Rotation.from_rotvec(rotation_sigma_rad * rng.normal(size=(len(poses), 3)))
    shaken[:, :3, :3] = shaken[:, :3, :3] @ turn.as_matrix()
    return shaken


def names(primitives):
    return [primitive.name for primitive in primitives]
