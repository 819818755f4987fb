"""Footage becomes clips whose ids only their content decides."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from spatial_engine.errors import UsageError
from spatial_engine.options import OpenOptions
from spatial_engine.sources import (
    ClipError,
    ImageFolder,
    VideoFile,
    clip_from_json,
    clip_to_json,
    find_footage,
    open_clips,
    open_footage,
)
from spatial_engine.sources import opening as opening_module
from tests.films import number_of, numbered, panning, texture, write_images, write_video

DATA = os.environ.get("SPATIAL_ENGINE_DATA", "")


class Memory(dict[str, dict[str, Any]]):
    """A cache that keeps JSON, as a store does."""

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keeps what JSON keeps of it."""
        self[key] = json.loads(json.dumps(value))


def video(path: Path) -> VideoFile:
    """As found."""
    return VideoFile(path=path, name=path.name)


def images(folder: Path) -> ImageFolder:
    """As found."""
    (found,) = find_footage(folder).taken
    assert isinstance(found, ImageFolder)
    return found


def one_shot(path: Path, frames: int = 30, **how: Any) -> VideoFile:
    """A pan, 10 frames a second."""
    return video(write_video(path, panning(0, frames), **how))


def test_a_video_of_one_shot_is_one_clip(tmp_path: Path) -> None:
    (clip,) = open_clips(one_shot(tmp_path / "a.mp4"))
    assert clip.name == "a.mp4"
    assert clip.frames.tolist() == list(range(30))
    assert clip.times_s is not None
    np.testing.assert_allclose(clip.times_s, np.arange(30) / 10)
    assert (clip.width_px, clip.height_px, clip.rotation_deg) == (96, 64, 0)
    assert len(list(clip.read())) == 30


