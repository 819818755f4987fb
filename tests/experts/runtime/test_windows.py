"""Windows over a list, and the similarity between two windows of a rendered scene."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.runtime.windows import Chain, Joined, Similarity, Window, WindowSettings, fitting_size, rolling, similarity
from experts.signals import NoEstimate
from spatial_engine.rendering import RenderedScene
from spatial_engine.rendering.rooms import random_room

SETTINGS = WindowSettings(frames=8, overlap=4)


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


@pytest.fixture(scope="module")
def room() -> RenderedScene:
    return random_room(np.random.default_rng(1), frames=20, width_px=96, height_px=72)


def window(room: RenderedScene, rows: Sequence[int], scale: float = 1.0, seed: int = 0) -> Window:
    """An exact window in another world and unit."""
    rng = np.random.default_rng(seed)
    world = np.eye(4)
    world[:3, :3], world[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
    pose = world @ room.world_from_cam[list(rows)]
    pose[:, :3, 3] *= scale
    z = np.stack([room.depth(r) for r in rows]) * np.float32(scale)
    return Window(
        rows=np.array(rows),
        world_from_cam=pose,
        k_map=np.stack([room.intrinsics.matrix] * len(rows)),
        z=z,
        relative_sigma=np.full_like(z, 0.03),
    )


@pytest.mark.parametrize("count", [1, 3, 8, 9, 12, 30, 31])
def test_windows_cover_all_with_the_overlap(count: int) -> None:
    seen = [(first, n, items) for first, n, items in rolling(iter(range(count)), list, 8, 4)]
    assert all(items == list(range(first, first + n)) for first, n, items in seen)
    assert seen[0][0] == 0 and sum(seen[-1][:2]) == count
    for (a, n, _), (b, m, _) in pairwise(seen):
        assert b == a + n - 4 and b + m > a + n


def test_windows_are_halved_when_memory_runs_out() -> None:
    tried: list[int] = []

    def call(items: Sequence[int]) -> list[int]:
        tried.append(len(items))
        if len(items) > (20 if items[0] < 40 else 6):  # less memory is free later
            raise OutOfMemoryError
        return list(items)

    seen = [items for _, _, items in rolling(iter(range(100)), call, 40, 10, min_frames=2)]
    assert sorted(set(chain(*seen))) == list(range(100))
    assert tried[:2] == [40, 20] and tried.count(40) == 1 and set(tried[-5:]) <= {5, 4, 3}
    assert all(set(a) & set(b) and b[-1] > a[-1] for a, b in pairwise(seen))


def test_the_error_of_the_smallest_window_and_other_errors_are_raised() -> None:
    def call(items: Sequence[int]) -> None:
        raise OutOfMemoryError if items[0] < 5 else ValueError

    with pytest.raises(OutOfMemoryError):
        list(rolling(range(20), call, 8, 4, min_frames=4))
    with pytest.raises(ValueError):
        list(rolling(range(5, 20), call, 8, 4, min_frames=4))


def test_size_is_halved_until_it_fits() -> None:
    s = WindowSettings(frames=64, min_frames=4, bytes_per_pixel=100.0, memory_share=0.5)
    assert fitting_size(1 << 40, 1000, s) == 64
    assert fitting_size(2 * 64 * 100_000, 1000, s) == 64
    assert fitting_size(2 * 64 * 100_000 - 1, 1000, s) == 32
    assert fitting_size(0, 1000, s) == 4


def test_the_similarity_between_two_windows_is_found(room: RenderedScene) -> None:
    a, b = window(room, range(8), 1.0, seed=1), window(room, range(4, 12), 3.7, seed=2)
    join = similarity(a, b, SETTINGS)
    assert isinstance(join, Similarity)
    assert join.scale == pytest.approx(1 / 3.7, rel=1e-5)
    assert join.residual < 1e-4 and join.rotation_rad < 1e-4
    moved, truth = join.moved(b), window(room, range(4, 12), 1.0, seed=1)
    np.testing.assert_allclose(moved.world_from_cam, truth.world_from_cam, atol=1e-4)
    np.testing.assert_allclose(moved.z, truth.z, rtol=1e-4)


def test_a_minority_of_wrong_depths_does_not_change_the_similarity(room: RenderedScene) -> None:
    a, b = window(room, range(8), 1.0, seed=1), window(room, range(4, 12), 0.5, seed=2)
    z = b.z.copy()
    z[:, :, :30] *= 1.6
    join = similarity(a, replace(b, z=z), SETTINGS)
    assert isinstance(join, Similarity) and join.scale == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize("case", ["other scene", "nothing shared", "nothing known", "no cameras"])
def test_windows_that_do_not_match_are_not_aligned(room: RenderedScene, case: str) -> None:
    a, b = window(room, range(8)), window(room, range(4, 12), seed=2)
    rng = np.random.default_rng(0)
    match case:
        case "other scene":
            b = replace(b, z=rng.uniform(1, 5, b.z.shape).astype(np.float32))
        case "nothing shared":
            b = window(room, range(8, 16))
        case "nothing known":
            b = replace(b, z=np.full_like(b.z, np.nan), relative_sigma=np.full_like(b.z, np.nan))
        case _:
            b = replace(b, world_from_cam=np.full_like(b.world_from_cam, np.nan))
    refused = similarity(a, b, SETTINGS)
    assert isinstance(refused, NoEstimate) and refused.reason == "windows cannot be aligned"


def test_a_chain_aligns_all_frames_with_the_first_window(room: RenderedScene) -> None:
    windows = Chain(count=20, keep=frozenset({0, 10, 19}), settings=SETTINGS)
    for seed, first in enumerate(range(0, 16, 4)):
        assert windows.add(window(room, range(first, min(first + 8, 20)), 2.0**seed, seed=seed))
    joined = windows.joined(0.5)
    assert isinstance(joined, Joined)
    truth = window(room, range(20), 1.0, seed=0)
    np.testing.assert_allclose(joined.world_from_cam, truth.world_from_cam, atol=1e-4)
    np.testing.assert_allclose(joined.z, truth.z[[0, 10, 19]], rtol=1e-4)
    np.testing.assert_allclose(joined.scales, [1, 1 / 2, 1 / 4, 1 / 8], rtol=1e-4)
    assert joined.rows.tolist() == [0, 10, 19]


def test_a_chain_ends_at_a_window_that_cannot_be_aligned(room: RenderedScene) -> None:
    windows = Chain(count=20, keep=frozenset({0, 19}), settings=SETTINGS)
    windows.add(window(room, range(8)))
    windows.add(window(room, range(4, 12)))
    assert not windows.add(NoEstimate(reason="only sky"))
    joined = windows.joined(0.5)
    assert isinstance(joined, Joined)
    np.testing.assert_array_equal(np.isfinite(joined.world_from_cam[:, 0, 3]), np.arange(20) < 12)
    assert joined.rows.tolist() == [0]
    refused = windows.joined(0.8)
    assert isinstance(refused, NoEstimate) and refused.reason == "only sky"
    assert "12 of 20" in refused.detail
