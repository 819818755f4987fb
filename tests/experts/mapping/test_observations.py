"""Points are observed between keyframes where the picture shows them, and nowhere else."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from experts.clip import Clip, OpeningOptions, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.observations import Observations, ObservationSettings, correlation, observations_between
from tests.experts.scenes import exact_reconstruction, projected, translating

WALL = (gaussian_filter(np.random.default_rng(0).normal(size=(300, 400)), 2.0) * 600 + 128).clip(0, 255)
CAMERA = Intrinsics.centred(160, 120, 100.0)
KEYFRAMES, FRAMES, STEP_PX, WALL_Z = np.array([0, 4, 8]), 9, 2, 5.0
POSES = translating(
    [(k * STEP_PX * WALL_Z / 100, k * STEP_PX * WALL_Z / 100, 0.0) for k in range(FRAMES)], [(0, 0, 0)] * 9
)
COLUMNS, ROWS = (axis.ravel() for axis in np.meshgrid(np.arange(10, 170, 6.0), np.arange(10, 130, 6.0)))
POINTS = CAMERA.rays(np.stack([COLUMNS, ROWS], axis=1))
POINTS = POINTS / POINTS[:, 2:] * WALL_Z
COVERED = slice(40, 80)


class Walk:
    """A camera that moves along a wall; something else covers a part of the picture in frame 2."""

    def __init__(self, contrast: float) -> None:
        self.cover = 128 + contrast * (WALL[200:240, 300:340] - 128)

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            at = int(frame) * STEP_PX
            picture = WALL[at : at + 120, at : at + 160].copy()
            if frame == 2:
                picture[COVERED, COVERED] = self.cover
            yield np.repeat(picture.astype(np.uint8)[..., None], 3, axis=2)


def observed(poses: np.ndarray = POSES, contrast: float = 1.0, **changes: float) -> Observations:
    clip = Clip(
        id="x", name="x", frames=np.arange(FRAMES), times_s=None, width_px=160, height_px=120,
        options=OpeningOptions(), reader=Walk(contrast),
    )  # fmt: skip
    sparse = exact_reconstruction(POINTS, POSES[KEYFRAMES], CAMERA)
    (found,) = observations_between(clip, KEYFRAMES, [sparse], [poses], ObservationSettings(**changes))
    return found


@pytest.fixture(scope="module")
def found() -> Observations:
    return observed()


def true_xy(found: Observations) -> np.ndarray:
    sparse = exact_reconstruction(POINTS, POSES[KEYFRAMES], CAMERA)
    return projected(sparse.xyz_world, POSES, CAMERA)[found.point, found.column]


def test_points_are_observed_where_they_are(found: Observations) -> None:
    assert set(found.column.tolist()) == {1, 2, 3, 5, 6, 7}
    error = np.linalg.norm(found.xy_px - true_xy(found), axis=1)
    assert np.median(error) < 0.1 and error.max() < 1.5
    shown = exact_reconstruction(POINTS, POSES, CAMERA).place
    assert np.mean([(found.column == k).sum() / (shown == k).sum() for k in (1, 3, 5, 6, 7)]) > 0.8


def test_each_point_is_observed_once_in_a_frame(found: Observations) -> None:
    assert len(np.unique(np.stack([found.point, found.column]), axis=1).T) == len(found.point)


def covered(found: Observations, column: int) -> int:
    xy = found.xy_px[found.column == column]
    return int(((xy > COVERED.start) & (xy < COVERED.stop - 1)).all(axis=1).sum())


@pytest.mark.parametrize("contrast", [1.0, 0.3, 0.1, 0.02])
def test_what_hides_a_point_is_not_taken_for_it(contrast: float) -> None:
    """Nor next to its edge, where optical flow finds what lies beside it."""
    found = observed(contrast=contrast)
    assert covered(found, 1) > 20
    assert covered(found, 2) <= 1


@given(st.integers(0, 2**32 - 1), st.floats(0.3, 1.0), st.floats(0.0, 60.0))
def test_correlation_is_that_of_what_is_shown(seed: int, gain: float, offset: float) -> None:
    """1 with itself, whatever the exposure; -1 with its negative; 0 with nothing."""
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 190, (40, 50)).astype(np.uint8)
    xy_px = rng.uniform(10, 30, (6, 2)).astype(np.float32)
    brighter = (gain * one + offset).round().astype(np.uint8)
    assert correlation(one, brighter, xy_px, xy_px, 9) == pytest.approx(1, abs=0.02)
    assert correlation(one, 255 - one, xy_px, xy_px, 9) == pytest.approx(-1, abs=1e-4)
    assert correlation(one, np.zeros_like(one), xy_px, xy_px, 9) == pytest.approx(0, abs=1e-4)


def test_a_frame_with_a_wrong_pose_or_none_has_no_observations() -> None:
    poses = POSES.copy()
    poses[3, 0, 3] += 4 * WALL_Z / 100  # 4 px
    poses[5] = np.nan
    assert set(observed(poses).column.tolist()) == {1, 2, 6, 7}


def test_the_number_of_frames_is_limited() -> None:
    assert len(np.unique(observed(frames=2).column)) == 2
