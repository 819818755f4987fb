from dataclasses import replace

import numpy as np
import pytest

from benchmarks.trust.hard_rooms import KINDS, hard_room
from benchmarks.trust.rooms import ZoomedTruth
from spatial_engine.rendering import as_clip
from spatial_engine.rendering.truth import motion_kind

SEED = 3000


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_draws_one_room(kind: str) -> None:
    first, again = hard_room(kind, SEED).scene, hard_room(kind, SEED).scene
    assert np.array_equal(first.world_from_cam, again.world_from_cam) and first.effects == again.effects
    other = hard_room(kind, SEED + 1).scene
    assert not np.array_equal(first.world_from_cam, other.world_from_cam)


def test_a_wall_fills_the_view_from_first_to_last() -> None:
    scene = hard_room("one wall", SEED).scene
    small = replace(scene, intrinsics=scene.intrinsics.scaled(48, 36))
    for frame in (0, len(scene) // 2, len(scene) - 1):
        world = small.world_from_cam[frame]
        rays = small.intrinsics.rays(np.stack(np.meshgrid(np.arange(48), np.arange(36)), axis=-1).astype(float))
        seen = world[:3, 3] + (rays / rays[..., 2:] * small.depth(frame)[..., None]) @ world[:3, :3].T
        assert np.abs(seen[..., 1] - scene.room.size_m[1]).max() < 0.01


def test_a_carried_object_covers_a_part_of_every_picture() -> None:
    scene = hard_room("carried foreground", SEED).scene
    small = replace(scene, intrinsics=scene.intrinsics.scaled(48, 36))
    shares = [float((small.ids(frame) == len(scene.labels) - 1).mean()) for frame in (0, 20, 47)]
    assert min(shares) > 0.25 and max(shares) < 0.75 and np.ptp(shares) < 0.02


def test_the_truth_of_a_zoom_has_the_path_and_compares_no_pixel() -> None:
    scene = hard_room("zoom while walking", SEED).scene
    known = ZoomedTruth(of=scene, clip=as_clip(scene)).scene([0])
    assert known.path is not None and motion_kind(known.path.world_from_cam) == "general"
    assert known.depth is None and known.objects is None and known.vfov_rad()[1] > np.radians(10)
