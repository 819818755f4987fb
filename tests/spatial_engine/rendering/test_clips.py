"""Scenes as clips, and as files that decode to what was rendered."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from spatial_engine.rendering import Effects, RenderedScene, as_clip, camera_paths, demo_scene, write_video
from spatial_engine.rendering.camera_paths import DEMO_MOVES, Poses, Stance
from spatial_engine.rendering.rooms import random_room

DEMO_CLIP = Path(__file__).parents[3] / "examples" / "demo" / "room.mp4"


def decoded(path: Path) -> list[av.VideoFrame]:
    with av.open(str(path)) as container:
        return list(container.decode(video=0))


def scene(seed: int = 0, frames: int = 6, path: Callable[[int, Stance], Poses] | None = None) -> RenderedScene:
    return random_room(np.random.default_rng(seed), frames=frames, width_px=96, height_px=72, path=path)


def test_a_clip_renders_when_read() -> None:
    rendered = scene()
    clip = as_clip(rendered)
    read = dict(clip.read([1, 4]))
    assert list(read) == [1, 4]
    assert np.array_equal(read[4], rendered.picture(4))
    assert clip.times_s == pytest.approx(np.arange(6) / 10)


def test_a_clip_is_what_its_scene_is() -> None:
    assert as_clip(scene()).id == as_clip(scene()).id
    assert as_clip(scene()).id != as_clip(scene(1)).id
    assert as_clip(scene()).id != as_clip(replace(scene(), effects=Effects(noise_grey=1.0))).id


def test_a_video_holds_the_pictures(tmp_path: Path) -> None:
    rendered = scene()
    write_video(rendered, tmp_path / "a.mp4", crf=12)
    frames = decoded(tmp_path / "a.mp4")
    assert len(frames) == 6
    assert [f.time for f in frames] == pytest.approx(np.arange(6) / 10, abs=1e-3)
    for i, frame in enumerate(frames):
        assert np.abs(frame.to_ndarray(format="rgb24").astype(float) - rendered.picture(i)).mean() < 6


def test_a_video_can_have_cuts_and_uneven_times(tmp_path: Path) -> None:
    times = np.array([0.0, 0.1, 0.25, 0.3, 0.7, 0.8])
    shots = [scene(seed, 3, camera_paths.static) for seed in (0, 1)]
    write_video(shots, tmp_path / "b.mp4", times_s=times)
    frames = decoded(tmp_path / "b.mp4")
    assert [f.time for f in frames] == pytest.approx(times, abs=1e-3)
    grey = [f.to_ndarray(format="gray").astype(float) for f in frames]
    change = [np.abs(a - b).mean() for a, b in pairwise(grey)]
    assert np.argmax(change) == 2


@pytest.mark.parametrize("rotation_deg", [90, 180, 270])
def test_a_video_can_be_stored_turned(tmp_path: Path, rotation_deg: int) -> None:
    rendered = scene()
    write_video(rendered, tmp_path / "c.mp4", rotation_deg=rotation_deg, crf=12)
    frame = decoded(tmp_path / "c.mp4")[0]
    assert frame.rotation % 360 == -rotation_deg % 360  # FFmpeg counts anticlockwise
    upright = np.rot90(frame.to_ndarray(format="rgb24"), -rotation_deg // 90)
    assert np.abs(upright.astype(float) - rendered.picture(0)).mean() < 6


@pytest.mark.long(sample=True)
def test_the_same_scene_gives_the_same_file(tmp_path: Path) -> None:
    """Large and long enough for x264's macroblock tree, which differed from run to run."""
    scene = random_room(np.random.default_rng(57), frames=24, width_px=480, height_px=360)
    paths = [tmp_path / f"{k}.mp4" for k in range(4)]
    for path in paths:
        write_video(scene, path, crf=25)
        assert len(list(av.open(str(path)).decode(video=0))) == 24
    assert len({path.read_bytes() for path in paths}) == 1


def test_the_demo_clip_is_the_demo_scene() -> None:
    assert DEMO_CLIP.stat().st_size <= 2_000_000
    rendered, frames = demo_scene(), decoded(DEMO_CLIP)
    assert len(frames) == len(rendered) == sum(n for n, _ in DEMO_MOVES)
    for i in (0, 90):
        difference = frames[i].to_ndarray(format="rgb24").astype(float) - rendered.picture(i)
        assert np.abs(difference).mean() < 5
