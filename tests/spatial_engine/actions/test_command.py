"""`spatial-engine actions` as a user types it: plans, replays, and everything that is refused."""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatial_engine.cli.main import main
from tests.spatial_engine.path_files import (
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
Run = Callable[..., tuple[int, str, str]]
NAMES = {f"{word} {end}" for word, ends in (
    ("Truck", ("Left", "Right")), ("Pedestal", ("Up", "Down")), ("Dolly", ("In", "Out")), ("Pan", ("Left", "Right")),
    ("Tilt", ("Up", "Down")), ("Roll", ("CW", "CCW")), ("Zoom", ("In", "Out")),
) for end in ends} | {"Stay"}  # fmt: skip
KEYS = [
    "first", "last", "t0_s", "t1_s", "actions", "symbols", "step_nums", "levelled",
    "translation_step_m", "rotation_step_rad", "residual_m", "residual_rad",
]  # fmt: skip
POSES = winding_path()


@pytest.fixture
def actions(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; returns exit code, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main(["actions", *map(str, arguments)])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


def planned(actions: Run, *arguments: object) -> dict[str, Any]:
    code, out, err = actions(*arguments, "--json")
    assert code == 0, err
    plan: dict[str, Any] = json.loads(out)
    check_form(plan)
    return plan


def check_form(plan: dict[str, Any]) -> None:
    assert list(plan) == ["scale", "axes", "unit", "segments"]
    for before, segment in zip([None, *plan["segments"]], plan["segments"], strict=False):
        assert list(segment) == KEYS
        assert len(segment["actions"]) == len(segment["symbols"]) == len(segment["step_nums"])
        assert set(segment["actions"]) <= NAMES
        assert all(type(number) is int and 0 <= number <= 10 for number in segment["step_nums"])
        assert segment["first"] < segment["last"]
        assert before is None or segment["first"] == before["last"]
        if plan["scale"] == "relative":
            assert segment["translation_step_m"] is segment["residual_m"] is None


def followed(plan: dict[str, Any], start: np.ndarray) -> np.ndarray:
    """The published definition, independently: world_from_b = world_from_a T(x, y, z) Ry(pan) Rx(tilt) Rz(roll)."""
    poses = [start]
    for segment in plan["segments"]:
        counts: Counter[str] = Counter()
        for name, steps in zip(segment["actions"], segment["step_nums"], strict=True):
            counts[name] += steps
        metres, angle = segment["translation_step_m"] or 1.0, segment["rotation_step_rad"]
        step = np.eye(4)
        step[:3, 3] = [
            metres * (counts["Truck Right"] - counts["Truck Left"]),
            metres * (counts["Pedestal Down"] - counts["Pedestal Up"]),
            metres * (counts["Dolly In"] - counts["Dolly Out"]),
        ]
        turns = [
            angle * (counts["Pan Right"] - counts["Pan Left"]),
            angle * (counts["Tilt Up"] - counts["Tilt Down"]),
            angle * (counts["Roll CW"] - counts["Roll CCW"]),
        ]
        step[:3, :3] = Rotation.from_euler("YXZ", turns).as_matrix()
        poses.append(poses[-1] @ step)
    return np.stack(poses)


def check_residuals(plan: dict[str, Any], poses: np.ndarray) -> float:
    """Every residual equals that of an independent replay; returns the largest."""
    for segment, here in zip(plan["segments"], followed(plan, poses[0])[1:], strict=True):
        off = np.linalg.inv(poses[segment["last"]]) @ here
        assert segment["residual_m"] == pytest.approx(np.linalg.norm(off[:3, 3]), abs=1e-5)
        turn = Rotation.from_matrix(off[:3, :3]).magnitude()
        assert segment["residual_rad"] == pytest.approx(turn, abs=1e-4)
    return float(max(segment["residual_m"] for segment in plan["segments"]))


def test_every_format_gives_the_same_plan(actions: Run, tmp_path: Path) -> None:
    plan = planned(actions, write_tum(tmp_path / "tum.txt", POSES))
    assert (plan["scale"], plan["axes"], plan["unit"]) == ("metric", "opencv", "m")
    assert check_residuals(plan, POSES) < 0.5
    told = {name for segment in plan["segments"] for name in segment["actions"]}
    assert {"Dolly In", "Pan Right"} <= told
    kitti = write_kitti(tmp_path / "kitti.txt", POSES)
    euroc = write_euroc(tmp_path / "euroc.csv", POSES)
    colmap = write_colmap(tmp_path / "images.txt", POSES)
    nerfstudio = write_nerfstudio(tmp_path / "transforms.json", POSES)
    times = kitti.with_suffix(".times")
    for arguments in (
        (kitti, "--times", times),
        (euroc, "--cam-from-body", tmp_path / "sensor.yaml"),
        (colmap, "--times", times, "--scale", "metric"),
        (nerfstudio, "--times", times, "--scale", "metric"),
    ):
        other = planned(actions, *arguments)
        for mine, theirs in zip(plan["segments"], other["segments"], strict=True):
            assert [mine[key] for key in KEYS[4:7]] == [theirs[key] for key in KEYS[4:7]]
            assert mine["t1_s"] == pytest.approx(theirs["t1_s"], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "axis", "turn"),
    [
        ("Truck Right", (1, 0, 0), None), ("Truck Left", (-1, 0, 0), None),
        ("Pedestal Down", (0, 1, 0), None), ("Pedestal Up", (0, -1, 0), None),
        ("Dolly In", (0, 0, 1), None), ("Dolly Out", (0, 0, -1), None),
        ("Pan Right", None, (0, 1, 0)), ("Pan Left", None, (0, -1, 0)),
        ("Tilt Up", None, (1, 0, 0)), ("Tilt Down", None, (-1, 0, 0)),
        ("Roll CW", None, (0, 0, 1)), ("Roll CCW", None, (0, 0, -1)),
    ],
)  # fmt: skip
def test_one_motion_has_one_name(
    actions: Run, tmp_path: Path, name: str, axis: tuple[int, ...] | None, turn: tuple[int, ...] | None
) -> None:
    """From a rotated start, on metric paths and on paths of unknown scale."""
    poses = np.tile(POSES[45], (31, 1, 1))
    share = np.linspace(0.0, 0.6, 31)[:, None]
    if axis:
        poses[:, :3, 3] += share * (poses[0, :3, :3] @ axis)
    if turn:
        poses[:, :3, :3] = poses[0, :3, :3] @ Rotation.from_rotvec(share * turn).as_matrix()
    path = write_tum(tmp_path / "path.txt", poses)
    for scale in ("metric", "relative"):
        plan = planned(actions, path, "--scale", scale)
        assert {told for segment in plan["segments"] for told in segment["actions"]} == {name}


@pytest.mark.parametrize("scale", ["metric", "relative"])
def test_noise_of_position_is_no_translation(actions: Run, tmp_path: Path, scale: str) -> None:
    poses = np.tile(np.eye(4), (150, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("y", np.linspace(0, 0.7, 150)[:, None]).as_matrix()
    poses[:, :3, 3] = np.random.default_rng(0).normal(0, 0.01, (150, 3))
    plan = planned(actions, write_tum(tmp_path / "path.txt", poses), "--scale", scale)
    assert {name for segment in plan["segments"] for name in segment["actions"]} == {"Pan Right"}


def test_relative_plans_do_not_depend_on_the_unit_of_length(actions: Run, tmp_path: Path) -> None:
    told = []
    for factor in (1.0, 1e-4, 3e5):
        poses = POSES.copy()
        poses[:, :3, 3] *= factor
        path = tmp_path / "kitti.txt"
        write_kitti(path, poses)
        plan = planned(actions, path, "--times", path.with_suffix(".times"), "--scale", "relative")
        told.append([[segment[key] for key in KEYS[4:7]] for segment in plan["segments"]])
    assert told[0] == told[1] == told[2]


def test_levelled_needs_up(actions: Run, tmp_path: Path) -> None:
    """A level walk that looks 30° down: dolly and pedestal in camera axes, Dolly In alone when levelled."""
    poses = np.tile(np.eye(4), (31, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("x", -30, degrees=True).as_matrix()
    poses[:, 2, 3] = np.linspace(0, 1.5, 31)
    path = write_tum(tmp_path / "path.txt", poses)
    assert {segment["levelled"] for segment in planned(actions, path)["segments"]} == {None}
    plan = planned(actions, path, "--up", "0,-2,0")
    assert plan["segments"][0]["levelled"] == ["Dolly In"]
    assert set(plan["segments"][0]["actions"]) == {"Dolly In", "Pedestal Up"}
    _, out, _ = actions(path, "--up", "0,-1,0")
    assert "levelled" in out


def test_the_seed_draws_the_step_size(actions: Run, tmp_path: Path) -> None:
    path = write_tum(tmp_path / "path.txt", POSES)
    steps = {planned(actions, path, "--seed", seed)["segments"][0]["translation_step_m"] for seed in range(8)}
    assert len(steps) > 2
    assert planned(actions, path) == planned(actions, path, "--seed", 0)


def test_without_times_none_are_printed(actions: Run, tmp_path: Path) -> None:
    path = write_nerfstudio(tmp_path / "transforms.json", POSES)
    code, out, err = actions(path, "--json")
    assert code == 0
    assert "no times" in err
    plan = json.loads(out)
    assert (plan["scale"], plan["axes"], plan["unit"]) == ("relative", "opengl", "step")
    assert {segment["t0_s"] for segment in plan["segments"]} == {None}
    assert planned(actions, path, "--fps", 30)["segments"][0]["t0_s"] == 0.0


def test_a_zoom_is_no_dolly(actions: Run, tmp_path: Path) -> None:
    """Frames have their own focal lengths; the zoom takes more than 10 steps."""
    path = write_nerfstudio(tmp_path / "transforms.json", np.repeat(POSES[:1], 61, axis=0))
    stated = json.loads(path.read_text())
    for row, frame in enumerate(stated["frames"]):
        frame["fl_x"] = 500.0 * 4.0 ** (row / 60)
    path.write_text(json.dumps(stated))
    segments = planned(actions, path, "--fps", 30)["segments"]
    assert {name for segment in segments for name in segment["actions"]} == {"Zoom In"}
    assert sum(sum(segment["step_nums"]) for segment in segments) == round(math.log(4) / math.log(1.1))


def test_a_body_has_no_camera_names(actions: Run, tmp_path: Path) -> None:
    poses = np.concatenate([np.repeat(POSES[:1], 30, axis=0), POSES])
    path = write_euroc(tmp_path / "body.csv", poses)
    code, out, err = actions(path, "--json")
    assert code == 0
    assert "--cam-from-body" in err
    plan = json.loads(out)
    check_form(plan)
    assert plan["axes"] == "body"
    assert [segment["actions"] for segment in plan["segments"]] == [["Stay"], []]
    (tmp_path / "plan.json").write_text(out)
    assert actions("--replay", tmp_path / "plan.json")[0] == 2
    assert "Truck" not in "".join(actions(path)[1:])


def test_a_gap_is_reported_and_joined(actions: Run, tmp_path: Path) -> None:
    path = write_tum(tmp_path / "path.txt", POSES)
    rows = np.loadtxt(path)
    rows[31:, 0] += 9.0
    rows[31:, 1] += 4.0
    np.savetxt(path, rows, fmt="%.9f")
    code, out, err = actions(path, "--json")
    assert code == 0
    assert "1 gaps" in err
    assert "after pose 30" in err
    plan = json.loads(out)
    check_form(plan)
    assert any((segment["first"], segment["last"]) == (30, 31) for segment in plan["segments"])
    poses = POSES.copy()
    poses[31:, 0, 3] += 4.0
    check_residuals(plan, poses)
    assert "gap, joined by" in actions(path)[1]
    rows[31:, 1] += 5e3
    np.savetxt(path, rows, fmt="%.9f")
    code, _, err = actions(path)
    assert code == 2
    assert "two paths" in err


def test_an_impossible_speed_is_reported(actions: Run, tmp_path: Path) -> None:
    poses = POSES.copy()
    poses[:, :3, 3] *= 1000.0  # millimetres taken for metres
    path = write_tum(tmp_path / "path.txt", poses)
    code, _, err = actions(path)
    assert code == 0
    number = float(re.search(r"travel at ([\d.e+]+) m/s", err)[1])  # type: ignore[index]
    assert 2000 < number < 10000
    assert actions(path, "--scale", "relative")[2] == ""


def drive(seconds: float, rate: float = 10.0) -> np.ndarray:
    """A car at 8 m/s that nods by 1° every 3 seconds."""
    poses = np.tile(np.eye(4), (round(seconds * rate) + 1, 1, 1))
    times_s = np.arange(len(poses)) / rate
    nod = np.radians(1.0) * np.sin(2 * np.pi * times_s / 3.0)
    poses[:, :3, :3] = Rotation.from_euler("x", nod[:, None]).as_matrix()
    poses[:, 2, 3] = 8.0 * times_s
    return poses


def test_many_segments_are_explained_and_two_options_lessen_them(actions: Run, tmp_path: Path) -> None:
    path = write_kitti(tmp_path / "drive.txt", drive(300.0))
    counts = []
    for options in ((), ("--min-duration", 2), ("--min-duration", 2, "--max-steps", 1000)):
        code, out, err = actions(path, "--fps", 10, "--json", *options)
        assert code == 0
        counts.append(len(json.loads(out)["segments"]))
        if not options:
            assert f"note: {counts[0]} segments in 300 s" in err
            assert re.search(r"changes its name \d+ times \(tilt \d+, pedestal \d+\)", err)
            assert "--min-duration (now 0.5 s)" in err
            assert "--max-steps (now 10)" in err
    assert counts[0] > 200
    assert counts[1] < counts[0] / 2
    assert counts[2] == 1
    assert "segments in" not in actions(write_tum(tmp_path / "path.txt", POSES))[2]


def test_replay_from_the_path_and_from_the_identity(actions: Run, tmp_path: Path) -> None:
    path, file = write_tum(tmp_path / "path.txt", POSES), tmp_path / "plan.json"
    for scale in ("metric", "relative"):
        _, text, _ = actions(path, "--json", "--scale", scale)
        file.write_text(text)
        code, out, _ = actions(path, "--scale", scale, "--replay", file, "--json")
        assert code == 0
        replayed, plan = json.loads(out), json.loads(text)
        poses = followed(plan, POSES[0])
        if scale == "metric":
            assert np.allclose(replayed["world_from_cam"], poses, atol=1e-9)
            assert replayed["residual_m"] == pytest.approx([part["residual_m"] for part in plan["segments"]], abs=1e-6)
        else:
            assert replayed["residual_m"] is None
            assert np.linalg.norm(np.array(replayed["world_from_cam"])[-1, :3, 3] - POSES[-1, :3, 3]) < 0.6
        off = [part["residual_rad"] for part in plan["segments"]]
        assert replayed["residual_rad"] == pytest.approx(off, abs=1e-6)
        assert "largest" in actions(path, "--scale", scale, "--replay", file)[1]
        code, out, _ = actions("--replay", file, "--json")
        assert code == 0
        assert np.allclose(json.loads(out)["world_from_cam"], followed(plan, np.eye(4)), atol=1e-9)
        assert "identity" in actions("--replay", file)[1]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"actions": ["Fly"]}, "unknown action 'Fly'"),
    ({"symbols": ["?"]}, "unknown action '?'"),
    ({"actions": [3]}, "not 3"),
    ({"actions": "Dolly In"}, "must be a list"),
    ({"actions": [], "symbols": [], "step_nums": []}, "no actions"),
    ({"actions": ["Dolly Out"]}, "symbols differ"),
    ({"symbols": []}, "symbols differ"),
    ({"symbols": [None]}, "symbols differ"),
    ({"actions": ["Gripper Open"], "symbols": ["G"]}, "is not a camera motion"),
    *(({"step_nums": [number]}, "whole numbers from 0 to 10") for number in
      (math.nan, math.inf, -math.inf, -1, 1.5, 11, 10**300, "3", True, None, [1])),
    ({"step_nums": [1, 2]}, "as many step_nums"),
    ({"step_nums": None}, "must be a list"),
    *(({key: number}, f"{key} must be a positive number") for key in ("translation_step_m", "rotation_step_rad")
      for number in (None, 0, -1, math.nan, math.inf, "1", True, 10**400)),
    *(({key: number}, "first and last") for key in ("first", "last") for number in (-1, 1.5, None, "3", True)),
    ({"last": 99}, "leads to pose 99"),
    ({"segments": []}, "no segments"),
    ({"segments": {}}, "no segments"),
    ({"segments": [3]}, "not an object"),
    ({"scale": "furlongs"}, "scale 'furlongs'"),
    ({"axes": "body"}, "axes 'body'"),
    ({"axes": []}, "axes []"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "cause"), BAD, ids=[str(wrong)[:40] for wrong, _ in BAD])
def test_bad_plans_are_refused(actions: Run, tmp_path: Path, wrong: dict[str, Any], cause: str) -> None:
    segment: dict[str, Any] = {
        "first": 0, "last": 60, "actions": ["Dolly In"], "symbols": ["W"], "step_nums": [10],
        "translation_step_m": 0.3, "rotation_step_rad": 0.1,
    }  # fmt: skip
    plan: dict[str, Any] = {"scale": "metric", "axes": "opencv", "unit": "m", "segments": [segment]}
    path, file = write_tum(tmp_path / "path.txt", POSES), tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    assert actions(path, "--replay", file)[0] == 0
    for key, value in wrong.items():
        (plan if key in plan else segment)[key] = value
    file.write_text(json.dumps(plan))
    code, out, err = actions(path, "--replay", file)
    assert code == 2
    assert out == ""
    assert cause in err.splitlines()[0]
    assert len(err) < 700


def test_more_steps_than_asked(actions: Run, tmp_path: Path) -> None:
    path, file = write_tum(tmp_path / "path.txt", POSES), tmp_path / "plan.json"
    file.write_text(actions(path, "--json", "--max-steps", 30)[1])
    assert actions(path, "--replay", file, "--max-steps", 30)[0] == 0
    code, _, err = actions(path, "--replay", file, "--max-steps", 3)
    assert code == 2
    assert "--max-steps N" in err


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"segments": [' + "9" * 5000 + "]}", "null", "\x00"])
def test_files_that_are_not_plans_are_refused(actions: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    code, _, err = actions("--replay", tmp_path / "plan.json")
    assert code == 2
    assert "plan.json" in err


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ((), "no file of camera poses"),
        (("{}", "--up", "0,0,0"), "--up 0,0,0"),
        (("{}", "--up", "0,0"), "--up 0,0"),
        (("{}", "--up", "nan,0,1"), "--up nan"),
        (("{}", "--format", "bvh"), "'bvh'"),
        (("{}", "--poses", "up"), "c2w"),
        (("{}", "--axes", "unity"), "opengl"),
        (("{}", "--scale", "big"), "relative"),
        (("{}", "--max-steps", "1"), "--max-steps"),
        (("{}", "--seed", "-1"), "--seed"),
        (("{}", "--min-duration", "-1"), "--min-duration"),
        (("{}", "--min-duration", "nan"), "--min-duration"),
        (("{}", "--plot", "a.jpg"), "a.jpg"),
        (("{}", "--plot", "/dev/null/a.png"), "cannot be written"),
        (("{}", "--plot", "a.png", "--replay", "{}"), "--plot with --replay"),
    ],
)
def test_usage_is_2(actions: Run, tmp_path: Path, options: tuple[str, ...], cause: str) -> None:
    path = write_tum(tmp_path / "path.txt", POSES)
    code, _, err = actions(*(option.format(path) for option in options))
    assert code == 2
    assert cause in err


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.HTML"])
def test_a_plot_with_the_plan(actions: Run, tmp_path: Path, name: str) -> None:
    path = write_tum(tmp_path / "path.txt", POSES)
    code, out, _ = actions(path, "--up", "0,-1,0", "--plot", tmp_path / name, "--json")
    assert code == 0
    assert json.loads(out)["segments"][0]["levelled"] is None  # a camera that looks straight down
    assert (tmp_path / name).stat().st_size > 1000


@real
def test_kitti(actions: Run, tmp_path: Path) -> None:
    files = DATA / "traj_evo" / "KITTI_00_gt.txt", "--times", DATA / "traj_evo" / "KITTI_00_gt_times.txt"
    plan = planned(actions, *files)
    poses = np.tile(np.eye(4), (4541, 1, 1))
    poses[:, :3] = np.loadtxt(files[0]).reshape(-1, 3, 4)
    step = plan["segments"][0]["translation_step_m"]
    assert check_residuals(plan, poses) <= math.sqrt(12) * step
    moving = sum(part["last"] - part["first"] for part in plan["segments"] if "Dolly In" in part["actions"])
    assert moving > 0.9 * 4540
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    code, out, _ = actions(*files, "--replay", tmp_path / "plan.json")
    assert code == 0
    print(out)


@real
def test_segments_of_a_car(actions: Run) -> None:
    """KITTI 00 at 10 poses per second once gave 2 175 segments without an explanation."""
    path = DATA / "traj_evo" / "KITTI_00_gt.txt", "--fps", 10
    code, out, err = actions(*path, "--json")
    assert code == 0
    assert len(json.loads(out)["segments"]) < 1400
    assert "segments in 454 s" in err
    _, out, _ = actions(*path, "--json", "--min-duration", 2, "--max-steps", 100)
    assert len(json.loads(out)["segments"]) < 200


@real
def test_fr2_desk_without_its_duplicate(actions: Run) -> None:
    plan = planned(actions, DATA / "traj_evo" / "fr2_desk_groundtruth.txt", "--drop-duplicates", "--up", "0,0,1")
    step = plan["segments"][0]["translation_step_m"]
    assert max(part["residual_m"] for part in plan["segments"]) <= math.sqrt(12) * step
    assert any(part["levelled"] for part in plan["segments"])


@real
@pytest.mark.parametrize(
    ("name", "options", "scale", "axes"),
    [
        ("traj_evo/freiburg1_xyz-groundtruth.txt", (), "metric", "opencv"),
        ("traj_evo/V102_groundtruth.csv", (), "metric", "body"),
        ("traj_evo/V102_groundtruth.csv", ("--cam-from-body", "euroc_v101/mav0/cam0/sensor.yaml"), "metric", "opencv"),
        ("fox_ngp", ("--up", "0,0,1"), "relative", "opengl"),
    ],
)
def test_real_files(actions: Run, name: str, options: tuple[str, ...], scale: str, axes: str) -> None:
    plan = planned(actions, DATA / name, *(DATA / word if "/" in word else word for word in options))
    assert (plan["scale"], plan["axes"]) == (scale, axes)
    assert (axes == "body") == all(set(part["actions"]) <= {"Stay"} for part in plan["segments"])


def test_times_stay_as_written(actions: Run, tmp_path: Path) -> None:
    plan = planned(actions, write_tum(tmp_path / "path.txt", POSES))
    assert plan["segments"][-1]["t1_s"] == pytest.approx(times_of(POSES)[-1], abs=1e-6)
