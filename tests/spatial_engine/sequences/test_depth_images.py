"""Gaps in depth are closed within a surface only. Depth that lies beside the colour pixels: its σ takes in what is
near, and a camera of its own is accounted for."""

import numpy as np

from spatial_engine.sequences.depth_images import closed, widened
from spatial_engine.sequences.manifest import Camera, DepthImages

STATED = DepthImages(images="*.png", unit_m=0.001, registered=False, off_px=6.0)
CAMERA = Camera(fx=100.0, fy=100.0, cx=39.5, cy=29.5)


def step() -> np.ndarray:
    """Near on the left, far on the right; at half the size of the images."""
    z = np.full((1, 30, 40), 2.0, dtype=np.float32)
    z[..., 20:] = 4.0
    return z


def test_sigma_takes_in_the_depths_nearby() -> None:
    z, spread = widened(step(), STATED, CAMERA, 80)
    assert (z[0, 15, 10], z[0, 15, 30]) == (2.0, 4.0) and spread[0, 15, 10] == spread[0, 15, 30] == 0.0
    for column in (18, 21):  # within 3 pixels of the step
        assert z[0, 15, column] == 3.0 and np.isclose(spread[0, 15, column], 1 / 9)


def test_depth_with_many_holes_around_is_not_known() -> None:
    holes = step()
    holes[0, 10:20, 5:9] = np.nan
    z, _ = widened(holes, STATED, CAMERA, 80)
    assert np.isnan(z[0, 15, 6]) and np.isnan(z[0, 15, 9])
    assert z[0, 15, 13] == 2.0


def test_a_depth_camera_of_its_own_sees_other_directions() -> None:
    """Its focal length is longer: it lacks the rim of the image, and the step lies nearer to the middle."""
    own = Camera(fx=100.0, fy=100.0, cx=19.5, cy=14.5)
    z, _ = widened(step(), DepthImages(**{**vars(STATED), "camera": own, "off_px": 1.0}), CAMERA, 80)
    assert np.isnan(z[0, 15, 5]) and np.isnan(z[0, 2, 20])
    assert (z[0, 15, 16], z[0, 15, 23]) == (2.0, 4.0)


def test_gaps_within_a_surface_are_closed() -> None:
    """The mean of their surroundings; what was known stays as it was."""
    floor = np.repeat(np.linspace(2.0, 2.4, 30, dtype=np.float32)[None, :, None], 40, axis=2)
    holes = floor.copy()
    holes[0, ::4, :] = holes[0, :, ::4] = np.nan  # lines, as resampling leaves them
    z, spread = closed(holes)
    known = np.isfinite(holes)
    assert np.array_equal(z[known], holes[known]) and not spread[known].any()
    inner = np.s_[0, 2:-2, 2:-2]
    assert np.allclose(z[inner], floor[inner], rtol=0.01)
    assert (spread[inner][~known[inner]] > 0).all() and spread[inner].max() < 0.02


def test_wide_gaps_and_gaps_between_surfaces_stay() -> None:
    holes = step()
    holes[0, 10:20, 5:12] = np.nan
    holes[0, :, 20] = np.nan  # between near and far
    z, _ = closed(holes)
    assert np.isnan(z[0, 12:18, 7:10]).all()
    assert np.isnan(z[0, :, 20]).all()
    assert np.isnan(closed(np.full((1, 9, 9), np.nan, dtype=np.float32))[0]).all()
