"""One path read from five formats, and invalid files, each refused with its line and a remedy."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory, detect_format, read_trajectory
from tests.spatial_engine.path_files import (
    OPENGL,
    times_of,
    winding_path,
    write_colmap,
    write_euroc,
    write_kitti,
    write_nerfstudio,
    write_tum,
)

DATA = Path(os.environ.get("SPATIAL_ENGINE_DATA", "/nowhere"))
real = pytest.mark.skipif(not DATA.is_dir(), reason="SPATIAL_ENGINE_DATA names no folder")
POSES = winding_path()
WRITERS: dict[str, Callable[[Path, np.ndarray], Path]] = {
    "tum": write_tum,
    "kitti": write_kitti,
    "euroc": write_euroc,
    "colmap": write_colmap,
    "nerfstudio": write_nerfstudio,
}


def read(name: str, folder: Path) -> Trajectory:
    path = WRITERS[name](folder / f"path.{name}", POSES)
    times = path.with_suffix(".times") if name == "kitti" else None
    mount = folder / "sensor.yaml" if name == "euroc" else None
    fps = 30.0 if name in ("colmap", "nerfstudio") else None
    return read_trajectory(path, times=times, cam_from_body=mount, fps=fps)


@pytest.mark.parametrize("name", WRITERS)
def test_one_path_from_every_format(name: str, tmp_path: Path) -> None:
    path = read(name, tmp_path)
    assert path.format == name
    assert np.allclose(path.world_from_cam, POSES, atol=1e-7)
    assert np.allclose(path.times_s - path.times_s[0], times_of(POSES) - times_of(POSES)[0], atol=1e-6)
    assert path.is_timed
    assert path.scale == ("relative" if name in ("colmap", "nerfstudio") else "metric")
    assert path.axes == ("opengl" if name == "nerfstudio" else "opencv")


def test_options_override_the_format(tmp_path: Path) -> None:
    """Direction, axes and scale."""
    path = write_tum(tmp_path / "tum.txt", np.linalg.inv(POSES @ OPENGL))
    told = read_trajectory(path, poses="w2c", axes="opengl", scale="relative")
    assert np.allclose(told.world_from_cam, POSES, atol=1e-7)
    assert (told.axes, told.scale) == ("opengl", "relative")
    path = write_colmap(tmp_path / "images.txt", np.linalg.inv(POSES))
    assert np.allclose(read_trajectory(path, poses="c2w").world_from_cam, POSES, atol=1e-7)
    path = write_nerfstudio(tmp_path / "transforms.json", POSES @ OPENGL)
    assert np.allclose(read_trajectory(path, axes="opencv").world_from_cam, POSES, atol=1e-7)


def test_a_mount_is_read_both_ways(tmp_path: Path) -> None:
    path = write_euroc(tmp_path / "body.csv", POSES)
    for file in ("sensor.yaml", "cam_from_body.txt"):
        assert np.allclose(read_trajectory(path, cam_from_body=tmp_path / file).world_from_cam, POSES, atol=1e-7)
    assert read_trajectory(path).axes == "body"
    with pytest.raises(UsageError, match="cam-from-body"):
        read_trajectory(path, axes="opencv")


@pytest.mark.parametrize("text", ["", "1 2 3", "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 nan", "2 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"])
def test_an_invalid_mount_is_refused(text: str, tmp_path: Path) -> None:
    path = write_euroc(tmp_path / "body.csv", POSES)
    (tmp_path / "mount.txt").write_text(text)
    with pytest.raises(UsageError, match=r"mount\.txt"):
        read_trajectory(path, cam_from_body=tmp_path / "mount.txt")


def test_images_are_ordered_by_name(tmp_path: Path) -> None:
    assert "ordered by name" in " ".join(read("colmap", tmp_path).notes)
    assert read("nerfstudio", tmp_path).notes == ()


def test_focal_lengths_of_frames(tmp_path: Path) -> None:
    path = write_nerfstudio(tmp_path / "transforms.json", POSES)
    assert read_trajectory(path).focal_px is None
    stated = json.loads(path.read_text())
    for row, frame in enumerate(stated["frames"]):
        frame["fl_x"] = 500.0 + row
    path.write_text(json.dumps(stated))
    focal_px = read_trajectory(path).focal_px
    assert focal_px is not None
    assert focal_px[3] == 503.0


def test_folders_hold_one_path(tmp_path: Path) -> None:
    write_nerfstudio(tmp_path / "transforms.json", POSES)
    assert read_trajectory(tmp_path).format == "nerfstudio"
    (tmp_path / "sparse" / "0").mkdir(parents=True)
    write_colmap(tmp_path / "sparse" / "0" / "images.txt", POSES)
    with pytest.raises(UsageError, match="several"):
        read_trajectory(tmp_path)
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "images.bin").touch()
    with pytest.raises(UsageError, match="model_converter"):
        read_trajectory(tmp_path / "binary")


IDENTITY = "1 0 0 0 0 1 0 0 0 0 1 0"
IMAGE = "1 1 0 0 0 0 0 0 1 a.jpg"


def json_of(*matrices: object) -> str:
    return json.dumps({"frames": [{"transform_matrix": matrix} for matrix in matrices]})


@pytest.mark.parametrize(
    ("text", "cause", "remedy"),
    [
        ("", "no known format", "--format tum | kitti | euroc"),
        ("# nothing\n\n", "no known format", "--format"),
        ("1 2 3\n4 5 6\n", "no known format", "--format"),
        ("0 0 0 0 0 0 0 1\n", "one pose", "at least two"),
        ("0 0 0 0 0 0 0 1\n1 nan 0 0 0 0 0 1\n", "line 2: 'nan'", "that line"),
        ("0 0 0 0 0 0 0 1\n1 inf 0 0 0 0 0 1\n", "line 2: 'inf'", "that line"),
        ("0 0 0 0 0 0 0 1\n1 x 0 0 0 0 0 1\n", "line 2: 'x'", "that line"),
        ("# head\n0 0 0 0 0 0 0 1\n1 2 3\n", "line 3: 3 columns, but tum has 8", "that line"),
        ("0 0 0 0 0 0 0 1\n1 0 0 0 0 0 0 0\n", "line 2: the quaternion has length 0", "qx qy qz qw"),
        ("0 0 0 0 0 0 0 1\n1 0 0 0 1 0 0 1\n", "line 2: the quaternion has length 1.414", "qw qx qy qz"),
        ("0 0 0 0 0 0 0 1\n#\n1 0 0 0 0 0 0 1\n1 0 0 1 0 0 0 1\n", "line 4: the same time as line 3", "--drop"),
        ("0 0 0 0 0 0 0 1\n2 0 0 0 0 0 0 1\n1 0 0 0 0 0 0 1\n", "line 3: 1.0 s, earlier than line 2", "sort"),
        ("0 0 0 0 0 0 0 1\n1 1e300 0 0 0 0 0 1\n", "line 2: a position of 1e+300", "1e+09"),
        ("0,0,0,0,0,0,0,1\n1,0,0,0,0,0,0,1\n", "may be tum or euroc", "--format tum | euroc"),
        ("1403715273262142976 0 0 0 0 0 0 1\n", "may be tum or euroc", "--format tum | euroc"),
        ("1.5,0,0,0,1,0,0,0,0\n2.5,0,0,0,1,0,0,0,0\n", "line 1: stamp 1.5 is not whole", "--format tum"),
        (f"{IDENTITY}\n-{IDENTITY}\n", "line 2: pose 1 is left-handed", "right-handed"),
        (f"{IDENTITY}\n1.1{IDENTITY[1:]}\n", "line 2: pose 1 is not rigid", "rigid"),
        (f"{IMAGE}\n2 1 0 0 0 0 0 0 1 b.jpg\n", "line 2: not a line of points", "may be empty"),
        (f"{IMAGE}\n\n{IMAGE}\n\n", "'a.jpg' twice", "one pose"),
        (f"{IMAGE}\n\n2 1 0 0 0\n\n", "line 3: 5 columns", "NAME"),
        ("{bad", "not JSON", "transforms.json"),
        ('{"a": 1}', "no frames", "transforms.json"),
        (json_of(), "no frames", "transforms.json"),
        (json_of(np.eye(4).tolist(), [[1]]), "frame 1", "four rows"),
        (json_of(np.eye(4).tolist(), [["1"] * 4] * 4), "frame 1", "four rows"),
        (json_of(np.eye(4).tolist(), [[float("nan")] * 4] * 4), "frame 1", "four rows"),
        (json_of(np.eye(4).tolist(), [[10**400] * 4] * 4), "frame 1", "four rows"),
        (json_of(np.eye(4).tolist(), np.diag([1, 1, -1, 1]).tolist()), "left-handed", "rigid"),
        (json_of(np.eye(4).tolist(), np.diag([1, 1, 1, 2]).tolist()), "last row", "rigid"),
    ],
)  # fmt: skip
def test_invalid_files_are_refused_with_a_remedy(text: str, cause: str, remedy: str, tmp_path: Path) -> None:
    path = tmp_path / "poses.txt"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_trajectory(path)
    assert cause in refused.value.cause
    assert remedy in refused.value.remedy


def test_other_line_ends_and_blanks_are_the_same(tmp_path: Path) -> None:
    path = write_tum(tmp_path / "tum.txt", POSES)
    text = path.read_text()
    path.write_bytes(("\ufeff" + text.replace(" ", "\t").replace("\n", " \r\n\r\n")).encode())
    assert np.allclose(read_trajectory(path).world_from_cam, POSES, atol=1e-7)


def test_no_text(tmp_path: Path) -> None:
    (tmp_path / "film.mp4").write_bytes(bytes(range(256)))
    with pytest.raises(UsageError, match="not a text file"):
        read_trajectory(tmp_path / "film.mp4")
    with pytest.raises(UsageError, match="there is no"):
        read_trajectory(tmp_path / "nothing")
    with pytest.raises(UsageError, match="without transforms"):
        read_trajectory(tmp_path)


def test_times_are_given_once_and_fit(tmp_path: Path) -> None:
    kitti, tum = write_kitti(tmp_path / "kitti.txt", POSES), write_tum(tmp_path / "tum.txt", POSES)
    stamps = tmp_path / "kitti.times"
    assert not read_trajectory(kitti).is_timed
    for arguments, cause in (
        ({"path": tum, "fps": 30.0}, "own time stamps"),
        ({"path": tum, "times": stamps}, "own time stamps"),
        ({"path": kitti, "fps": 30.0, "times": stamps}, "both"),
        ({"path": kitti, "fps": 0.0}, "--fps 0"),
        ({"path": kitti, "fps": float("nan")}, "--fps nan"),
        ({"path": kitti, "times": tum}, "line 2: 8 columns"),
    ):
        with pytest.raises(UsageError, match=cause):
            read_trajectory(**arguments)
    for text, cause in (("0\n1\n", "2 times for 61 poses"), ("0\n" * 61, "line 2: the same time")):
        stamps.write_text(text)
        with pytest.raises(UsageError, match=cause):
            read_trajectory(kitti, times=stamps)


def with_duplicates(path: Path) -> np.ndarray:
    """Four poses that repeat a time, two of them in a row; returns the rows that are first of their time."""
    rows = np.insert(np.loadtxt(path), [3, 10, 10, 61], np.loadtxt(path)[[2, 9, 9, 60]], axis=0)
    rows[[3, 11, 12, 64], 1] += 5.0
    np.savetxt(path, rows, fmt="%.9f")
    return np.flatnonzero(np.append(True, np.diff(rows[:, 0]) > 0))


def test_one_option_mends_all_duplicates(tmp_path: Path) -> None:
    """The error counts them and names the option, which keeps the first pose of each time and leaves the file alone."""
    path = write_tum(tmp_path / "tum.txt", POSES)
    kept = with_duplicates(path)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"line 4: the same time as line 3, .* \(4 such lines\)") as refused:
        read_trajectory(path)
    assert "--drop-duplicates" in refused.value.remedy
    assert ">" not in refused.value.remedy
    read = read_trajectory(path, drop_duplicates=True)
    assert len(kept) == len(POSES)
    assert np.allclose(read.world_from_cam, POSES, atol=1e-7)
    assert "4 of 65 poses are dropped, the first at line 4" in read.notes[0]
    assert path.read_bytes() == before
    assert read_trajectory(write_tum(tmp_path / "whole.txt", POSES), drop_duplicates=True).notes == ()


def test_dropping_duplicates_of_a_file_of_times(tmp_path: Path) -> None:
    path = write_kitti(tmp_path / "kitti.txt", POSES)
    times_s = times_of(POSES)
    times_s[20] = times_s[19]
    np.savetxt(tmp_path / "times.txt", times_s, fmt="%.9f")
    read = read_trajectory(path, times=tmp_path / "times.txt", drop_duplicates=True)
    assert np.allclose(read.world_from_cam, np.delete(POSES, 20, axis=0))
    assert "line 21" in read.notes[0]


def test_dropping_duplicates_sorts_nothing(tmp_path: Path) -> None:
    path = write_tum(tmp_path / "tum.txt", POSES)
    rows = np.loadtxt(path)
    np.savetxt(path, rows[[0, 1, 1, 3, 2, 4]], fmt="%.9f")
    with pytest.raises(UsageError, match=r"line 5: .* earlier than line 4"):
        read_trajectory(path, drop_duplicates=True)


def test_an_unknown_format_lists_the_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="auto, tum, kitti, euroc, colmap, nerfstudio"):
        read_trajectory(write_tum(tmp_path / "tum.txt", POSES), form="bvh")


@real
def test_real_files_are_known() -> None:
    known = {
        "traj_evo/KITTI_00_gt.txt": "kitti",
        "traj_evo/KITTI_00_ORB.txt": "kitti",
        "traj_evo/V102_groundtruth.csv": "euroc",
        "traj_evo/V102.txt": "tum",
        "traj_evo/fr2_desk_groundtruth.txt": "tum",
        "traj_evo/freiburg1_xyz-rgbdslam.txt": "tum",
        "fox_ngp/transforms.json": "nerfstudio",
    }
    assert {name: detect_format(DATA / name) for name in known} == known


@real
def test_real_mount() -> None:
    """With the mount, most camera poses of a drone are upright."""
    path = read_trajectory(
        DATA / "traj_evo" / "V102_groundtruth.csv", cam_from_body=DATA / "euroc_v101" / "mav0" / "cam0" / "sensor.yaml"
    )
    assert np.median(-path.world_from_cam[:, 2, 1]) > 0.8


@real
def test_a_real_duplicate_is_refused_with_its_line() -> None:
    with pytest.raises(UsageError, match=r"line 10863: the same time as line 10862, 1311868229\.576 s"):
        read_trajectory(DATA / "traj_evo" / "fr2_desk_groundtruth.txt")


def test_a_name_of_very_many_digits_is_a_name(tmp_path: Path) -> None:
    path = write_nerfstudio(tmp_path / "transforms.json", POSES)
    content = json.loads(path.read_text())
    content["frames"][0]["file_path"] = "9" * 5000
    path.write_text(json.dumps(content))
    assert "9" * 5000 in read_trajectory(path, form="nerfstudio", fps=10.0).names
