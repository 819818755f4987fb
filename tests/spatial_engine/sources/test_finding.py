"""What is taken as footage, what is skipped, and that nothing is passed over in silence."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from spatial_engine.errors import UsageError
from spatial_engine.sources import Found, ImageFolder, VideoFile, find_footage
from spatial_engine.sources.image_groups import natural_key
from tests.films import panning, texture, write_images, write_video

DATA = os.environ.get("SPATIAL_ENGINE_DATA", "")


def names(found: Found) -> dict[str, int]:
    """Name of each piece of footage, and its number of files."""
    return {f.name: len(f.paths) if isinstance(f, ImageFolder) else 1 for f in found.taken}


def reasons(found: Found) -> dict[str, str]:
    """Why each file was skipped."""
    return {skipped.path.name: skipped.reason for skipped in found.skipped}


def every_file_is_accounted_for(root: Path, found: Found) -> bool:
    """Taken or skipped, once."""
    taken = [p for f in found.taken for p in (f.paths if isinstance(f, ImageFolder) else (f.path,))]
    accounted = Counter([*taken, *(skipped.path for skipped in found.skipped)])
    return all(accounted[p] == 1 for p in root.rglob("*") if p.is_file() and not p.is_symlink())


def test_videos_and_image_folders_are_found_at_any_depth(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    write_video(tmp_path / "a" / "b" / "film 10.MP4", panning(0, 3))
    write_video(tmp_path / "a" / "b" / "film 2.mov", panning(0, 3))
    write_images(tmp_path / "shots", panning(0, 4), "{:d}.jpg")
    (tmp_path / "notes.txt").write_text("-")
    found = find_footage(tmp_path)
    assert list(names(found)) == ["a/b/film 2.mov", "a/b/film 10.MP4", "shots"]
    assert reasons(found) == {"notes.txt": "neither a video nor an image (.txt)"}
    assert every_file_is_accounted_for(tmp_path, found)


def test_one_video_may_be_named(tmp_path: Path) -> None:
    path = write_video(tmp_path / "film.mp4", panning(0, 3))
    assert find_footage(path).taken == (VideoFile(path=path, name="film.mp4"),)


def test_frames_come_in_natural_order(tmp_path: Path) -> None:
    write_images(tmp_path, panning(0, 12), "img{:d}.png")
    (folder,) = find_footage(tmp_path).taken
    assert isinstance(folder, ImageFolder)
    assert [p.stem for p in folder.paths] == [f"img{k}" for k in range(12)]


@given(st.lists(st.integers(0, 10**9), unique=True, min_size=1, max_size=20))
def test_natural_order_is_the_order_of_numbers(numbers: list[int]) -> None:
    paths = [Path(f"x{n}y.png") for n in numbers]
    assert [int(p.stem[1:-1]) for p in sorted(paths, key=natural_key)] == sorted(numbers)


def test_what_is_no_picture_is_never_a_frame(tmp_path: Path) -> None:
    write_images(tmp_path, panning(0, 3), "frame-{:06d}.color.jpg")
    rng = np.random.default_rng(0)
    for k in range(3):
        Image.fromarray(rng.integers(0, 9999, (64, 96)).astype(np.uint16)).save(tmp_path / f"frame-{k:06d}.depth.png")
        Image.fromarray(rng.random((64, 96)).astype(np.float32)).save(tmp_path / f"frame-{k:06d}.tiff")
        mask = Image.fromarray((rng.random((64, 96)) > 0.5).astype(np.uint8) * 255)
        mask.save(tmp_path / f"{k}.png")
        mask.convert("1").save(tmp_path / f"{k}_bits.png")
        labels = Image.fromarray(rng.integers(0, 20, (64, 96)).astype(np.uint8), "P")
        labels.putpalette(list(range(256)) * 3)
        labels.save(tmp_path / f"{k}_objects.png")
        Image.fromarray(texture(k)[..., 0]).save(tmp_path / f"{k}_disparity.png")
    found = find_footage(tmp_path)
    assert names(found) == {tmp_path.name: 3}
    assert every_file_is_accounted_for(tmp_path, found)
    why = reasons(found)
    assert "16 bits" in why["frame-000000.depth.png"]
    assert "16 bits" in why["frame-000001.tiff"]
    assert "mask" in why["0.png"]
    assert "mask" in why["0_bits.png"]
    assert "labels" in why["1_objects.png"]
    assert "labels" in why["1_disparity.png"]


def test_a_picture_too_large_to_open_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_images(tmp_path, panning(0, 3), "{}.png")
    Image.fromarray(np.zeros((300, 300, 3), np.uint8)).save(tmp_path / "3.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40_000)  # Pillow refuses beyond twice as many
    found = find_footage(tmp_path)
    assert names(found) == {tmp_path.name: 3}
    assert reasons(found) == {"3.png": "not a readable image (more pixels than can be opened safely)"}


def test_grey_pictures_are_pictures(tmp_path: Path) -> None:
    for k in range(3):
        Image.fromarray(texture(k)[..., 0]).save(tmp_path / f"{k}.png")
    assert names(find_footage(tmp_path)) == {tmp_path.name: 3}


def test_patterns_sizes_and_cameras_are_told_apart(tmp_path: Path) -> None:
    write_images(tmp_path / "ep", panning(0, 4), "image0_{:d}.jpg")
    write_images(tmp_path / "ep", panning(1, 4), "image1_{:d}.jpg")
    write_images(tmp_path / "pairs", panning(0, 2), "left-{:d}.png")
    write_images(tmp_path / "pairs", panning(0, 2), "right-{:d}.png")
    write_images(tmp_path / "turned", [*panning(0, 2), *(np.rot90(p) for p in panning(1, 3))], "{:d}.png")
    write_images(tmp_path / "stamped", panning(0, 6), "13418479{:02d}.722988.png")
    assert names(find_footage(tmp_path)) == {
        "ep/image0_#.jpg": 4,
        "ep/image1_#.jpg": 4,
        "pairs/left-#.png": 2,
        "pairs/right-#.png": 2,
        "stamped": 6,
        "turned/#.png 96x64": 2,
        "turned/#.png 64x96": 3,
    }


def test_dates_and_times_count_together(tmp_path: Path) -> None:
    for k in range(6):
        write_images(tmp_path, [texture(k)], f"2024-05-0{k + 1} at 1{k}-{17 * k % 60:02d}.png")
    assert names(find_footage(tmp_path)) == {tmp_path.name: 6}


def test_one_image_is_no_clip(tmp_path: Path) -> None:
    (only,) = write_images(tmp_path, [texture(0)])
    for place in (tmp_path, only):
        found = find_footage(place)
        assert found.taken == ()
        assert "the only image" in reasons(found)[only.name]


def test_a_pattern_restricts_images(tmp_path: Path) -> None:
    write_images(tmp_path / "cam0", panning(0, 3))
    write_images(tmp_path / "cam1", panning(0, 3))
    assert names(find_footage(tmp_path, "cam1/*")) == {"cam1": 3}
    assert names(find_footage(tmp_path, "000[12].png")) == {"cam0": 2, "cam1": 2}
    skipped = find_footage(tmp_path, "cam1/*").skipped
    assert [e.reason for e in skipped] == ["does not match --images cam1/*"] * 3


def test_bad_files_are_left_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "junk.mp4").write_bytes(b"not a video at all" * 50)
    (tmp_path / "empty.png").touch()
    (tmp_path / "junk.png").write_bytes(b"not an image")
    (tmp_path / ".hidden").touch()
    (tmp_path / "film.intrinsics.json").write_text("{}")
    (tmp_path / "broken.mp4").symlink_to(tmp_path / "nowhere.mp4")
    found = find_footage(tmp_path)
    assert found.taken == ()
    assert reasons(found) == {
        "empty.mp4": "empty file",
        "junk.mp4": "no video can be read from it (Invalid data found when processing input)",
        "empty.png": "empty file",
        "junk.png": "not a readable image (UnidentifiedImageError)",
        ".hidden": "hidden",
        "film.intrinsics.json": "a camera, read with the clip beside it",
        "broken.mp4": "broken link or special file",
    }


def test_loops_of_links_end(tmp_path: Path) -> None:
    write_images(tmp_path / "a", panning(0, 3))
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    found = find_footage(tmp_path)
    assert names(found) == {"a": 3}
    assert reasons(found) == {"up": "seen already (a link)", "b": "seen already (a link)"}


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_images(tmp_path / "a", panning(0, 3))
    closed = tmp_path / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refuse(path: Path):  # type: ignore[no-untyped-def]
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = find_footage(tmp_path)
    assert names(found) == {"a": 3}
    assert reasons(found) == {"closed": "folder cannot be read (Permission denied)"}


@pytest.mark.parametrize(
    "name", ["with space", "it's “quoted”", "new\nline", "видео", "映像 ①", "<b>&amp;", "-rf", "a#b", "100%"]
)
def test_any_name_works(tmp_path: Path, name: str) -> None:
    write_video(tmp_path / f"{name}.mp4", panning(0, 3))
    write_images(tmp_path / name, panning(0, 3), name + "{:d}.png")
    found = find_footage(tmp_path)
    assert sorted(names(found)) == sorted([f"{name}.mp4", name])
    assert found.skipped == ()


def test_nothing_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give a video file"):
        find_footage(tmp_path / "nowhere")
    assert find_footage(tmp_path) == Found(taken=(), skipped=())


@pytest.mark.skipif(not DATA, reason="SPATIAL_ENGINE_DATA names no folder of real footage")
@pytest.mark.parametrize(
    ("folder", "taken", "skipped"),
    [
        ("videos_plain", {"apple.mp4": 1, "robot_unitree.mp4": 1, "lady-running": 20}, {"masks or labels": 1}),
        ("sevenscenes_rgbd", {"sevenscenes_rgbd": 50}, {"16 bits": 50, ".txt": 51}),
        ("hololens_indoor", {"images": 28}, {"16 bits": 28}),
        ("fox_ngp", {"images": 25}, {}),
        ("kitti_odom_a", {"image_l": 30}, {}),
        ("mobilebrick", {"image": 5}, {}),
        ("strecha_fountain", {"images": 3}, {".camera": 11}),
        ("tum_fr3_office", {"rgb": 6}, {}),
        ("adt_apartment", {"rectified": 3, "rgb": 3, "slam_left": 3}, {"16 bits": 4}),
        ("euroc_v101", {"mav0/cam0/data": 4, "mav0/cam1/data": 4}, {}),
        ("traj_aria", {}, {".csv": 3}),
    ],
)
def test_real_folders(folder: str, taken: dict[str, int], skipped: dict[str, int]) -> None:
    root = Path(DATA) / folder
    found = find_footage(root)
    assert names(found) == taken
    assert every_file_is_accounted_for(root, found)
    for part, count in skipped.items():
        assert sum(part in entry.reason for entry in found.skipped) == count
