"""Windows, query points and selection of predictions of learned trackers, with simulated networks."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

from experts.clip import Clip
from experts.expert import SetupProblem
from experts.provenance import Provenance
from experts.signals import ImageTracks, NoEstimate, ValidArea
from experts.tracking.image_tracker import ImageTracker
from experts.tracking.learned_tracks import (
    FollowSettings,
    RawTracks,
    TrackChain,
    frames_to_follow,
    new_points,
    reliable,
)
from spatial_engine.rendering.rooms import random_room
from tests.experts.exact_tracks import ExactTracker, HostNetwork, RenderedOnce, truth

SIZE = (128, 64)
SHORT = FollowSettings(window_frames=12, overlap_frames=6, min_window_frames=6, points=40)
WORLD = RenderedOnce(random_room(np.random.default_rng(5), frames=30, width_px=160, height_px=120))
CLIP = WORLD.clip


class NoMemoryError(MemoryError):
    """Out of memory, as a GPU reports it."""


@dataclass(frozen=True, kw_only=True)
class FakeSettings:
    following: FollowSettings = SHORT
    size_px: tuple[int, int] = SIZE
    min_confidence: float = 0.5


class Fake(ImageTracker):
    """A tracker whose network is a function of (video, queries)."""

    name: ClassVar[str] = "fake"
    version: ClassVar[str] = "1"
    bytes_per_frame: ClassVar[float] = 1.0
    bytes_per_point: ClassVar[float] = 1.0
    weight_names: tuple[str, ...] = ()

    def __init__(self, network: Callable[..., RawTracks], settings: FakeSettings | None = None) -> None:
        self.settings = settings or FakeSettings()
        self.model = HostNetwork(network)

    @property
    def windows(self) -> list[tuple[int, int]]:
        return self.model.windows


@dataclass
class Exact:
    """Returns the truth, modified by a function of (xy, seen, frames)."""

    change: Callable[..., None] = lambda xy, seen, frames: None
    tracker: ExactTracker = field(default_factory=lambda: ExactTracker(WORLD, SIZE))

    def __call__(self, video: np.ndarray, queries: np.ndarray) -> RawTracks:
        xy, seen, _ = self.tracker.follow(video, queries)
        self.change(xy, seen, self.tracker.frames(video))
        return RawTracks(xy=xy.astype(np.float32), confidence=seen.astype(np.float32))


def followed(tracker: Fake, clip: Clip = CLIP, **signals: object) -> ImageTracks | NoEstimate:
    return tracker(clip, signals)["image_tracks"]  # type: ignore[arg-type]


def errors_px(tracks: ImageTracks) -> np.ndarray:
    """Distance of every track to its true point."""
    errors = []
    for xy in tracks.xy_px.astype(np.float64):
        start = int(np.argmax(np.isfinite(xy[:, 0])))
        errors.append(truth(WORLD, start, xy[start : start + 1], tracks.frames.tolist())[0][0] - xy)
    return np.linalg.norm(np.array(errors), axis=-1)


@pytest.mark.long(sample=True)
def test_exact_predictions_give_exact_tracks_over_several_windows() -> None:
    tracker = Fake(Exact())
    out = followed(tracker)
    assert isinstance(out, ImageTracks) and out.xy_px.dtype == np.float32
    np.testing.assert_array_equal(out.frames, CLIP.frames)
    assert [frames for frames, _ in tracker.windows] == [12, 12, 12, 12]
    errors = errors_px(out)
    assert np.nanmedian(errors) < 1e-3 and np.nanquantile(errors, 0.99) < 0.5
    known = np.isfinite(out.xy_px[..., 0])
    assert (known.sum(axis=1) > SHORT.window_frames).sum() > 20 and len(out.xy_px) > 60
    assert known.sum(axis=0).min() > 20


def test_a_track_is_unknown_before_its_query_frame() -> None:
    one_start = replace(SHORT, starts=1, window_frames=30)
    out = followed(Fake(Exact(), FakeSettings(following=one_start)))
    assert isinstance(out, ImageTracks) and np.isfinite(out.xy_px[:, 0, 0]).all()


def test_windows_that_disagree_are_not_chained() -> None:
    def jump(xy: np.ndarray, seen: np.ndarray, frames: list[int]) -> None:
        if frames[0] > 0:
            xy[:, 3:, 0] += 4.0

    out = followed(Fake(Exact(jump)))
    assert isinstance(out, ImageTracks)
    known = np.isfinite(out.xy_px[..., 0])
    assert (known.sum(axis=1) <= SHORT.window_frames).all()


def test_hidden_points_are_unknown_and_may_reappear() -> None:
    def hide(xy: np.ndarray, seen: np.ndarray, frames: list[int]) -> None:
        seen[:, [n for n, frame in enumerate(frames) if 8 <= frame < 10]] = False

    out = followed(Fake(Exact(hide), FakeSettings(following=replace(SHORT, window_frames=30))))
    assert isinstance(out, ImageTracks)
    assert np.isnan(out.xy_px[:, 8:10]).all() and np.isfinite(out.xy_px[:, [7, 10], 0]).all(axis=1).sum() > 10


def test_a_track_that_misses_its_query_point_is_dropped() -> None:
    def shift(xy: np.ndarray, seen: np.ndarray, frames: list[int]) -> None:
        xy[::2] += 5.0

    whole, half = followed(Fake(Exact())), followed(Fake(Exact(shift)))
    assert isinstance(whole, ImageTracks) and isinstance(half, ImageTracks)
    assert len(half.xy_px) < 0.8 * len(whole.xy_px) and np.nanquantile(errors_px(half), 0.99) < 0.5


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e9, -5.0])
def test_invalid_predictions_give_no_tracks(value: float) -> None:
    def broken(xy: np.ndarray, seen: np.ndarray, frames: list[int]) -> None:
        xy[:] = value

    out = followed(Fake(Exact(broken)))
    assert isinstance(out, NoEstimate) and out.reason == "no texture to follow"
    unsure = Fake(lambda video, queries: RawTracks(
        xy=np.repeat(queries[:, None, 1:], len(video), axis=1),
        confidence=np.full((len(queries), len(video)), np.nan, np.float32),
    ))  # fmt: skip
    assert isinstance(followed(unsure), NoEstimate)


def test_missing_texture_and_a_single_frame_give_no_estimate() -> None:
    class Grey:
        def read(self, frames):  # type: ignore[no-untyped-def]
            yield from (np.full((120, 160, 3), 128, np.uint8) for _ in frames)

    flat = replace(CLIP, reader=Grey())
    tracker = Fake(Exact())
    out = followed(tracker, flat)
    assert isinstance(out, NoEstimate) and out.reason == "no texture to follow" and tracker.windows == []
    out = followed(tracker, replace(CLIP, frames=CLIP.frames[:1], times_s=None))
    assert isinstance(out, NoEstimate) and out.reason == "fewer than two frames"


def test_two_frames_are_enough() -> None:
    out = followed(Fake(Exact()), replace(CLIP, frames=CLIP.frames[:2], times_s=None))
    assert isinstance(out, ImageTracks) and np.isfinite(out.xy_px).all()


def test_points_stay_inside_the_valid_area() -> None:
    valid = np.zeros((120, 160), dtype=bool)
    valid[:, :80] = True
    area = ValidArea(valid=valid, provenance=Provenance(expert="test", version="0"))
    out = followed(Fake(Exact()), valid_area=area)
    assert isinstance(out, ImageTracks) and np.nanmax(out.xy_px[..., 0]) < 80


@pytest.mark.long(sample=True)
def test_the_window_is_halved_when_memory_runs_out() -> None:
    exact = Exact()

    def network(video: np.ndarray, queries: np.ndarray) -> RawTracks:
        if len(video) > 7:
            raise NoMemoryError
        return exact(video, queries)

    tracker = Fake(network)
    out = followed(tracker)
    assert isinstance(out, ImageTracks) and np.nanquantile(errors_px(out), 0.99) < 0.5
    sizes = [frames for frames, _ in tracker.windows]
    assert sizes[0] == 12 and set(sizes[1:-1]) == {6}


def test_too_little_memory_for_the_smallest_window_is_a_setup_problem() -> None:
    def network(video: np.ndarray, queries: np.ndarray) -> RawTracks:
        raise NoMemoryError

    with pytest.raises(SetupProblem, match="6 frames"):
        followed(Fake(network))


def test_other_errors_pass_through() -> None:
    def network(video: np.ndarray, queries: np.ndarray) -> RawTracks:
        raise RuntimeError("an error of the network")

    with pytest.raises(RuntimeError, match="an error"):
        followed(Fake(network))


def test_the_first_window_fits_into_memory() -> None:
    settings = FakeSettings(following=replace(SHORT, window_frames=32, points=100, memory_share=1.0))
    assert Fake(Exact(), settings)._fitting_size(10_000) == 16  # 601 bytes a frame
    assert Fake(Exact(), settings)._fitting_size(0) == SHORT.min_window_frames


def test_two_runs_return_the_same_bytes() -> None:
    first, second = followed(Fake(Exact())), followed(Fake(Exact()))
    assert isinstance(first, ImageTracks) and isinstance(second, ImageTracks)
    assert first.xy_px.tobytes() == second.xy_px.tobytes()


def test_frames_are_subsampled_by_rate_and_number() -> None:
    clip = replace(CLIP, frames=np.arange(5, 605), times_s=np.arange(600) / 60)
    assert len(frames_to_follow(clip, FollowSettings())) == round(599 / 60 * 30) + 1
    frames = frames_to_follow(clip, FollowSettings(max_frames=50))
    assert len(frames) == 50 and frames[0] == 5 and frames[-1] == 604
    clip = replace(clip, times_s=None)
    np.testing.assert_array_equal(frames_to_follow(clip, FollowSettings()), clip.frames)


def test_new_points_keep_their_distance() -> None:
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 255, (96, 160), dtype=np.uint8)
    grey[:, 100:] = 100
    taken = np.array([[30.0, 40.0], [60.0, 20.0]])
    xy = new_points(grey, np.ones(grey.shape, bool), taken, FollowSettings(points=50, spacing_share=0.03))
    spacing = 0.03 * np.hypot(96, 160)
    assert 10 < len(xy) <= 50 and xy[:, 0].max() < 106
    distance = np.linalg.norm(xy[:, None] - np.concatenate([xy, taken])[None], axis=-1)
    distance[np.arange(len(xy)), np.arange(len(xy))] = np.inf
    assert distance.min() >= 0.99 * spacing


def test_with_both_ways_predictions_before_the_query_frame_are_used() -> None:
    raw = RawTracks(xy=np.full((1, 5, 2), 10.0, np.float32), confidence=np.ones((1, 5), np.float32))
    queries = np.array([[2, 10.5, 10.0]], np.float32)
    valid = np.ones((20, 20), bool)
    one, both = (reliable(raw, queries, valid, 0.5, both_ways, FollowSettings()) for both_ways in (False, True))
    assert np.isnan(one[0, :2]).all() and np.isfinite(one[0, 2:]).all() and np.isfinite(both).all()
    np.testing.assert_array_equal(one[0, 2], [10.5, 10.0])  # at the query frame it is the query point


def test_a_track_is_continued_only_with_enough_shared_frames() -> None:
    chain = TrackChain(count=8, settings=FollowSettings(agree_frames=3, min_frames=2))
    line = np.arange(8, dtype=np.float32)[None, :, None].repeat(2, axis=2)
    chain.add(0, np.zeros(0, np.int64), np.zeros((0, 5, 2), np.float32), line[:, :5])
    rows, queries = chain.continuing(2)
    assert rows.tolist() == [0] and queries.tolist() == [[0, 2, 2]]
    known = line[:, 2:].copy()
    known[:, 0] = np.nan  # only two shared frames remain
    chain.add(2, rows, known, np.zeros((0, 6, 2), np.float32))
    assert np.isnan(chain.xy[0, 5:]).all()


def test_the_declared_inputs_are_those_that_are_read() -> None:
    assert Fake.options == {"times_s"} and Fake.may_use == {"valid_area"} and not Fake.needs
    area = ValidArea(valid=np.ones((75, 100), bool), provenance=Provenance(expert="test", version="0"))
    assert isinstance(followed(Fake(Exact()), valid_area=area), ImageTracks)  # of another working size
