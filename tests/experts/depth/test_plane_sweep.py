"""Plane sweep: its algebra, a rendered room with exact depth, and footage that gives nothing."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from experts.clip import Clip
from experts.depth.consistent_patches import PatchSettings
from experts.depth.plane_sweep import PlaneSweepExpert, PlaneSweepSettings
from experts.depth.second_path import Cameras, on_second_path
from experts.depth.semi_global import aggregated, best_labels
from experts.depth.sweep import SweepSettings
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, NoEstimate, Signal, SparsePoints, ValidArea
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room

SOURCE = Provenance(expert="made up", version="1")
SMALL = PlaneSweepSettings(
    side_px=160, sweep=SweepSettings(planes=(16, 32)), patches=PatchSettings(area_px=150, edge_px=4)
)
SIDEWAYS, AHEAD = "truck", "forward"


@cache
def room(motion: str) -> tuple[RenderedScene, Clip, dict[str, Signal]]:
    """Ten frames of a room, its exact path, and exact sparse points of every other frame."""

    def path(count: int, start: camera_paths.Stance) -> camera_paths.Poses:
        if motion == AHEAD:
            return camera_paths.forward_drive(count, start, length_m=1.0)
        return camera_paths.primitive("truck", 1.0, count, start)

    scene = random_room(np.random.default_rng(5), frames=10, width_px=160, height_px=120, path=path)
    clip = as_clip(scene)
    true = true_signals(scene, clip, [0])
    known = replace(true["camera_path"], keyframe=np.arange(10) % 2 == 0)
    return scene, clip, {"camera_path": known, "sparse_points": exact_points(scene, known)}


def exact_points(scene: RenderedScene, path: CameraPath) -> SparsePoints:
    """The points on a grid of the first, middle and last frame, in the keyframes that see them."""
    grid = np.stack(np.meshgrid(np.arange(8, 152, 8), np.arange(8, 112, 8)), axis=-1).reshape(-1, 2).astype(float)
    xyz = np.concatenate([in_world(scene, path, frame, grid) for frame in (0, 4, 8)])
    rows = []
    for frame in np.flatnonzero(path.keyframe).tolist():
        pose = path.world_from_cam[frame]
        cam = (xyz - pose[:3, 3]) @ pose[:3, :3]
        xy = path.intrinsics.project(cam)
        at = np.round(np.where(path.intrinsics.contains(xy)[:, None], xy, 0)).astype(int)
        seen = path.intrinsics.contains(xy) & (np.abs(scene.depth(frame)[at[:, 1], at[:, 0]] / cam[:, 2] - 1) < 0.02)
        rows += [(point, frame, *xy[point]) for point in np.flatnonzero(seen)]
    point, frame, x, y = np.array(rows).T
    return SparsePoints(
        xyz_world=xyz,
        range_relative_sigma=np.full(len(xyz), 0.01),
        triangulation_angle_rad=np.full(len(xyz), 0.1),
        outlier_probability=np.full(len(xyz), 0.003),
        observation_point=point.astype(np.int64),
        observation_frame=frame.astype(np.int64),
        observation_xy_px=np.column_stack([x, y]),
        provenance=SOURCE,
    )


def in_world(scene: RenderedScene, path: CameraPath, frame: int, xy_px: np.ndarray) -> np.ndarray:
    rays, pose = path.intrinsics.rays(xy_px), path.world_from_cam[frame]
    z = scene.depth(frame)[xy_px[:, 1].astype(int), xy_px[:, 0].astype(int)]
    return rays * (z / rays[:, 2])[:, None] @ pose[:3, :3].T + pose[:3, 3]


def twice_as_large(path: CameraPath) -> CameraPath:
    poses = path.world_from_cam.copy()
    poses[:, :3, 3] *= 2
    return replace(path, world_from_cam=poses)


def error(depth: Depth, scene: RenderedScene) -> np.ndarray:
    """ln of the depth over the true one, where it is known."""
    ratio = np.log(depth.z / np.stack([scene.depth(int(frame)) for frame in depth.frames]))
    return ratio[np.isfinite(ratio)]


def test_patches_of_a_room_have_the_right_depth_in_the_unit_of_both_paths() -> None:
    scene, clip, signals = room(SIDEWAYS)
    check, overlay = twice_as_large(signals["camera_path"]), np.arange(160) < 20
    area = ValidArea(valid=np.tile(~overlay, (120, 1)), provenance=SOURCE)
    found = PlaneSweepExpert(SMALL)(clip, {**signals, "camera_path_check": check, "valid_area": area})
    depth, second = found["depth_patches"], found["depth_patches_check"]
    assert isinstance(depth, Depth) and isinstance(second, Depth)
    assert depth.frames.tolist() == list(range(10)), "keyframes, and the frames between them"
    assert np.isnan(depth.z[:, :, overlay]).all()
    wrong = np.abs(error(depth, scene))
    assert len(wrong) > 0.1 * depth.z.size
    assert np.quantile(wrong, 0.95) < 0.03 and (wrong > 0.15).mean() < 0.001
    sigma = depth.relative_sigma[np.isfinite(depth.z)]
    assert np.isfinite(sigma).all() and (sigma < 0.1).all()
    assert 0 < depth.outlier_probability < 0.01, "known by its agreement with sparse points"
    np.testing.assert_allclose((second.z / depth.z)[np.isfinite(second.z)], 2.0, rtol=1e-3)
    np.testing.assert_array_equal(depth.z * 2**16 % 1, np.where(np.isfinite(depth.z), 0, np.nan), "rounded to 13 bits")
    assert np.isfinite(second.z).sum() > 0.95 * np.isfinite(depth.z).sum()


def test_what_the_camera_does_to_ranges_widens_sigma_as_at_the_nearest_point() -> None:
    _, clip, signals = room(SIDEWAYS)
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    near = points.xyz_world[:, 2] < np.median(points.xyz_world[:, 2])
    unsure = replace(points, camera_relative_sigma=np.where(near, 0.1, 0.2))
    known, found = (
        PlaneSweepExpert(SMALL)(clip, {**signals, "sparse_points": each})["depth_patches"] for each in (points, unsure)
    )
    assert isinstance(known, Depth) and isinstance(found, Depth)
    np.testing.assert_array_equal(found.z, known.z)
    added = np.sqrt(found.relative_sigma.astype(float) ** 2 - known.relative_sigma.astype(float) ** 2)
    added = added[np.isfinite(added)]
    assert np.isclose(added, 0.1, rtol=0.08).any() and np.isclose(added, 0.2, rtol=0.08).any()
    assert (np.isclose(added, 0.1, rtol=0.08) | np.isclose(added, 0.2, rtol=0.08)).all()


def test_a_forward_drive_and_a_rotation_give_nothing() -> None:
    _, clip, ahead = room(AHEAD)
    found = PlaneSweepExpert(replace(SMALL, first_keyframes=4, least_share=0.2))(clip, ahead)["depth_patches"]
    assert isinstance(found, NoEstimate) and found.reason == "too little of the pictures has consistent depth"
    rotating = {**ahead, "camera_path": replace(ahead["camera_path"], motion="rotation_only")}
    found = PlaneSweepExpert(SMALL)(clip, rotating)["depth_patches_check"]
    assert isinstance(found, NoEstimate) and found.reason == "no camera path with sparse points"


def test_sparse_points_that_contradict_refuse_the_depth() -> None:
    _, clip, signals = room(SIDEWAYS)
    points = signals["sparse_points"]
    xyz = points.xyz_world.copy()
    centre = signals["camera_path"].world_from_cam[4, :3, 3]
    xyz[::10] = centre + 0.6 * (xyz[::10] - centre)
    found = PlaneSweepExpert(SMALL)(clip, {**signals, "sparse_points": replace(points, xyz_world=xyz)})
    assert isinstance(found["depth_patches"], NoEstimate)
    assert found["depth_patches"].reason == "sparse points do not confirm the depth"


def test_few_keyframes_and_missing_signals_are_reasons() -> None:
    _, clip, signals = room(SIDEWAYS)
    path = signals["camera_path"]
    three = replace(path, keyframe=np.isin(path.frames, (0, 4, 8)))
    found = PlaneSweepExpert(SMALL)(clip, {**signals, "camera_path": three})["depth_patches"]
    assert isinstance(found, NoEstimate) and found.reason == "few keyframes see the same surfaces"
    found = PlaneSweepExpert(SMALL)(clip, {"camera_path": NoEstimate(reason="no reconstruction")})["depth_patches"]
    assert isinstance(found, NoEstimate)


def test_smoothing_decides_what_the_costs_leave_open() -> None:
    cost = np.ones((7, 20, 30), dtype=np.float32)
    cost[4] = 0.2
    cost[:, 8:12, 10:20] = 0.5  # no texture
    assert (np.round(best_labels(aggregated(cost, 0.1, 0.6))) == 4).all()


@pytest.mark.parametrize("least", [2.0, 2.3, 3.75])
def test_labels_are_refined_between_planes(least: float) -> None:
    cost = np.tile(((np.arange(7) - least) ** 2).astype(np.float32)[:, None, None], (1, 3, 4))
    np.testing.assert_allclose(best_labels(cost), least, atol=1e-5)


def test_a_second_path_with_another_focal_length_triangulates_again() -> None:
    """Sideways motion: with a longer focal length the same matches mean a greater depth."""
    z = np.full((30, 40), 3.0, dtype=np.float32)
    z[:10] = np.nan
    others = np.tile(np.eye(4), (3, 1, 1))
    others[:, 0, 3] = (-0.2, 0.2, 0.4)
    first = Cameras(
        intrinsics=Intrinsics.centred(160, 120, 150.0), world_from_cam=np.eye(4), matched_world_from_cam=others
    )
    second = replace(first, intrinsics=Intrinsics.centred(160, 120, 180.0))
    found = on_second_path(z, first, second)
    np.testing.assert_allclose(found[12:], 3.0 * 180 / 150, rtol=1e-4)
    assert np.isnan(found[:8]).all()
    lifted = others.copy()
    lifted[:, 1, 3] = (0.3, -0.3, 0.3)
    assert np.isnan(on_second_path(z, first, replace(first, matched_world_from_cam=lifted))).all()