def test_cuts_make_clips_with_the_numbers_and_times_of_the_video(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", [*panning(0, 20), *panning(1, 25), *panning(2, 15)])
    clips = open_clips(video(path))
    assert [(c.name, int(c.frames[0]), int(c.frames[-1])) for c in clips] == [
        ("a.mp4 shot 1", 0, 19),
        ("a.mp4 shot 2", 20, 44),
        ("a.mp4 shot 3", 45, 59),
    ]
    assert len({c.id for c in clips}) == 3
    assert clips[1].time_s(20) == pytest.approx(2.0)
    ((frame, picture),) = clips[2].read([50])
    assert frame == 50
    assert np.abs(picture.astype(int) - panning(2, 15)[5]).mean() < 10


def test_a_fade_is_left_out_and_noted(tmp_path: Path) -> None:
    black = [np.zeros_like(texture(0))] * 5
    path = write_video(tmp_path / "a.mp4", [*panning(0, 20), *black, *panning(1, 20)])
    opened = open_footage(video(path))
    assert [len(c.frames) for c in opened.clips] == [20, 20]
    assert opened.notes == ("5 frames between shots are one colour or mixtures of two shots, and left out",)


def test_a_black_video_is_a_clip(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", [np.zeros_like(texture(0))] * 10)
    assert [len(c.frames) for c in open_clips(video(path))] == [10]


def test_a_long_shot_is_windows_of_a_minute(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", panning(0, 150), ticks_per_s=1)
    clips = open_clips(video(path))
    assert [len(c.frames) for c in clips] == [50, 50, 50]
    assert np.concatenate([c.frames for c in clips]).tolist() == list(range(150))


def test_the_id_is_of_content_alone(tmp_path: Path) -> None:
    a = one_shot(tmp_path / "a.mp4")
    (tmp_path / "other place").mkdir()
    b = video(shutil.copy(a.path, tmp_path / "other place" / "renamed.mov"))
    (one,), (two,) = open_clips(a), open_clips(b, OpenOptions(max_side=64, upright=True, licence="CC0-1.0"))
    assert one.id == two.id
    assert len(one.id) == 16
    (thinned,) = open_clips(a, OpenOptions(fps=5))
    (cut,) = open_clips(a, OpenOptions(start=1))
    other = one_shot(tmp_path / "c.mp4", options={"crf": "30"})
    assert len({one.id, thinned.id, cut.id, open_clips(other)[0].id}) == 4


def test_the_id_of_images_is_of_their_bytes_in_order(tmp_path: Path) -> None:
    pictures = panning(0, 4)
    write_images(tmp_path / "a", pictures)
    write_images(tmp_path / "b", pictures, "shot {:d}.png")
    write_images(tmp_path / "c", pictures[::-1])
    a, b, c = (open_clips(images(tmp_path / name))[0].id for name in "abc")
    assert a == b != c


def test_start_and_end_cut_a_video(tmp_path: Path) -> None:
    (clip,) = open_clips(one_shot(tmp_path / "a.mp4"), OpenOptions(start=0.5, end=1.5))
    assert clip.frames.tolist() == list(range(5, 15))
    with pytest.raises(ClipError, match="0 of 30 frames lie within"):
        open_clips(one_shot(tmp_path / "a.mp4"), OpenOptions(start=9))


@pytest.mark.parametrize(("fps", "kept"), [(5, 15), (2, 6), (10, 30), (100, 30), (4, 12), (7, 21)])
def test_a_video_is_thinned_to_at_most_a_rate(tmp_path: Path, fps: float, kept: int) -> None:
    (clip,) = open_clips(one_shot(tmp_path / "a.mp4"), OpenOptions(fps=fps))
    assert len(clip.frames) == kept
    assert len(list(clip.read())) == kept


def test_images_have_times_only_from_the_user(tmp_path: Path) -> None:
    write_images(tmp_path, panning(0, 6))
    folder = images(tmp_path)
    (clip,) = open_clips(folder)
    assert clip.times_s is None
    (timed,) = open_clips(folder, OpenOptions(fps=2, start=0.5))
    assert timed.times_s is not None
    assert timed.times_s.tolist() == [0.5, 1.0, 1.5, 2.0, 2.5]
    with pytest.raises(ClipError, match="give their rate with --fps"):
        open_clips(folder, OpenOptions(start=1))


def test_the_users_camera_comes_from_the_command_line_or_a_file(tmp_path: Path) -> None:
    footage = one_shot(tmp_path / "a.mp4")
    (tmp_path / "a.intrinsics.json").write_text('{"fx": 80, "fy": 81.5, "cx": 47, "cy": 31, "k1": 0.01}')
    stated = Intrinsics(width_px=96, height_px=64, fx_px=80.0, fy_px=81.5, cx_px=47.0, cy_px=31.0, k1=0.01)
    assert open_clips(footage)[0].options.intrinsics == stated
    (clip,) = open_clips(footage, OpenOptions(intrinsics=(90.0, 90.0, 47.5, 31.5)))
    assert clip.options.intrinsics == Intrinsics.centred(96, 64, 90.0)
    write_images(tmp_path / "b", panning(0, 3))
    (tmp_path / "b" / "intrinsics.json").write_text('{"fx": 80, "fy": 80, "cx": 47, "cy": 31}')
    (clip,) = open_clips(images(tmp_path / "b"))
    assert clip.options.intrinsics is not None
    assert clip.options.intrinsics.fx_px == 80


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"fx": 1}',
        '{"fx": "a", "fy": 1, "cx": 1, "cy": 1}',
        '{"fx": NaN, "fy": 80, "cx": 47, "cy": 31}',
        '{"fx": 80, "fy": 80, "cx": 960, "cy": 540}',
        '{"fx": 80, "fy": 80, "cx": 47, "cy": 31, "k2": 0.1}',
    ],
)
def test_a_wrong_camera_file_is_an_error_not_a_guess(tmp_path: Path, text: str) -> None:
    footage = one_shot(tmp_path / "a.mp4", frames=3)
    (tmp_path / "a.intrinsics.json").write_text(text)
    with pytest.raises(ClipError, match=r"a\.intrinsics\.json"):
        open_clips(footage)


