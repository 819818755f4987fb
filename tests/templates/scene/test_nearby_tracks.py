"""The nearest tracks of pixels are those of an exhaustive search in each frame."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experts.signals import PointTracks
from templates.scene.nearby_tracks import NearbyTracks
from tests.templates import worlds

TRACKS = worlds.signals()["tracks"]
assert isinstance(TRACKS, PointTracks)
NEARBY = NearbyTracks(tracks=TRACKS, pixel_scale=1.0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.0, 5.0, 48.0, 1e4]))
def test_the_nearest_tracks_are_those_of_an_exhaustive_search(seed: int, count: int, radius_px: float) -> None:
    rng = np.random.default_rng(seed)
    frames = rng.choice(TRACKS.frames, 12)
    xy_px = rng.uniform([0, 0], [640, 480], (12, 2))
    for which, usable in (
        (NEARBY.moving, np.broadcast_to((TRACKS.motion == 1)[:, None], TRACKS.visible.shape)),
        (NEARBY.visible, TRACKS.visible & (TRACKS.motion != 1)[:, None]),
    ):
        found = which.nearest(frames, xy_px, count, radius_px)
        for row, (frame, pixel) in enumerate(zip(frames, xy_px, strict=True)):
            column = np.flatnonzero(TRACKS.frames == frame)[0]
            distance_px = np.linalg.norm(TRACKS.xy_px[:, column] - pixel, axis=1)
            distance_px[~usable[:, column] | np.isnan(distance_px)] = np.inf
            expected = np.argsort(distance_px, kind="stable")[:count]
            assert found[row].tolist() == np.where(distance_px[expected] < radius_px, expected, -1).tolist()


def test_there_is_no_track_near_in_a_frame_without_tracks_and_in_a_clip_without_any() -> None:
    unknown = np.array([TRACKS.frames[-1] + 1])
    assert NEARBY.visible.nearest(unknown, np.zeros((1, 2)), 2, 1e4).tolist() == [[-1, -1]]
    nowhere = NearbyTracks(tracks=replace(TRACKS, xy_px=np.full_like(TRACKS.xy_px, np.nan)), pixel_scale=1.0)
    assert nowhere.visible.nearest(TRACKS.frames[:1], np.zeros((1, 2)), 1, 1e4).tolist() == [[-1]]
    assert NEARBY.moving.nearest(np.empty(0, dtype=np.int64), np.empty((0, 2)), 3, 9.0).shape == (0, 3)
    still = NearbyTracks(tracks=replace(TRACKS, motion=np.zeros_like(TRACKS.motion)), pixel_scale=1.0)
    assert still.moving.nearest(TRACKS.frames[:2], np.zeros((2, 2)), 2, 1e4).tolist() == [[-1, -1], [-1, -1]]
