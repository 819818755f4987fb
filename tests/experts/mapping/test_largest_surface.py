"""A floor that rises from near to far, and a patch in its middle whose range is wrong, as of an object that moves."""

import numpy as np
import pytest

from experts.mapping.largest_surface import on_largest_surface

XY = np.stack(np.meshgrid(np.linspace(20, 620, 25), np.linspace(20, 460, 16)), axis=-1).reshape(-1, 2)
SLOPE = 3.0 * np.exp((460 - XY[:, 1]) / 440)
"""Range: neighbours differ by 7 %, the nearest and the farthest row by a factor of 2.7."""
PATCH = (np.abs(XY - [320, 240]) < [80, 60]).all(axis=1)


def observed(frames: int, seen: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(point, frame) of each observation. Each point is seen at the same pixel in all frames; `seen`: (frames,
    points)."""
    frame, point = np.nonzero(np.ones((frames, len(XY)), dtype=bool) if seen is None else seen)
    return point, frame


def joined(ranges: np.ndarray, point: np.ndarray | None = None, frame: np.ndarray | None = None) -> np.ndarray:
    point, frame = observed(20) if point is None or frame is None else (point, frame)
    return on_largest_surface(point, frame, XY[point], ranges[point], len(XY), 0.12)


def test_neighbours_join_what_is_near_to_what_is_far() -> None:
    assert joined(SLOPE).all()


@pytest.mark.parametrize("factor", [0.2, 0.7, 1.4, 5.0])
def test_what_hangs_in_the_air_is_not_joined(factor: float) -> None:
    np.testing.assert_array_equal(joined(np.where(PATCH, factor, 1.0) * SLOPE), ~PATCH)


def test_a_gap_without_points_does_not_separate_a_surface() -> None:
    middle = (np.abs(XY[:, 0] - 320) < 100) & ~PATCH
    assert joined(np.where(middle, np.nan, SLOPE))[~middle].all()


def test_one_frame_in_which_points_are_neighbours_suffices() -> None:
    """Something hides the middle in all other frames."""
    seen = np.ones((20, len(XY)), dtype=bool)
    seen[1:, ~PATCH] = False
    assert joined(SLOPE, *observed(20, seen)).all()


def test_the_scale_of_the_path_does_not_matter() -> None:
    ranges = np.where(PATCH, 0.5, 1.0) * SLOPE
    np.testing.assert_array_equal(joined(ranges), joined(12.0 * ranges))


def test_points_without_a_range_join_nothing() -> None:
    assert not joined(np.full(len(XY), np.nan)).any()


@pytest.mark.parametrize("which", [slice(0, 2), slice(0, 25)])
def test_few_points_and_points_on_a_line_are_no_error(which: slice) -> None:
    few = np.full(len(XY), np.nan)
    few[which] = SLOPE[which]
    seen = joined(few, *observed(3))
    assert seen.dtype == bool and not seen[np.isnan(few)].any()


def test_a_point_seen_in_a_part_of_a_long_clip_is_joined() -> None:
    seen = np.ones((300, len(XY)), dtype=bool)
    seen[:, PATCH] = False
    seen[101:111, PATCH] = True
    assert joined(SLOPE, *observed(300, seen)).all()


def test_a_tour_of_two_places_has_two_surfaces() -> None:
    """The first 12 frames show the left half of the points, the others the right half, at another range."""
    left = XY[:, 0] < 320
    seen = np.where(np.arange(20)[:, None] < 12, left, ~left)
    assert joined(np.where(left, 1.0, 3.0) * SLOPE, *observed(20, seen)).all()


def test_what_hangs_in_the_air_in_the_smaller_place_is_not_joined() -> None:
    left = XY[:, 0] < 320
    crate = (np.abs(XY - [480, 240]) < [60, 60]).all(axis=1)
    seen = np.where(np.arange(20)[:, None] < 12, left, ~left)
    ranges = np.where(left, 1.0, 3.0) * np.where(crate, 0.5, 1.0) * SLOPE
    np.testing.assert_array_equal(joined(ranges, *observed(20, seen)), ~crate)