def test_footage_that_gives_no_clip_says_why(tmp_path: Path) -> None:
    for name, pictures, reason in (
        ("one.mp4", panning(0, 1), "one frame only"),
        ("tiny.mp4", [p[:2, :2] for p in panning(0, 5)], "frames of 2x2 pixels are too small"),
    ):
        with pytest.raises(ClipError, match=reason) as caught:
            open_clips(video(write_video(tmp_path / name, pictures)))
        assert caught.value.remedy
    (tmp_path / "junk.mp4").write_bytes(b"junk" * 99)
    with pytest.raises(ClipError, match="no video can be read"):
        open_clips(video(tmp_path / "junk.mp4"))
    with pytest.raises(ClipError, match="cannot be read"):
        open_clips(video(tmp_path / "gone.mp4"))
    paths = write_images(tmp_path / "small", [p[:2, :2] for p in panning(0, 3)])
    with pytest.raises(ClipError, match="2x2"):
        open_clips(ImageFolder(paths=tuple(paths), name="small", width_px=2, height_px=2))


def test_a_truncated_file_gives_the_frames_it_has(tmp_path: Path) -> None:
    whole = write_video(tmp_path / "whole.mkv", map(texture, [0] * 60), options={"g": "6", "crf": "1"})
    whole.write_bytes(whole.read_bytes()[:-200])
    opened = open_footage(video(whole))
    assert 2 <= len(opened.clips[0].frames) <= 60
    assert len(list(opened.clips[0].read())) == len(opened.clips[0].frames)


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": -1},
        {"start": 3, "end": 3},
        {"fps": 0},
        {"fps": float("nan")},
        {"max_side": 8},
        {"max_keyframes": 1},
    ],
)
def test_options_that_cannot_be_are_usage_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--"):
        OpenOptions(**wrong)


def test_a_second_opening_decodes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    footage, cache = video(write_video(tmp_path / "a.mp4", [*panning(0, 9), *panning(1, 9)])), Memory()
    write_images(tmp_path / "b", panning(0, 3))
    folder = images(tmp_path / "b")
    first = open_clips(footage, cache=cache) + open_clips(folder, cache=cache)

    def refuse(path: Path, *_: object) -> None:
        raise AssertionError(f"{path} was surveyed again")

    monkeypatch.setattr(opening_module, "survey_video", refuse)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    second = open_clips(footage, cache=cache) + open_clips(folder, cache=cache)
    assert [clip_to_json(c) for c in second] == [clip_to_json(c) for c in first]
    os.utime(footage.path, ns=(1, 1))
    with pytest.raises(AssertionError, match="surveyed again"):
        open_clips(footage, cache=cache)


def same(a: Clip, b: Clip) -> bool:
    """Everything but the pictures."""
    return json.dumps(clip_to_json(a)) == json.dumps(clip_to_json(b))


def test_records_open_again_here_and_elsewhere(tmp_path: Path) -> None:
    root = tmp_path / "here"
    root.mkdir()
    one_shot(root / "a.mp4", rotation_deg=90)
    (root / "a.intrinsics.json").write_text('{"fx": 80, "fy": 81.5, "cx": 30.1, "cy": 41}')
    write_images(root / "b", panning(0, 3))
    clips = [clip for footage in find_footage(root).taken for clip in open_clips(footage, OpenOptions(upright=True))]
    assert len(clips) == 2
    for clip in clips:
        assert same(clip_from_json(json.loads(json.dumps(clip_to_json(clip)))), clip)
    records = [json.loads(json.dumps(clip_to_json(clip, root / "store"))) for clip in clips]
    pictures = [next(clip.read([2])) for clip in clips]
    assert str(tmp_path) not in json.dumps(records)
    root.rename(tmp_path / "there")
    for record, (_, picture) in zip(records, pictures, strict=True):
        again = clip_from_json(record, tmp_path / "there" / "store")
        np.testing.assert_array_equal(next(again.read([2]))[1], picture)


