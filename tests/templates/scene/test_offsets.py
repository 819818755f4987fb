"""Where one photo was taken, as seen from another."""

from dataclasses import replace

import numpy as np

from templates.scene.offsets import offsets
from templates.scene.scene import find_rows
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


def test_what_the_camera_does_to_both_positions_counts_once_and_for_each_pair() -> None:
    path = worlds.scene(SIGNALS).path
    assert path is not None
    moved = np.zeros((len(path.frames), 3, 3))
    moved[find_rows(path.frames, [0, 20])] = [
        [[0.1, 0, 0], [0, 0, 0], [0, 0, 0]],
        [[0.1, 0.3, 0], [0, 0, 0.4], [0] * 3],
    ]
    changes = {"position_by_camera": moved, "direction_sigma_by_camera_rad": 0.3}
    scene, plain = worlds.scene(worlds.with_path(SIGNALS, **changes)), worlds.scene(SIGNALS)
    by_camera = 0.5 / np.sqrt(3)
    np.testing.assert_allclose(scene.systematic_offset_sigma(PAIRS[:3]), [by_camera, by_camera, 0])
    np.testing.assert_allclose(scene.offset_sigma(PAIRS[:2]), np.hypot(plain.offset_sigma(PAIRS[:2]), by_camera))
    assert scene.direction_sigma_rad == path.direction_sigma_rad, "the camera's part is that of each pair"
    assert np.isnan(scene.offset_sigma(PAIRS[3:])).all(), "frame 47 has no pose"
    pulled = worlds.scene(worlds.with_path(SIGNALS, systematic_position_sigma=np.full(len(path.frames), 0.2)))
    np.testing.assert_allclose(pulled.offset_sigma(PAIRS[:3]), np.hypot(plain.offset_sigma(PAIRS[:3]), np.sqrt(0.08)))
    together = worlds.scene(worlds.with_path(SIGNALS, direction_sigma_by_camera_rad=0.3))
    assert together.direction_sigma_rad == np.hypot(path.direction_sigma_rad, 0.3)
    np.testing.assert_array_equal(together.offset_sigma(PAIRS[:2]), plain.offset_sigma(PAIRS[:2]))
