"""Balls, cylinders and cones: where rays enter them, and the normals and covers of their curved surfaces.

Unit coordinates are those of the body's box, divided by half its sides: the body fills the cube from -1 to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Float64, Int16

from spatial_engine.rendering.boxes import Box, Piece, placed
from spatial_engine.rendering.textures import Material

Form = Literal["ball", "cylinder", "cone"]
SIDE, _BOTTOM, _TOP = 0, 4, 5
"""Faces of a round body: the curved one, and where a box has its -z and +z."""
_PARALLEL = 1e-12


@dataclass(frozen=True, kw_only=True)
class RoundBody(Box):
    """A ball, or a cylinder or a cone about the z axis of its box, the apex up. The first material covers its curved
    surface, the last two its ends."""

    form: Form

    @property
    def fronts(self) -> int:
        """None by itself."""
        return 0 if self.of is None else self.of.fronts

    def cover_size_m(self, face: int) -> tuple[float, float]:
        """(across, down) of a face's picture; the curved surface is unrolled."""
        x, y, z = self.size_m
        return (np.pi * x, z) if face == SIDE else (x, y)


def standing_body(
    form: Form,
    name: str,
    size_m: Sequence[float],
    foot_m: Sequence[float],
    *,
    side: Material,
    ends: Material | None = None,
    yaw_deg: float = 0.0,
    of: Piece | None = None,
) -> RoundBody:
    """A round body of a diameter and a height (of a ball: its diameter) on `foot_m`."""
    width, height = (float(length) for length in size_m)
    return RoundBody(
        form=form,
        name=name,
        size_m=(width, width, height),
        world_from_box=placed(np.add(foot_m, [0, 0, height / 2]), yaw_deg),
        materials=(*[side] * 4, *[ends or side] * 2),
        of=of,
    )


def entered(
    form: Form, start: Float64[np.ndarray, "r 3 1"], along: Float64[np.ndarray, "h 3 w"]
) -> tuple[Float64[np.ndarray, "h w"], Int16[np.ndarray, "h w"]]:
    """Where rays `start` + t · `along` (unit coordinates) first meet a body from outside, and on which face; inf for
    those that miss it."""
    along = np.where(np.abs(along) < _PARALLEL, _PARALLEL, along)
    weight, origin = np.array([1.0, 1.0, 1.0 if form == "ball" else 0.0]), start
    if form == "cone":
        weight, origin = np.array([1.0, 1.0, -0.25]), start - np.array([0, 0, 1.0])[:, None]
    a, b, c = (
        np.einsum("i,hiw->hw", weight, product)
        for product in (along * along, along * origin, np.broadcast_to(origin * origin, along.shape))
    )
    root = np.sqrt(np.maximum(b * b - a * (c - (form != "cone")), 0))
    missed = (b * b < a * (c - (form != "cone"))) & (a > 0)
    a = np.where(np.abs(a) < _PARALLEL, _PARALLEL, a)
    first, last = np.minimum((-b - root) / a, (-b + root) / a), np.maximum((-b - root) / a, (-b + root) / a)
    if form == "cone":  # a ray steeper than the cone is inside the lower half of the double cone on one side only
        steep, down = a < 0, along[:, 2] < 0
        first, last = (
            np.where(steep, np.where(down, last, -np.inf), first),
            np.where(steep, np.where(down, np.inf, first), last),
        )
    ends = np.sort(np.stack([(-1 - start[:, 2]) / along[:, 2], (1 - start[:, 2]) / along[:, 2]]), axis=0)
    enter, leave = (first, last) if form == "ball" else (np.maximum(first, ends[0]), np.minimum(last, ends[1]))
    face = np.where((enter > first) & (form != "ball"), np.where(along[:, 2] > 0, _BOTTOM, _TOP), SIDE)
    return np.where(missed | (enter > leave), np.inf, enter), face.astype(np.int16)


def normals(form: Form, points: Float[np.ndarray, "n 3"], half_m: Float[np.ndarray, "3"]) -> Float[np.ndarray, "n 3"]:
    """Outward unit normals of the curved surface at points (box coordinates, metres)."""
    outward = points / half_m**2
    if form != "ball":
        outward[:, 2] = 0 if form == "cylinder" else (1 - points[:, 2] / half_m[2]) / (4 * half_m[2])
    return np.asarray(outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), _PARALLEL))


def unrolled(form: Form, points: Float[np.ndarray, "n 3"], half_m: Float[np.ndarray, "3"]) -> Float[np.ndarray, "n 2"]:
    """Fractions (across, down) of the picture of the curved surface at points."""
    x, y, z = (points / half_m).T
    down = np.arccos(np.clip(z, -1, 1)) / np.pi if form == "ball" else 0.5 - z / 2
    return np.stack([0.5 + np.arctan2(y, x) / (2 * np.pi), down], axis=1)
