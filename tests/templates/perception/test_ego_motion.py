"""What the camera did between two photos is not told by its poses at the ends: it may have turned by more than half a
round, come back, or gone round."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from templates.perception.camera_zoom import CameraZoom
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


@pytest.mark.parametrize(("yaw_deg", "label"), [(0, "Dolly In"), (24, "Dolly In"), (-24, "Dolly In")])
def test_the_way_is_named_in_the_first_photo_however_the_camera_turns(yaw_deg: float, label: str) -> None:
    ahead = np.linspace(0, 1, N)[:, None] * [0.4, 0, 0.9]
    measured = CameraTravel().measure(facts(0, 14, 30, LAST), scene(np.linspace(0, yaw_deg, N), ahead))
    assert measured.label.tolist() == [label]
    between = np.linspace(0, 1, N)[:, None] * [0.74, 0, 0.67]  # seen from half way, it would be ahead
    measured = CameraTravel().measure(facts(0, 14, 30, LAST), scene(np.linspace(0, yaw_deg, N), between))
    assert measured.label.tolist() == [""]


def test_the_parts_of_a_turn_are_those_that_name_it() -> None:
    """Over a tilt from far below to far above, angles about one axis after the other tell something else."""
    turned = scene().world_from_cam(worlds.FRAMES)
    tilts = np.linspace(-60, 45, N)[:, None]
    level = Rotation.from_euler("y", np.linspace(0, 19, N)[:, None], degrees=True)
    turned[:, :3, :3] = (level * Rotation.from_euler("x", tilts, degrees=True)).as_matrix()
    exact = {"rotation_sigma_rad": np.full(N, 1e-3), "position_sigma": np.full(N, 1e-4)}
    known = worlds.scene(worlds.with_path(worlds.signals(), world_from_cam=turned, **exact))
    measured = CameraTurn().measure(facts(0, 14, 30, LAST), known)
    pan, tilt, roll = measured.evidence["pan_tilt_roll_deg"][0]
    assert measured.label.tolist() == ["Tilt Up"] and tilt > 90 > max(abs(pan), abs(roll))


@pytest.mark.parametrize(("magnification", "label"), [(1.0, "not"), (1.5, "")])
def test_a_camera_that_zooms_in_and_out_again_has_zoomed(magnification: float, label: str) -> None:
    path = worlds.signals()["camera_path"]
    steps = np.r_[np.ones(8), np.full(N - 16, magnification), np.ones(8)]
    zoomed = replace(path, magnification=steps, magnification_sigma=np.full(N, 0.005))
    measured = CameraZoom().measure(facts(0, 14, 30, LAST), worlds.scene({"zooming_path": zoomed}))
    assert measured.label[measured.why == ""].tolist() == ([label] if label else [])
    assert label or measured.why.tolist() == ["the camera zooms and comes back"]
