"""Animals and people made of boxes, whose legs swing as they go along a way."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

from spatial_engine.rendering.boxes import Box, MovingBox, Piece, standing
from spatial_engine.rendering.random_materials import random_colour, random_seed
from spatial_engine.rendering.textures import Colour, Material

Way = Float64[np.ndarray, "n 2"]
Kind = Literal["animal", "person"]
_SWING_RAD = 0.5
_FURS: tuple[Colour, ...] = ((96, 66, 40), (58, 52, 48), (206, 196, 180), (168, 120, 66), (120, 116, 112))
_SKINS: tuple[Colour, ...] = ((224, 182, 152), (168, 118, 84), (98, 66, 48))


def creature(rng: np.random.Generator, kind: Kind, way_m: Way) -> tuple[MovingBox, ...]:
    """Its boxes, of which the first is its body. It faces the way that it goes, and rests where the way does not
    advance. Its legs are objects by themselves, since the boxes of an object are fixed to each other."""
    boxes, legs, hip_m = _animal(rng) if kind == "animal" else _person(rng)
    steps = np.linalg.norm(np.diff(way_m, axis=0, prepend=way_m[:1]), axis=1)
    world = _world_from_body(way_m)
    swing = _SWING_RAD * np.sin(np.cumsum(steps) * 2 * np.pi / (1.6 * hip_m)) * np.minimum(1, steps / 0.01)
    parts = [MovingBox(box=box, world_from_box=world @ box.world_from_box) for box in boxes]
    for leg, side in legs:
        hip = leg.world_from_box[:3, 3] + [0, 0, leg.half_m[2]]
        turned = Rotation.from_rotvec(np.outer(side * swing, [0, 1, 0]))
        at_hip = RigidTransform.from_components(np.tile(hip, (len(world), 1)), turned).as_matrix()
        below = RigidTransform.from_translation([0, 0, -leg.half_m[2]]).as_matrix()
        parts.append(MovingBox(box=leg, world_from_box=world @ at_hip @ below))
    return tuple(parts)


_Body = tuple[Sequence[Box], Sequence[tuple[Box, int]], float]
"""Boxes fixed to the body, legs with the sign of their swing, and the height of the hip in metres; x points ahead."""


def _animal(rng: np.random.Generator) -> _Body:
    """As high as a cat to a large dog, with a head, a muzzle and a tail."""
    whole, fur = Piece(name="animal", fronts=-1), _fur(rng, _FURS)
    height, length = rng.uniform(0.3, 0.75), rng.uniform(1.1, 1.5)
    hip, long, wide = 0.5 * height, length * height, 0.38 * height
    head = 0.34 * height

    def fixed(size: Sequence[float], foot: Sequence[float]) -> Box:
        return standing("body", size, foot, side=fur, of=whole)

    boxes = [
        fixed((long, wide, height - hip), (0, 0, hip)),
        fixed((head, 0.8 * head, head), (long / 2 + 0.3 * head, 0, height - 0.2 * head)),
        fixed((0.6 * head, 0.4 * head, 0.4 * head), (long / 2 + 0.9 * head, 0, height - 0.1 * head)),
        fixed((0.5 * long, 0.12 * wide, 0.12 * wide), (-0.7 * long, 0, height - 0.15 * head)),
    ]
    leg = (0.22 * height, 0.3 * wide, hip)
    places = [(ahead * 0.4 * long, side * 0.33 * wide) for ahead in (-1, 1) for side in (-1, 1)]
    legs = [
        (standing("leg", leg, (x, y, 0), side=fur), sign) for (x, y), sign in zip(places, (1, -1, -1, 1), strict=True)
    ]
    return boxes, legs, hip


def _person(rng: np.random.Generator) -> _Body:
    """In trousers and a shirt; the arms swing as the legs do."""
    whole, shirt, trousers = Piece(name="person", fronts=-1), _cloth(rng), _cloth(rng)
    skin = _fur(rng, _SKINS)
    height = rng.uniform(1.1, 1.75)
    hip, wide, deep = 0.48 * height, 0.25 * height, 0.14 * height
    shoulder, head = 0.83 * height, 0.17 * height
    boxes = [
        standing("trunk", (deep, wide, shoulder - hip), (0, 0, hip), side=shirt, of=whole),
        standing("head", (0.8 * head, 0.7 * head, head), (0, 0, height - head), side=skin, of=whole),
        standing("hair", (0.85 * head, 0.75 * head, 0.35 * head), (-0.05 * head, 0, height - 0.3 * head),
                 side=_fur(rng, _FURS), of=whole),
    ]  # fmt: skip
    leg, arm = (0.09 * height, 0.1 * height, hip), (0.06 * height, 0.06 * height, shoulder - hip)
    limbs = [(standing("leg", leg, (0, side * 0.27 * wide, 0), side=trousers), side) for side in (-1, 1)] + [
        (standing("arm", arm, (0, side * 0.63 * wide, hip), side=shirt), -side) for side in (-1, 1)
    ]
    return boxes, limbs, hip


def _fur(rng: np.random.Generator, colours: Sequence[Colour]) -> Material:
    colour = colours[int(rng.integers(len(colours)))]
    darker = tuple(int(0.7 * part) for part in colour)
    return Material(kind="plaster", colour=colour, accent=darker, seed=random_seed(rng), contrast=3.0)  # type: ignore[arg-type]


def _cloth(rng: np.random.Generator) -> Material:
    return Material(kind="fabric", colour=random_colour(rng), accent=random_colour(rng), seed=random_seed(rng))


def _world_from_body(way_m: Way) -> Float64[np.ndarray, "n 4 4"]:
    """On the floor, heading as the way goes; where it rests, as before."""
    n, window = len(way_m), 4
    before, after = np.maximum(np.arange(n) - window, 0), np.minimum(np.arange(n) + window, n - 1)
    step = way_m[after] - way_m[before]
    known = np.flatnonzero(np.linalg.norm(step, axis=1) > 0.01)
    nearest = known[np.abs(np.arange(n)[:, None] - known).argmin(axis=1)] if len(known) else np.zeros(n, dtype=int)
    yaw = np.arctan2(step[nearest, 1], step[nearest, 0])
    turns = Rotation.from_rotvec(np.outer(yaw, [0, 0, 1]))
    return RigidTransform.from_components(np.c_[way_m, np.zeros(n)], turns).as_matrix()
