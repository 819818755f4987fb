"""Rendered rooms with exact truth in which the camera or the scene misleads reconstructions, tracks or lines.

The docstring of each function describes the difficulty. The name of a kind is part of its random seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.spatial.transform import RigidTransform, Rotation

from benchmarks.trust.rooms import FPS, FRAMES, Path, Room, signed_uniform
from spatial_engine.rendering import Effects, RenderedScene, camera_paths
from spatial_engine.rendering.boxes import Box, MovingBox, sliding, standing
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, crate, room
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import camera
from spatial_engine.rendering.textures import Material

_SIZE = (480, 360)
_ATTEMPTS = 40
_BOX = crate(7, (196, 98, 66), (238, 226, 196))


def hard_room(kind: str, seed: int) -> Room:
    """The room of a kind (one of `KINDS`) and a seed. Equal kind and seed give equal rooms."""
    for attempt in range(_ATTEMPTS):
        rng = np.random.default_rng([seed, attempt, *kind.encode()])
        try:
            scene = KINDS[kind](rng)
        except ValueError as error:  # the camera leaves the room
            failure = error
        else:
            return Room(path=kind, scene=scene, crf=34 if kind == "poor pictures" else int(rng.integers(18, 26)))
    raise ValueError(f"no room of seed {seed} holds a clip of kind {kind!r}") from failure


def _furnished(rng: np.random.Generator, path: Path, **more: object) -> RenderedScene:
    defaults = {"vfov_deg": float(rng.uniform(40, 60)), "effects": Effects(noise_grey=float(rng.uniform(0, 2)))}
    frames = more.pop("frames", FRAMES)
    width, height = _SIZE
    return random_room(rng, frames=frames, width_px=width, height_px=height, fps=FPS, path=path, **{**defaults, **more})  # type: ignore[arg-type]


def _walk(rng: np.random.Generator, length: tuple[float, float] = (0.8, 1.4), turn: float = 0.5) -> Path:
    length_m, turn_rad = rng.uniform(*length), rng.uniform(-turn, turn)
    return lambda n, start: camera_paths.walk(n, start, length_m=length_m, turn_rad=turn_rad)


def _moves(**amounts: float) -> Path:
    return lambda n, start: camera_paths.performed([(n, amounts)], start)


def _with_attitude(path: Path, **attitude: float) -> Path:
    """The same path with another attitude of the camera."""
    return lambda n, start: path(n, replace(start, **attitude))


def _zoom(rng: np.random.Generator) -> RenderedScene:
    """The lens zooms, in or out, while the camera walks."""
    zoom = float(rng.uniform(1.12, 1.5) ** rng.choice([-1, 1]))
    return _furnished(rng, _walk(rng), effects=Effects(zoom=zoom))


def _zoom_alone(rng: np.random.Generator) -> RenderedScene:
    """The lens zooms; the camera is static or rotates a little."""
    zoom = float(rng.uniform(1.2, 1.8) ** rng.choice([-1, 1]))
    return _furnished(rng, _moves(pan=float(rng.uniform(0, 0.15))), effects=Effects(zoom=zoom))


def _lens(rng: np.random.Generator, path: Path) -> RenderedScene:
    scene = _furnished(rng, path)
    return replace(scene, intrinsics=replace(scene.intrinsics, k1=signed_uniform(rng, 0.1, 0.25)))


def _lens_turn(rng: np.random.Generator) -> RenderedScene:
    """A lens with distortion; the camera only rotates."""
    pan, tilt, roll = signed_uniform(rng, 0.3, 0.8), rng.uniform(-0.2, 0.2), rng.uniform(-0.4, 0.4)
    return _lens(rng, _moves(pan=pan, tilt=tilt, roll=roll))


def _lens_walk(rng: np.random.Generator) -> RenderedScene:
    """A lens with distortion; the camera walks."""
    return _lens(rng, _walk(rng))


def _wall(rng: np.random.Generator) -> RenderedScene:
    """One textured wall fills the view."""
    width, depth = rng.uniform(5.0, 7.0), 5.0
    kind = str(rng.choice(["wallpaper", "planks", "tiles"]))
    wall = Material(kind=kind, colour=(206, 196, 176), accent=(90, 110, 120), seed=int(rng.integers(1 << 20)))
    moves = {
        "truck": signed_uniform(rng, 0.3, 0.7),
        "pedestal": float(rng.uniform(-0.15, 0.15)),
        "dolly": float(rng.uniform(-0.2, 0.4)),
        "pan": float(rng.uniform(-0.25, 0.25)),
        "roll": float(rng.uniform(-0.2, 0.2)),
    }
    start = Stance(at_m=(width / 2, depth - rng.uniform(1.0, 1.5), 1.35))
    intrinsics = camera(*_SIZE, vfov_deg=float(rng.uniform(38, 50)))
    floor = Material(kind="planks", colour=(176, 130, 88), seed=3)
    return RenderedScene(
        intrinsics=intrinsics,
        room=room((width, depth, 2.7), floor, (wall,) * 4, CEILING),
        boxes=(),
        world_from_cam=camera_paths.performed([(FRAMES, moves)], start),
        fps=FPS,
        effects=Effects(noise_grey=1.0),
        texel_m=0.005,
    )


def _before(scene: RenderedScene, across_m: np.ndarray, ahead_m: np.ndarray) -> np.ndarray:
    """Positions on the floor (n, 2), from metres to the right of and ahead of the first camera."""
    pose = scene.world_from_cam[0]
    right, ahead = pose[:2, 0], pose[:2, 2]
    place = pose[:2, 3] + np.outer(across_m, right) + np.outer(ahead_m, ahead / np.linalg.norm(ahead))
    return np.clip(place, 0.35, np.array(scene.room.size_m[:2]) - 0.35)


def _crossing(rng: np.random.Generator, scene: RenderedScene, ahead_m: float, size: Sequence[float]) -> MovingBox:
    """A crate that slides across the view."""
    n, side = len(scene), float(rng.choice([-1, 1]))
    across = side * ahead_m * np.linspace(-rng.uniform(0.2, 0.5), rng.uniform(0.2, 0.5), n)
    place = _before(scene, across, ahead_m + np.linspace(0, rng.uniform(-0.3, 0.5), n))
    box = standing("crate", size, (0, 0, 0), side=replace(_BOX, seed=int(rng.integers(1 << 20))))
    yaw_deg = rng.uniform(-40, 40) + np.linspace(0, rng.uniform(-50, 50), n)
    return sliding(box, np.c_[place, np.full(n, 0.012)], yaw_deg)


def _large_moving_box(rng: np.random.Generator) -> RenderedScene:
    """A large object passes close by and covers much of the view."""
    scene = _furnished(
        rng, _moves(truck=signed_uniform(rng, 0.3, 0.7), pan=float(rng.uniform(-0.1, 0.1))), moving_object=True
    )
    size = (rng.uniform(0.8, 1.1), 0.3, scene.world_from_cam[0, 2, 3] + rng.uniform(0.0, 0.3))
    return replace(scene, moving_boxes=(_crossing(rng, scene, rng.uniform(1.5, 1.9), size),))


def _even_mover(rng: np.random.Generator) -> RenderedScene:
    """A crate moves evenly and in parallel to the camera: its points fit a static crate at another range."""
    sideways_only, turning, oblique = np.arange(3) == rng.integers(3)
    moves = {"truck": signed_uniform(rng, *((0.2, 0.4) if oblique else (0.25, 0.6)))}
    if oblique:
        moves["dolly"] = float(rng.uniform(-0.3, 0.4))
    if not sideways_only:
        most_rad = 0.2 if turning else 0.15
        moves["pan"] = float(rng.uniform(-most_rad, most_rad))
    scene = _furnished(rng, _moves(**moves), moving_object=True)
    ahead_m, seen_farther = rng.uniform(1.3, 2.4), np.exp(rng.uniform(np.log(0.2), np.log(5)))
    across_m, n = rng.uniform(-0.4, 0.4), len(scene)
    way_m = scene.world_from_cam[-1, :2, 3] - scene.world_from_cam[0, :2, 3]
    middle_m = _before(scene, np.array([across_m]), np.array([ahead_m]))[0]
    place_m = middle_m + (1 - 1 / seen_farther) * np.outer(np.linspace(-0.5, 0.5, n), way_m)
    if (place_m < 0.3).any() or (place_m > np.array(scene.room.size_m[:2]) - 0.3).any():
        raise ValueError("the crate leaves the room")
    size = (rng.uniform(0.3, 1.0), rng.uniform(0.2, 0.4), rng.uniform(0.5, 1.6))
    box = standing("crate", size, (0, 0, 0), side=replace(_BOX, seed=int(rng.integers(1 << 20))))
    yaw_deg = np.full(n, rng.uniform(-40, 40))
    return replace(scene, moving_boxes=(sliding(box, np.c_[place_m, np.full(n, 0.012)], yaw_deg),))


def _crowd(rng: np.random.Generator) -> RenderedScene:
    """Many objects move, each in its own direction, while the camera walks."""
    scene = _furnished(rng, _walk(rng, (0.5, 0.8)), moving_object=True)
    sizes = [(rng.uniform(0.3, 0.5), rng.uniform(0.3, 0.5), rng.uniform(0.7, 1.5)) for _ in range(5)]
    return replace(scene, moving_boxes=tuple(_crossing(rng, scene, rng.uniform(2.0, 3.2), size) for size in sizes))


def _watched(rng: np.random.Generator) -> RenderedScene:
    """The camera is static; objects move."""
    scene = _furnished(rng, camera_paths.static, moving_object=True)
    sizes = [(rng.uniform(0.5, 0.9), 0.4, rng.uniform(1.0, 1.6)) for _ in range(3)]
    return replace(scene, moving_boxes=tuple(_crossing(rng, scene, rng.uniform(1.6, 2.8), size) for size in sizes))


def _carried(rng: np.random.Generator) -> RenderedScene:
    """An object fixed to the camera (a bonnet, a tray) covers a third to two thirds of the view."""
    scene = _furnished(rng, _walk(rng, (0.6, 1.0), 0.3), moving_object=True)
    box = standing("tray", (1.2, 0.12, 0.5), (0, 0, 0), side=_BOX)
    half_height = 0.5 * scene.intrinsics.height_px / scene.intrinsics.fy_px * 0.55
    top = half_height * (1 - 2 * rng.uniform(0.33, 0.62))
    cam_from_box = RigidTransform.from_components([0, top + 0.25, 0.55], Rotation.from_euler("x", 90, degrees=True))
    upright = cam_from_box.as_matrix()
    return replace(scene, moving_boxes=(MovingBox(box=box, world_from_box=scene.world_from_cam @ upright),))


def _repeated(rng: np.random.Generator) -> RenderedScene:
    """Rows of identical crates."""
    scene = _furnished(rng, _moves(truck=signed_uniform(rng, 0.5, 0.9), pan=float(rng.uniform(-0.2, 0.2))))
    x, y, _ = scene.room.size_m
    edge, plain = 0.34, Material(kind="plaster", colour=(200, 200, 196), contrast=0.5)
    places = product(np.arange(0.4, x - 0.3, 1.35 * edge), (y - 0.3, y - 1.1), (0.0, edge, 2 * edge))
    crates = tuple(standing("crate", (edge,) * 3, place, side=_BOX) for place in places)
    floor = scene.room.materials[4]
    return replace(scene, boxes=crates, room=room(scene.room.size_m, floor, (plain,) * 4, CEILING))


def _forward(rng: np.random.Generator) -> RenderedScene:
    """Straight ahead through a long lens."""
    length = rng.uniform(0.8, 1.3)
    vfov_deg = float(rng.uniform(28, 38))
    return _furnished(rng, _moves(dolly=float(length), pan=float(rng.uniform(-0.03, 0.03))), vfov_deg=vfov_deg)


def _tiny(rng: np.random.Generator) -> RenderedScene:
    """The camera translates by centimetres, and rotates a little."""
    amounts = {"truck": signed_uniform(rng, 0.02, 0.12), "dolly": float(rng.uniform(-0.05, 0.05))}
    return _furnished(rng, _moves(**amounts, pan=float(rng.uniform(-0.3, 0.3))))


def _poor(rng: np.random.Generator) -> RenderedScene:
    """Noise, blur, drifting exposure and strong compression."""
    effects = Effects(
        noise_grey=float(rng.uniform(5, 10)),
        blur_px=float(rng.uniform(1.0, 2.2)),
        exposure_drift=float(rng.uniform(0.3, 0.5)),
    )
    return _furnished(rng, _walk(rng), effects=effects)


def _fast(rng: np.random.Generator) -> RenderedScene:
    """Few frames with long distances between them, and a slow rolling shutter."""
    effects = Effects(
        noise_grey=2.0, blur_px=float(rng.uniform(0.5, 1.2)), rolling_shutter=float(rng.uniform(0.4, 0.8))
    )
    return _furnished(rng, _walk(rng, (0.9, 1.4), 1.2), frames=int(rng.integers(12, 18)), effects=effects)


def _cut(rng: np.random.Generator) -> RenderedScene:
    """Two shots of one room in one video."""
    first, second, turn = _walk(rng, (0.4, 0.7)), _walk(rng, (0.3, 0.5)), signed_uniform(rng, 0.5, 1.2)

    def path(n: int, start: Stance) -> np.ndarray:
        x, y, z = start.at_m
        other = replace(start, at_m=(x + 0.5 * np.sign(turn), y + 0.6, z), yaw_rad=start.yaw_rad + turn)
        return np.concatenate([first(n // 2, start), second(n - n // 2, other)])

    return _furnished(rng, path)


def _tilted(rng: np.random.Generator) -> RenderedScene:
    """The camera is rolled by 30° to 90°, although the user states that it was upright."""
    return _furnished(rng, _with_attitude(_walk(rng, (0.6, 1.0)), roll_rad=np.deg2rad(signed_uniform(rng, 30, 90))))


def _steep(rng: np.random.Generator) -> RenderedScene:
    """The camera looks far up or down."""
    return _furnished(rng, _with_attitude(_walk(rng, (0.6, 1.0)), pitch_rad=np.deg2rad(signed_uniform(rng, 30, 60))))


def _leaning(rng: np.random.Generator) -> RenderedScene:
    """All furniture leans by the same angle, unlike any real room; walls are bare."""
    lean = signed_uniform(rng, 6, 20)
    return _leant(rng, lambda: lean)


def _crooked(rng: np.random.Generator) -> RenderedScene:
    """Each piece of furniture leans by an angle of its own; walls are bare."""
    return _leant(rng, lambda: float(rng.uniform(-20, 20)))


def _leant(rng: np.random.Generator, lean_deg: Callable[[], float]) -> RenderedScene:
    scene = _furnished(rng, _walk(rng, (0.6, 1.0)))
    plain = Material(kind="plaster", colour=(190, 188, 182), seed=int(rng.integers(1 << 20)), contrast=2.0)
    bare = room(scene.room.size_m, scene.room.materials[4], (plain,) * 4, CEILING)
    return replace(scene, boxes=tuple(_rotated(box, lean_deg()) for box in scene.boxes), room=bare)


def _rotated(box: Box, by_deg: float) -> Box:
    """The box, rotated about the direction in which a camera looks into the room."""
    pose = RigidTransform.from_matrix(box.world_from_box)
    rotation = Rotation.from_euler("y", by_deg, degrees=True) * pose.rotation
    return replace(box, world_from_box=RigidTransform.from_components(pose.translation, rotation).as_matrix())


KINDS: dict[str, Callable[[np.random.Generator], RenderedScene]] = {
    "zoom while walking": _zoom,
    "zoom alone": _zoom_alone,
    "distorting lens, turning": _lens_turn,
    "distorting lens, walking": _lens_walk,
    "one wall": _wall,
    "large mover": _large_moving_box,
    "even mover": _even_mover,
    "many movers": _crowd,
    "static camera, movers": _watched,
    "carried foreground": _carried,
    "same crates": _repeated,
    "straight ahead": _forward,
    "little parallax": _tiny,
    "poor pictures": _poor,
    "fast": _fast,
    "cut": _cut,
    "rolled, said upright": _tilted,
    "steep": _steep,
    "crooked furniture": _crooked,
    "leaning furniture": _leaning,
}
"""Functions that draw a room, by name of the kind."""
