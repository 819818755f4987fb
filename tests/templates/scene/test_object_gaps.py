"""Distances between oriented boxes against a bounded least-squares solver."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from experts.signals import Objects
from templates.scene.object_gaps import gaps
from tests.templates import worlds

COUNT = 60


def random_boxes(seed: int) -> tuple[Objects, np.ndarray, np.ndarray]:
    """Boxes of all shapes around one place; every third one is parallel to the axes, some are flat."""
    rng = np.random.default_rng(seed)
    poses = np.tile(np.eye(4), (COUNT, 1, 1))
    poses[:, :3, 3] = rng.uniform([-2, 3, -2], [2, 7, 2], (COUNT, 3))
    turns = Rotation.random(COUNT, rng=rng).as_matrix()
    poses[:, :3, :3] = np.where((np.arange(COUNT) % 3 == 0)[:, None, None], np.eye(3), turns)
    size = rng.uniform(0.1, 1.5, (COUNT, 3)) * np.where(np.arange(COUNT) % 5 == 0, 0.02, 1.0)[:, None] ** [0, 0, 1]
    objects = worlds.signals()["objects"]
    assert isinstance(objects, Objects)
    frames = objects.frames[:1]
    made = Objects(
        frames=frames,
        labels=("box",) * COUNT,
        ids=np.full((1, 1, 1), -1, dtype=np.int32),
        world_from_object=poses[None],
        provenance=objects.provenance,
        size=size,
        centre_sigma=np.full(COUNT, 0.03),
        size_sigma=np.full((COUNT, 3), 0.08),
    )
    return made, poses, size


def solved(pose_a: np.ndarray, size_a: np.ndarray, pose_b: np.ndarray, size_b: np.ndarray) -> float:
    """The least |a - b| of points a, b of both boxes."""
    matrix = np.hstack([pose_a[:3, :3] * size_a / 2, -pose_b[:3, :3] * size_b / 2])
    found = lsq_linear(matrix, pose_b[:3, 3] - pose_a[:3, 3], bounds=(-1, 1), tol=1e-14)
    return float(np.sqrt(2 * found.cost))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_gap_is_that_of_the_nearest_points(seed: int) -> None:
    objects, poses, size = random_boxes(seed)
    a, b = np.arange(COUNT), np.roll(np.arange(COUNT), 1)
    found, sigma, apart = gaps(worlds.scene({**worlds.signals(), "objects": objects}), np.zeros(COUNT, dtype=int), a, b)
    expected = [solved(poses[i], size[i], poses[j], size[j]) for i, j in zip(a, b, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert (found == 0).any() and (found > 0.5).any() and (apart >= found).all()
    np.testing.assert_allclose(sigma, np.sqrt(2 * 0.03**2 + 2 * 0.04**2))


def test_a_box_around_another_one_touches_it() -> None:
    objects, poses, _ = random_boxes(0)
    poses[1], size = poses[0], np.ones((COUNT, 3))
    size[1] = 0.1
    nested = replace(objects, world_from_object=poses[None], size=size)
    found, _, _ = gaps(worlds.scene({**worlds.signals(), "objects": nested}), *np.array([[0], [0], [1]]))
    assert found.tolist() == [0.0]


def test_unknown_sides_and_objects_have_no_gap() -> None:
    objects, _, _ = random_boxes(0)
    ends = np.where(np.arange(COUNT)[:, None] == 1, np.inf, objects.size_sigma)
    scene = worlds.scene({**worlds.signals(), "objects": replace(objects, size_sigma=ends)})
    gap, sigma, _ = gaps(scene, np.zeros(3, dtype=int), np.array([0, 0, -1]), np.array([2, 1, 2]))
    assert np.isfinite(gap).tolist() == [True, True, False] and np.isfinite(sigma).tolist() == [True, False, False]
