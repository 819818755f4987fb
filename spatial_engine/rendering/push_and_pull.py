"""Rendered episodes: a gripper pushes a block onto a mat, or pulls a drawer open, or fails to."""

import numpy as np
from jaxtyping import Float64

from experts.signals import Task
from spatial_engine.rendering.boxes import Box, MovingBox, Piece, standing
from spatial_engine.rendering.camera_paths import Poses
from spatial_engine.rendering.episodes import (
    COLOURS,
    TABLE_M,
    RenderedEpisode,
    acted,
    coloured_block,
    source_of,
    staged,
)
from spatial_engine.rendering.furniture import OAK, WHITE
from spatial_engine.rendering.gripper import OPEN_M, Motion, gripper_boxes, moved
from spatial_engine.rendering.textures import Material

_AHEAD = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
"""Axes of the wrist in the world: forward (z) points away from the camera, along y."""
_BESIDE_M = 0.13
"""How far an attempt that fails goes past the object."""
_DRAWER_M = (0.3, 0.22, 0.14)
_HANDLE_M = (0.025, 0.05, 0.07)


def push(
    rng: np.random.Generator, *, frames: int = 120, width_px: int = 320, height_px: int = 240, succeeds: bool = True
) -> RenderedEpisode:
    """A block among others is pushed onto a mat by the closed gripper, which goes past it if it does not succeed."""
    columns = rng.permutation([1.6, 1.87, 2.13, 2.4])[:3] + rng.uniform(-0.02, 0.02, 3)
    colours = [str(colour) for colour in rng.permutation([*COLOURS])[:3]]
    near, way = rng.uniform(1.98, 2.04), rng.uniform(0.26, 0.34)
    blocks = [
        coloured_block(rng, colour, (x, near if k == 0 else rng.uniform(2.0, 2.4)))
        for k, (colour, x) in enumerate(zip(colours, columns.tolist(), strict=True))
    ]
    mat = standing("mat", (0.2, 0.2, 0.006), (columns[0], near + way, TABLE_M), side=WHITE)
    centre, half = blocks[0].world_from_box[:3, 3], blocks[0].half_m[1]
    before = centre - [0 if succeeds else _BESIDE_M, half + 0.005, 0.01]
    back, up, on = np.array([0, -0.1, 0]), np.array([0, 0, 0.25]), np.array([0, way, 0])
    stops = [
        [2.0, 1.6, TABLE_M + 0.5],
        before + back + up,
        before + back,
        before,
        before + on,
        before + on + 1.5 * back,
    ]
    motion = moved(np.array(stops), [0.0] * 6, (0.22, 0.16, 0.08, 0.36, 0.18), frames)
    gone = np.zeros((frames, 3))
    if succeeds:
        gone[:, 1] = np.clip(motion.at[:, 1] - before[1], 0, None)
        gone[motion.first[4] :, 1] = way
    name = blocks[0].name
    return _episode(
        rng, (width_px, height_px), motion, (mat, *blocks[1:]), _shifted([blocks[0]], gone), succeeds,
        instruction=f"push the {name} onto the mat",
        steps={0: f"move towards the {name}", 1: f"lower the gripper before the {name}", 2: "push it onto the mat",
               4: "draw back"},
    )  # fmt: skip


def open_drawer(
    rng: np.random.Generator, *, frames: int = 120, width_px: int = 320, height_px: int = 240, succeeds: bool = True
) -> RenderedEpisode:
    """One of two drawers is pulled open by its handle. The gripper closes beside the handle if it does not succeed."""
    colours = [str(colour) for colour in rng.permutation([*COLOURS])[:2]]
    x, y, (wide, deep, high) = 2.0 + rng.uniform(-0.25, 0.25), 2.4, _DRAWER_M
    chest = standing("chest", (wide + 0.04, deep, 2 * high + 0.06), (x, y, TABLE_M), side=OAK)
    rows = rng.permutation(2)
    drawers = [
        _drawer(colour, (x, y - deep / 2, TABLE_M + 0.02 + row * (high + 0.02)))
        for colour, row in zip(colours, rows.tolist(), strict=True)
    ]
    way, handle = rng.uniform(0.13, 0.17), drawers[0][2].world_from_box[:3, 3]
    grasp = handle - [0 if succeeds else _BESIDE_M, 0, 0]
    out, pulled = np.array([0, -0.14, 0]), np.array([0, -way, 0])
    start = [2.0, 1.6, TABLE_M + 0.5]
    stops = [start, grasp + out, grasp, grasp, grasp + pulled, grasp + pulled, grasp + pulled + out]
    shut = _HANDLE_M[0] / OPEN_M
    motion = moved(np.array(stops), [1, 1, 1, shut, shut, 1, 1], (0.24, 0.12, 0.08, 0.34, 0.08, 0.14), frames)
    gone = np.zeros((frames, 3))
    if succeeds:
        gone[:, 1] = np.clip(motion.at[:, 1] - grasp[1], None, 0) * (np.arange(frames) >= motion.first[3])
        gone[motion.first[4] :, 1] = -way
    name = f"{colours[0]} drawer"
    return _episode(
        rng, (width_px, height_px), motion, (chest, *drawers[1]), _shifted(drawers[0], gone), succeeds,
        instruction=f"open the {name}",
        steps={0: f"reach for the {name}", 1: "take its handle", 3: "pull it out", 4: "let go", 5: "draw back"},
    )  # fmt: skip


def _drawer(colour: str, foot_m: tuple[float, float, float]) -> list[Box]:
    """Its front, its body behind it, and its handle."""
    whole, (wide, deep, high), (x, y, z) = Piece(name=f"{colour} drawer", fronts=1), _DRAWER_M, foot_m
    cover = Material(kind="plaster", colour=COLOURS[colour], seed=3)
    dark = Material(kind="plaster", colour=(70, 62, 55), seed=4)
    low = z + (high - _HANDLE_M[2]) / 2
    return [
        standing("front", (wide, 0.02, high), (x, y - 0.01, z), side=cover, of=whole),
        standing("body", (wide - 0.04, deep - 0.03, high - 0.03), (x, y + deep / 2, z + 0.01), side=dark, of=whole),
        standing("handle", _HANDLE_M, (x, y - 0.045, low), side=OAK, of=whole, affords=("pull", "open")),
    ]


def _shifted(boxes: list[Box], gone: Float64[np.ndarray, "n 3"]) -> list[MovingBox]:
    """The boxes, each moved by so much in each frame."""
    out = []
    for box in boxes:
        poses: Poses = np.tile(box.world_from_box, (len(gone), 1, 1))
        poses[:, :3, 3] += gone
        out.append(MovingBox(box=box, world_from_box=poses))
    return out


def _episode(
    rng: np.random.Generator,
    size_px: tuple[int, int],
    motion: Motion,
    still: tuple[Box, ...],
    moving: list[MovingBox],
    succeeds: bool,
    *,
    instruction: str,
    steps: dict[int, str],
) -> RenderedEpisode:
    """`steps`: by the part of the motion with which they begin."""
    wrist = motion.wrist(_AHEAD)
    scene = staged(rng, *size_px, still=still, moving=(*moving, *gripper_boxes(wrist, motion.opening)))
    task = Task(
        instruction=instruction,
        step_texts=tuple(steps.values()),
        step_frames=motion.first[[*steps]],
        success=succeeds,
        provenance=source_of(scene, "task"),
    )
    return acted(scene, wrist, motion, task)
