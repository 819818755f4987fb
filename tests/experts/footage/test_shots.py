"""Cuts, fades and dissolves split; pans, flashes and noise do not."""

from itertools import pairwise

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.footage.shots import Shot, ShotDetector, windows
from tests.films import texture

SIZE = (36, 64)


def scene(seed: int, frames: int, step_px: float = 0.25) -> list[np.ndarray]:
    """Thumbnails of a pan: a quarter pixel of 64 per frame is 10 % of the picture per second."""
    wide = texture(seed, SIZE[0], SIZE[1] + int(frames * step_px))
    starts = [int(k * step_px) for k in range(frames)]
    return [np.ascontiguousarray(wide[:, start : start + SIZE[1]]) for start in starts]


def shots(frames: list[np.ndarray]) -> list[Shot]:
    """Shots of thumbnails."""
    detector = ShotDetector()
    for frame in frames:
        detector.see(frame)
    return detector.shots()


def ranges(found: list[Shot]) -> list[tuple[int, int, str]]:
    """The tested fields of shots."""
    return [(shot.start, shot.stop, shot.began) for shot in found]


def grey(level: int, frames: int) -> list[np.ndarray]:
    """Frames of one colour."""
    return [np.full((*SIZE, 3), level, dtype=np.uint8)] * frames


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(5, 30), min_size=2, max_size=4), st.integers(0, 3), st.integers(0, 1000))
def test_cuts_are_found_where_they_are(lengths: list[int], step_px: int, seed: int) -> None:
    found = shots([f for k, n in enumerate(lengths) for f in scene(seed + k, n, step_px)])
    edges = np.cumsum([0, *lengths])
    assert [s.start for s in found] == edges[:-1].tolist()
    assert [s.stop for s in found] == edges[1:].tolist()


@pytest.mark.parametrize("step_px", [0, 1, 4, 8])
def test_a_pan_is_one_shot_however_fast(step_px: int) -> None:
    assert ranges(shots(scene(0, 60, step_px))) == [(0, 60, "start")]


def rolled_and_approached(degrees: float, factor: float, frames: int, seed: int) -> list[np.ndarray]:
    """A smooth picture that turns about its centre and grows, like a wall that a rolling camera approaches."""
    side = 2 * SIZE[1]
    wide = cv2.GaussianBlur(texture(seed, side, side), (0, 0), 3)
    wide = cv2.normalize(wide, None, 0, 255, cv2.NORM_MINMAX)
    top, left = (side - SIZE[0]) // 2, (side - SIZE[1]) // 2
    found = []
    for along in np.arange(frames) / frames:
        turn = cv2.getRotationMatrix2D((side / 2, side / 2), degrees * along, factor**along)
        turned = cv2.warpAffine(wide, turn, (side, side))
        found.append(np.ascontiguousarray(turned[top : top + SIZE[0], left : left + SIZE[1]]))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_roll_is_not_a_dissolve(seed: int) -> None:
    assert ranges(shots(rolled_and_approached(80.0, 2.0, 48, seed))) == [(0, 48, "start")]


def test_noise_is_not_a_cut() -> None:
    rng = np.random.default_rng(0)
    still = scene(0, 1)[0]
    noisy = [np.clip(still + rng.normal(0, 12, still.shape), 0, 255).astype(np.uint8) for _ in range(40)]
    assert ranges(shots(noisy)) == [(0, 40, "start")]


def test_frozen_frames_are_not_a_cut() -> None:
    frames = scene(0, 40, 2)
    assert ranges(shots(frames[:10] + [frames[9]] * 20 + frames[10:])) == [(0, 60, "start")]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_flash_is_skipped_and_does_not_split(length: int) -> None:
    frames = scene(0, 40)
    for k in range(20, 20 + length):
        frames[k] = (255 - (255 - frames[k].astype(int)) // 6).astype(np.uint8)
    (shot,) = shots(frames)
    assert shot.foreign == tuple(range(20, 20 + length))
    assert shot.frames.tolist() == [*range(20), *range(20 + length, 40)]


@pytest.mark.parametrize("level", [0, 255])
def test_a_fade_splits_and_its_blank_frames_belong_to_no_shot(level: int) -> None:
    ramp = np.linspace(0, 1, 12)
    down = [((1 - t) * f + t * level).astype(np.uint8) for f, t in zip(scene(0, 42)[30:], ramp, strict=True)]
    up = [((1 - t) * f + t * level).astype(np.uint8) for f, t in zip(scene(1, 12), ramp[::-1], strict=True)]
    found = shots([*scene(0, 30), *down, *grey(level, 5), *up, *scene(1, 30)])
    first, last = found[0], found[-1]
    assert first.start == 0
    assert 15 <= first.stop <= 42
    assert 47 <= last.start <= 74
    assert last.began == "fade"
    assert not any(shot.start < 44 < shot.stop for shot in found)


@pytest.mark.parametrize("length", [8, 15, 30])
def test_a_dissolve_splits_and_no_shot_spans_it(length: int) -> None:
    one, two = scene(0, 40 + length), scene(1, 40 + length)
    share = np.linspace(0, 1, length + 2)[1:-1]
    mixed = [((1 - t) * a + t * b).astype(np.uint8) for a, b, t in zip(one[40:], two, share, strict=False)]
    found = shots([*one[:40], *mixed, *two[length:]])
    middle = 40 + length // 2
    assert not any(shot.start < middle < shot.stop for shot in found)
    assert found[0].start == 0
    assert found[-1].stop == 80 + length


def test_a_change_of_exposure_is_not_a_dissolve() -> None:
    frames = [(f * gain).astype(np.uint8) for f, gain in zip(scene(0, 60), np.linspace(1, 0.5, 60), strict=True)]
    assert ranges(shots(frames)) == [(0, 60, "start")]


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_video_of_one_colour_is_one_shot(level: int) -> None:
    assert ranges(shots(grey(level, 20))) == [(0, 20, "start")]


def test_without_frames_there_is_no_shot() -> None:
    assert shots([]) == []


@given(st.integers(1, 5000), st.floats(1.0, 120.0))
def test_windows_are_at_most_a_minute_and_contain_all_frames(count: int, rate: float) -> None:
    times = np.arange(count) / rate
    parts = list(windows(Shot(start=0, stop=count, began="cut"), times))
    assert parts[0].start == 0
    assert parts[-1].stop == count
    assert all(a.stop == b.start for a, b in pairwise(parts))
    assert all(times[p.stop - 1] - times[p.start] <= 60.0 for p in parts)
    assert len(parts) == max(1, int(np.ceil(times[-1] / 60.0)))
    assert [p.began for p in parts] == ["cut"] + ["window"] * (len(parts) - 1)


def test_windows_without_times_count_frames() -> None:
    parts = list(windows(Shot(start=10, stop=10 + 4000, began="start", foreign=(11, 3000)), None))
    assert [p.stop - p.start for p in parts] == [1333, 1333, 1334]
    assert [p.foreign for p in parts] == [(11,), (), (3000,)]
