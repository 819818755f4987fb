"""The motion between photos: what a wrong camera does to its components."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from action_mapping.primitives import COMPONENTS
from templates.agent.legs import ROTATES, Motion, largest, motion
from tests.templates import worlds

PAN, TILT, ROLL = (COMPONENTS.index(f"{name}_rad") for name in ("pan", "tilt", "roll"))


def of_a_pan(angle_deg: float, by_focal: float, by_centre: float) -> Motion:
    """From the first to the last frame of a camera that pans, whose poses are nearly exact."""
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    turned = np.linspace(0, angle_deg, len(poses))[:, None]
    poses[:, :3, :3] = Rotation.from_euler("y", turned, degrees=True).as_matrix()
    signals = worlds.with_path(
        worlds.signals(), world_from_cam=poses, rotation_sigma_rad=np.full(len(poses), 1e-4),
        focal_relative_sigma=by_focal, turn_sigma_by_centre=by_centre,
    )  # fmt: skip
    return motion(worlds.scene(signals), np.array([[worlds.FRAMES[0], worlds.FRAMES[-1]]]))


@pytest.mark.parametrize("angle_deg", [20.0, 60.0])
def test_a_wrong_focal_length_makes_a_pan_longer_and_a_wrong_principal_point_turns_it_into_tilt_and_roll(
    angle_deg: float,
) -> None:
    angle_rad = np.radians(angle_deg)
    focal = of_a_pan(angle_deg, 0.05, 0.0).sigma[0]
    assert focal[PAN] == pytest.approx(0.05 * angle_rad, rel=0.01) and focal[[TILT, ROLL]].max() < 1e-3
    centre = of_a_pan(angle_deg, 0.0, 0.016).sigma[0]
    assert centre[ROTATES] == pytest.approx(0.016 * angle_rad, rel=0.02)
    both = of_a_pan(angle_deg, 0.05, 0.016).sigma[0]
    assert both[PAN] == pytest.approx(np.hypot(0.05, 0.016) * angle_rad, rel=0.01)


def test_what_the_camera_does_to_directions_is_part_of_every_translation() -> None:
    signals = worlds.with_path(worlds.signals(), direction_sigma_rad=0.003, direction_sigma_by_camera_rad=0.004)
    path = signals["camera_path"]
    assert worlds.scene(signals).direction_sigma_rad == pytest.approx(0.005)
    alone = worlds.scene({**signals, "camera_path": replace(path, direction_sigma_by_camera_rad=0.0)})
    frames = np.array([[worlds.FRAMES[0], worlds.FRAMES[-1]]])
    more, less = (motion(each, frames).sigma[0, ~ROTATES] for each in (worlds.scene(signals), alone))
    assert (more > less).all()


@pytest.mark.parametrize(("angle_deg", "is_sure"), [(12.0, True), (150.0, True), (164.0, False), (179.0, False)])
def test_half_a_round_has_no_direction(angle_deg: float, is_sure: bool) -> None:
    """By 179 degrees to the right is by 181 degrees to the left."""
    moved = of_a_pan(0.0, 0.0, 0.0)
    amounts, sigma = moved.amounts.copy(), np.full_like(moved.sigma, np.radians(0.5))
    amounts[:, PAN] = np.radians(angle_deg)
    assert (largest(Motion(amounts=amounts, sigma=sigma), ROTATES).visible[0] > 3) == is_sure
