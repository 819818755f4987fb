"""What objects stand on: right in furnished rooms, and unknown where more than one answer is possible."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.scene.support import FLOOR, UNKNOWN, supports


def furnished(seed: int) -> tuple[RenderedScene, Scene]:
    room = furnished_room(np.random.default_rng(seed), frames=2, width_px=48, height_px=36)
    clip = as_clip(room)
    (scene,) = scenes_of(clip, true_signals(room, clip, frames=[0]))
    return room, scene


def faces(room: RenderedScene, row: int) -> np.ndarray:
    """Corners of all boxes of an object."""
    signs = np.stack(np.meshgrid(*[[-1, 1]] * 3), axis=-1).reshape(-1, 3)
    poses = room.world_from_boxes(0)
    return np.concatenate(
        [signs * room.furniture[k].half_m @ poses[k][:3, :3].T + poses[k][:3, 3] for k in room.objects[row].boxes]
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_carries_an_object_touches_it_from_below(seed: int) -> None:
    room, scene = furnished(seed)
    found = supports(scene, 0)
    assert (found == FLOOR).sum() >= 10 and (found >= 0).sum() >= 2 and (found == UNKNOWN).any()
    for k, below in enumerate(found):
        bottom = faces(room, k)[:, 2].min()
        if below == FLOOR:
            assert bottom == pytest.approx(0, abs=0.02)
        elif below != UNKNOWN:
            low, high = faces(room, below).min(axis=0), faces(room, below).max(axis=0)
            middle = faces(room, k).mean(axis=0)
            assert bottom == pytest.approx(high[2], abs=0.03), (room.objects[k].name, room.objects[below].name)
            assert (middle[:2] > low[:2] - 0.05).all() and (middle[:2] < high[:2] + 0.05).all()
    hanging = [k for k, item in enumerate(room.objects) if item.name in ("picture", "window", "mirror")]
    assert (found[hanging] == UNKNOWN).all()


def test_uncertain_heights_support_nothing_for_sure() -> None:
    _, scene = furnished(0)
    objects = scene.objects
    assert isinstance(objects, Objects)
    count = len(objects.labels)
    vague = replace(objects, centre_sigma=np.full(count, 0.3), size_sigma=np.full((count, 3), 0.3))
    assert (supports(replace(scene, signals={**scene.signals, "objects": vague}), 0) >= 0).sum() <= 1
    nowhere = replace(objects, world_from_object=np.full_like(objects.world_from_object, np.nan))
    for lacking in ({"objects": nowhere}, {"gravity": None}, {"objects": None}):
        kept = {**scene.signals, **lacking}
        bare = replace(scene, signals={name: signal for name, signal in kept.items() if signal is not None})
        assert (supports(bare, 0) == UNKNOWN).all()
