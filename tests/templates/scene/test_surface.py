"""Surface points at pixels, and suspected outliers among sparse points."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import Depth, PointTracks, Scale
from templates.scene.marks import markable
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.scene.surface import SUSPECTED_PROBABILITY, DenseSurface
from tests.templates import worlds

CAMERA = Intrinsics.centred(64, 48, 60.0)


def scene_with_points(xy_px: np.ndarray, ranges: np.ndarray, moving_xy_px: np.ndarray | None = None) -> Scene:
    """One frame of the made-up path, with points at given pixels and ranges of its first camera."""
    signals = worlds.signals(with_gravity=False)
    path = signals["camera_path"]
    pose = path.world_from_cam[0]
    xyz = (path.intrinsics.rays(xy_px) * ranges[:, None]) @ pose[:3, :3].T + pose[:3, 3]
    points = replace(
        signals["sparse_points"],
        xyz_world=xyz,
        range_relative_sigma=np.full(len(xyz), 0.03),
        triangulation_angle_rad=np.full(len(xyz), 0.1),
        outlier_probability=np.full(len(xyz), 0.003),
        observation_point=np.arange(len(xyz)),
        observation_frame=np.zeros(len(xyz), dtype=np.int64),
        observation_xy_px=xy_px,
    )
    chosen = {"camera_path": path, "sparse_points": points}
    if moving_xy_px is not None:
        chosen["tracks"] = tracks_at(moving_xy_px)
    (scene,) = scenes_of(worlds.clip(), chosen)
    return scene


def tracks_at(xy_px: np.ndarray) -> PointTracks:
    """Moving tracks in frame 0."""
    t = len(xy_px)
    return PointTracks(
        frames=np.array([0]),
        xy_px=xy_px[:, None].astype(float),
        visible=np.ones((t, 1), dtype=bool),
        sigma_px=np.full((t, 1), 0.5),
        outlier_probability=np.full(t, 0.003),
        motion=np.ones(t, dtype=np.int32),
        residual_px=np.full(t, 12.0),
        moving_pairs=np.full(t, 9, dtype=np.int32),
        parallax_px=np.full(t, 20.0),
        provenance=Provenance(expert="made up", version="1"),
    )


CLUSTER = np.array([[300.0, 200], [310, 205], [320, 200], [305, 215], [315, 190], [325, 210]])


def test_a_point_with_similar_neighbours_stays_reliable() -> None:
    scene = scene_with_points(CLUSTER, np.linspace(4.0, 4.3, 6))
    seen = scene.surface(0, CLUSTER)
    assert (seen.outlier_probability == 0.003).all()
    np.testing.assert_allclose(seen.range, np.linspace(4.0, 4.3, 6))


def test_a_point_at_another_range_than_its_neighbours_is_suspected() -> None:
    ranges = np.full(6, 4.0)
    ranges[0] = 2.0
    seen = scene_with_points(CLUSTER, ranges).surface(0, CLUSTER)
    assert seen.outlier_probability[0] == SUSPECTED_PROBABILITY
    assert (seen.outlier_probability[1:] == 0.003).all()


def test_a_point_that_ends_its_surface_before_something_farther_is_suspected() -> None:
    """A row of points on an edge, others of the same surface above them, and a wall below."""
    edge = np.array([[280.0, 220], [300, 221], [320, 220]])
    above = edge + [[-10.0, -15]] * 3
    wall = edge + [[3.0, 25]] * 3
    xy = np.concatenate([edge, above, above + [[0.0, -15]] * 3, wall])
    alone = scene_with_points(xy[:9], np.full(9, 3.0)).surface(0, xy[:9])
    assert (alone.outlier_probability == 0.003).all()
    seen = scene_with_points(xy, np.repeat([3.0, 4.4], [9, 3])).surface(0, xy[:9])
    assert (seen.outlier_probability[:3] == SUSPECTED_PROBABILITY).all()
    assert seen.outlier_probability[4] == 0.003  # the middle one is surrounded
    nearer = scene_with_points(xy, np.repeat([3.0, 2.0], [9, 3])).surface(0, xy[:9])
    assert (nearer.outlier_probability == 0.003).all()  # what hides the surface has its own outline


def test_an_isolated_point_is_suspected() -> None:
    xy = np.array([[100.0, 100], [500, 400], [600, 60]])
    assert (scene_with_points(xy, np.full(3, 4.0)).surface(0, xy).outlier_probability == SUSPECTED_PROBABILITY).all()


def test_points_near_a_moving_object_are_suspected() -> None:
    far = CLUSTER + np.array([200.0, 100.0])
    xy = np.concatenate([CLUSTER, far])
    scene = scene_with_points(xy, np.full(12, 4.0), moving_xy_px=np.array([[312.0, 203.0]]))
    suspected = scene.surface(0, xy).outlier_probability == SUSPECTED_PROBABILITY
    assert suspected[:6].all() and not suspected[6:].any()


def test_a_pixel_without_a_point_is_unknown() -> None:
    seen = scene_with_points(CLUSTER, np.full(6, 4.0)).surface(0, np.array([[20.0, 20.0]]))
    assert np.isnan(seen.xyz_cam).all() and np.isnan(seen.outlier_probability).all()


def test_pixels_of_several_frames_at_once_give_what_each_frame_gives_alone() -> None:
    """Frames with dense depth, frames with sparse points, and one without either."""
    scene = worlds.scene({**worlds.signals(), "depth": worlds.slope(worlds.FRAMES[:3])})
    frames = np.repeat([*worlds.FRAMES[:6], 1], 40)
    points = scene.points
    assert points is not None
    own = [points.observation_xy_px[points.observation_frame == frame][:40] for frame in worlds.FRAMES[:6]]
    xy = np.concatenate([*(np.resize(each, (40, 2)) for each in own), own[0][:1].repeat(40, axis=0)])
    order = np.random.default_rng(0).permutation(len(xy))
    together = scene.surface(frames[order], xy[order]).range
    alone = np.concatenate([scene.surface(int(frame), xy[frames == frame]).range for frame in [*worlds.FRAMES[:6], 1]])
    np.testing.assert_array_equal(together, alone[order])
    assert np.isfinite(alone[:240]).all() and np.isnan(alone[240:]).all()


def test_without_points_every_pixel_is_unknown() -> None:
    scene = scene_with_points(np.empty((0, 2)), np.empty(0))
    assert np.isnan(scene.surface(0, CLUSTER).range).all()


def depth_of(z: np.ndarray) -> Depth:
    """One frame of depth."""
    return Depth(
        frames=np.array([7]),
        z=z[None].astype(np.float32),
        relative_sigma=np.full((1, *z.shape), 0.01, dtype=np.float32),
        scale=Scale(kind="relative"),
        provenance=Provenance(expert="made up", version="1"),
    )


@settings(max_examples=20, deadline=None)
@given(x=st.integers(0, 63), y=st.integers(0, 47), z=st.floats(0.5, 50))
def test_dense_points_lie_on_the_ray_of_their_pixel(x: int, y: int, z: float) -> None:
    xy = np.array([[float(x), float(y)]])
    seen = DenseSurface(depth=depth_of(np.full((48, 64), z))).at(CAMERA, np.zeros(1, dtype=np.int64), xy)
    np.testing.assert_allclose(CAMERA.project(seen.xyz_cam), xy, atol=1e-6)
    np.testing.assert_allclose(seen.xyz_cam[0, 2], z, rtol=1e-6)
    np.testing.assert_allclose(seen.range_relative_sigma, 0.01, rtol=1e-3)


def test_dense_depth_near_a_depth_edge_has_a_large_sigma() -> None:
    z = np.full((48, 64), 2.0)
    z[:, 32:] = 6.0
    seen = DenseSurface(depth=depth_of(z)).at(
        CAMERA, np.zeros(3, dtype=np.int64), np.array([[30.0, 24], [10, 24], [33, 24]])
    )
    assert seen.range_relative_sigma[0] > 0.3 and seen.range_relative_sigma[2] > 0.1
    assert seen.range_relative_sigma[1] < 0.02


def test_dense_depth_with_a_hole_is_unknown() -> None:
    z = np.full((48, 64), 2.0)
    z[24, 30] = np.nan
    seen = DenseSurface(depth=depth_of(z)).at(CAMERA, np.zeros(2, dtype=np.int64), np.array([[27.0, 27], [34, 24]]))
    assert np.isnan(seen.xyz_cam[0]).all() and np.isfinite(seen.xyz_cam[1]).all()
    assert np.isnan(seen.range_relative_sigma[0]) and seen.range_relative_sigma[1] == np.float32(0.01)


def test_windows_and_a_filter_over_the_whole_frame_give_the_same() -> None:
    rng = np.random.default_rng(0)
    z = rng.uniform(1, 9, (48, 64))
    z[rng.random(z.shape) < 0.003] = np.nan
    xy = np.stack(np.meshgrid(np.arange(64.0), np.arange(48.0)), axis=-1).reshape(-1, 2)
    rows = np.zeros(len(xy), dtype=np.int64)
    by_filter = DenseSurface(depth=depth_of(z)).at(CAMERA, rows, xy)
    parts = [DenseSurface(depth=depth_of(z)).at(CAMERA, rows[:8], part) for part in np.split(xy, len(xy) // 8)]
    for name, column in vars(by_filter).items():
        np.testing.assert_array_equal(column, np.concatenate([getattr(part, name) for part in parts]))
    assert 0.1 < np.isnan(by_filter.range_relative_sigma).mean() < 0.9


def with_patches(scene: Scene, z: np.ndarray, **changes: object) -> Scene:
    """The scene, with patches of depth in its first frame."""
    patches = replace(depth_of(z), frames=np.array([0]), outlier_probability=0.002)
    return replace(scene, signals={**scene.signals, "depth_patches": patches, **changes})


def left_half(z: float) -> np.ndarray:
    """A depth map whose right half is unknown."""
    return np.where(np.arange(64) < 32, z, np.nan) * np.ones((48, 1))


def test_patches_of_depth_count_where_they_are_known_and_sparse_points_elsewhere() -> None:
    left, right = (CLUSTER + np.array(aside_px) for aside_px in ([-210.0, 40.0], [200.0, 0.0]))
    points = scene_with_points(np.concatenate([left, right]), np.repeat([4.2, 4.0], 6))
    scene = with_patches(points, left_half(3.95))
    seen = scene.surface(0, np.concatenate([[[100.0, 240.0]], right, [[600.0, 20.0]]]))
    np.testing.assert_allclose(seen.xyz_cam[0, 2], 3.95)
    np.testing.assert_allclose(seen.range[1:7], 4.0)
    assert seen.outlier_probability[:7].tolist() == [0.002, *[0.003] * 6]
    assert np.isnan(seen.range[7])
    assert np.isnan(scene.surface(2, np.array([[100.0, 240.0]])).range), "patches of another frame"


def test_patches_that_differ_from_a_sparse_point_or_lie_near_a_moving_object_are_suspected() -> None:
    scene = scene_with_points(CLUSTER, np.full(6, 4.0))
    agreeing, differing = (with_patches(scene, np.full((48, 64), z)).surface(0, CLUSTER) for z in (3.95, 5.0))
    assert (agreeing.outlier_probability == 0.002).all()
    assert (differing.outlier_probability == SUSPECTED_PROBABILITY).all()
    moving = with_patches(scene, np.full((48, 64), 3.95), tracks=tracks_at(np.array([[385.0, 203.0]])))
    near_track, beside_points = np.array([[340.0, 203.0]]), np.array([[312.0, 203.0]])  # no point is near the track
    assert moving.surface(0, near_track).outlier_probability.tolist() == [SUSPECTED_PROBABILITY]
    assert moving.surface(0, beside_points).outlier_probability.tolist() == [0.002]
    still = with_patches(scene, np.full((48, 64), 3.95))
    assert still.surface(0, near_track).outlier_probability.tolist() == [0.002]


def test_points_and_patches_that_err_together_with_their_neighbours_are_suspected() -> None:
    """Three groups of points; those of one are seen beside where they are, all to the same side."""
    xy_px = np.concatenate([CLUSTER + aside_px for aside_px in np.array([[0.0, 0], [200, 100], [-200, 100]])])
    still = scene_with_points(xy_px, np.full(18, 4.0))
    noise_px = np.random.default_rng(0).normal(0, 0.3, (18, 2))
    seen_px = xy_px + noise_px + np.where(np.arange(18) < 6, 1.5, 0.0)[:, None] * [1.0, 0.0]
    points = replace(still.points, observation_xy_px=seen_px)
    scene = replace(still, signals={**still.signals, "sparse_points": points})
    assert not suspects(still, xy_px).any()
    assert suspects(scene, seen_px).tolist() == [True] * 6 + [False] * 12
    patches = with_patches(scene, np.full((48, 64), 3.95))
    assert suspects(patches, np.array([[312.0, 203.0], [512.0, 303.0], [112.0, 303.0]])).tolist() == [
        True,
        False,
        False,
    ]


WALL_PX = np.stack(np.meshgrid(np.arange(20.0, 640, 40), np.arange(20.0, 480, 40)), axis=-1).reshape(-1, 2)


def at_wall(xy_px: np.ndarray) -> np.ndarray:
    """Ranges of a wall 4 units ahead."""
    return 4.0 * np.linalg.norm(worlds.CAMERA.rays(xy_px) / worlds.CAMERA.rays(xy_px)[:, 2:], axis=1)


def test_what_hangs_in_the_air_is_suspected_even_if_patches_of_depth_confirm_it() -> None:
    xy_px = np.concatenate([WALL_PX[np.abs(WALL_PX - [312, 202]).max(axis=1) > 40], CLUSTER])
    nearer = np.arange(len(xy_px)) >= len(xy_px) - 6
    wall, moved = (scene_with_points(xy_px, np.where(nearer, part, 1.0) * at_wall(xy_px)) for part in (1.0, 0.6))
    assert not suspects(wall, CLUSTER).any() and suspects(moved, CLUSTER).all()
    patch = np.full((48, 64), 4.0)
    patch[15:27, 26:38] = 2.4
    confirmed = with_patches(moved, patch)
    np.testing.assert_allclose(confirmed.surface(0, CLUSTER).xyz_cam[:, 2], 2.4)
    assert suspects(confirmed, CLUSTER).all()


def test_a_patch_of_depth_without_points_at_its_range_is_suspected() -> None:
    points = scene_with_points(WALL_PX, at_wall(WALL_PX))
    between_px = np.array([[80.0, 120.0], [440.0, 320.0]])
    right, wrong = (with_patches(points, np.full((48, 64), z)) for z in (4.0, 3.0))
    assert not suspects(right, between_px).any() and suspects(wrong, between_px).all()


def suspects(scene: Scene, xy_px: np.ndarray) -> np.ndarray:
    return scene.surface(0, xy_px).outlier_probability == SUSPECTED_PROBABILITY


def test_a_point_that_patches_contradict_in_one_frame_is_suspected_in_all() -> None:
    scene = worlds.scene(worlds.signals())
    points, path = scene.points, scene.path
    assert points is not None and path is not None
    frame = int(worlds.FRAMES[0])
    z = (points.xyz_world - path.world_from_cam[0, :3, 3]) @ path.world_from_cam[0, :3, 2]
    contradicted = np.unique(points.observation_point[points.observation_frame == frame])
    wall = depth_of(np.full((48, 64), 3 * np.nanmax(z)))
    with_wall = replace(scene, signals={**scene.signals, "depth_patches": replace(wall, frames=np.array([frame]))})
    seen = np.flatnonzero(points.observation_frame == worlds.FRAMES[3])
    xy_px = points.observation_xy_px[seen]
    suspected = with_wall.surface(int(worlds.FRAMES[3]), xy_px).outlier_probability >= SUSPECTED_PROBABILITY
    before = scene.surface(int(worlds.FRAMES[3]), xy_px).outlier_probability >= SUSPECTED_PROBABILITY
    known = np.isin(points.observation_point[seen], contradicted)
    assert known.any() and suspected[known].all() and not (before & ~suspected).any()


def test_pixels_on_patches_can_be_marked() -> None:
    left = WALL_PX[WALL_PX[:, 0] < 320]
    sparse = scene_with_points(left, at_wall(left))
    _, xy_px = markable(with_patches(sparse, left_half(4.0)), [0])
    assert len(xy_px) > 100 and (xy_px[:, 0] < 330).all()
    assert len(markable(sparse, [0])[1]) < 80
