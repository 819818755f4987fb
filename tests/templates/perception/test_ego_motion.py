"""What the camera did between two photos is not told by its poses at the ends: it may have turned by more than half a
round, come back, or gone round."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from templates.perception.ego_motion import CameraMoves, CameraTravel, CameraTurn, Intervals
from templates.scene.camera_motion import frames_between
from templates.scene.scene import Scene
from tests.templates import worlds

N = len(worlds.FRAMES)
LAST = worlds.FRAMES[-1]
TOO_FAR = "the camera turned so far that its photos may tell the opposite"
ROUND = "the camera comes back, or goes round"


def scene(yaw_deg: np.ndarray | float = 0.0, position: np.ndarray | float = 0.0) -> Scene:
    """The world, filmed by a camera with exact poses that pans by these angles and lies at these places."""
    poses = np.tile(np.eye(4), (N, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("y", np.broadcast_to(yaw_deg, N)[:, None], degrees=True).as_matrix()
    poses[:, :3, 3] = position
    exact = {"rotation_sigma_rad": np.full(N, 1e-3), "position_sigma": np.full(N, 1e-4)}
    return worlds.scene(worlds.with_path(worlds.signals(), world_from_cam=poses, **exact))


def facts(*frames: int) -> Intervals:
    return Intervals(frames=np.array([frames]))


@pytest.mark.parametrize(
    ("last_deg", "why"),
    [
        (20, ""),
        (-140, ""),
        (148, ""),
        (152, TOO_FAR),
        (179.9, TOO_FAR),
        (181, TOO_FAR),
        (-190, TOO_FAR),
        (330, TOO_FAR),
    ],
)
def test_a_turn_has_a_name_up_to_150_degrees(last_deg: float, why: str) -> None:
    """A camera that went round a table by 179.5 degrees to the right had turned to the left, by 22 σ."""
    measured = CameraTurn().measure(facts(0, 14, 30, LAST), scene(np.linspace(0, last_deg, N)))
    assert measured.why.tolist() == [why]
    assert why or measured.label.tolist() == ["Pan Right" if last_deg > 0 else "Pan Left"]


def test_a_camera_that_looked_behind_and_back_has_no_turn() -> None:
    yaw_deg = np.r_[np.linspace(0, 170, N - 4), [120, 90, 60, 30]]
    assert CameraTurn().measure(facts(0, 14, 30, LAST), scene(yaw_deg)).why.tolist() == [TOO_FAR]
    assert CameraTurn().measure(facts(0, 4, 8, 12), scene(yaw_deg)).why.tolist() == [""]


@pytest.mark.parametrize(("share", "why"), [(1.0, ""), (0.7, ""), (0.6, ROUND), (0.1, ROUND), (-0.2, ROUND)])
def test_a_way_back_has_no_direction(share: float, why: str) -> None:
    """The last photo is taken at a share of the farthest place."""
    away = np.r_[np.linspace(0, 1, N - 6), np.linspace(1, share, 7)[1:]]
    position = 0.4 * away[:, None] * [1, 0, 0]
    assert CameraTravel().measure(facts(0, 14, 30, LAST), scene(position=position)).why.tolist() == [why]


@pytest.mark.parametrize(("yaw_deg", "label"), [(0.0, ["no"]), (8.0, [])])
def test_a_camera_that_moves_and_comes_back_does_not_stand_still(yaw_deg: float, label: list[str]) -> None:
    there_and_back = yaw_deg * np.sin(np.linspace(0, np.pi, N))
    measured = CameraMoves().measure(facts(0, 14, 30, LAST), scene(there_and_back))
    assert np.asarray(measured.label)[measured.why == ""].tolist() == label


def test_frames_between_are_registered_and_include_the_ends() -> None:
    path = scene().path
    assert path is not None
    registered = np.arange(N) % 3 != 1
    partly = worlds.scene(worlds.with_path(worlds.signals(), registered=registered))
    between = frames_between(partly, np.array([[0, LAST - 2], [4, 4]]))
    assert between.shape == (2, 16) and set(between.ravel()) <= set(path.frames[registered])
    assert between[0, 0] == 0 and (np.diff(between) >= 0).all() and set(between[1]) == {4}
    assert frames_between(worlds.scene({}), np.array([[0, 4]])).tolist() == [[-1] * 16]
