"""Where one photo was taken, as seen from another."""

from dataclasses import replace

import numpy as np

from templates.scene.offsets import offsets
from tests.templates import worlds

PAIRS = np.array([[0, 20], [20, 0], [10, 10], [0, 47]])
SIGNALS = worlds.signals()


def test_offsets_lead_from_one_camera_to_the_other() -> None:
    scene = worlds.scene(SIGNALS)
    found, poses = offsets(scene, PAIRS), scene.world_from_cam(PAIRS)
    reached = poses[:, 0, :3, 3] + np.einsum("nij,nj->ni", poses[:, 0, :3, :3], found.length[:, None] * found.direction)
    np.testing.assert_allclose(reached[:2], poses[:2, 1, :3, 3], atol=1e-9)
    assert found.length[2] == 0 and np.isnan(found.direction[2]).all()
    assert np.isnan(found.length[3]), "frame 47 has no pose"


def test_sigma_includes_the_positions_over_the_length() -> None:
    path = worlds.scene(SIGNALS).path
    assert path is not None
    wide = worlds.with_path(SIGNALS, position_sigma=np.full_like(path.position_sigma, 0.1))
    found = offsets(worlds.scene(wide), PAIRS[:2])
    np.testing.assert_allclose(found.sigma_rad, np.hypot(found.pose_sigma_rad, np.sqrt(0.02) / found.length))


def test_without_a_path_nothing_is_known() -> None:
    scene = replace(worlds.scene(SIGNALS), signals={})
    found = offsets(scene, PAIRS)
    assert np.isnan(found.length).all() and np.isnan(found.sigma_rad).all()


def test_what_the_camera_does_to_distances_widens_shifts_beside_what_is_seen_but_no_direction() -> None:
    unsure = offsets(worlds.scene(worlds.with_path(SIGNALS, travel_relative_sigma=0.2)), PAIRS[:2])
    known = offsets(worlds.scene(SIGNALS), PAIRS[:2])
    np.testing.assert_allclose(unsure.shift_sigma, np.hypot(known.shift_sigma, 0.2 * known.length))
    np.testing.assert_array_equal(unsure.sigma_rad, known.sigma_rad)
