"""The floor plan as a map."""

from dataclasses import replace

import numpy as np

from experts.signals import CameraPath, Objects, Room
from spatial_engine.dataset.drawing import drawn_map
from templates.scene.floor_plan import floor_plan
from tests.templates import worlds

TILTED = np.array([[1, 0, 0, 2], [0, 0, 1, 3], [0, -1, 0, 1], [0, 0, 0, 1.0]])
"""A floor whose up is the world's y: camera axes are not those of the plan."""

ROOM = Room(
    world_from_floor=TILTED,
    floor_sigma=0.01,
    outline=np.array([[0, 0], [4, 0], [4, 3], [0, 3.0]]),
    wall_sigma=np.array([0.01, np.inf, 0.01, 0.01]),
    height=2.5,
    height_sigma=0.01,
    doorways=np.array([[[1, 0], [2, 0.0]]]),
    cells=np.array([[1, 1, 0, 0], [1, 1, 2, 0], [1, 2, 2, 1]], dtype=np.int32),
    cell=1.0,
    cells_from=np.zeros(2),
    provenance=worlds.SOURCE,
)


def on_floor(x: float, y: float, z: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return TILTED @ pose


def objects(*poses: np.ndarray) -> Objects:
    n = len(poses)
    return Objects(
        frames=np.array([0]),
        labels=tuple("abcdef"[:n]),
        ids=np.full((1, 1, 1), -1, dtype=np.int32),
        world_from_object=np.stack(poses)[None],
        provenance=worlds.SOURCE,
        size=np.tile([1.0, 0.5, 0.8], (n, 1)),
    )


def path() -> CameraPath:
    found = worlds.signals()["camera_path"]
    assert isinstance(found, CameraPath)
    poses = np.stack([on_floor(1 + 0.02 * k, 1, 1.5) for k in range(len(found.frames))])
    return replace(found, world_from_cam=poses, registered=np.ones(len(poses), dtype=bool))


def test_cells_of_each_kind_are_covered_once():
    plan = floor_plan(ROOM)
    for kind, fill in ((1, "light"), (2, "grey")):
        covered = np.zeros(ROOM.cells.shape, dtype=int)
        for polygon in (p for p in plan.polygons if p.fill == fill):
            (left, top), (right, bottom) = np.array(polygon.corners)[[0, 2]].astype(int)
            covered[top:bottom, left:right] += 1
        assert np.array_equal(covered, ROOM.cells == kind)


def test_walls_that_were_not_seen_are_dashed():
    walls = [line for line in floor_plan(ROOM).lines if line.colour == "dark"]
    assert [line.dashed for line in walls] == [False, True, False, False]
    assert walls[1].points == ((4.0, 0.0), (4.0, 3.0))


def test_footprints_lie_where_the_objects_stand_whatever_the_world():
    corners = np.array(floor_plan(ROOM, objects(on_floor(2, 1, 0.4))).polygons[-1].corners)
    assert np.allclose([corners.min(axis=0), corners.max(axis=0)], [[1.5, 0.75], [2.5, 1.25]])


def test_objects_without_a_place_are_left_out_and_those_without_a_direction_are_round():
    nowhere, symmetric = np.full((4, 4), np.nan), on_floor(3, 1, 0.4)
    symmetric[:3, :3] = np.nan
    footprints = [p for p in floor_plan(ROOM, objects(nowhere, symmetric)).polygons if p.fill == "blue"]
    assert [p.text for p in footprints] == ["b"]
    assert np.allclose(np.linalg.norm(np.array(footprints[0].corners) - [3, 1], axis=1), 0.4)


def test_the_path_is_drawn_from_above_with_a_scale_if_it_has_metres():
    metric = replace(path(), scale=replace(path().scale, kind="metric"))
    assert np.allclose(floor_plan(ROOM, path=metric).polylines[0][0], [1, 1])
    assert floor_plan(ROOM, path=metric).scale_bar is not None
    assert floor_plan(ROOM, path=replace(metric, scale=replace(metric.scale, kind="relative"))).scale_bar is None


def test_the_picture_shows_walls_objects_and_path():
    bare, whole = (drawn_map(floor_plan(ROOM, *more)) for more in ((), (objects(on_floor(2, 1, 0.4)), path())))
    assert bare.shape == whole.shape == (640, 640, 3)
    assert (bare != whole).any()


def test_a_room_of_which_only_the_floor_is_known_is_drawn():
    none = replace(ROOM, outline=np.zeros((0, 2)), wall_sigma=np.zeros(0), doorways=np.zeros((0, 2, 2)))
    assert not floor_plan(none).lines
    assert drawn_map(floor_plan(none)).shape == (640, 640, 3)
