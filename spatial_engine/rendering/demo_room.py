"""The scene of the demo clip: a small living room, all six camera primitives, one crate that slides."""

from dataclasses import replace

import numpy as np

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, MovingBox, Piece, sliding, standing
from spatial_engine.rendering.furniture import (
    BOOKS,
    CEILING,
    DRAWERS,
    OAK,
    WALNUT,
    WHITE,
    WINDOW,
    armchair,
    cloth,
    crate,
    lamp,
    painting,
    plant,
    room,
    table,
)
from spatial_engine.rendering.scene import RenderedScene, camera
from spatial_engine.rendering.textures import Material

_START = camera_paths.Stance(at_m=(1.75, 0.45, 1.4), pitch_rad=float(np.deg2rad(-19)))


def demo_scene(width_px: int = 640, height_px: int = 480) -> RenderedScene:
    """Always the same; smaller pictures are for quick tests."""
    path = camera_paths.demo(_START)
    wall = Material(kind="wallpaper", colour=(214, 206, 184), accent=(122, 136, 120))
    floor = Material(kind="planks", colour=(176, 130, 88), seed=50, contrast=1.4)
    return RenderedScene(
        intrinsics=camera(width_px, height_px, vfov_deg=45.0),
        room=room((5.2, 4.6, 2.6), floor, tuple(replace(wall, seed=40 + k) for k in range(4)), CEILING),
        boxes=_furniture(),
        moving_boxes=(_sliding_crate(len(path)),),
        world_from_cam=path,
        fps=20.0,
        texel_m=0.004 * max(1.0, 640 / width_px),
    )


def _furniture() -> tuple[Box, ...]:
    rug = Material(kind="rug", colour=(142, 52, 48), accent=(222, 190, 140))
    return (
        standing("rug", (2.2, 1.5, 0.012), (2.35, 2.85, 0), side=OAK, top=rug),
        standing("bookcase", (1.25, 0.34, 2.0), (0.85, 4.42, 0), side=OAK, front=BOOKS),
        standing("sideboard", (1.5, 0.42, 0.78), (2.45, 4.37, 0), side=WALNUT, front=DRAWERS),
        standing("radio", (0.42, 0.2, 0.24), (2.82, 4.34, 0.78), side=crate(25, (156, 116, 84), (60, 70, 80))),
        standing(
            "vase", (0.12, 0.12, 0.26), (2.40, 4.36, 0.78), side=cloth((42, 96, 120), (220, 214, 190), 24), yaw_deg=30
        ),
        *lamp((1.95, 4.36, 0.78)),
        standing("window", (1.5, 0.05, 1.25), (4.25, 4.58, 0.95), side=WHITE, front=WINDOW),
        standing("curtain", (0.34, 0.10, 2.2), (3.40, 4.53, 0.2), side=cloth((190, 168, 138), (120, 92, 70), 23)),
        *armchair((4.3, 3.75), (86, 112, 138), (196, 206, 210), 20),
        standing(
            "cushion", (0.42, 0.14, 0.4), (4.25, 4.05, 0.42), side=cloth((214, 168, 82), (122, 70, 50), 21), yaw_deg=8
        ),
        *_pictures(),
        *plant((0.36, 3.72), 1.05),
        standing("low shelf", (0.34, 1.3, 0.9), (0.18, 2.55, 0), side=BOOKS, top=OAK, of=_unfronted("low shelf")),
        *table("coffee table", (0.8, 0.5, 0.42), (3.7, 2.75), OAK),
        standing(
            "book", (0.3, 0.22, 0.05), (3.6, 2.74, 0.42), side=cloth((60, 84, 130), (224, 214, 180), 27), yaw_deg=20
        ),
        standing(
            "box", (0.2, 0.16, 0.14), (3.92, 2.8, 0.42), side=crate(28, (120, 140, 92), (40, 50, 60)), yaw_deg=-25
        ),
    )


def _pictures() -> tuple[Box, ...]:
    meadow = painting(30, (150, 190, 220), (96, 128, 70))
    dusk = painting(31, (226, 170, 120), (92, 62, 84))
    lake = painting(32, (200, 206, 196), (70, 104, 128))
    return (
        standing("picture", (0.95, 0.04, 0.68), (2.30, 4.58, 1.36), side=WALNUT, front=meadow),
        standing("small picture", (0.42, 0.04, 0.52), (2.98, 4.58, 1.44), side=WALNUT, front=dusk),
        standing("wall picture", (0.04, 0.9, 0.65), (0.02, 2.6, 1.35), side=lake, of=_unfronted("wall picture")),
    )


def _unfronted(name: str) -> Piece:
    """An object whose front is not the -y face of its box."""
    return Piece(name=name, fronts=-1)


def _sliding_crate(frames: int) -> MovingBox:
    """From beside the coffee table to the front of the bookcase, rotating a little."""
    t = np.linspace(0, 1, frames)[:, None]
    feet = np.array([2.75, 2.7, 0.012]) * (1 - t) + np.array([1.4, 3.35, 0.012]) * t
    box = standing("crate", (0.52, 0.52, 0.48), (0, 0, 0), side=crate(7, (196, 98, 66), (238, 226, 196)))
    return sliding(box, feet, np.linspace(25, -20, frames))
