"""How ranges and directions change with the focal length."""

from dataclasses import replace

import numpy as np
import pytest

from experts.mapping.bundle_adjustment import adjusted, one_group
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.focal_effect import focal_effect
from experts.mapping.reconstruction_checks import ranges
from tests.experts.mapping.test_bundle_adjustment import zoomed_reconstruction


def around_near_points() -> SparseReconstruction:
    """A camera on an arc around near points; every third point is three times as far."""
    near = zoomed_reconstruction(np.zeros(8), noise_px=0.0)
    xyz = near.xyz_world.copy()
    xyz[::3] = [0, 0, 6] + (xyz[::3] - [0, 0, 6]) * 0.5 + [0, 0, 12]
    in_cam = np.einsum("oij,oj->oi", near.cam_from_world[near.place][:, :3, :3], xyz[near.point])
    seen = near.camera.project(in_cam + near.cam_from_world[near.place][:, :3, 3])
    return replace(near, xyz_world=xyz, xy_px=seen)


def test_far_points_come_nearer_with_a_longer_focal_length() -> None:
    effect = focal_effect(around_near_points(), 1.0)
    near, far = (effect.ln_range[rows] for rows in (np.arange(200) % 3 != 0, np.arange(200) % 3 == 0))
    assert np.median(far) < -0.5 and np.abs(np.median(near)) < 0.6
    assert 0.05 < effect.direction_rad < 1.5


@pytest.mark.parametrize("ln_error", [-0.04, 0.05])
def test_it_predicts_the_errors_of_a_wrong_focal_length(ln_error: float) -> None:
    right = around_near_points()
    longer = right.camera.fx_px * np.exp(ln_error)
    camera = replace(right.camera, fx_px=longer, fy_px=longer)
    found, _ = adjusted(replace(right, camera=camera), one_group(right), "SIMPLE_RADIAL", free_focal=False)
    wrong = replace(
        right,
        xyz_world=np.array([point.xyz for _, point in sorted(found.points3D.items())]),
        cam_from_world=np.array(
            [np.vstack([image.cam_from_world().matrix(), [0, 0, 0, 1]]) for _, image in sorted(found.images.items())]
        ),
    )
    error = np.log(ranges(wrong) / ranges(right))
    error = np.array([error[right.point == point].mean() for point in range(len(right.xyz_world))])
    predicted = focal_effect(right, ln_error).ln_range
    np.testing.assert_allclose(predicted, error - np.median(error), atol=0.25 * np.abs(error).max())


def test_a_point_that_no_keyframe_sees_changes_nothing() -> None:
    right = around_near_points()
    seen = right.point != 5
    fewer = replace(right, **{name: getattr(right, name)[seen] for name in ("point", "place", "keypoint", "xy_px")})
    effect = focal_effect(fewer, 1.0)
    assert effect.ln_range[5] == 0 and np.isfinite(effect.ln_range).all() and np.isfinite(effect.direction_rad)
