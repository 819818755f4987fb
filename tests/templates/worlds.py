"""A small exact world as signals, without pixels: points on walls, a bent camera path, one moving group."""

import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.objects.object_angles import rotation_of
from experts.provenance import Provenance
from experts.signals import (
    CameraPath,
    Depth,
    EffectorPath,
    Gravity,
    Matches,
    MotionKind,
    NoEstimate,
    ObjectOrientation,
    Objects,
    Parts,
    PointTracks,
    Room,
    Scale,
    Signal,
    SparsePoints,
    Task,
)
from templates.asked import ClipQuestions, Draft
from templates.columns import Json
from templates.generate import ask_clip
from templates.scene.objects import projected_boxes
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.template import Template

FRAMES = np.arange(0, 48, 2)
MASKED = 4
"""So many of the first frames have masks of the objects; the others have boxes."""
CAMERA = Intrinsics.centred(640, 480, 600.0)
PX_PER_S = np.array([150.0, -40.0])
"""Of the tracks before the camera that stands still."""
SOURCE = Provenance(expert="made up", version="1")
UNITS = pytest.mark.parametrize("unit", [3.0, pytest.param(1.0, marks=pytest.mark.long)])
METRIC = Scale(kind="metric", relative_sigma=0.01, source="data set")


class NoPictures:
    """Fails if a template reads pixels."""

    def read(self, frames: Sequence[int]) -> Iterator[np.ndarray]:
        """Never returns."""
        raise AssertionError("a template read pixels")


def clip() -> Clip:
    """A clip whose frames cannot be read."""
    return Clip(
        id="0123456789abcdef",
        name="made up",
        frames=np.arange(48),
        times_s=np.arange(48) / 24,
        width_px=640,
        height_px=480,
        reader=NoPictures(),
    )


def scene(signals: dict[str, Signal]) -> Scene:
    """The only scene of the signals."""
    (only,) = scenes_of(clip(), signals)
    return only


def ask(
    template: Template, signals: dict[str, Signal | NoEstimate], *, facts: int = 20, seed: int = 0
) -> ClipQuestions:
    """What one template asks."""
    return ask_clip(clip(), signals, [template], AskSettings(facts_per_template=facts), seed)


def drafts(found: ClipQuestions) -> list[Draft]:
    """All questions in words."""
    return [draft for asked in found.asked for draft in asked.drafts()]


def reasons(found: ClipQuestions) -> set[str]:
    """Why facts were refused."""
    return {refusal.reason for refusal in found.refusals}


def written(draft: Draft) -> Json:
    """The answer as the question records it; for a choice, the index of the right option."""
    return draft.answer.to_json().answer if draft.written is None else draft.written


def shown(draft: Draft) -> tuple[object, ...]:
    """What a reader of a question sees, and its answer."""
    return draft.format, draft.instructions, draft.prompt, draft.media, draft.options, written(draft)


