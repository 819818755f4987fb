"""How much footage there is, without decoding it."""

from pathlib import Path

import pytest

from spatial_engine.options import OpenOptions
from spatial_engine.sources import find_footage
from spatial_engine.sources.extent import Extent, extent
from tests.films import panning, write_video
from tests.spatial_engine.fake_footage import write_images


def test_videos_say_their_length_and_options_shorten_it(tmp_path: Path) -> None:
    (video,) = find_footage(write_video(tmp_path / "a.mp4", panning(0, 30))).taken
    whole = extent(video, OpenOptions())
    assert whole.frames == 30 and whole.seconds is not None
    half = extent(video, OpenOptions(end=whole.seconds / 2))
    assert half.frames == 15 and half.seconds == pytest.approx(whole.seconds / 2)
    assert extent(video, OpenOptions(fps=5)).frames == pytest.approx(5 * whole.seconds, abs=1)


def test_images_have_a_length_only_with_a_rate(tmp_path: Path) -> None:
    (images,) = find_footage(write_images(tmp_path / "a", 0, count=5)).taken
    assert extent(images, OpenOptions()) == Extent(frames=5, seconds=None)
    assert extent(images, OpenOptions(fps=2)) == Extent(frames=5, seconds=2.5)


def test_a_clip_lasts_a_minute_at_most() -> None:
    assert [Extent(frames=9, seconds=seconds).clips for seconds in (3.0, 60.0, 61.0, 600.0)] == [1, 1, 2, 10]
