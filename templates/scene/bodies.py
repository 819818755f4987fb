"""Cuboids, plates, balls, cylinders and cones in any pose: how far points and planes are from them, many at once."""

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

Number = Float64[np.ndarray, "n"]
Vectors = Float64[np.ndarray, "n p 3"]
Bodies = Float64[np.ndarray, "n 9"]
"""Centre, rotation vector, ln of half the sides along its axes. Of a ball only the first side counts; of a cylinder and
a cone (apex towards +z) the first, its radius, and the last."""

SHAPES = ("cuboid", "cylinder", "ball", "cone", "flat plate")
_SLIMMEST = 8.0
"""Greatest ratio of the longest side of a cuboid to the next one, and of a cylinder's height to its diameter: photos do
not show which of the two a slimmer body is."""
_RATIOS = {"cuboid": (0.3, 1.0), "cylinder": (0.3, _SLIMMEST), "cone": (0.5, 5.0), "flat plate": (0.001, 0.08)}
"""Least and greatest ratio of the shortest side of a cuboid or plate to the next one, and of the height of a cylinder
or cone to its diameter. What lies between a plate and a cuboid has no name that people agree on."""


_LARGEST = 20.0
"""Logarithm of the longest half side."""


def distances(shape: str, bodies: Bodies, points: Vectors) -> Float64[np.ndarray, "n p"]:
    """How far points lie outside the face of a body from which they are farthest; < 0 inside."""
    axes, half = _axes(bodies), _half(bodies)
    x, y, z = np.moveaxis((points - bodies[:, None, :3]) @ axes, -1, 0)
    if shape == "ball":
        return np.sqrt(x**2 + y**2 + z**2) - half[..., 0]
    if shape in ("cuboid", "flat plate"):
        return np.max(np.abs([x, y, z]) - np.moveaxis(half, -1, 0), axis=0)
    radius, height, across = half[..., 0], half[..., 2], np.hypot(x, y)
    if shape == "cylinder":
        return np.maximum(across - radius, np.abs(z) - height)
    side = (2 * height * across + radius * (z - height)) / np.hypot(2 * height, radius)
    return np.maximum(side, -height - z)


def _half(bodies: Bodies) -> Float64[np.ndarray, "n 1 3"]:
    """Half the sides. A fit that goes astray is stopped where numbers stay finite."""
    return np.exp(np.minimum(bodies[:, None, 6:], _LARGEST))


def beyond(shape: str, bodies: Bodies, normals: Vectors) -> Float64[np.ndarray, "n p"]:
    """How far bodies reach beyond planes through the origin, in the directions of their normals; 0 where a plane
    touches the body."""
    axes, half = _axes(bodies), _half(bodies)
    x, y, z = np.moveaxis(normals @ axes, -1, 0)
    centre = np.einsum("npi,ni->np", normals, bodies[:, :3])
    if shape == "ball":
        return centre + half[..., 0] * np.sqrt(x**2 + y**2 + z**2)
    if shape in ("cuboid", "flat plate"):
        return centre + np.sum(np.abs(np.stack([x, y, z], axis=-1)) * half, axis=-1)
    radius, height, across = half[..., 0], half[..., 2], np.hypot(x, y)
    if shape == "cylinder":
        return centre + radius * across + height * np.abs(z)
    return centre + np.maximum(height * z, radius * across - height * z)


def out_of_limits(shape: str, bodies: Bodies) -> Number:
    """By how much the ln of a ratio of sides is outside of what the name of the shape allows."""
    if shape == "ball":
        return np.zeros(len(bodies))
    shortest, next_one, longest = np.sort(bodies[:, 6:], axis=1).T
    ratio = bodies[:, 8] - bodies[:, 6] if shape in ("cylinder", "cone") else shortest - next_one
    slim = longest - next_one - np.log(_SLIMMEST) if shape == "cuboid" else np.zeros(len(bodies))
    least, most = np.log(_RATIOS[shape])
    return np.maximum(least - ratio, 0) + np.maximum(ratio - most, 0) + np.maximum(slim, 0)


def _axes(bodies: Bodies) -> Float64[np.ndarray, "n 3 3"]:
    return Rotation.from_rotvec(bodies[:, 3:6]).as_matrix()
