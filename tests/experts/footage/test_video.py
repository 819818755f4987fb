"""Frames are read by index, whatever the time stamps of the container."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.footage import video
from experts.footage.decoding import DecodingError
from experts.footage.video import index_video, probe_video
from tests.films import number_of, numbered, panning, texture, write_video

COUNT = 60


def ignore(_: np.ndarray) -> None:
    """Ignores thumbnails."""


@pytest.mark.parametrize(
    ("name", "codec", "options"),
    [
        ("gop.mp4", "libx264", {"g": "12", "bf": "3"}),
        ("open_gop.mp4", "libx264", {"g": "12", "bf": "3", "x264-params": "open-gop=1"}),
        ("one_gop.mkv", "libx264", {"g": "250"}),
        ("b.avi", "mpeg4", {"bf": "2", "g": "12"}),
        ("intra.mkv", "ffv1", {}),
        ("hidden.webm", "libvpx", {"auto-alt-ref": "1", "lag-in-frames": "16"}),
        ("bare.h264", "libx264", {"g": "12"}),
        ("stream.ts", "libx264", {"g": "12", "bf": "3"}),
    ],
)
def test_any_frame_is_read_by_its_index(tmp_path: Path, name: str, codec: str, options: dict[str, str]) -> None:
    pix = numbered(0).shape
    path = write_video(tmp_path / name, map(numbered, range(COUNT)), codec=codec, options=options)
    seen: list[np.ndarray] = []
    index = index_video(path, seen.append)
    assert len(index.pts) == index.frames_decoded == len(seen) == COUNT
    assert not index.truncated
    reader = index.reader(path, 7, COUNT)
    rng = np.random.default_rng(0)
    for _ in range(6):
        wanted = np.sort(rng.choice(np.arange(7, COUNT), rng.integers(1, 6), replace=False)).tolist()
        pictures = list(reader.read(wanted))
        assert [number_of(p) for p in pictures] == wanted
        assert all(p.shape == pix and p.dtype == np.uint8 for p in pictures)


def test_time_stamps_of_a_variable_rate_are_exact(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    pts = np.cumsum(rng.integers(1, 40, COUNT))
    path = write_video(tmp_path / "vfr.mp4", map(numbered, range(COUNT)), pts=pts.tolist(), ticks_per_s=100)
    index = index_video(path, ignore)
    assert index.times_s is not None
    np.testing.assert_allclose(index.times_s, (pts - pts[0]) / 100, rtol=0, atol=1e-12)
    wanted = [0, 3, 31, 58, 59]
    assert [number_of(p) for p in index.reader(path, 0, COUNT).read(wanted)] == wanted


def test_a_bare_stream_has_no_times(tmp_path: Path) -> None:
    path = write_video(tmp_path / "bare.h264", map(numbered, range(12)))
    assert index_video(path, ignore).times_s is None


@pytest.mark.parametrize("rotation", [0, 90, 180, -90])
def test_rotation_metadata_is_applied(tmp_path: Path, rotation: int) -> None:
    picture = numbered(0b10110)
    path = write_video(tmp_path / "turned.mp4", [picture] * 3, rotation_deg=rotation)
    index = index_video(path, ignore)
    upright = np.rot90(picture, rotation // 90)
    assert (index.height_px, index.width_px) == upright.shape[:2]
    (read,) = index.reader(path, 0, 3).read([1])
    assert np.abs(read.astype(int) - upright).mean() < 8  # compression noise; a wrong rotation gives > 50


def test_odd_sizes(tmp_path: Path) -> None:
    picture = texture(3, height=37, width=53)
    path = write_video(tmp_path / "odd.mkv", [picture] * 3, codec="ffv1")
    (read,) = index_video(path, ignore).reader(path, 0, 3).read([2])
    assert read.shape == (37, 53, 3)
    assert np.abs(read.astype(int) - picture).mean() < 8


def test_a_truncated_file_has_only_the_frames_before_its_end(tmp_path: Path) -> None:
    whole = write_video(
        tmp_path / "whole.mp4",
        map(texture, range(COUNT)),
        options={"movflags": "faststart", "g": "12"},
    )
    half = tmp_path / "half.mkv"
    write_video(half, map(texture, range(COUNT)), options={"g": "12"})
    half.write_bytes(half.read_bytes()[: half.stat().st_size // 2])
    index = index_video(half, ignore)
    assert 5 < len(index.pts) < COUNT
    assert len(list(index.reader(half, 0, len(index.pts)).read(range(len(index.pts))))) == len(index.pts)
    no_moov = tmp_path / "no_moov.mp4"
    no_moov.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    with pytest.raises(DecodingError, match="no video can be read"):
        index_video(no_moov, ignore)


def test_only_damaged_frames_are_lost(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", map(texture, range(COUNT)), options={"g": "6"})
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 400] = bytes(400)
    path.write_bytes(bytes(data))
    index = index_video(path, ignore)
    assert COUNT // 3 < len(index.pts) <= COUNT
    assert np.all(np.diff(index.pts) > 0)


@pytest.mark.parametrize(
    ("content", "cause"), [(b"", "the file is empty"), (b"junk" * 999, "no video can be read")], ids=["empty", "junk"]
)
def test_a_file_that_is_not_a_video_is_an_error(tmp_path: Path, content: bytes, cause: str) -> None:
    path = tmp_path / "it's a\n“film”.mp4"
    path.write_bytes(content)
    for look in (probe_video, lambda p: index_video(p, ignore)):
        with pytest.raises(DecodingError, match=cause) as caught:
            look(path)
        assert pickle.loads(pickle.dumps(caught.value)).cause == caught.value.cause
    with pytest.raises(DecodingError):
        probe_video(tmp_path / "nowhere.mp4")


def test_a_file_with_only_sound_is_not_a_video(tmp_path: Path) -> None:
    import av

    path = tmp_path / "sound.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(DecodingError, match="no video stream"):
        probe_video(path)


def test_readers_can_be_pickled_and_reject_unknown_frames(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", map(numbered, range(20)))
    reader = pickle.loads(pickle.dumps(index_video(path, ignore).reader(path, 5, 15)))
    assert [number_of(p) for p in reader.read([5, 14])] == [5, 14]
    assert list(reader.read([])) == []
    for wrong in ([4], [15], [8, 7], [7, 7]):
        with pytest.raises(ValueError, match="frames must ascend"):
            list(reader.read(wrong))


def test_a_file_that_changed_is_an_error_not_another_frame(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", map(numbered, range(20)))
    reader = index_video(path, ignore).reader(path, 0, 20)
    write_video(path, map(numbered, range(5)))
    with pytest.raises(DecodingError, match="has changed"):
        list(reader.read([19]))
    path.unlink()
    with pytest.raises(DecodingError, match="is gone"):
        list(reader.read([19]))


def test_the_unit_of_times_is_read_before_the_file_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyAV frees it then: what is allocated next takes its place."""
    taken: list[bytes] = []

    def allocating(*arguments: Any) -> tuple[int, int]:
        taken.extend(bytes([1]) * size for size in range(16, 1200) for _ in range(3))
        return upright_size(*arguments)

    upright_size = video._upright_size
    monkeypatch.setattr(video, "_upright_size", allocating)
    path = write_video(tmp_path / "a.mp4", panning(0, 4), ticks_per_s=10)
    np.testing.assert_allclose(index_video(path, ignore).times_s, [0, 0.1, 0.2, 0.3])
