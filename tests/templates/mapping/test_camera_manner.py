"""In which manner a camera films: orbit, push in, pull back, track past, turn in place, follow, reveal, wander."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Objects, Signal
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


@pytest.mark.parametrize("unit", [0.1, pytest.param(20.0, marks=pytest.mark.long)])
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


def along_with(robot_per_camera: float) -> dict[str, Signal]:
    """The camera goes 2 units to the right, and a robot 4 units ahead a multiple of that."""
    made = worlds.with_movers(worlds.signals(poses=filmed((2.0, 0, 0))))
    objects, poses = made["objects"], np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1, 1))
    assert isinstance(objects, Objects)
    poses[:, 0, 0, 3] = robot_per_camera * np.linspace(0, 2, len(worlds.FRAMES))
    poses[:, 0, 1, 3] = 4.0
    robot = replace(
        objects, labels=("robot",), world_from_object=poses, size=np.full((1, 3), 0.5), box_px=None,
        ids=worlds._no_masks(), centre_sigma=np.array([0.01]), size_sigma=None, outlier_probability=None,
    )  # fmt: skip
    return worlds.detected({**made, "objects": robot})


def test_a_camera_follows_what_goes_along_with_it_and_nothing_else() -> None:
    assert labels(along_with(1.0)) == {"follows"}
    assert labels(along_with(0.0)) == labels(along_with(-0.6)) == {"tracks_past"}
    assert labels(along_with(0.5)) == set(), "it falls behind: one may say so or not"
    known = along_with(1.0)
    objects = known["objects"]
    assert isinstance(objects, Objects)
    assert labels({**known, "objects": replace(objects, centre_sigma=np.array([0.3]))}) == set()
    assert labels({**known, "objects": replace(objects, outlier_probability=np.array([0.01]))}) == set()


@pytest.mark.parametrize(("half_width", "label"), [(0.9, {"reveals"}), (0.3, {"tracks_past"})])
def test_what_a_board_hides_at_first_is_revealed(half_width: float, label: set[str]) -> None:
    """A camera that goes 1.6 to the right. Before it stands a board, 1 ahead, and a wall, 5 ahead."""
    rays = worlds.CAMERA.scaled(64, 48).rays(np.stack(np.meshgrid(np.arange(64.0), np.arange(48.0)), axis=-1))
    x = rays[..., 0] / rays[..., 2] + np.linspace(0, 1.6, len(worlds.FRAMES))[:, None, None]
    z = np.where(np.abs(x) < half_width, 1.0, 5.0).astype(np.float32)
    depth = replace(worlds.slope(), z=z, relative_sigma=np.full(z.shape, 0.002, dtype=np.float32))
    path = worlds.signals(poses=filmed((1.6, 0, 0)))
    found = labels({"camera_path": path["camera_path"], "gravity": path["gravity"], "depth": depth})
    assert found == label


def test_wandering_goes_and_looks_first_one_way_and_then_another() -> None:
    t = np.linspace(0, 2, len(worlds.FRAMES))
    poses = filmed()
    level = Rotation.from_euler("x", -90, degrees=True)
    to_and_fro = 35 * np.minimum(t, 2 - t)[:, None]
    poses[:, :3, :3] = (Rotation.from_euler("z", to_and_fro, degrees=True) * level).as_matrix()
    poses[:, 0, 3], poses[:, 1, 3] = 1.5 * np.clip(t - 1, 0, 1), 1.5 * np.clip(t, 0, 1)
    assert labels(worlds.signals(poses=poses)) == {"wanders"}
    poses[:, 0, 3] = 0
    assert labels(worlds.signals(poses=poses)) == set(), "its way does not bend"


@pytest.mark.parametrize("way", [(0, 0, 1.8), (0, 0, -1.8)])
def test_a_camera_that_rises_or_sinks_does_not_track_sideways(way: tuple[float, float, float]) -> None:
    assert labels(worlds.signals(poses=filmed(way))) == set()


@pytest.mark.parametrize("way", [(0, 2.75, 0), (0, -3.0, 0), (2.6, 0, 0)])
def test_a_camera_that_goes_back_has_no_manner(way: tuple[float, float, float]) -> None:
    poses = filmed(way)
    facts = MANNER.facts.from_json([{"frames": worlds.FRAMES.tolist()}])
    assert MANNER.measure(facts, worlds.scene(worlds.signals(poses=poses))).why.tolist() == [""]
    t = np.linspace(0, 1.33, len(worlds.FRAMES))[:, None]
    poses[:, :3, 3] = np.minimum(t, 2 - t) * way
    assert MANNER.measure(facts, worlds.scene(worlds.signals(poses=poses))).why.tolist() != [""]
