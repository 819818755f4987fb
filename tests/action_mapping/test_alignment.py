"""Alignment recovers known similarities; errors equal those computed by hand, and evo's where it is installed."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.alignment import align, ate, rpe
from action_mapping.rigid import PoseError
from tests.action_mapping.paths import walk


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100.0))
def test_a_known_similarity_is_recovered(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    rotation, translation = Rotation.random(rng=rng), 10.0 * rng.normal(size=3)
    estimate = rng.normal(size=(20, 3))
    reference = scale * rotation.apply(estimate) + translation
    found = align(estimate, reference, with_scale=True)
    assert found.scale == pytest.approx(scale)
    np.testing.assert_allclose(found.positions(estimate), reference, atol=1e-9 * max(1.0, scale))
    rigid = align(estimate, reference / scale)
    assert rigid.scale == 1.0
    assert ate(rigid.positions(estimate), reference / scale).maximum < 1e-7 / scale + 1e-9


def test_aligned_poses_rotate_with_their_positions() -> None:
    poses, _ = walk(np.random.default_rng(0).normal(size=(20, 6)))
    world = RigidTransform.from_components([1.0, 2.0, 3.0], Rotation.from_rotvec([0.1, 0.2, 0.3])).as_matrix()
    found = align(poses[:, :3, 3], (world @ poses)[:, :3, 3])
    np.testing.assert_allclose(found.poses(poses), world @ poses, atol=1e-9)


def test_errors_equal_those_computed_by_hand() -> None:
    error = ate(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.zeros((3, 3)))
    assert (error.rmse, error.mean, error.median, error.maximum) == pytest.approx((math.sqrt(26 / 3), 2.0, 1.0, 5.0))


def test_relative_error_does_not_depend_on_the_world() -> None:
    poses, _ = walk([[0, 0.1, 0, 0, 0, 1.0]] * 20)
    drifting, _ = walk([[0, 0.1, 0, 0, 0, 1.1]] * 20, start=RigidTransform.from_translation([5, 5, 5]).as_matrix())
    translation, rotation = rpe(drifting, poses)
    assert (translation.rmse, rotation.rmse) == pytest.approx((0.1 / 30, 0.0), abs=1e-6)
    assert rpe(drifting, poses, step=10)[0].mean == pytest.approx(1.0 / 30, rel=1e-3)


@pytest.mark.parametrize("xyz", [np.zeros((5, 3)), np.outer(np.arange(5.0), [1, 2, 3]), np.eye(3)[:2]])
def test_positions_that_do_not_determine_a_rotation_are_refused(xyz: np.ndarray) -> None:
    with pytest.raises(PoseError, match="one line"):
        align(xyz, xyz)


def test_unknown_positions_are_refused() -> None:
    with pytest.raises(PoseError, match="finite"):
        align(np.full((4, 3), math.nan), np.eye(4)[:, :3])


@pytest.mark.parametrize("step", [0, 20, -1])
def test_steps_must_lie_within_the_path(step: int) -> None:
    poses, _ = walk([[0, 0, 0, 0, 0, 1.0]] * 19)
    with pytest.raises(PoseError, match="step"):
        rpe(poses, poses, step)


def write_tum(path: Path, poses: np.ndarray) -> Path:
    quaternions = Rotation.from_matrix(poses[:, :3, :3]).as_quat()
    np.savetxt(path, np.column_stack([np.arange(len(poses)), poses[:, :3, 3], quaternions]), fmt="%.12f")
    return path


@pytest.mark.skipif(shutil.which("evo_ape") is None, reason="evo is not installed (a development check only)")
@pytest.mark.parametrize("flags", ["", "-a", "-as"])
def test_evo_gives_the_same_errors(tmp_path: Path, flags: str) -> None:
    rng = np.random.default_rng(0)
    reference, _ = walk(rng.normal(size=(100, 6)))
    estimate = reference.copy()
    estimate[:, :3, 3] = 0.7 * estimate[:, :3, 3] + 0.02 * rng.normal(size=(101, 3)) + 1.0
    files = [write_tum(tmp_path / "reference.txt", reference), write_tum(tmp_path / "estimate.txt", estimate)]
    command = ["evo_ape", "tum", *map(str, files), *flags.split()]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = float(re.search(r"rmse\s+([\d.]+)", printed)[1])  # type: ignore[index]
    xyz = estimate[:, :3, 3]
    if flags:
        xyz = align(xyz, reference[:, :3, 3], with_scale="s" in flags).positions(xyz)
    assert ate(xyz, reference[:, :3, 3]).rmse == pytest.approx(theirs, abs=2e-6), json.dumps(command)
