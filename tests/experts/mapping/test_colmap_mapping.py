"""What hangs in the air is left out of a reconstruction: it may move."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.bundle_adjustment import adjusted, one_group
from experts.mapping.colmap_mapping import SparseReconstruction, keep_largest_surface

CAMERA = Intrinsics.centred(640, 480, 600.0)
FLOOR = np.stack([*np.meshgrid(np.linspace(-3, 3, 25), np.linspace(4, 9, 30))], axis=-1).reshape(-1, 2)
FLOOR = np.c_[FLOOR[:, 0], 1.5 - 0.1 * FLOOR[:, 1] + 0.15 * np.sin(3 * FLOOR.sum(axis=1)), FLOOR[:, 1]]
CRATE = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 5)] * 3), axis=-1).reshape(-1, 3) * [1.5, 0.6, 0.6] + [0, 0, 3.5]
KEYFRAMES = 9


def seen_on_an_arc(crate_step: Sequence[float], without: Sequence[int] = ()) -> SparseReconstruction:
    """A camera on an arc before a floor and a crate that moves by `crate_step` from keyframe to keyframe. The keyframes
    `without` do not see the floor."""
    steps = np.arange(KEYFRAMES)
    poses = np.tile(np.eye(4), (KEYFRAMES, 1, 1))
    poses[:, :3, :3] = Rotation.from_rotvec(np.linspace(-0.3, 0.3, KEYFRAMES)[:, None] * [0.1, 1, 0]).as_matrix()
    poses[:, :3, 3] = [0, 0, 6] - poses[:, :3, :3] @ [0, 0, 6]
    world = [np.concatenate([FLOOR, CRATE + step * np.array(crate_step)]) for step in steps]
    pixels = np.stack([CAMERA.project(xyz @ p[:3, :3].T + p[:3, 3]) for xyz, p in zip(world, poses, strict=True)])
    place, point = np.nonzero(np.isfinite(pixels[:, :, 0]))
    kept = ~(np.isin(place, without) & (point < len(FLOOR)))
    place, point = place[kept], point[kept]
    noise_px = np.random.default_rng(0).normal(0, 0.2, (len(place), 2))
    return SparseReconstruction(
        camera=CAMERA,
        focal_formal_px=1.0,
        places=steps,
        cam_from_world=poses,
        xyz_world=world[KEYFRAMES // 2],
        error_px=np.full(len(world[0]), 0.3),
        point=point,
        place=place,
        keypoint=point,
        xy_px=pixels[place, point] + noise_px,
    )


def focal_and_points(sparse: SparseReconstruction) -> tuple[list[float], list[int]]:
    """(Focal length, number of points), before and after what hangs in the air is left out."""
    found, _ = adjusted(sparse, one_group(sparse), "SIMPLE_RADIAL")
    before = found.cameras[1].mean_focal_length(), found.num_points3D()
    observations = found.compute_num_observations()
    left_out = keep_largest_surface(found, fixed=False, seed=0)
    assert left_out == observations - found.compute_num_observations()
    after = found.cameras[1].mean_focal_length(), found.num_points3D()
    focal, points = zip(before, after, strict=True)
    return list(focal), list(points)


@pytest.mark.parametrize("crate_step", [(0.1, 0, 0), (-0.2, 0, 0), (0.1, 0, -0.1)])
def test_a_crate_that_moves_evenly_no_longer_pulls_the_focal_length_along(crate_step: tuple[float, ...]) -> None:
    (pulled, after), (_, left) = focal_and_points(seen_on_an_arc(crate_step))
    assert abs(pulled - 600) > 5 * abs(after - 600)
    assert after == pytest.approx(600, rel=0.01) and left == len(FLOOR)


def test_a_floor_alone_stays_as_it_is() -> None:
    sparse = seen_on_an_arc([0, 0, 0])
    floor = sparse.point < len(FLOOR)
    alone = {name: getattr(sparse, name)[floor] for name in ("point", "place", "keypoint", "xy_px")}
    (before, after), (_, left) = focal_and_points(
        SparseReconstruction(**{**vars(sparse), **alone, "xyz_world": FLOOR, "error_px": sparse.error_px[: len(FLOOR)]})
    )
    assert before == after and left == len(FLOOR)


def test_where_most_points_of_a_keyframe_hang_in_the_air_they_stay() -> None:
    _, (before, after) = focal_and_points(seen_on_an_arc([0, 0, 0], without=[0, 1]))
    assert before == after == len(FLOOR) + len(CRATE)
