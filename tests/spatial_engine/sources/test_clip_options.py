"""clips.yaml: who it concerns, what it may say, and a crop that keeps the camera right."""

from pathlib import Path

import numpy as np
import pytest

from experts.intrinsics import Intrinsics
from experts.reframing import cropped_camera
from spatial_engine.errors import UsageError
from spatial_engine.options import OpenOptions
from spatial_engine.pipeline import annotate
from spatial_engine.sources import ClipError, clip_from_json, clip_to_json, find_footage, open_clips
from spatial_engine.sources.clip_options import clip_options
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import HEIGHT, WIDTH, write_folders, write_images
from tests.spatial_engine.test_pipeline import Heard


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "videos", 2)


def test_entries_win_over_the_command_and_later_ones_over_earlier(tmp_path: Path, videos: Path) -> None:
    (videos / "clips.yaml").write_text(
        '"*": {licence: CC0-1.0, upright: true}\n"clip 1": {upright: false, name: kitchen, fps: 5, start: 0.1}\n'
    )
    store = annotate(videos, tmp_path / "store", experts=[chain(tmp_path / "log")["up"]], licence="MIT", fps=2)
    clips = {clip["name"]: clip for clip in (store.record(c).clip for c in store.clip_ids())}
    assert set(clips) == {"clip 0", "kitchen"}
    assert {clip["licence"] for clip in clips.values()} == {"CC0-1.0"}
    assert [clips[name]["options"]["upright"] for name in ("clip 0", "kitchen")] == [True, False]
    assert clips["clip 0"]["times_s"] == [0, 0.5, 1.0]
    assert clips["kitchen"]["times_s"] == [0.2, 0.4]


@pytest.mark.parametrize(
    ("content", "cause", "remedy"),
    [
        ('"clip 1": {uprigth: true}', "'clip 1' has no key uprigth", "there are: name, upright"),
        ("garage.mp4: {upright: true}", "'garage.mp4' matches no clip", "clip 0, clip 1"),
        ('"clip*": {name: room}', "gives one name to clip 0, clip 1", "own entry"),
        ('"clip 1": {upright: often}', "upright is 'often'", "true or false"),
        ('"clip 1": {crop: [0, 0, 10]}', "crop is [0, 0, 10]", "four numbers"),
        ('"clip 1": {fps: -3}', "clip 1: --fps -3", "above 0"),
        ('"clip 1": yes', "holds no keys", "docs/clips.md"),
        ("- clip 1", "holds no entries", "docs/clips.md"),
        ('"clip 1": &a {upright: true}\n"clip 0": *a', "anchor or alias", "docs/clips.md"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(
    tmp_path: Path, videos: Path, content: str, cause: str, remedy: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    with pytest.raises(UsageError) as caught:
        annotate(videos, tmp_path / "store", clips=file)
    assert cause in caught.value.cause and remedy in caught.value.remedy
    assert not (tmp_path / "store").exists()


def test_a_named_file_that_is_missing_is_said(tmp_path: Path, videos: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.yaml cannot be read"):
        clip_options(videos, OpenOptions(clips=tmp_path / "none.yaml"))


def test_crop_shifts_the_camera_and_makes_another_clip(tmp_path: Path) -> None:
    (footage,) = find_footage(write_images(tmp_path / "a", 0)).taken
    camera = (50.0, 50.0, 23.0, 17.0)
    (whole,), (cut,) = (
        open_clips(footage, OpenOptions(crop=crop, intrinsics=camera)) for crop in (None, (9, 2, 36, 32))
    )
    assert (cut.width_px, cut.height_px) == (36, 32)
    assert cut.id != whole.id
    assert open_clips(footage, OpenOptions())[0].id == whole.id, "without a crop the id is as ever"
    assert cut.options.intrinsics == Intrinsics(
        width_px=36, height_px=32, fx_px=50, fy_px=50, cx_px=23 - 9, cy_px=17 - 2
    )
    for (_, full), (_, part) in zip(whole.read(), cut.read(), strict=True):
        assert np.array_equal(part, full[2:34, 9:45])
    again = clip_from_json(clip_to_json(cut))
    assert [np.array_equal(a, b) for (_, a), (_, b) in zip(again.read(), cut.read(), strict=True)] == [True] * 3


def test_a_point_keeps_its_ray_through_a_crop() -> None:
    camera = Intrinsics(width_px=640, height_px=480, fx_px=500, fy_px=510, cx_px=310, cy_px=250, k1=0.05)
    crop = (100, 40, 400, 300)
    pixels = np.array([[150.0, 60.0], [300.0, 200.0], [480.0, 330.0]])
    assert np.allclose(cropped_camera(camera, crop).rays(pixels - [100, 40]), camera.rays(pixels))


def test_a_crop_must_fit_and_lie_in_the_middle_unless_the_camera_is_known(tmp_path: Path) -> None:
    (footage,) = find_footage(write_images(tmp_path / "a", 0)).taken
    with pytest.raises(ClipError, match=f"does not lie in frames of {WIDTH}x{HEIGHT}"):
        open_clips(footage, OpenOptions(crop=(10, 0, 40, 36)))
    with pytest.raises(ClipError, match="pixels off-centre"):
        open_clips(footage, OpenOptions(crop=(0, 0, 40, 36)))
    assert open_clips(footage, OpenOptions(crop=(4, 2, 40, 32)))
    assert open_clips(footage, OpenOptions(crop=(0, 0, 40, 36), intrinsics=(50.0, 50.0, 23.0, 17.0)))


def test_a_file_in_use_is_not_listed_as_left_out(tmp_path: Path, videos: Path) -> None:
    (videos / "clips.yaml").write_text('"clip 1": {upright: true}')
    (videos / "clip 1" / "clips.yaml").write_text('"clip 1": {upright: true}')
    heard = Heard()
    annotate(videos, tmp_path / "store", experts=[chain(tmp_path / "log")["up"]], progress=heard)
    (line,) = [line for line in heard.lines if "clips.yaml" in line]
    assert "clip 1/clips.yaml: options of clips count only in the folder that the command names" in line
