"""Rendered episodes: a gripper takes an object from a table and puts it on a plate, or fails to."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import EffectorPath, Scale, Signal, Task
from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, MovingBox, standing
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.furniture import CEILING, OAK, WALNUT, WHITE, room, table
from spatial_engine.rendering.gripper import OPEN_M, Motion, gripper_boxes, moved
from spatial_engine.rendering.scene import RenderedScene, camera
from spatial_engine.rendering.textures import Colour, Material
from spatial_engine.rendering.truth import EXACT, true_signals

COLOURS: dict[str, Colour] = {
    "red": (205, 45, 40),
    "yellow": (235, 205, 45),
    "green": (45, 150, 60),
    "blue": (45, 85, 205),
    "purple": (125, 55, 165),
    "pink": (240, 150, 185),
    "black": (35, 35, 38),
}
"""Of the objects: a picture tells these apart."""
TABLE_M = 0.72
_ABOVE_M = 0.28
"""Height of the gripper over the table while it carries."""
_SHARES = {"reach": 0.2, "descend": 0.12, "close": 0.06, "lift": 0.12, "carry": 0.2, "lower": 0.12, "open": 0.06}
"""Parts of the time; the rest is the way back up."""
_DOWN = np.diag([1.0, -1.0, -1.0])
"""Axes of the wrist in the world: forward (z) points down."""


@dataclass(frozen=True, kw_only=True)
class RenderedEpisode:
    """A scene in which a gripper acts, and what it does, exactly."""

    scene: RenderedScene
    world_from_base: Float64[np.ndarray, "4 4"]
    """Frame of the robot's base."""
    base_from_view: Float64[np.ndarray, "n 4 4"]
    """Pose of the wrist in each frame, as in `EffectorPath`."""
    opening: Float64[np.ndarray, "n"]
    task: Task


def pick_and_place(
    rng: np.random.Generator, *, frames: int = 120, width_px: int = 320, height_px: int = 240, succeeds: bool = True
) -> RenderedEpisode:
    """An object among others is put on a plate. An episode that does not succeed closes the gripper beside it."""
    places = _places(rng)
    colours = rng.permutation([*COLOURS])[: len(places) - 1]
    objects = [coloured_block(rng, str(colour), place) for colour, place in zip(colours, places[1:], strict=True)]
    plate = standing("plate", (0.24, 0.24, 0.015), (*places[0], TABLE_M), side=WHITE)
    motion, first = _motion(objects[0], places[0], frames, 0.0 if succeeds else 0.09)
    wrist = motion.wrist(_DOWN)
    carried = (
        _carried(objects[0], wrist, first, frames) if succeeds else np.tile(objects[0].world_from_box, (frames, 1, 1))
    )
    scene = staged(
        rng,
        width_px,
        height_px,
        still=(plate, *objects[1:]),
        moving=(MovingBox(box=objects[0], world_from_box=carried), *gripper_boxes(wrist, motion.opening)),
    )
    name = objects[0].name
    task = Task(
        instruction=f"put the {name} on the plate",
        step_texts=(f"reach for the {name}", f"take the {name}", "carry it to the plate", "put it down", "move away"),
        step_frames=np.array([0, *(first[part] for part in ("descend", "lift", "lower", "away"))]),
        success=succeeds,
        provenance=source_of(scene, "task"),
    )
    return acted(scene, wrist, motion, task)


def true_episode_signals(episode: RenderedEpisode, clip: Clip, stride: int = 1) -> dict[str, Signal]:
    """`true_signals` of the scene, `effector_path` and `task`. `clip` may be a video made of the scene."""
    path = EffectorPath(
        frames=clip.frames,
        base_from_view=episode.base_from_view[clip.frames],
        opening=episode.opening[clip.frames],
        rotation_sigma_rad=np.full(len(clip.frames), EXACT),
        position_sigma=np.full(len(clip.frames), EXACT),
        effector="gripper",
        scale=Scale(kind="metric", relative_sigma=EXACT, source="data set"),
        cam_from_base=np.linalg.solve(episode.scene.world_from_cam[clip.frames], episode.world_from_base),
        provenance=source_of(episode.scene, clip.id),
    )
    return {**true_signals(episode.scene, clip, stride=stride), "effector_path": path, "task": episode.task}


