"""Whole objects, fronts and parts are those that the scene is made of."""

import numpy as np
import pytest

from experts.signals import ObjectOrientation, Objects, Parts
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.boxes import Box, Piece, sliding, standing
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, OAK, armchair, painting, plant, room, table
from spatial_engine.rendering.pieces import sofa
from spatial_engine.rendering.scene import camera

AHEAD = Stance(at_m=(2.0, 0.5, 1.2))
PICTURE = painting(1, (150, 190, 220), (96, 128, 70))


def scene(*boxes: Box, **changes: object) -> RenderedScene:
    """Boxes in a room of 4 × 5 m, seen from its middle, at the wall y = 0, along +y."""
    return RenderedScene(
        intrinsics=camera(160, 120, vfov_deg=60.0),
        room=room((4.0, 5.0, 2.5), OAK, (OAK,) * 4, CEILING),
        boxes=boxes,
        world_from_cam=camera_paths.static(2, AHEAD),
        fps=10.0,
        texel_m=0.05,
        **changes,
    )


def signals_of(made: RenderedScene) -> tuple[Objects, ObjectOrientation, Parts]:
    signals = true_signals(made, as_clip(made))
    return signals["objects"], signals["object_orientation"], signals["parts"]  # type: ignore[return-value]


def test_a_table_is_one_object() -> None:
    made = scene(*table("table", (1.2, 0.8, 0.7), (2.0, 3.0), OAK), *table("table", (0.6, 0.6, 0.5), (0.8, 3.5), OAK))
    objects, orientation, parts = signals_of(made)
    assert objects.labels == ("table", "table") and objects.complete == ("*",) and objects.centre_sigma is None
    np.testing.assert_allclose(objects.size, [[1.2, 0.8, 0.7], [0.6, 0.6, 0.5]])
    np.testing.assert_allclose(objects.world_from_object[1, :, :3, 3], [[2.0, 3.0, 0.35], [0.8, 3.5, 0.25]])
    assert orientation.fronts.tolist() == [[2, 4]] * 2
    assert parts.names == ("top", *["leg"] * 4) * 2 and parts.object.tolist() == [0] * 5 + [1] * 5
    assert parts.affords[0] == ("put on",) and parts.affords[1] == ()
    assert np.array_equal(parts.ids >= 0, objects.ids >= 0)
    assert np.array_equal(parts.object[parts.ids[0]][parts.ids[0] >= 0], objects.ids[0][objects.ids[0] >= 0])


def test_one_can_lean_on_the_back_and_on_the_arms_of_whatever_has_both() -> None:
    for boxes in (armchair((2.0, 3.0), (90, 90, 120), (60, 60, 60), 1), sofa(np.random.default_rng(0)).boxes):
        found = {box.name: box.affords for box in boxes}
        assert found == {"seat": ("sit on",), "back": ("lean on",), "arm": ("lean on",)}


def test_the_box_of_an_object_contains_its_surface_and_no_more() -> None:
    made = scene(*armchair((2.0, 3.0), (90, 90, 120), (60, 60, 60), 1), *plant((0.8, 3.0), 1.0))
    depth, ids = made.depth(0), made.object_ids(0)
    for k, (item, pose) in enumerate(zip(made.objects, made.world_from_objects(0), strict=True)):
        row, column = np.nonzero(ids == k)
        rays = made.intrinsics.rays(np.stack([column, row], axis=1).astype(float))
        points = rays / rays[:, 2:] * depth[row, column, None] @ made.world_from_cam[0, :3, :3].T
        local = (points + made.world_from_cam[0, :3, 3] - pose[:3, 3]) @ pose[:3, :3] / item.size_m
        assert np.abs(local).max() < 0.501
        assert local.max(axis=0)[2] > 0.4 and -local.min(axis=0)[1] > 0.45  # its top and its front are seen


@pytest.mark.parametrize("yaw_deg", [0.0, 90.0, 180.0, 270.0, 45.0])
def test_the_azimuth_counts_from_the_camera_to_the_left_of_the_picture(yaw_deg: float) -> None:
    """A box turned anticlockwise, seen from above, turns its front from the camera to the right of the picture."""
    made = scene(standing("radio", (0.5, 0.4, 0.4), (2.0, 3.0, 1.0), side=OAK, front=PICTURE, yaw_deg=yaw_deg))
    _, orientation, parts = signals_of(made)
    assert orientation.fronts.tolist() == [[1], [1]] and not parts.names
    assert np.rad2deg(orientation.azimuth_rad[0, 0] + 1e-9) % 360 == pytest.approx(-yaw_deg % 360, abs=1e-6)
    assert orientation.polar_rad[0, 0] == pytest.approx(0, abs=1e-9)
    assert orientation.rotation_rad[0, 0] == pytest.approx(0, abs=1e-9)
    front = orientation.cam_from_object[0, 0, :, 0]
    np.testing.assert_allclose(front, [np.sin(np.deg2rad(yaw_deg)), 0, -np.cos(np.deg2rad(yaw_deg))], atol=1e-9)


def test_an_object_aside_that_faces_the_camera_has_azimuth_zero() -> None:
    aside = np.rad2deg(np.arctan2(1.2, 2.0))
    made = scene(standing("radio", (0.5, 0.4, 0.4), (3.2, 2.5, 1.0), side=OAK, front=PICTURE, yaw_deg=-aside))
    angles = signals_of(made)[1].azimuth_rad[0, 0]
    assert np.sin(angles) == pytest.approx(0, abs=1e-9) and np.cos(angles) > 0


def test_a_plant_has_no_front_and_a_front_may_be_unknown() -> None:
    odd = standing("shelf", (0.3, 1.0, 1.0), (3.5, 3.0, 0), side=OAK, of=Piece(name="shelf", fronts=-1))
    _, orientation, _ = signals_of(scene(*plant((2.0, 3.0), 1.0), odd))
    assert orientation.fronts[0].tolist() == [0, -1]
    assert np.isnan(orientation.azimuth_rad).all() and np.isnan(orientation.cam_from_object).all()
    assert np.isfinite(orientation.polar_rad[:, 0]).all() and np.isnan(orientation.polar_rad[:, 1]).all()
    assert np.isinf(orientation.sigma_rad[0, :, 0]).all()


def test_the_parts_of_a_moving_object_move_together() -> None:
    whole, feet = Piece(name="trolley"), np.array([[1.5, 3.0, 0.0], [2.5, 3.0, 0.0]])
    deck = standing("deck", (0.6, 0.4, 0.1), (0, 0, 0), side=OAK, of=whole)
    bar = standing("bar", (0.6, 0.05, 0.5), (0, 0, 0), side=OAK, of=whole, affords=("push",))
    moving = (sliding(deck, feet, np.zeros(2)), sliding(bar, np.add(feet, (0, 0.2, 0.1)), np.zeros(2)))
    objects, _, parts = signals_of(scene(moving_boxes=moving))
    np.testing.assert_allclose(objects.size, [[0.6, 0.425, 0.6]])
    np.testing.assert_allclose(np.diff(objects.world_from_object[:, 0, :3, 3], axis=0), [[1, 0, 0]], atol=1e-12)
    assert parts.names == ("deck", "bar") and parts.affords[1] == ("push",)


def test_a_scene_without_objects_has_none() -> None:
    objects, orientation, parts = signals_of(scene())
    assert objects.labels == () and objects.world_from_object.shape == (2, 0, 4, 4)
    assert orientation.azimuth_rad.shape == (2, 0) and parts.names == () and (parts.ids == -1).all()
