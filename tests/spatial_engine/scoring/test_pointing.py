import numpy as np

from spatial_engine.scoring.pointing import distance_px, in_box, in_mask


def test_distance():
    assert distance_px([0, 0], [3, 4]) == 5


def test_a_pixel_reaches_half_a_pixel_around_its_centre():
    mask = np.zeros((2, 3), dtype=np.uint8)
    mask[1, 2] = 255
    assert in_mask([2, 1], mask) and in_mask([1.5, 0.5], mask) and in_mask([2.49, 1.49], mask)
    assert not in_mask([1.49, 1], mask) and not in_mask([2.5, 1], mask) and not in_mask([-0.6, 0], mask)
    assert not in_mask([float("nan"), 1], mask) and not in_mask([float("inf"), 1], mask)


def test_box():
    assert in_box([1, 2], [1, 2, 3, 4]) and not in_box([0.9, 2], [1, 2, 3, 4])
