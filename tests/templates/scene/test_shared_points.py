"""Matches between frames that show the same sparse points."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import CameraPath, Matches, Signal, SparsePoints
from templates.scene.correspondence import both_ways, corresponding_points
from templates.scene.scene import Scene
from templates.scene.shared_points import matches_of_points
from templates.scene.surface import SUSPECTED_PROBABILITY
from tests.templates import worlds

WALL = np.stack(np.meshgrid(np.linspace(-4, 4, 30), [8.0], np.linspace(-3, 3, 22)), axis=-1).reshape(-1, 3)
"""Points on a wall, in the world of `worlds` (x right, y ahead, z up)."""


def before_a_wall(noise_px: float = 0.3, **changes: object) -> dict[str, Signal]:
    """Its points are seen where they are projected, within the noise. Matches are known of one pair of frames."""
    signals = worlds.signals()
    path, points, matches = (signals[name] for name in ("camera_path", "sparse_points", "matches"))
    assert isinstance(path, CameraPath) and isinstance(points, SparsePoints) and isinstance(matches, Matches)
    xy_px = np.stack([projected(path, frame) for frame in range(len(worlds.FRAMES))])
    row, point = np.nonzero(path.intrinsics.contains(xy_px))
    noise = np.random.default_rng(0).normal(0, noise_px, (len(row), 2))
    count = len(WALL)
    wall = replace(
        points,
        xyz_world=WALL,
        range_relative_sigma=np.full(count, 0.03),
        triangulation_angle_rad=np.full(count, 0.1),
        outlier_probability=np.full(count, 0.003),
        observation_point=point,
        observation_frame=worlds.FRAMES[row],
        observation_xy_px=xy_px[row, point] + noise,
    )
    one_pair = replace(matches.take(matches.pair == 0), pairs=matches.pairs[:1])
    return {"camera_path": path, "sparse_points": replace(wall, **changes), "matches": one_pair}  # type: ignore[arg-type]


def projected(path: CameraPath, row: int) -> np.ndarray:
    pose = path.world_from_cam[row]
    return path.intrinsics.project((WALL - pose[:3, 3]) @ pose[:3, :3])


def found_in(scene: Scene) -> Matches:
    assert scene._sparse_surface is not None and scene.path is not None
    return matches_of_points(scene._sparse_surface, scene.path.intrinsics)


def test_both_pixels_show_the_same_point_within_sigma() -> None:
    scene = worlds.scene(before_a_wall())
    matches = found_in(scene)
    assert scene.path is not None and len(matches.pairs) > 5 and len(matches.pair) > 500
    errors = []
    for k, (a, b) in enumerate(matches.pairs.tolist()):
        rows = matches.pair == k
        in_a, in_b = (projected(scene.path, int(np.flatnonzero(frame == worlds.FRAMES)[0])) for frame in (a, b))
        point = np.linalg.norm(matches.xy_a_px[rows][:, None] - in_a, axis=2).argmin(axis=1)
        shift = (matches.xy_b_px[rows] - matches.xy_a_px[rows]) - (in_b - in_a)[point]
        errors.append(shift / matches.sigma_px[rows][:, None])
    z = np.abs(np.concatenate(errors))
    assert 0.6 < (z < 1).mean() < 0.92 and (z < 2).mean() > 0.92


def test_points_that_may_be_wrong_give_no_match() -> None:
    doubtful = np.where(np.arange(len(WALL)) % 2 == 0, SUSPECTED_PROBABILITY, 0.003)
    matches = found_in(worlds.scene(before_a_wall(outlier_probability=doubtful)))
    assert len(matches.pair) and (matches.outlier_probability < SUSPECTED_PROBABILITY).all()


def test_points_at_the_end_of_a_surface_give_no_match() -> None:
    """Those at the corners of the wall have neighbours on two sides only."""
    signals = before_a_wall()
    path, points = signals["camera_path"], signals["sparse_points"]
    assert isinstance(path, CameraPath) and isinstance(points, SparsePoints)
    matches = found_in(worlds.scene(signals))
    ends = (np.abs(WALL[:, 0]) == 4) & (np.abs(WALL[:, 2]) == 3)
    assert ends[points.observation_point].sum() > 20
    for k, (a, _) in enumerate(matches.pairs.tolist()):
        shown = projected(path, int(np.flatnonzero(a == worlds.FRAMES)[0]))
        point = np.linalg.norm(matches.xy_a_px[matches.pair == k][:, None] - shown, axis=2).argmin(axis=1)
        assert not ends[point].any()


def test_without_observations_there_are_none() -> None:
    scene = worlds.scene(worlds.matched_by_expert(before_a_wall()))
    assert not len(found_in(scene).pair) and scene.matches is not None
    assert len(scene.matches.pair) == len(scene.signals["matches"].pair)  # type: ignore[attr-defined]


def test_matches_of_an_expert_are_kept_and_their_pair_is_not_matched_twice() -> None:
    signals = before_a_wall()
    own = signals["matches"]
    assert isinstance(own, Matches)
    alone = found_in(worlds.scene(signals))
    known = replace(own, pairs=alone.pairs[:1])
    joined = worlds.scene({**signals, "matches": known}).matches
    assert joined is not None and len(joined.pair) == len(own.pair) + np.sum(alone.pair > 0)
    np.testing.assert_array_equal(joined.xy_a_px[: len(own.pair)], own.xy_a_px)
    assert sum(pair == alone.pairs[0].tolist() for pair in joined.pairs[np.unique(joined.pair)].tolist()) == 1


@pytest.mark.parametrize("backwards", [False, True])
def test_a_match_leads_back_to_its_pixel(backwards: bool) -> None:
    scene = worlds.scene(before_a_wall())
    matches = both_ways(scene)
    assert matches is not None
    rows = np.random.default_rng(0).choice(np.flatnonzero(matches.outlier_probability < 0.01), 40)
    a, b = matches.pairs[matches.pair[rows]].T
    if backwards:
        a, b = b, a
    start = matches.xy_b_px[rows] if backwards else matches.xy_a_px[rows]
    there = corresponding_points(scene, a, start, b)
    back = corresponding_points(scene, b, there.value, a)
    assert (there.why == "").all() and (back.why == "").all()
    assert np.linalg.norm(back.value - start, axis=1).max() < 3


def test_without_an_expert_that_matches_there_are_no_matches() -> None:
    signals = before_a_wall()
    del signals["matches"]
    assert worlds.scene(signals).matches is None
