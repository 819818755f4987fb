"""Association of detections over frames: similar objects are never swapped, and ambiguous ones start new tracks."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from experts.depth.depth_views import UnprojectionSettings, views_of
from experts.objects.mask_points import unprojected
from experts.objects.object_following import Follower, FollowingSettings, Track, numbered, unambiguous
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.boxes import sliding
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.imitated import noisy
from spatial_engine.rendering.rooms import random_room
from tests.experts.rendered_objects import as_detected, box, staged

LIFT = UnprojectionSettings()
CHAIR = (0.45, 0.45, 0.8)


def follow(
    scene: RenderedScene,
    frames: Sequence[int],
    *,
    missed: dict[int, set[int]] | None = None,
    with_poses: bool = True,
    tracks_px: np.ndarray | None = None,
    names: Sequence[int] | None = None,
    noise: float = 0.0,
) -> tuple[list[Track], list[set[int]], np.ndarray]:
    """Tracks, the true objects of each track, and the numbered masks. `missed`: row → objects that are not detected."""
    label = list(names or [0] * len(scene.objects))
    ids = [scene.object_ids(int(f)) for f in frames]
    for row, gone in (missed or {}).items():
        ids[row] = np.where(np.isin(ids[row], list(gone)), -1, ids[row])
    seen, rows = zip(*(as_detected(one, label) for one in ids), strict=True)
    views = [None] * len(ids)
    if with_poses:
        signals = true_signals(scene, as_clip(scene), frames=list(frames))
        depth = noisy(signals["depth"], np.random.default_rng(0), noise, 0)  # type: ignore[arg-type]
        views = views_of(depth.frames, ids[0].shape, depth, signals["camera_path"], LIFT)  # type: ignore[arg-type]
    parts = [
        [None if view is None else unprojected(one.ids == k, view, LIFT) for k in range(len(one.detections.scores))]
        for one, view in zip(seen, views, strict=True)
    ]
    follower = Follower(
        frames=seen, views=views, parts=parts, tracks_px=tracks_px, settings=FollowingSettings(), unprojection=LIFT
    )  # fmt: skip
    tracks = follower.follow()
    return tracks, [{rows[n][d] for n, d in track.seen.items()} for track in tracks], numbered(tracks, seen)


def truck(n: int, length_m: float = 1.2, pan_rad: float = 0.0) -> np.ndarray:
    start = Stance(at_m=(2.4, 0.5, 1.4), pitch_rad=-0.25)
    return camera_paths.performed([(n, {"truck": length_m, "pan": pan_rad})], start)


def true_flow(scene: RenderedScene, frames: Sequence[int], step: int = 8) -> np.ndarray:
    """Pixels of surface points of the first and the middle frame, tracked while they are visible."""
    camera, out = scene.intrinsics, []
    for first in (frames[0], frames[len(frames) // 2]):
        v, u = (g.ravel() for g in np.mgrid[4 : camera.height_px : step, 4 : camera.width_px : step])
        z, item = scene.depth(first)[v, u], scene.ids(first)[v, u]
        rays = camera.rays(np.stack([u, v], axis=1).astype(float))
        cam = rays / rays[:, 2:] * z[:, None]
        world = cam @ scene.world_from_cam[first][:3, :3].T + scene.world_from_cam[first][:3, 3]
        tracks = np.full((len(u), len(frames), 2), np.nan)
        for n, frame in enumerate(frames):
            here = world.copy()
            for k in np.unique(item[item >= 0]):
                go = scene.world_from_boxes(frame)[k] @ np.linalg.inv(scene.world_from_boxes(first)[k])
                here[item == k] = here[item == k] @ go[:3, :3].T + go[:3, 3]
            there = (here - scene.world_from_cam[frame][:3, 3]) @ scene.world_from_cam[frame][:3, :3]
            xy = camera.project(there)
            ok = camera.contains(xy)
            at = np.round(np.where(ok[:, None], xy, 0)).astype(int)
            ok &= np.abs(scene.depth(frame)[at[:, 1], at[:, 0]] - there[:, 2]) < 0.05
            tracks[:, n] = np.where(ok[:, None], xy, np.nan)
        out.append(tracks)
    return np.concatenate(out)


def chairs(path: np.ndarray, gap_m: float = 0.1) -> RenderedScene:
    """Two equal chairs side by side."""
    step = CHAIR[0] + gap_m
    return staged([box("chair", CHAIR, (2.8, 3.4)), box("chair", CHAIR, (2.8 + step, 3.4))], path)


@cache
def chairs_from(path: str) -> RenderedScene:
    return chairs({"truck": truck(10), "pan": truck(10, 0.05, 0.5), "orbit": truck(10, 1.6, -0.6)}[path])


@pytest.mark.parametrize("noise", [0.0, 0.03])
@pytest.mark.parametrize("path", ["truck", "pan", "orbit"])
def test_two_equal_chairs_are_never_swapped(path: str, noise: float) -> None:
    scene = chairs_from(path)
    for frames in (range(10), range(0, 10, 3)):
        tracks, true, _ = follow(scene, frames, noise=noise)
        assert all(len(which) == 1 for which in true)
        assert len([t for t in tracks if len(t.seen) > 1]) == 2


def test_an_undetected_chair_is_not_replaced_by_an_equal_one() -> None:
    scene = chairs(truck(8), gap_m=0.02)
    tracks, true, _ = follow(scene, range(8), missed={0: {1}, 2: {0}, 3: {0}, 5: {1}, 6: {0}})
    assert len(tracks) == 2 and true == [{0}, {1}]


def test_an_object_that_leaves_the_picture_and_returns_has_one_track() -> None:
    there = camera_paths.performed(
        [(8, {"pan": -1.2}), (8, {"pan": 1.2})], Stance(at_m=(2.4, 0.5, 1.4), pitch_rad=-0.25)
    )
    scene = chairs(there)
    seen = [set(np.unique(scene.object_ids(f)).tolist()) - {-1} for f in range(16)]
    assert seen[0] == {0, 1} and not seen[8] and seen[15] == {0, 1}
    tracks, true, _ = follow(scene, range(16))
    assert len(tracks) == 2 and all(len(which) == 1 for which in true)
    assert all(min(t.seen) == 0 and max(t.seen) == 15 for t in tracks)


def crossing(step_m: float = 0.1, frames: int = 10) -> RenderedScene:
    feet = np.stack([2.0 + step_m * np.arange(frames), np.full(frames, 3.0), np.zeros(frames)], axis=1)
    moving = sliding(box("chair", CHAIR, (0, 0)), feet, np.zeros(frames))
    return staged([box("chair", CHAIR, (3.6, 3.9))], truck(frames, 0.3), [moving])


def test_a_moving_object_is_followed_and_only_static_ones_are_static() -> None:
    tracks, true, _ = follow(crossing(), range(10))
    moving = [t for t, which in zip(tracks, true, strict=True) if which == {1}]
    assert all(len(which) == 1 for which in true)
    assert max(len(t.seen) for t in moving) >= 6
    still = [t for t, which in zip(tracks, true, strict=True) if which == {0}]
    assert not any(t.moved for t in still)


def test_an_object_that_moves_too_far_starts_a_new_track() -> None:
    tracks, true, _ = follow(crossing(step_m=0.5, frames=5), range(5))
    assert all(len(which) == 1 for which in true) and len(tracks) > 2


def test_point_tracks_associate_objects_without_camera_poses() -> None:
    scene = chairs(truck(8, 0.6))
    tracks, true, _ = follow(scene, range(8), with_poses=False, tracks_px=true_flow(scene, range(8)))
    assert len(tracks) == 2 and all(len(which) == 1 for which in true)
    moving = crossing()
    tracks, true, _ = follow(moving, range(10), with_poses=False, tracks_px=true_flow(moving, range(10)))
    assert all(len(which) == 1 for which in true) and not any(t.moved for t in tracks)


def test_objects_that_began_anew_are_joined_where_image_tracks_of_both_meet() -> None:
    """No image track is known in both of the first two frames; later ones come from either."""
    scene = chairs(truck(6, 0.4))
    flow = true_flow(scene, range(6))
    flow[::2, 1] = np.nan
    flow[1::2, 0] = np.nan
    tracks, true, _ = follow(scene, range(6), with_poses=False, tracks_px=flow)
    assert len(tracks) == 2 and sorted(true, key=min) == [{0}, {1}] and all(len(t.seen) == 6 for t in tracks)


def test_without_poses_and_tracks_only_objects_of_a_unique_name_are_followed() -> None:
    scene = chairs(truck(8, 0.1))
    tracks, _, _ = follow(scene, range(8), with_poses=False)
    assert all(len(t.seen) == 1 for t in tracks)
    tracks, true, ids = follow(scene, range(8), with_poses=False, names=[0, 1])
    assert len(tracks) == 2 and true == [{0}, {1}]
    assert ids.shape == (8, 240, 320) and ids.dtype == np.int32 and set(np.unique(ids)) == {-1, 0, 1}


def test_detections_of_different_names_are_different_objects() -> None:
    scene = chairs(truck(6, 0.1))
    tracks, _, _ = follow(scene, range(6), names=[0, 1])
    assert sorted(t.label for t in tracks) == [0, 1]


def test_similar_alternatives_make_an_association_ambiguous() -> None:
    value = np.array([[0.9, 0.8, 0.0], [0.0, 0.0, 0.6]])
    assert unambiguous(value, 0.7).tolist() == [[1, 2]]
    assert unambiguous(np.array([[0.9, 0.3], [0.2, 0.8]]), 0.7).tolist() == [[0, 0], [1, 1]]
    assert not len(unambiguous(np.array([[0.8], [0.75]]), 0.7))
    assert unambiguous(np.array([[0.5]]), 0.7).tolist() == [[0, 0]]
    assert not len(unambiguous(np.zeros((0, 2)), 0.7)) and not len(unambiguous(np.zeros((2, 2)), 0.7))


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("seed", range(3))
def test_objects_of_one_name_are_not_confused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = random_room(rng, frames=40, moving_object=seed == 2)
    count = len(scene.objects)
    missed = {row: {k for k in range(count) if rng.random() < 0.15} for row in range(14)}
    _, true, _ = follow(scene, range(0, 40, 3), missed=missed, noise=0.02)
    assert all(len(which) == 1 for which in true)
    assert len({next(iter(which)) for which in true}) >= count - 4
