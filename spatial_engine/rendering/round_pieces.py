"""Objects that are one round body, or one board: balls, bins, tins, traffic cones."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from spatial_engine.rendering.boxes import Box, placed, standing
from spatial_engine.rendering.pieces import Furniture
from spatial_engine.rendering.random_materials import random_colour, random_seed
from spatial_engine.rendering.round_bodies import Form, RoundBody, standing_body
from spatial_engine.rendering.textures import Material

_ROUND: dict[str, Form] = {
    "cup": "cylinder",
    "jar": "cylinder",
    "vase": "cylinder",
    "tin": "cylinder",
    "bucket": "cylinder",
    "pot": "cylinder",
    "lantern": "cone",
    "globe": "ball",
}
"""Small objects that are round in a room with round objects."""


def rounded(box: Box) -> Box:
    """The body of the same name that fits into a box and stands at its place; other boxes as they are."""
    if box.name not in _ROUND:
        return box
    form, (x, y, z) = _ROUND[box.name], box.size_m
    width = min(x, y, z) if form == "ball" else min(x, y)
    size = (width, width, width if form == "ball" else z)
    lower = placed((0, 0, (size[2] - z) / 2))
    pose = box.world_from_box @ lower
    return RoundBody(form=form, name=box.name, size_m=size, world_from_box=pose, materials=box.materials)


def _body(
    form: Form, name: str, least_m: tuple[float, float], most_m: tuple[float, float], rng: np.random.Generator
) -> Furniture:
    """Of a diameter and a height between two limits."""
    width, height = rng.uniform(least_m, most_m).tolist()
    size = (width, width if form == "ball" else height)
    kind = str(rng.choice(["fabric", "plaster", "crate"]))
    cover = Material(kind=kind, colour=random_colour(rng), accent=random_colour(rng), seed=random_seed(rng))
    return Furniture(boxes=(standing_body(form, name, size, (0, 0, 0), side=cover),))


def _board(name: str, rng: np.random.Generator) -> Furniture:
    """A thin slab that stands upright."""
    cover = Material(kind="wood", colour=random_colour(rng), seed=random_seed(rng))
    size = (rng.uniform(0.5, 0.8), 0.02, rng.uniform(0.5, 0.9))
    return Furniture(boxes=(standing(name, size, (0, 0, 0), side=replace(cover, contrast=2.0)),))


LARGE_BODIES: tuple[Callable[[np.random.Generator], Furniture], ...] = (
    partial(_body, "ball", "ball", (0.25, 0.25), (0.55, 0.55)),
    partial(_body, "cylinder", "bin", (0.26, 0.4), (0.36, 0.65)),
    partial(_body, "cylinder", "drum", (0.35, 0.3), (0.5, 0.45)),
    partial(_body, "cone", "traffic cone", (0.32, 0.5), (0.4, 0.7)),
    partial(_body, "cone", "play tent", (0.5, 0.7), (0.7, 0.9)),
    partial(_board, "board"),
)
"""What stands on the floor of a room with round objects."""
