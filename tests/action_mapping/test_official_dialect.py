"""The benchmark's scorer: its golden vectors are reproduced, and its differences from geometry are as documented."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.official_dialect import official_replay
from action_mapping.plan import PlanError, read_plan
from action_mapping.replay import replay

GOLDEN = Path(os.environ.get("SPATIAL_ENGINE_DATA", "")).parent / "golden" / "actions.json"


def pose(seven: list[float]) -> np.ndarray:
    return RigidTransform.from_components(seven[:3], Rotation.from_quat(seven[3:])).as_matrix()


def golden(kind: str) -> list[dict]:  # type: ignore[type-arg]
    if not GOLDEN.is_file():
        pytest.skip("no golden vectors beside SPATIAL_ENGINE_DATA")
    return [case for case in json.loads(GOLDEN.read_text())["cases"] if case["kind"].startswith(kind)]


def number(value: object) -> object:
    return float(value["$float"]) if isinstance(value, dict) else value


def test_every_single_golden_pose_is_reproduced() -> None:
    checked = 0
    for case in golden("single"):
        given = case["input"]
        arguments = (pose(given["initial_pose"]), given["actions"], [number(n) for n in given["step_nums"]])
        steps = {"translation_step": given["translation_step_size"], "rotation_step_rad": given["rotation_step_size"]}
        if case["exception"]:
            with pytest.raises(PlanError):
                official_replay(*arguments, **steps)
            continue
        np.testing.assert_allclose(official_replay(*arguments, **steps), pose(case["final_pose_reference"]), atol=1e-9)
        checked += 1
    assert checked > 40


def test_golden_poses_of_the_prompts_convention_are_geometry() -> None:
    """For valid plans our replay follows the prompt's convention, except for roll, which the prompt reverses."""
    checked = 0
    for case in golden("single"):
        given = case["input"]
        rolls = {"↻", "↺"} & set(given["actions"])
        try:
            plan = read_plan(given["actions"], [number(n) for n in given["step_nums"]], max_steps=1000,
                             translation_step=given["translation_step_size"],
                             rotation_step_rad=given["rotation_step_size"])  # fmt: skip
        except ValueError:
            continue
        if case["tag"] == "sym" or rolls:
            continue
        ours = replay(pose(given["initial_pose"]), plan)
        np.testing.assert_allclose(ours, pose(case["final_pose_prompt_convention"]), atol=1e-9)
        official = replay(pose(given["initial_pose"]), plan, dialect="spatialtree-official")
        np.testing.assert_allclose(official, pose(case["final_pose_reference"]), atol=1e-9)
        checked += 1
    assert checked > 15


def test_golden_poses_of_several_steps_are_reproduced() -> None:
    for case in golden("multi"):
        if case["tag"] != "multi-random":
            continue
        given = case["input"]
        sizes = [given["segments"][key] for key in sorted(given["segments"], key=lambda key: int(key.split("->")[0]))]
        here = pose(given["initial_pose"])
        for part, size, expected in zip(given["plan"].values(), sizes, case["poses_reference"][1:], strict=False):
            here = official_replay(here, part["actions"], part["step_nums"],
                                   translation_step=size["translation_step_size"],
                                   rotation_step_rad=size["rotation_step_size"])  # fmt: skip
            np.testing.assert_allclose(here, pose(expected), atol=1e-9)


def test_it_differs_from_geometry_as_documented() -> None:
    start = np.eye(4)
    start[:3, :3] = Rotation.from_euler("y", 90, degrees=True).as_matrix()
    walk = read_plan(["W"], [5], translation_step=0.1, rotation_step_rad=0.1)
    assert replay(start, walk)[:3, 3] == pytest.approx([0.5, 0.0, 0.0])
    assert replay(start, walk, dialect="spatialtree-official")[:3, 3] == pytest.approx([0.0, 0.0, 0.5])
    for key, axis in (("→", 2), ("↑", 1), ("↻", 0)):
        turn = read_plan([key], [3], translation_step=0.1, rotation_step_rad=0.1)
        official = replay(np.eye(4), turn, dialect="spatialtree-official")
        assert Rotation.from_matrix(official[:3, :3]).as_rotvec() == pytest.approx(0.3 * np.eye(3)[axis])


def test_it_accepts_unknown_keys_but_only_finite_counts() -> None:
    pose_after = official_replay(np.eye(4), ["W", "jump", "A"], [2.5])
    assert pose_after[:3, 3] == pytest.approx([-0.02, 0.0, 0.05])
    for bad in (math.nan, math.inf, None, "3"):
        with pytest.raises(PlanError, match="finite numbers"):
            official_replay(np.eye(4), ["W"], [bad])  # type: ignore[list-item]
