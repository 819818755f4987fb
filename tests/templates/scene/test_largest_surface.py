"""A floor that rises from near to far, and a patch in its middle whose range is wrong, as of an object that moves."""

import numpy as np
import pytest

from experts.provenance import Provenance
from experts.signals import SparsePoints
from templates.scene.largest_surface import on_largest_surface

XY = np.stack(np.meshgrid(np.linspace(20, 620, 25), np.linspace(20, 460, 16)), axis=-1).reshape(-1, 2)
SLOPE = 3.0 * np.exp((460 - XY[:, 1]) / 440)
"""Range: neighbours differ by 7 %, the nearest and the farthest row by a factor of 2.7."""
PATCH = (np.abs(XY - [320, 240]) < [80, 60]).all(axis=1)


def points(frames: int, seen: np.ndarray | None = None) -> SparsePoints:
    """Each is seen at the same pixel in all frames; `seen`: (frames, points)."""
    seen = np.ones((frames, len(XY)), dtype=bool) if seen is None else seen
    frame, point = np.nonzero(seen)
    return SparsePoints(
        xyz_world=np.ones((len(XY), 3)),
        range_relative_sigma=np.full(len(XY), 0.03),
        triangulation_angle_rad=np.full(len(XY), 0.1),
        outlier_probability=np.full(len(XY), 0.003),
        observation_point=point,
        observation_frame=frame,
        observation_xy_px=XY[point],
        provenance=Provenance(expert="fake", version="1"),
    )


def joined(ranges: np.ndarray, found: SparsePoints | None = None, counted: np.ndarray | None = None) -> np.ndarray:
    found = points(20) if found is None else found
    counted = np.ones(len(found.observation_point), dtype=bool) if counted is None else counted
    return on_largest_surface(found, counted, ranges[found.observation_point], 0.12)


def test_neighbours_join_what_is_near_to_what_is_far() -> None:
    assert joined(SLOPE).all()


@pytest.mark.parametrize("factor", [0.2, 0.7, 1.4, 5.0])
def test_what_hangs_in_the_air_is_not_joined(factor: float) -> None:
    np.testing.assert_array_equal(joined(np.where(PATCH, factor, 1.0) * SLOPE), ~PATCH)


def test_a_gap_without_points_does_not_separate_a_surface() -> None:
    middle = (np.abs(XY[:, 0] - 320) < 100) & ~PATCH
    found = points(20)
    counted = ~middle[found.observation_point]
    assert joined(SLOPE, found, counted)[~middle].all()


def test_one_frame_in_which_points_are_neighbours_suffices() -> None:
    """Something hides the middle in all other frames."""
    seen = np.ones((20, len(XY)), dtype=bool)
    seen[1:, ~PATCH] = False
    assert joined(SLOPE, points(20, seen)).all()


def test_the_scale_of_the_path_does_not_matter() -> None:
    ranges = np.where(PATCH, 0.5, 1.0) * SLOPE
    np.testing.assert_array_equal(joined(ranges), joined(12.0 * ranges))


def test_observations_that_do_not_count_join_nothing() -> None:
    found = points(20)
    assert not joined(SLOPE, found, np.zeros(len(found.observation_point), dtype=bool)).any()
    assert not joined(np.full(len(XY), np.nan)).any()


@pytest.mark.parametrize("which", [slice(0, 2), slice(0, 25)])
def test_few_points_and_points_on_a_line_are_no_error(which: slice) -> None:
    few = np.zeros(len(XY), dtype=bool)
    few[which] = True
    found = points(3)
    seen = joined(SLOPE, found, few[found.observation_point])
    assert seen.dtype == bool and not seen[~few].any()


def test_a_point_seen_in_a_part_of_a_long_clip_is_joined() -> None:
    seen = np.ones((300, len(XY)), dtype=bool)
    seen[:, PATCH] = False
    seen[101:111, PATCH] = True
    assert joined(SLOPE, points(300, seen)).all()
