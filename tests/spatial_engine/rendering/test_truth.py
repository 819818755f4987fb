"""True signals are the renderer's own numbers in the house's types."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import SIGNAL_TYPES, CameraPath
from spatial_engine.rendering import Effects, RenderedScene, as_clip, camera_paths, demo_scene, true_signals
from spatial_engine.rendering.rooms import random_room


def scene(path: object = None) -> RenderedScene:
    return random_room(np.random.default_rng(3), frames=8, width_px=48, height_px=36, path=path, moving_object=True)


def test_signals_have_their_types_and_frames() -> None:
    rendered = scene()
    signals = true_signals(rendered, as_clip(rendered), stride=3)
    names = {"camera_path", "gravity", "depth", "objects", "object_orientation", "parts", "room"}
    assert set(signals) == names
    assert all(isinstance(signal, SIGNAL_TYPES[name]) for name, signal in signals.items())
    assert signals["depth"].frames.tolist() == [0, 3, 6]
    assert np.array_equal(signals["depth"].z[1], rendered.depth(3))
    assert np.array_equal(signals["objects"].ids[2], rendered.object_ids(6))
    assert signals["camera_path"].frames.tolist() == list(range(8))
    chosen = true_signals(rendered, as_clip(rendered), frames=[5, 2])
    assert chosen["objects"].frames.tolist() == [2, 5]


def test_objects_stand_where_the_scene_has_them() -> None:
    rendered = scene()
    objects = true_signals(rendered, as_clip(rendered), frames=[0, 7])["objects"]
    assert len(objects.labels) == objects.world_from_object.shape[1] == len(rendered.objects)
    moved = np.linalg.norm(np.ptp(objects.world_from_object[:, :, :3, 3], axis=0), axis=-1)
    assert np.flatnonzero(moved > 1e-9).tolist() == [len(objects.labels) - 1]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (camera_paths.static, "static"),
        (camera_paths.pure_rotation, "rotation_only"),
        (camera_paths.walk, "general"),
    ],
)
def test_motion_is_named_as_it_is(path: object, kind: str) -> None:
    rendered = scene(path)
    assert true_signals(rendered, as_clip(rendered), frames=[0])["camera_path"].motion == kind


def test_up_follows_pitch_and_roll() -> None:
    rendered = demo_scene(64, 48)
    up = true_signals(rendered, as_clip(rendered), frames=[0])["gravity"].up_cam
    assert np.rad2deg(np.arcsin(up[0, 2])) == pytest.approx(-19)  # looks down
    assert up[60] == pytest.approx([0, -1, 0], abs=1e-9)
    assert np.rad2deg(np.arctan2(-up[-1, 0], -up[-1, 1])) == pytest.approx(17)


def test_a_zooming_scene_has_a_focal_length_per_frame_and_no_camera_path() -> None:
    rendered = replace(scene(), effects=Effects(zoom=1.3))
    found = true_signals(rendered, as_clip(rendered))
    assert set(found) == {"zooming_path", "gravity"}
    path = found["zooming_path"]
    assert isinstance(path, CameraPath) and path.magnification is not None
    assert path.magnification[[0, -1]] == pytest.approx([1, 1.3])