def with_path(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    """The signals with changes of the camera path."""
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    return {**signals, "camera_path": replace(path, **changes)}  # type: ignore[arg-type]


def matched_by_expert(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals without observations of sparse points, which give matches, too."""
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    none = np.zeros(len(points.observation_point), dtype=bool)
    return {**signals, "sparse_points": points.with_observations(none)}


def zooming(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals of a camera that zooms in by 1.6, and out again by as much to the end."""
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    magnification = np.exp(np.log(1.6) * np.sin(np.linspace(0, np.pi, len(FRAMES))))
    sigma = np.full(len(FRAMES), 0.005)
    zoomed = replace(path, magnification=magnification, magnification_sigma=sigma)
    return {**{name: s for name, s in signals.items() if name != "camera_path"}, "zooming_path": zoomed}


def aslant(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with up that leans more and more towards the end, to the left and ahead, by up to 16°."""
    gravity, angles = signals["gravity"], np.linspace(0, 16, len(FRAMES))
    assert isinstance(gravity, Gravity)
    leaning = Rotation.from_euler("zx", np.column_stack([-angles, angles]), degrees=True).apply(gravity.up_cam)
    return {**signals, "gravity": replace(gravity, up_cam=leaning)}


def boards(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals, and depth of the frames with masks: each object is a board that faces the camera, before a wall."""
    objects, known = signals["objects"], scene(signals)
    assert isinstance(objects, Objects) and known.path is not None
    frames, ids = FRAMES[:MASKED], objects.ids[:MASKED]
    cam_from_object = np.linalg.inv(known.world_from_cam(frames))[:, None] @ objects.world_from_object[:MASKED]
    unit = np.linalg.norm(objects.world_from_object[0, 1, :3, 3] - objects.world_from_object[0, 0, :3, 3])
    z = np.concatenate([cam_from_object[..., 2, 3], np.full((MASKED, 1), 12 * unit)], axis=1)  # id -1 is the last
    return {
        **signals,
        "depth": Depth(
            frames=frames, z=z[np.arange(MASKED)[:, None, None], ids].astype(np.float32), provenance=SOURCE,
            relative_sigma=np.full(ids.shape, 0.002, dtype=np.float32), scale=Scale(kind="relative"),
        ),
    }  # fmt: skip


def balls(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with masks and depth of balls at the places of the objects, before a wall."""
    objects, known = signals["objects"], scene(signals)
    assert isinstance(objects, Objects) and known.path is not None
    unit = np.linalg.norm(objects.world_from_object[0, 1, :3, 3] - objects.world_from_object[0, 0, :3, 3])
    frames, camera = FRAMES[:MASKED], CAMERA.scaled(320, 240)
    centres = (np.linalg.inv(known.world_from_cam(frames))[:, None] @ objects.world_from_object[:MASKED])[..., :3, 3]
    rays = camera.rays(np.stack(np.meshgrid(np.arange(320.0), np.arange(240.0)), axis=-1))
    along = np.einsum("hwi,fki->fhwk", rays, centres)
    free = along**2 - np.sum(centres**2, axis=-1)[:, None, None] + (0.3 * unit) ** 2
    reach = np.where(free > 0, along - np.sqrt(np.maximum(free, 0)), 12 * unit)
    ids = np.where(reach.min(axis=-1) < 12 * unit, reach.argmin(axis=-1), -1).astype(np.int32)
    masks = np.full((len(FRAMES), *ids.shape[1:]), -1, dtype=np.int32)
    masks[:MASKED] = ids
    return {
        **signals,
        "objects": replace(objects, ids=masks),
        "depth": Depth(
            frames=frames, z=(reach.min(axis=-1) * rays[..., 2]).astype(np.float32), provenance=SOURCE,
            relative_sigma=np.full(ids.shape, 0.002, dtype=np.float32), scale=Scale(kind="relative"),
        ),
    }  # fmt: skip


def elsewhere(seed: int, unit: float, poses: np.ndarray | None = None) -> dict[str, Signal]:
    """The signals in another world frame and another unit. `poses`: as of `signals`."""
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    turned[:3, 3] = np.random.default_rng(seed).normal(size=3)
    moved = signals(world_from_made=turned, unit=unit, poses=poses)
    return with_path(moved, position_sigma=np.full(len(FRAMES), 1e-4 * unit))


def mirrored(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The camera path of the footage seen in a mirror: x → -x in every camera."""
    path, flip = signals["camera_path"], np.diag([-1.0, 1, 1, 1])
    assert isinstance(path, CameraPath)
    return with_path(signals, world_from_cam=flip @ path.world_from_cam @ flip)


def in_a_mirror(text: str) -> str:
    """The words of a direction as the mirror shows it."""
    pairs = {"right": "left", "Right": "Left", "CW": "CCW"}
    other = pairs | {b: a for a, b in pairs.items()}
    return re.sub(r"\w+", lambda word: other.get(word[0], word[0]), text)


def as_truth(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with objects that ground truth tells apart."""
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    return {**signals, "objects": replace(objects, outlier_probability=None)}


def surer(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with points of which fewer are outliers."""
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    return {**signals, "sparse_points": replace(points, outlier_probability=points.outlier_probability / 3)}


def slope(frames: np.ndarray = FRAMES) -> Depth:
    """Measured depth of a floor-like slope: 2 units at the top of every frame, 6 at its bottom."""
    z = np.broadcast_to(np.linspace(2, 6, 48, dtype=np.float32)[None, :, None], (len(frames), 48, 64))
    sigma = np.full(z.shape, 0.005, dtype=np.float32)
    return Depth(
        frames=frames, z=z.copy(), relative_sigma=sigma, scale=Scale(kind="relative"), provenance=SOURCE,
        outlier_probability=0.0,
    )  # fmt: skip


def empty_room(world_from_made: np.ndarray | None = None) -> dict[str, Signal]:
    """A camera that turns all round in an empty room of 5 m × 4 m, with its depth and its walls."""
    t, size = np.linspace(0, 2 * np.pi, len(FRAMES), endpoint=False), np.array([5.0, 4.0, 2.5])
    poses, turned = np.tile(np.eye(4), (len(FRAMES), 1, 1)), np.eye(4) if world_from_made is None else world_from_made
    poses[:, :3, :3] = (Rotation.from_euler("z", t[:, None]) * Rotation.from_euler("x", -90, degrees=True)).as_matrix()
    poses[:, :3, 3] = np.array([2.5, 2.0, 1.2]) + 0.2 * np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)
    rays = CAMERA.scaled(32, 24).rays(np.stack(np.meshgrid(np.arange(32.0), np.arange(24.0)), axis=-1))
    ways, start = np.einsum("nij,hwj->nhwi", poses[:, :3, :3], rays), poses[:, None, None, :3, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.min(np.where(ways > 0, size - start, -start) / ways, axis=3) * rays[..., 2]
    known = with_path(signals(poses=poses, world_from_made=world_from_made), scale=METRIC)
    room = Room(
        world_from_floor=turned, floor_sigma=0.01, outline=np.array([[0, 0], [5.0, 0], [5, 4], [0, 4]]),
        wall_sigma=np.full(4, 0.02), height=2.5, height_sigma=0.02, doorways=np.empty((0, 2, 2)),
        cells=np.ones((8, 10), dtype=np.int32), cell=0.5, cells_from=np.zeros(2), provenance=SOURCE,
    )  # fmt: skip
    depth = replace(slope(), z=z.astype(np.float32), relative_sigma=np.full(z.shape, 0.002, dtype=np.float32))
    return {"camera_path": known["camera_path"], "gravity": known["gravity"], "depth": depth, "room": room}


def camera_poses() -> np.ndarray:
    """Nearly level camera-to-world poses in a world with z up: forward, then to the right, with a slow rotation."""
    t = np.linspace(0, 1, len(FRAMES))
    positions = np.stack([np.where(t > 0.5, t - 0.5, 0) * 1.6, np.minimum(t, 0.5) * 2.4, 0.02 * np.sin(5 * t)], axis=1)
    level = Rotation.from_euler("x", -90, degrees=True)  # world z up from OpenCV axes
    turn = Rotation.from_euler("z", -np.radians(25) * t[:, None])
    tilt = Rotation.from_euler("x", np.radians(-6 - 6 * t)[:, None])
    poses = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    poses[:, :3, :3] = (turn * level * tilt).as_matrix()
    poses[:, :3, 3] = positions
    return poses


def poses_around() -> np.ndarray:
    """Camera-to-world poses on a wide arc around the same things, facing them."""
    angles = np.radians(np.linspace(-120, 0, len(FRAMES)))
    level = Rotation.from_euler("x", -90, degrees=True)
    poses = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    poses[:, :3, :3] = (Rotation.from_euler("z", angles[:, None] + np.pi / 2) * level).as_matrix()
    poses[:, :3, 3] = np.array([0.5, 4.5, 0.0]) + 6 * np.stack(
        [np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1
    )
    return poses


def poses_turning() -> np.ndarray:
    """Camera-to-world poses beside the objects, which come into view one after the other."""
    t = np.linspace(0, 1, len(FRAMES))
    poses = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    turn = Rotation.from_euler("z", -225 - 135 * t[:, None], degrees=True) * Rotation.from_euler("x", -90, degrees=True)
    poses[:, :3, :3] = turn.as_matrix()
    poses[:, :3, 3] = np.array([3.4, 2.6, 0.0]) + 0.1 * t[:, None]
    return poses


def poses_in_parts() -> np.ndarray:
    """Camera-to-world poses that go forward for a second, and then turn to the right for another one."""
    t = np.linspace(0, 2, len(FRAMES))
    poses = np.tile(np.eye(4), (len(FRAMES), 1, 1))
    turn = Rotation.from_euler("z", -40 * np.clip(t - 1, 0, 1)[:, None], degrees=True)
    poses[:, :3, :3] = (turn * Rotation.from_euler("x", -90, degrees=True)).as_matrix()
    poses[:, 1, 3] = 1.2 * np.clip(t, 0, 1)
    return poses


def on_tripod(*, stops_at: int = 99, sigma_px: float = 0.5, racing: bool = False) -> dict[str, Signal]:
    """A camera that stands still, and tracks that move by `PX_PER_S` up to some frame; nothing else is known. `racing`:
    every other one is twice as fast, but behind."""
    count, points = len(FRAMES), 40
    still = with_path(
        signals(),
        world_from_cam=np.tile(np.eye(4), (count, 1, 1)),
        motion="static",
        rotation_sigma_rad=np.full(count, 0.002),
    )
    start = np.random.default_rng(0).uniform([60, 180], [180, 400], (points, 1, 2))
    start[::2, 0, 0] += 60 * racing
    faster = 1 + racing * (np.arange(points) % 2)
    xy = start + faster[:, None, None] * np.minimum(FRAMES, stops_at)[:, None] / 24 * PX_PER_S
    tracks = _tracks(np.empty((0, count, 2)), xy)
    vague = replace(tracks, sigma_px=np.full((points, count), sigma_px))
    return {"camera_path": still["camera_path"], "tracks": vague}


def moving_points(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Static points (p, 3), and moving ones at every frame (m, n, 3)."""
    static = np.stack([rng.uniform(-2, 3, 120), rng.uniform(3, 6, 120), rng.uniform(-1.2, 1.2, 120)], axis=1)
    near, far = (
        rng.uniform([1.0, 3.0, -0.9], [1.6, 3.1, -0.4], (60, 3)),
        rng.uniform([0, 7, 0.2], [1.6, 7.2, 1], (60, 3)),
    )
    low = np.random.default_rng(1).uniform([-0.6, 5.4, -1.5], [2.2, 6.2, -1.3], (30, 3))  # higher in the picture
    leaving = np.random.default_rng(2).uniform([-2.6, 6.0, -2.4], [-1.2, 6.2, 1.6], (160, 3))  # the camera turns away
    static = np.concatenate([static, near, far, low, leaving, _joining(near, far, low, leaving)])
    start = np.stack([rng.uniform(-0.4, 0.0, 8), rng.uniform(3.0, 3.3, 8), rng.uniform(-0.6, -0.2, 8)], axis=1)
    shift = np.linspace(0, 0.9, len(FRAMES))[None, :, None] * np.array([1.0, 0.0, 0.0])
    return static, start[:, None] + shift


def _joining(near: np.ndarray, far: np.ndarray, low: np.ndarray, leaving: np.ndarray) -> np.ndarray:
    """Points that join all to one surface, away from what moves."""
    right = near[near[:, 0].argmax()]
    ends = [(right, far[far[:, 0].argmax()]), (right, low[low[:, 0].argmax()])]
    ends.append((far[far[:, 0].argmin()], leaving[leaving[:, 2].argmax()]))
    return np.concatenate([np.linspace(*pair, 20)[1:-1] for pair in ends])


def signals(
    *,
    seed: int = 0,
    world_from_made: np.ndarray | None = None,
    unit: float = 1.0,
    motion: MotionKind = "general",
    with_gravity: bool = True,
    noise: float = 0.0,
    poses: np.ndarray | None = None,
) -> dict[str, Signal]:
    """Exact signals with realistic σ, in a world transformed by `world_from_made` (4×4) and scaled by `unit`. `poses`:
    of the camera, by default `camera_poses`."""
    return pickle.loads(_signals(pickle.dumps((seed, world_from_made, unit, motion, with_gravity, noise, poses))))


@lru_cache(maxsize=16)
def _signals(arguments: bytes) -> bytes:
    """Those of `signals`, made once and pickled: each caller gets its own."""
    seed, world_from_made, unit, motion, with_gravity, noise, poses = pickle.loads(arguments)
    rng = np.random.default_rng(seed)
    static, moving = moving_points(rng)
    poses = camera_poses() if poses is None else poses
    turned = np.eye(4) if world_from_made is None else world_from_made
    world = turned @ poses
    world[:, :3, 3] *= unit
    if motion != "general":
        world[:, :3, 3] = np.nan
    pixels = np.stack([_seen(pose, static) for pose in poses], axis=1)
    moving_pixels = np.stack([_seen(pose, moving[:, i]) for i, pose in enumerate(poses)], axis=1)
    out: dict[str, Signal] = {
        "camera_path": _path(world, motion),
        "sparse_points": _points((static @ turned[:3, :3].T + turned[:3, 3]) * unit * (1 + noise), pixels),
        "tracks": _tracks(pixels, moving_pixels),
        "matches": _matches(pixels),
    }
    if motion == "general":
        out["objects"] = _objects(turned, unit)
    else:
        del out["sparse_points"]
    if with_gravity:
        out["gravity"] = _gravity(poses)
    return pickle.dumps(_with_masks(detected(out)) if "objects" in out else out)


def _objects(world_from_made: np.ndarray, unit: float) -> Objects:
    """Boxes without masks, with σ: a row of objects from near to far."""
    poses = np.tile(np.eye(4), (6, 1, 1))
    poses[:, :3, 3] = [
        (-0.8, 2.6, 0.3),
        (0.1, 3.6, -0.5),
        (0.9, 4.6, 0.3),
        (1.9, 5.6, -0.5),
        (2.6, 6.6, 0.4),
        (0, 8, 0.8),
    ]
    poses = world_from_made @ poses
    poses[:, :3, 3] *= unit
    return Objects(
        frames=FRAMES,
        labels=("chair", "table", "lamp", "sofa", "chair", "picture"),
        ids=_no_masks(),
        world_from_object=np.tile(poses, (len(FRAMES), 1, 1, 1)),
        provenance=SOURCE,
        size=np.array([[0.4 + 0.2 * k, 0.3, 0.5] for k in (0, 3, 1, 5, 2, 4)]) * unit,
        centre_sigma=np.full(6, 0.02 * unit),
        size_sigma=np.full((6, 3), 0.02 * unit),
        outlier_probability=np.full(6, 0.002),
    )


def detected(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The objects as a detector that misses none gives them: as boxes in the pictures, with their fronts."""
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    known = scene(signals)
    boxes = np.stack([projected_boxes(known, objects, row) for row in range(len(objects.frames))])
    inside = (boxes.mean(axis=2) > 0).all(axis=2) & (boxes.mean(axis=2) < [640, 480]).all(axis=2)
    angles = np.zeros((*boxes.shape[:2],))
    azimuth, rotation = (
        np.resize(np.radians(degrees), boxes.shape[1]) for degrees in ([3, 92, 185, 268, 10, 45], [0, 0, 45, 0, 88, 0])
    )
    return {
        **signals,
        "objects": replace(
            objects, ids=_no_masks(), box_px=np.where(inside[..., None, None], boxes, np.nan), complete=("*",)
        ),
        "object_orientation": ObjectOrientation(
            frames=objects.frames,
            azimuth_rad=angles + azimuth,
            polar_rad=angles,
            rotation_rad=angles + rotation,
            sigma_rad=np.tile(np.radians([5.0, 3.0, 3.0]), (*angles.shape, 1)),
            cam_from_object=_axes(known, objects, azimuth, rotation),
            fronts=np.ones(angles.shape, dtype=np.int32),
            provenance=SOURCE,
        ),
    }


def _axes(known: Scene, objects: Objects, azimuth_rad: np.ndarray, rotation_rad: np.ndarray) -> np.ndarray:
    """Axes of the objects in all frames: as `look_along` and `rotation_of`, but for all rays at once."""
    rays = (np.linalg.inv(known.world_from_cam(objects.frames))[:, None] @ objects.world_from_object)[..., :3, 3]
    axis = np.cross([0.0, 0.0, 1.0], rays)
    sine = np.linalg.norm(axis, axis=2, keepdims=True)
    along = Rotation.from_rotvec((axis / sine * np.arctan2(sine, rays[..., 2:])).reshape(-1, 3)).as_matrix()
    seen = [rotation_of(azimuth, 0, rotation) for azimuth, rotation in zip(azimuth_rad, rotation_rad, strict=True)]
    return along.reshape(*rays.shape, 3) @ np.array(seen)


def _no_masks() -> np.ndarray:
    return np.full((len(FRAMES), 1, 1), -1, dtype=np.int32)


def _with_masks(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The detected boxes as masks in the first frames; nearer objects hide others."""
    objects, known = signals["objects"], scene(signals)
    assert isinstance(objects, Objects) and objects.box_px is not None
    ids = np.full((len(FRAMES), 120, 160), -1, dtype=np.int32)
    offset = objects.world_from_object[..., :3, 3] - known.world_from_cam(objects.frames)[:, None, :3, 3]
    for frame, boxes in enumerate(np.nan_to_num(objects.box_px[:MASKED]).reshape(MASKED, -1, 4)):
        for number in np.argsort(-np.linalg.norm(offset[frame], axis=1)):  # from far to near
            x0, y0, x1, y1 = np.clip((boxes[number] + 0.5) / 4, 0, 160).round().astype(int)
            ids[frame, y0:y1, x0:x1] = number
    return {**signals, "objects": replace(objects, ids=ids)}


def with_floor(signals: dict[str, Signal], z: float = -1.2) -> dict[str, Signal]:
    """The signals of the world as it is made, in metres, with the floor at that height and no walls."""
    world_from_floor = np.eye(4)
    world_from_floor[2, 3] = z
    room = Room(
        world_from_floor=world_from_floor, floor_sigma=0.005, outline=np.zeros((0, 2)), wall_sigma=np.zeros(0),
        height=np.nan, height_sigma=np.nan, doorways=np.zeros((0, 2, 2)), cells=np.zeros((1, 1), dtype=np.int32),
        cell=0.1, cells_from=np.zeros(2), provenance=SOURCE,
    )  # fmt: skip
    return with_path({**signals, "room": room}, scale=METRIC)


def with_hall(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The same, with walls far from all objects."""
    known = with_floor(signals)
    room = known["room"]
    assert isinstance(room, Room)
    outline = np.array([[-12.0, -12], [12, -12], [12, 20], [-12, 20]])
    return {**known, "room": replace(room, outline=outline, wall_sigma=np.full(4, 0.02))}


def with_parts(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals, and three parts of every object with a mask: a back above a seat above a foot."""
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    ids, count = objects.ids[:MASKED], len(objects.labels)
    parts = np.full(ids.shape, -1, dtype=np.int32)
    for frame, number in np.ndindex(MASKED, count):
        rows = np.flatnonzero((ids[frame] == number).any(axis=1))
        for band, some in enumerate(np.array_split(rows, 3)):
            parts[frame, some] = np.where(ids[frame, some] == number, 3 * number + band, parts[frame, some])
    return {
        **signals,
        "parts": Parts(
            frames=FRAMES[:MASKED], names=("back", "seat", "foot") * count, object=np.repeat(np.arange(count), 3),
            affords=(("lean on",), ("sit on",), ()) * count, ids=parts, provenance=SOURCE,
        ),
    }  # fmt: skip


def with_vase(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with a vase that stands on the table, and objects as ground truth has them."""
    objects = signals["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    table, size = objects.world_from_object[:, 1], objects.size[1]
    vase = table.copy()
    vase[:, :3, 3] += (0.5 * size[2] + 0.15) * table[:, :3, 2]
    placed = replace(
        objects,
        labels=(*objects.labels, "vase"),
        box_px=None,
        world_from_object=np.concatenate([objects.world_from_object, vase[:, None]], axis=1),
        size=np.concatenate([objects.size, [[0.25, 0.25, 0.3]]]),
        centre_sigma=None,
        size_sigma=None,
        outlier_probability=None,
    )
    return _with_masks(detected({**signals, "objects": placed}))


def with_effector(signals: dict[str, Signal], base_from_world: np.ndarray | None = None) -> dict[str, Signal]:
    """The signals with a gripper that points down. It goes right, closes, goes up, turns by 30° clockwise as seen from
    above, goes left and down, opens, and goes away. `signals` are those of the world as it is made, in metres."""
    ends = [0, 8, 14, 20, 24, 29, 34, 40, 47]
    at = [(0.7, 3.0, -0.2), (1.0, 3, -0.2), (1.0, 3, -0.2), (1.0, 3, 0.05), (1.0, 3, 0.05)]
    at += [(0.7, 3, 0.05), (0.7, 3, -0.15), (0.7, 3, -0.15), (0.7, 3.3, -0.15)]
    poses, frames = np.tile(np.eye(4), (48, 1, 1)), np.arange(48)
    turn = Rotation.from_euler("z", -np.interp(frames, [20, 24], [0, 30])[:, None], degrees=True)
    poses[:, :3, :3] = (turn * Rotation.from_euler("x", 180, degrees=True)).as_matrix()
    poses[:, :3, 3] = np.stack([np.interp(frames, ends, part) for part in np.transpose(at)], axis=1)
    known, base = scene(signals), np.eye(4) if base_from_world is None else base_from_world
    world_from_cam = known.world_from_cam(np.repeat(FRAMES, 2))  # odd frames have the camera of the one before
    path = EffectorPath(
        frames=frames, base_from_view=base @ poses, opening=np.interp(frames, [8, 11, 37, 40], [1, 0.4, 0.4, 1]),
        rotation_sigma_rad=np.full(48, 0.005), position_sigma=np.full(48, 0.001), effector="gripper", scale=METRIC,
        cam_from_base=np.linalg.inv(base @ world_from_cam), provenance=SOURCE,
    )  # fmt: skip
    return {**signals, "effector_path": path}


def with_task(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals with a gripper that goes to a cup, closes, lifts it, carries it on, puts it down and goes away."""
    objects, frames = signals["objects"], np.arange(48)
    assert isinstance(objects, Objects)
    stops, times = (
        [(0, 0, 4), (2, 0, 1), (2, 0, 1), (4, 2, 3), (4, 2, 0), (4, 2, 0), (3, 1, 4), (3, 1, 4)],
        [0, 8, 12, 24, 32, 36, 43, 47],
    )
    poses = np.tile(np.eye(4), (48, 1, 1))
    poses[:, :3, 3] = np.transpose([np.interp(frames, times, axis) for axis in np.transpose(stops)])
    opening = np.interp(frames, times, [1, 1, 0, 0, 0, 1, 1, 1])
    steps = ("reach for the cup", "close the fingers", "carry it over", "put it down", "let go", "move away")
    return {
        **signals,
        "objects": replace(objects, labels=tuple("cup" if name == "lamp" else name for name in objects.labels)),
        "task": Task(
            instruction="put the cup beside the sofa", step_texts=steps, step_frames=np.array([0, 8, 12, 24, 32, 36]),
            success=True, provenance=SOURCE,
        ),
        "effector_path": EffectorPath(
            frames=frames, base_from_view=poses, opening=opening, rotation_sigma_rad=np.full(48, 0.01),
            position_sigma=np.full(48, 0.005), effector="gripper", scale=METRIC, provenance=SOURCE,
        ),
    }  # fmt: skip


def with_movers(signals: dict[str, Signal], unit: float = 1.0) -> dict[str, Signal]:
    """The signals with three more objects that move: one to the right and then ahead, one that comes nearer and turns,
    and a fast one that crosses. `signals` are those of the world as it is made, in that unit."""
    objects, t = signals["objects"], np.linspace(0, 1, len(FRAMES))[:, None]
    assert isinstance(objects, Objects) and objects.size is not None
    right = np.array([-1.2, 4.2, -0.3]) + np.where(t < 0.5, 2 * t, 1) * [1.2, 0, 0]
    places = np.stack(
        [
            right + np.where(t < 0.5, 0, 2 * t - 1) * [0, 1.3, 0],
            np.array([0.9, 7.0, -0.4]) + t * [0.5, -2.4, 0],
            np.array([-1.4, 6.2, 0.2]) + t * [3.2, 0.2, 0],
        ],
        axis=1,
    )
    poses = np.tile(np.eye(4), (*places.shape[:2], 1, 1))
    poses[..., :3, 3] = unit * places
    poses[:, 1, :3, :3] = Rotation.from_euler("z", 70 * t, degrees=True).as_matrix()
    more = len(places[0])
    return _with_masks(
        detected(
            {
                **signals,
                "objects": replace(
                    objects,
                    labels=(*objects.labels, "robot", "cart", "ball"),
                    box_px=None,
                    world_from_object=np.concatenate([objects.world_from_object, poses], axis=1),
                    size=np.concatenate([objects.size, np.full((more, 3), 0.4 * unit)]),
                    **{
                        name: np.concatenate([column, np.repeat(column[:1], more, axis=0)])
                        for name in ("centre_sigma", "size_sigma", "outlier_probability")
                        if (column := getattr(objects, name)) is not None
                    },
                ),
            }
        )
    )


def _seen(world_from_cam: np.ndarray, points: np.ndarray) -> np.ndarray:
    xy = CAMERA.project((points - world_from_cam[:3, 3]) @ world_from_cam[:3, :3])
    return np.where(CAMERA.contains(xy)[:, None], xy, np.nan)


def _path(world_from_cam: np.ndarray, motion: MotionKind) -> CameraPath:
    n = len(FRAMES)
    return CameraPath(
        frames=FRAMES,
        world_from_cam=world_from_cam,
        registered=np.ones(n, dtype=bool),
        keyframe=np.ones(n, dtype=bool),
        intrinsics=CAMERA,
        focal_relative_sigma=0.05,
        motion=motion,
        rotation_sigma_rad=np.full(n, np.radians(0.7)),
        position_sigma=np.full(n, 1e-4 if motion == "general" else np.nan),
        direction_sigma_rad=float(np.radians(3.0)),
        scale=Scale(kind="relative"),
        provenance=SOURCE,
    )


def _points(xyz: np.ndarray, pixels: np.ndarray) -> SparsePoints:
    point, row = np.nonzero(np.isfinite(pixels[:, :, 0]))
    return SparsePoints(
        xyz_world=xyz,
        range_relative_sigma=np.full(len(xyz), 0.03),
        triangulation_angle_rad=np.full(len(xyz), 0.1),
        outlier_probability=np.full(len(xyz), 0.003),
        observation_point=point,
        observation_frame=FRAMES[row],
        observation_xy_px=pixels[point, row],
        provenance=SOURCE,
    )


def _tracks(static: np.ndarray, moving: np.ndarray) -> PointTracks:
    xy = np.concatenate([moving, static])
    is_moving = np.arange(len(xy)) < len(moving)
    return PointTracks(
        frames=FRAMES,
        xy_px=xy,
        visible=np.isfinite(xy[:, :, 0]),
        sigma_px=np.full(xy.shape[:2], 0.5),
        outlier_probability=np.full(len(xy), 0.003),
        motion=is_moving.astype(np.int32),
        residual_px=np.where(is_moving, 12.0, 0.4),
        moving_pairs=np.where(is_moving, 9, 0).astype(np.int32),
        parallax_px=np.full(len(xy), 20.0),
        provenance=SOURCE,
    )


def _matches(pixels: np.ndarray) -> Matches:
    pairs = np.array([[0, 5], [3, 12], [6, 20]])
    both = [np.flatnonzero(np.isfinite(pixels[:, p, 0]).all(axis=1)) for p in pairs]
    pair = np.repeat(np.arange(len(pairs)), [len(rows) for rows in both])
    rows = np.concatenate(both)
    return Matches(
        pairs=FRAMES[pairs],
        pair=pair,
        xy_a_px=pixels[rows, pairs[pair, 0]],
        xy_b_px=pixels[rows, pairs[pair, 1]],
        sigma_px=np.full(len(rows), 0.7),
        outlier_probability=np.full(len(rows), 0.003),
        confirmed_by=np.full(len(rows), 2, dtype=np.int32),
        provenance=SOURCE,
    )


def _gravity(poses: np.ndarray) -> Gravity:
    return Gravity(
        frames=FRAMES,
        up_cam=np.ascontiguousarray(poses[:, 2, :3]),
        sigma_rad=np.full(len(FRAMES), np.radians(1.5)),
        decided_by="--upright",
        provenance=SOURCE,
    )
