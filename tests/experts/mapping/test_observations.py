"""Points are observed between keyframes where the picture shows them, and nowhere else."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from experts.clip import Clip, OpeningOptions, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.observations import Observations, ObservationSettings, observations_between
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

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            at = int(frame) * STEP_PX
            picture = WALL[at : at + 120, at : at + 160].copy()
            if frame == 2:
                picture[COVERED, COVERED] = WALL[200:240, 300:340]
            yield np.repeat(picture.astype(np.uint8)[..., None], 3, axis=2)


def observed(poses: np.ndarray = POSES, **changes: int) -> Observations:
    clip = Clip(
        id="x", name="x", frames=np.arange(FRAMES), times_s=None, width_px=160, height_px=120,
        options=OpeningOptions(), reader=Walk(),
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


def test_what_hides_a_point_is_not_taken_for_it(found: Observations) -> None:
    def inside(column: int) -> int:
        xy = found.xy_px[found.column == column]
        return int(((xy > COVERED.start + 4) & (xy < COVERED.stop - 4)).all(axis=1).sum())

    assert inside(1) > 20
    assert inside(2) <= 1


def test_a_frame_with_a_wrong_pose_or_none_has_no_observations() -> None:
    poses = POSES.copy()
    poses[3, 0, 3] += 4 * WALL_Z / 100  # 4 px
    poses[5] = np.nan
    assert set(observed(poses).column.tolist()) == {1, 2, 6, 7}


def test_the_number_of_frames_is_limited() -> None:
    assert len(np.unique(observed(frames=2).column)) == 2
