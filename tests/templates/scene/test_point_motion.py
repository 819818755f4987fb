"""Motion of a marked point: from tracks, and from poses of objects."""

from dataclasses import replace

import numpy as np
import pytest

from experts.provenance import Provenance
from experts.signals import Objects, PointTracks
from templates.measured import Measured, Undecided
from templates.scene.point_motion import point_motion
from templates.scene.scene import Scene, scenes_of
from tests.templates import worlds

FRAMES = [0, 2, 4]
MOVING = np.array([[300.0, 200], [360, 200], [300, 260], [360, 260], [330, 230], [305, 230]])
STATIC = np.array([[100.0, 100], [335, 240], [295, 230]])


def scene(**changes: np.ndarray) -> Scene:
    """Six tracks on a moving object, one far from it, one inside its outline, one at its border."""
    xy = np.concatenate([MOVING, STATIC])
    moving = np.arange(len(xy)) < len(MOVING)
    tracks = PointTracks(
        frames=np.array(FRAMES),
        xy_px=np.repeat(xy[:, None], 3, axis=1),
        visible=np.ones((len(xy), 3), dtype=bool),
        sigma_px=np.full((len(xy), 3), 0.5),
        outlier_probability=np.full(len(xy), 0.003),
        motion=moving.astype(np.int32),
        residual_px=np.where(moving, 12.0, 0.4),
        moving_pairs=np.where(moving, 9, 0).astype(np.int32),
        parallax_px=np.full(len(xy), 20.0),
        provenance=Provenance(expert="made up", version="1"),
    )
    (made,) = scenes_of(worlds.clip(), {"tracks": replace(tracks, **changes)})
    return made


@pytest.mark.parametrize(("row", "label"), [(4, "yes"), (6, "no")])
def test_points_well_inside_and_well_outside_are_decided(row: int, label: str) -> None:
    measured = point_motion(scene(), 0, np.concatenate([MOVING, STATIC])[row], FRAMES)
    assert isinstance(measured, Measured) and measured.label == label
    assert measured.margin is not None and measured.margin >= 3


@pytest.mark.parametrize("row", [0, 5, 7, 8])
def test_points_at_the_outline_or_contradicting_it_are_not_decided(row: int) -> None:
    measured = point_motion(scene(), 0, np.concatenate([MOVING, STATIC])[row], FRAMES)
    assert measured == Undecided(reason="at the outline of a moving object")


def test_a_point_that_is_hidden_in_one_photo_is_not_asked_about() -> None:
    visible = np.ones((9, 3), dtype=bool)
    visible[4, 1] = False
    assert isinstance(point_motion(scene(visible=visible), 0, MOVING[4], FRAMES), Undecided)


def test_little_parallax_does_not_decide_no() -> None:
    measured = point_motion(scene(parallax_px=np.full(9, 3.0)), 0, STATIC[0], FRAMES)
    assert isinstance(measured, Measured) and measured.margin is not None and measured.margin < 2.33


def scene_with_objects(shift: float) -> Scene:
    """One object in the middle of the picture that goes `shift` path units to the right."""
    signals = worlds.signals(with_gravity=False)
    ids = np.full((3, 48, 64), -1, dtype=np.int32)
    ids[:, 20:30, 25:40] = 0
    poses = np.tile(np.eye(4), (3, 1, 1, 1))
    poses[:, 0, 0, 3] = np.linspace(0, shift, 3)
    objects = Objects(
        frames=np.array(FRAMES),
        labels=("box",),
        ids=ids,
        world_from_object=poses,
        provenance=Provenance(expert="made up", version="1"),
    )
    (made,) = scenes_of(worlds.clip(), {**signals, "objects": objects})
    return made


def test_poses_decide_except_at_the_outline() -> None:
    border = np.array([249.0, 250.0])  # 10 px a cell: the object begins at x = 250
    assert point_motion(scene_with_objects(1.0), 0, border, FRAMES) == Undecided(reason="at the border of an object")
    assert isinstance(point_motion(scene_with_objects(1.0), 8, border, [8]), Undecided)
