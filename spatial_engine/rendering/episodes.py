"""Rendered episodes: a gripper takes an object from a table and puts it on a plate, or fails to."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import EffectorPath, Scale, Signal, Task
from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, MovingBox, Piece, standing
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.furniture import CEILING, OAK, WALNUT, WHITE, room, table
from spatial_engine.rendering.scene import RenderedScene, camera
from spatial_engine.rendering.textures import Colour, Material
from spatial_engine.rendering.truth import EXACT, true_signals

_COLOURS: dict[str, Colour] = {
    "red": (205, 45, 40),
    "yellow": (235, 205, 45),
    "green": (45, 150, 60),
    "blue": (45, 85, 205),
    "purple": (125, 55, 165),
    "pink": (240, 150, 185),
    "black": (35, 35, 38),
}
"""Of the objects: a picture tells these apart."""
_STEEL = Material(kind="plaster", colour=(120, 124, 130), seed=21)
_TABLE_M = 0.72
_ABOVE_M = 0.28
"""Height of the gripper over the table while it carries."""
_FINGER_M = 0.10
_OPEN_M = 0.11
"""Gap between the open fingers."""
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
    colours = rng.permutation([*_COLOURS])[: len(places) - 1]
    objects = [_object(rng, str(colour), place) for colour, place in zip(colours, places[1:], strict=True)]
    plate = standing("plate", (0.24, 0.24, 0.015), (*places[0], _TABLE_M), side=WHITE)
    wrist, opening, first = _motion(objects[0], places[0], frames, 0.0 if succeeds else 0.09)
    carried = (
        _carried(objects[0], wrist, first, frames) if succeeds else np.tile(objects[0].world_from_box, (frames, 1, 1))
    )
    base = RigidTransform.from_components([1.9, 2.0, _TABLE_M], Rotation.from_euler("z", 90, degrees=True)).as_matrix()
    scene = RenderedScene(
        intrinsics=camera(width_px, height_px, vfov_deg=52),
        room=room((4.0, 4.0, 2.5), OAK, (WHITE,) * 4, CEILING),
        boxes=(*table("table", (1.3, 0.9, _TABLE_M), (2.0, 2.2), WALNUT), plate, *objects[1:]),
        moving_boxes=(MovingBox(box=objects[0], world_from_box=carried), *_gripper(wrist, opening)),
        world_from_cam=camera_paths.static(
            frames, Stance(at_m=(2.0 + rng.uniform(-0.2, 0.2), 0.8, 1.5), pitch_rad=float(np.deg2rad(-28)))
        ),
        fps=30.0,
        seed=int(rng.integers(2**31)),
    )
    name = objects[0].name
    task = Task(
        instruction=f"put the {name} on the plate",
        step_texts=(f"reach for the {name}", f"take the {name}", "carry it to the plate", "put it down", "move away"),
        step_frames=np.array([0, *(first[part] for part in ("descend", "lift", "lower", "away"))]),
        success=succeeds,
        provenance=_source(scene, "task"),
    )
    return RenderedEpisode(
        scene=scene, world_from_base=base, base_from_view=np.linalg.inv(base) @ wrist, opening=opening, task=task
    )


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
        provenance=_source(episode.scene, clip.id),
    )
    return {**true_signals(episode.scene, clip, stride=stride), "effector_path": path, "task": episode.task}


def _source(scene: RenderedScene, what: str) -> Provenance:
    return Provenance(expert="renderer", version="1", settings={"scene": what}, seed=scene.seed)


def _places(rng: np.random.Generator) -> list[tuple[float, float]]:
    """Four places on the table, far enough apart for the open gripper."""
    grid = [(x, y) for x in (1.6, 1.88, 2.14, 2.42) for y in (2.0, 2.35)]
    chosen = rng.permutation(len(grid))[:4]
    return [(grid[k][0] + rng.uniform(-0.02, 0.02), grid[k][1] + rng.uniform(-0.03, 0.03)) for k in chosen]


def _object(rng: np.random.Generator, colour: str, place: tuple[float, float]) -> Box:
    side = rng.uniform(0.05, 0.08)
    cover = Material(kind="plaster", colour=_COLOURS[colour], seed=int(rng.integers(1000)))
    return standing(f"{colour} block", (side, side, rng.uniform(0.08, 0.13)), (*place, _TABLE_M), side=cover)


def _motion(
    taken: Box, plate: tuple[float, float], frames: int, beside_m: float
) -> tuple[Poses, Float64[np.ndarray, "n"], dict[str, int]]:
    """Poses of the wrist in the world, opening, and the first frame of each part of the motion."""
    grasp = taken.world_from_box[:3, 3] + [beside_m, 0, 0.01]
    release = np.array([*plate, grasp[2] + 0.015])
    up = np.array([0, 0, _ABOVE_M])
    start = np.array([2.0, 1.85, _TABLE_M + 0.45])
    stops = [start, grasp + up, grasp, grasp, grasp + up, release + up, release, release, release + up]
    last = (np.cumsum([0.0, *_SHARES.values()]) * (frames - 1)).round().astype(int)
    times = [*last.tolist(), frames - 1]
    now = np.arange(frames)
    part = np.clip(np.searchsorted(times, now, side="right") - 1, 0, len(times) - 2)
    share = (now - np.take(times, part)) / np.maximum(1, np.diff(times)[part])
    eased = (1 - np.cos(np.pi * np.clip(share, 0, 1))) / 2
    at = np.array(stops)[part] * (1 - eased[:, None]) + np.array(stops)[part + 1] * eased[:, None]
    closing, opening = list(_SHARES).index("close"), list(_SHARES).index("open")
    shut = np.clip(taken.size_m[0] / _OPEN_M, 0, 1)
    level = np.where(part < closing, 1.0, np.where(part < opening, shut, 1.0))
    level = np.where(
        part == closing, 1 - (1 - shut) * eased, np.where(part == opening, shut + (1 - shut) * eased, level)
    )
    wrist = np.tile(np.eye(4), (frames, 1, 1))
    wrist[:, :3, :3], wrist[:, :3, 3] = _DOWN, at + np.array([0, 0, _FINGER_M])
    return wrist, level, dict(zip([*_SHARES, "away"], times, strict=False))


def _carried(taken: Box, wrist: Poses, first: dict[str, int], frames: int) -> Poses:
    """Poses of the object: it goes with the wrist from the lift until the gripper opens."""
    poses = np.tile(taken.world_from_box, (frames, 1, 1))
    for frame in range(first["lift"], frames):
        until = min(frame, first["open"])
        poses[frame, :3, 3] += wrist[until, :3, 3] - wrist[first["lift"], :3, 3]
    return poses


def _gripper(wrist: Poses, opening: Float64[np.ndarray, "n"]) -> list[MovingBox]:
    """A wrist and two fingers; the gap between these is that of the opening."""
    whole, size = Piece(name="gripper", fronts=0), (0.02, 0.03, _FINGER_M)
    palm = standing("wrist", (0.17, 0.06, 0.08), (0, 0, 0), side=_STEEL, of=whole)
    finger = replace(palm, name="finger", size_m=size)
    out = [MovingBox(box=palm, world_from_box=_shifted(wrist, np.zeros(len(wrist)), -0.04))]
    for side in (-1, 1):
        across = side * (opening * _OPEN_M + size[0]) / 2
        out.append(MovingBox(box=finger, world_from_box=_shifted(wrist, across, _FINGER_M / 2)))
    return out


def _shifted(wrist: Poses, x_m: Float64[np.ndarray, "n"], z_m: float) -> Poses:
    """Poses at places along the wrist's x and z axes."""
    offset = np.tile(np.eye(4), (len(wrist), 1, 1))
    offset[:, 0, 3], offset[:, 2, 3] = x_m, z_m
    return wrist @ offset
