"""Colours and materials drawn at random."""

import numpy as np

from spatial_engine.rendering.textures import Colour, Material


def random_colour(rng: np.random.Generator, low: float = 60, high: float = 215, tint: float = 30) -> Colour:
    """Not too bright a hue."""
    grey, tints = rng.uniform(low, high), rng.uniform(-tint, tint, 3)
    r, g, b = np.clip(grey + tints, 20, 245)
    return float(r), float(g), float(b)


def random_seed(rng: np.random.Generator) -> int:
    """Of a texture."""
    return int(rng.integers(1 << 20))


def random_wall(rng: np.random.Generator) -> Material:
    """Paper, plaster or tiles."""
    kind = str(rng.choice(["wallpaper", "wallpaper", "plaster", "tiles"]))
    contrast = {"plaster": 2.0, "wallpaper": 1.3}.get(kind, 1.0)
    colour = random_colour(rng, 160, 215, tint=14)
    return Material(kind=kind, colour=colour, accent=random_colour(rng), seed=random_seed(rng), contrast=contrast)


def random_floor(rng: np.random.Generator) -> Material:
    """Planks or tiles."""
    kind = str(rng.choice(["planks", "tiles"]))
    colour, joints = random_wood(rng).colour, random_colour(rng, 60, 110)
    return Material(kind=kind, colour=colour, accent=joints, seed=random_seed(rng), contrast=1.5)


def random_wood(rng: np.random.Generator) -> Material:
    """Of any shade."""
    shade = rng.uniform(90, 200)
    return Material(kind="wood", colour=(shade, shade * 0.75, shade * 0.52), seed=random_seed(rng), contrast=1.3)
