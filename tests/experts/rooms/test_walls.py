"""Doorways, and mirrors that look like them; walls behind furniture; rooms from sparse points."""

import numpy as np

from experts.rooms.doorways import DoorwaySettings, doorways_of
from experts.rooms.outline import Outline
from experts.rooms.surfaces import Surfaces
from experts.rooms.walls import Wall, WallSettings, walls_of

WIDTH, DEPTH, HEIGHT = 4.0, 3.0, 2.5
"""A room with a corner at the origin. The doorway is in the wall y = 3, from x = 1.5 to 2.4, 2.05 m high."""
FIRST, LAST, LINTEL = 1.5, 2.4, 2.05


def surfaces(xyz: np.ndarray, normal: np.ndarray, camera: np.ndarray) -> Surfaces:
    n = len(xyz)
    return Surfaces(
        xyz=xyz,
        normal=np.broadcast_to(normal, xyz.shape).astype(float),
        camera=np.broadcast_to(camera, xyz.shape).astype(float),
        view=np.zeros(n, dtype=np.int64),
        relative_sigma=np.full(n, 1e-3),
        noise=np.zeros(n),
    )


def joined(*parts: Surfaces) -> Surfaces:
    names = ("xyz", "normal", "camera", "view", "relative_sigma", "noise")
    return Surfaces(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def rectangle(rng: np.random.Generator, low: list[float], high: list[float], count: int) -> np.ndarray:
    return rng.uniform(low, high, (count, 3))


CAMERA = np.array([2.0, 0.5, 1.4])


def seen(behind: np.ndarray, rng: np.random.Generator) -> Surfaces:
    """The wall with its opening, the floor, and what is behind the opening."""
    wall = rectangle(rng, [0, DEPTH, 0], [WIDTH, DEPTH, HEIGHT], 20_000)
    in_opening = (wall[:, 0] > FIRST) & (wall[:, 0] < LAST) & (wall[:, 2] < LINTEL)
    floor = rectangle(rng, [0, 0, 0], [WIDTH, DEPTH, 0], 5_000)
    side = rectangle(rng, [0, 0, 0], [0, DEPTH, HEIGHT], 5_000)
    return joined(
        surfaces(wall[~in_opening], np.array([0, -1, 0]), CAMERA),
        surfaces(floor, np.array([0, 0, 1]), CAMERA),
        surfaces(side, np.array([1, 0, 0]), CAMERA),
        surfaces(behind, np.array([np.nan] * 3), CAMERA),
    )


def through_opening(xyz: np.ndarray) -> np.ndarray:
    share = ((DEPTH - CAMERA[1]) / (xyz[:, 1] - CAMERA[1]))[:, None]
    at = CAMERA + share * (xyz - CAMERA)
    return xyz[(at[:, 0] > FIRST) & (at[:, 0] < LAST) & (at[:, 2] < LINTEL) & (at[:, 2] > 0)]


def doorways(points: Surfaces) -> np.ndarray:
    thin = points.of(points.is_plane).thinned(0.05)
    walls = walls_of(points, thin, 0.05, 1.4, HEIGHT, WallSettings())
    on = [k for k, wall in enumerate(walls) if wall.normal[1] < -0.99]
    assert on
    outline = Outline(corners=np.zeros((3, 2)), sigma=np.zeros(3), walls=(on[0], None, None))
    return doorways_of(points, outline, walls, 1.4, DoorwaySettings())


def test_a_doorway_is_found_where_floor_is_seen_through_it() -> None:
    rng = np.random.default_rng(0)
    beyond = np.concatenate(
        [
            rectangle(rng, [-2, DEPTH, 0], [6, 7, 0], 30_000),
            rectangle(rng, [-2, 7, 0], [6, 7, HEIGHT], 60_000),
        ]
    )
    (found,) = doorways(seen(through_opening(beyond), rng))
    np.testing.assert_allclose(found[np.argsort(found[:, 0])], [[FIRST, DEPTH], [LAST, DEPTH]], atol=0.13)


def test_a_mirror_down_to_the_floor_is_no_doorway() -> None:
    rng = np.random.default_rng(0)
    room = np.concatenate(
        [
            rectangle(rng, [0, 0, 0], [WIDTH, DEPTH, 0], 60_000),
            rectangle(rng, [0, 0, 0], [0, DEPTH, HEIGHT], 20_000),
            rectangle(rng, [0, 0, 0], [WIDTH, 0, HEIGHT], 60_000),
        ]
    )
    mirrored = room * [1, -1, 1] + [0, 2 * DEPTH, 0]
    points = seen(through_opening(mirrored), rng)
    back = rectangle(rng, [0, 0, 0], [WIDTH, 0, HEIGHT], 20_000)
    points = joined(points, surfaces(back, np.array([0, 1, 0]), CAMERA + np.array([0, 1, 0])))
    assert not len(doorways(points))


def test_a_closed_wall_has_no_doorway() -> None:
    rng = np.random.default_rng(0)
    closed = rectangle(rng, [FIRST, DEPTH, 0], [LAST, DEPTH, LINTEL], 5_000)
    points = joined(seen(np.zeros((0, 3)), rng), surfaces(closed, np.array([0, -1, 0]), CAMERA))
    assert not len(doorways(points))


def test_the_front_of_a_wardrobe_is_no_wall() -> None:
    """Above it the wall is seen."""
    rng = np.random.default_rng(0)
    wall = rectangle(rng, [0, DEPTH, 0], [WIDTH, DEPTH, HEIGHT], 20_000)
    front = rectangle(rng, [0.2, DEPTH - 0.5, 0], [3.6, DEPTH - 0.5, 2.0], 20_000)
    share = ((DEPTH - 0.5 - CAMERA[1]) / (wall[:, 1] - CAMERA[1]))[:, None]
    at = CAMERA + share * (wall - CAMERA)
    hidden = (at[:, 0] > 0.2) & (at[:, 0] < 3.6) & (at[:, 2] < 2.0)
    points = joined(
        surfaces(wall[~hidden], np.array([0, -1, 0]), CAMERA), surfaces(front, np.array([0, -1, 0]), CAMERA)
    )
    walls: list[Wall] = walls_of(points, points.thinned(0.05), 0.05, 1.4, np.nan, WallSettings())
    assert [round(abs(wall.offset), 2) for wall in walls] == [DEPTH]


def test_sparse_points_show_walls_too() -> None:
    rng = np.random.default_rng(0)
    wall = rectangle(rng, [0, DEPTH, 0], [WIDTH, DEPTH, HEIGHT], 400)
    clutter = rectangle(rng, [0, 1, 0], [WIDTH, 2.5, 1.0], 200)
    none = np.array([np.nan] * 3)
    cameras = [CAMERA + np.array([0.1 * k, 0, 0]) for k in range(6)]
    on_wall, cluttered = (joined(*(surfaces(xyz, none, camera) for camera in cameras)) for xyz in (wall, clutter))
    both = joined(on_wall, cluttered)
    (found,) = walls_of(both, both.thinned(0.05), 0.05, 1.4, np.nan, WallSettings())
    assert abs(abs(found.offset) - DEPTH) < 0.02 and abs(found.normal[1]) > 0.999
    assert not walls_of(cluttered, cluttered.thinned(0.05), 0.05, 1.4, np.nan, WallSettings())
