"""In which manner a camera films: orbit, push in, pull back, track past, turn in place."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.mapping.camera_manner import CameraManner
from tests.templates import worlds

MANNER = CameraManner()


def filmed(way: tuple[float, float, float] = (0, 0, 0), turn_deg: float = 0.0) -> np.ndarray:
    """Poses of a camera that goes straight and turns to the left, both evenly."""
    t = np.linspace(0, 1, len(worlds.FRAMES))[:, None]
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    level = Rotation.from_euler("x", -90, degrees=True)
    poses[:, :3, :3] = (Rotation.from_euler("z", turn_deg * t, degrees=True) * level).as_matrix()
    poses[:, :3, 3] = t * way
    return poses


def labels(signals: dict[str, Signal]) -> set[object]:
    return {draft.answer.to_json().answer for draft in worlds.drafts(worlds.ask(MANNER, signals))}


@pytest.mark.parametrize(
    ("poses", "label"),
    [
        (worlds.poses_around(), {"orbits"}),
        (filmed((0, 2.2, 0)), {"pushes_in"}),
        (filmed((0, -3.0, 0)), {"pulls_back"}),
        (filmed((2.0, 0, 0)), {"tracks_past"}),
        (filmed((0, 0, 0), 60), {"turns_in_place"}),
        (filmed((0.3, 0, 0), 60), set()),
        (filmed((1.5, 1.5, 0)), set()),
        (filmed((0, 0.4, 0)), set()),
        (filmed((0, 2.2, 0), 15), set()),
        (filmed((0, 0, 0), 12), set()),
        (worlds.camera_poses(), set()),
    ],
)
def test_each_manner_is_told_from_all_others(poses: np.ndarray, label: set[str]) -> None:
    assert labels(worlds.signals(poses=poses)) == label


def test_around_a_point_where_nothing_is_there_is_no_orbit() -> None:
    """The view axes meet in the air, 6 units away, while everything that is seen lies far behind."""
    signals = worlds.signals(poses=worlds.poses_around())
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    nearer = path.world_from_cam.copy()
    nearer[:, :3, 3] += 4.5 * nearer[:, :3, 2]
    assert labels(worlds.with_path(signals, world_from_cam=nearer)) == set()


@pytest.mark.parametrize("unit", [0.1, 20.0])
def test_neither_world_nor_unit_matters(unit: float) -> None:
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=np.random.default_rng(1)).as_matrix()
    sigma = np.full(len(worlds.FRAMES), 1e-4 * unit)
    for poses, label in ((worlds.poses_around(), "orbits"), (filmed((0, 2.2, 0)), "pushes_in")):
        moved = worlds.signals(poses=poses, world_from_made=turned, unit=unit)
        assert labels(worlds.with_path(moved, position_sigma=sigma)) == {label}


def test_uncertain_paths_and_missing_points_give_no_manner() -> None:
    around = worlds.signals(poses=worlds.poses_around())
    count = len(worlds.FRAMES)
    assert labels(worlds.with_path(around, rotation_sigma_rad=np.full(count, 0.2))) == set()
    assert labels(worlds.with_path(around, registered=np.arange(count) % 5 == 0)) == set()
    assert labels({name: around[name] for name in ("camera_path", "gravity")}) == set()
    turning = worlds.signals(poses=filmed((0, 0, 0), 60), motion="rotation_only")
    assert labels(turning) == {"turns_in_place"}