def staged(
    rng: np.random.Generator, width_px: int, height_px: int, still: tuple[Box, ...], moving: tuple[MovingBox, ...]
) -> RenderedScene:
    """A table before a camera that stands still, and what is on it."""
    return RenderedScene(
        intrinsics=camera(width_px, height_px, vfov_deg=52),
        room=room((4.0, 4.0, 2.5), OAK, (WHITE,) * 4, CEILING),
        boxes=(*table("table", (1.3, 0.9, TABLE_M), (2.0, 2.2), WALNUT), *still),
        moving_boxes=moving,
        world_from_cam=camera_paths.static(
            len(moving[0].world_from_box),
            Stance(at_m=(2.0 + rng.uniform(-0.2, 0.2), 0.8, 1.5), pitch_rad=float(np.deg2rad(-28))),
        ),
        fps=30.0,
        seed=int(rng.integers(2**31)),
    )


def acted(scene: RenderedScene, wrist: Poses, motion: Motion, task: Task) -> RenderedEpisode:
    """The episode, in the frame of a base beside the table."""
    base = RigidTransform.from_components([1.9, 2.0, TABLE_M], Rotation.from_euler("z", 90, degrees=True)).as_matrix()
    return RenderedEpisode(
        scene=scene, world_from_base=base, base_from_view=np.linalg.inv(base) @ wrist, opening=motion.opening, task=task
    )


def source_of(scene: RenderedScene, what: str) -> Provenance:
    """The renderer, and what it is asked about."""
    return Provenance(expert="renderer", version="1", settings={"scene": what}, seed=scene.seed)


def _places(rng: np.random.Generator) -> list[tuple[float, float]]:
    """Four places on the table, far enough apart for the open gripper."""
    grid = [(x, y) for x in (1.6, 1.88, 2.14, 2.42) for y in (2.0, 2.35)]
    chosen = rng.permutation(len(grid))[:4]
    return [(grid[k][0] + rng.uniform(-0.02, 0.02), grid[k][1] + rng.uniform(-0.03, 0.03)) for k in chosen]


def coloured_block(rng: np.random.Generator, colour: str, place: tuple[float, float]) -> Box:
    """It stands on the table."""
    side = rng.uniform(0.05, 0.08)
    cover = Material(kind="plaster", colour=COLOURS[colour], seed=int(rng.integers(1000)))
    return standing(f"{colour} block", (side, side, rng.uniform(0.08, 0.13)), (*place, TABLE_M), side=cover)


def _motion(taken: Box, plate: tuple[float, float], frames: int, beside_m: float) -> tuple[Motion, dict[str, int]]:
    """The motion, and the first frame of each part of it."""
    grasp = taken.world_from_box[:3, 3] + [beside_m, 0, 0.01]
    release = np.array([*plate, grasp[2] + 0.015])
    up = np.array([0, 0, _ABOVE_M])
    start = np.array([2.0, 1.85, TABLE_M + 0.45])
    stops = [start, grasp + up, grasp, grasp, grasp + up, release + up, release, release, release + up]
    shut = min(taken.size_m[0] / OPEN_M, 1)
    openings = [1.0] * 3 + [shut] * 4 + [1.0] * 2
    motion = moved(np.array(stops), openings, [*_SHARES.values(), 1 - sum(_SHARES.values())], frames)
    return motion, dict(zip([*_SHARES, "away"], motion.first.tolist(), strict=True))


def _carried(taken: Box, wrist: Poses, first: dict[str, int], frames: int) -> Poses:
    """Poses of the object: it goes with the wrist from the lift until the gripper opens."""
    poses = np.tile(taken.world_from_box, (frames, 1, 1))
    for frame in range(first["lift"], frames):
        until = min(frame, first["open"])
        poses[frame, :3, 3] += wrist[until, :3, 3] - wrist[first["lift"], :3, 3]
    return poses
