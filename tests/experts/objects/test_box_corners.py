"""The corners of boxes: extents along their axes, and the same boxes one by one and together."""

import numpy as np
from scipy.spatial.transform import Rotation

from experts.objects.box_corners import box_corners


def test_corners_span_the_box_around_its_middle() -> None:
    rng = np.random.default_rng(0)
    poses, sizes = np.tile(np.eye(4), (5, 1, 1)), rng.uniform(0.1, 2, (5, 3))
    poses[:, :3, :3], poses[:, :3, 3] = Rotation.random(5, rng=rng).as_matrix(), rng.normal(size=(5, 3))
    every = box_corners(poses, sizes)
    np.testing.assert_allclose(every.mean(axis=1), poses[:, :3, 3])
    local = (every - poses[:, None, :3, 3]) @ poses[:, :3, :3]
    np.testing.assert_allclose(np.ptp(local, axis=1), sizes)
    np.testing.assert_array_equal(every[3], box_corners(poses[3], sizes[3]))
    assert all(len(np.unique(corners.round(9), axis=0)) == 8 for corners in every)