def test_frames_read_by_number_are_the_frames_of_the_video(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pts = np.cumsum(rng.integers(1, 9, 40)).tolist()
    path = write_video(tmp_path / "a.mp4", map(numbered, range(40)), pts=pts, ticks_per_s=50, options={"g": "9"})
    for clip in open_clips(video(path)):
        clip = clip_from_json(clip_to_json(clip))
        for frame, picture in clip.read():
            assert number_of(picture) == frame
            assert clip.time_s(frame) == pytest.approx((pts[frame] - pts[0]) / 50)


def test_a_damaged_image_is_no_frame(tmp_path: Path) -> None:
    paths = write_images(tmp_path, panning(0, 5))
    paths[2].write_bytes(paths[2].read_bytes()[:-500])
    opened = open_footage(images(tmp_path), OpenOptions(fps=10))
    assert opened.clips[0].frames.tolist() == [0, 1, 3, 4]
    assert opened.clips[0].time_s(3) == pytest.approx(0.3)
    assert opened.notes == ("0002.png does not decode and is left out",)
    for path in paths[1:4]:
        path.write_bytes(path.read_bytes()[:200])
    paths[4].write_bytes(paths[4].read_bytes()[:200])
    with pytest.raises(ClipError, match="one frame only"):
        open_clips(images(tmp_path))


@pytest.mark.long(sample=True)
def test_very_large_images_are_decoded_one_by_one(tmp_path: Path) -> None:
    from PIL import Image

    Image.fromarray(texture(0)).resize((8000, 6000), Image.Resampling.BILINEAR).save(tmp_path / "0.jpg", quality=30)
    shutil.copy(tmp_path / "0.jpg", tmp_path / "1.jpg")
    (clip,) = open_clips(images(tmp_path))
    assert clip.working_size == (960, 720)
    assert [g.shape for _, g in clip.read_grey()] == [(720, 960)] * 2


@pytest.mark.skipif(not DATA, reason="SPATIAL_ENGINE_DATA names no folder of real footage")
def test_real_videos_are_one_shot_each() -> None:
    for name, frames, end_s in (("apple", 50, 4.9), ("robot_unitree", 174, 3.4602)):
        (clip,) = open_clips(video(Path(DATA) / "videos_plain" / f"{name}.mp4"))
        assert len(clip.frames) == frames
        assert clip.times_s is not None
        assert clip.times_s[-1] == pytest.approx(end_s, abs=1e-3)


# limits


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_pixels": 1000}, "pixels a frame; at most 1000 are opened"),
        ({"max_frames": 5}, "more than 5 frames"),
        ({"max_duration": 0.5}, r"time stamps over \d+ seconds"),
    ],
)
def test_footage_beyond_the_limits_is_not_opened(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    cache = Memory()
    write_images(tmp_path / "b", panning(0, 9))
    film, folder = one_shot(tmp_path / "a.mp4"), images(tmp_path / "b")
    for footage in (film, folder):
        given = OpenOptions(**options, fps=None if footage is film else 1.0)
        with pytest.raises(ClipError, match=why) as caught:
            open_clips(footage, given, cache=cache)
        assert "raise --max-" in caught.value.remedy
    assert open_clips(film, cache=cache)
    with pytest.raises(ClipError, match=why):  # also what the cache knows
        open_clips(film, OpenOptions(**options), cache=cache)


def test_a_picture_bomb_costs_nothing(tmp_path: Path) -> None:
    """Two files of 100 kB that stand for 300 MB each."""
    for number in (0, 1):
        Image.new("1", (11_000, 10_000)).convert("P").save(tmp_path / f"{number}.png")
    found = find_footage(tmp_path)
    (folder,) = found.taken
    with pytest.raises(ClipError, match="110000000 pixels a frame"):
        open_clips(folder)


def test_a_video_may_not_grow(tmp_path: Path) -> None:
    """A header that announces less than the frames hold, as MPEG-TS can be joined."""
    small = write_video(tmp_path / "small.ts", panning(1, 12), codec="mpeg2video")
    large = write_video(tmp_path / "large.ts", [texture(2, 480, 640)] * 12, codec="mpeg2video")
    joined = tmp_path / "joined.ts"
    joined.write_bytes(small.read_bytes() + large.read_bytes())
    opened = []
    with suppress(ClipError):
        opened = open_clips(VideoFile(path=joined, name="joined"), OpenOptions(max_pixels=200 * 200))
    assert all(max(clip.width_px, clip.height_px) <= 200 for clip in opened)
