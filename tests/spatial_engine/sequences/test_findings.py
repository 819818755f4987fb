"""Mistakes in ground truth are named, with the number that shows them; sound truth has none."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

from spatial_engine.sequences import Sequence, open_sequence
from tests.spatial_engine.sequences.rendered_set import FRAMES, changed, walk


def opened(rendered: Path, tmp_path: Path, stated: dict[str, Any]) -> Sequence:
    """The set by another manifest."""
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(stated), encoding="utf-8")
    (one,) = open_sequence(rendered, manifest=tmp_path / "other.yaml")
    return one


def with_poses(sequence: Sequence, poses: np.ndarray) -> Sequence:
    """With other poses."""
    return replace(sequence, truth=replace(sequence.truth, world_from_cam=poses))


@pytest.mark.long(sample=True)
def test_sound_truth_has_no_findings(rendered: Path) -> None:
    (one,) = open_sequence(rendered)
    assert one.findings == ()
    assert one.unsound == frozenset()


_CAMERA = walk().intrinsics
MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "w2c": ({"poses": {"direction": "w2c"}}, "poses look inverted"),
    "opengl": ({"poses": {"axes": "opengl"}}, "OpenGL"),
    "unit": ({"depth": {"unit_m": 0.0002}}, "different scales"),
    "range": ({"depth": {"along": "range"}}, "z, not range"),
    "up": ({"gravity": {"up_world": [0, 1, 0]}}, "up points elsewhere"),
    "fy": ({"camera": {"fy": -_CAMERA.fy_px}}, "focal length is negative"),
    "size": (
        {"camera": {name: 0.5 * getattr(_CAMERA, f"{name}_px") for name in ("fx", "fy", "cx", "cy")}},
        "camera times 2",
    ),
    "focal": ({"camera": {"fx": 2 * _CAMERA.fx_px, "fy": 2 * _CAMERA.fy_px}}, "focal length times 0.5"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_named(mistake: str, rendered: Path, tmp_path: Path) -> None:
    change, what = MISTAKES[mistake]
    one = opened(rendered, tmp_path, changed(**change))
    severe = [finding for finding in one.findings if finding.severe]
    assert what in severe[0].what
    assert any(letter.isdigit() for letter in severe[0].number)
    assert severe[0].remedy


def test_depth_of_another_camera(rendered: Path, tmp_path: Path) -> None:
    """Shifted by a thirtieth of the width, as a sensor beside the colour camera sees it."""
    (tmp_path / "depth").mkdir()
    for path in (rendered / "depth").iterdir():
        shifted = np.roll(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), 40, axis=1)
        cv2.imwrite(str(tmp_path / "depth" / path.name), shifted)
    one = opened(rendered, tmp_path, changed())
    assert one.truth.depth is not None
    paths = [tmp_path / "depth" / f"{frame:04d}.png" for frame in range(FRAMES)]
    one = replace(one, truth=replace(one.truth, depth=replace(one.truth.depth, paths=paths)))  # type: ignore[type-var]
    assert any("depth" in finding.what and finding.severe for finding in one.findings)


def test_depth_of_another_shape(rendered: Path, tmp_path: Path) -> None:
    one = opened(rendered, tmp_path, changed())
    assert one.truth.depth is not None
    path = tmp_path / "square.png"
    cv2.imwrite(str(path), np.full((100, 100), 2000, dtype=np.uint16))
    depth = replace(one.truth.depth, paths=[path] * FRAMES)  # type: ignore[type-var]
    (first, *_) = replace(one, truth=replace(one.truth, depth=depth)).findings
    assert first.what == "depth has another shape than the pictures"
    assert first.number == "depth 100x100, pictures 320x240"


def test_frames_of_a_shifted_block_are_named(rendered: Path) -> None:
    """As when some poses belong to pictures taken a little later."""
    (one,) = open_sequence(rendered)
    assert one.truth.world_from_cam is not None
    row = np.arange(FRAMES)
    row[5:8] += 4
    wrong = with_poses(one, one.truth.world_from_cam[row])
    assert {5, 6, 7} <= wrong.unsound <= {4, 5, 6, 7, 8}
    assert all(finding.frames for finding in wrong.findings)


def test_a_drift_is_noticed(rendered: Path) -> None:
    (one,) = open_sequence(rendered)
    assert one.truth.world_from_cam is not None
    poses = one.truth.world_from_cam.copy()
    for frame in range(7, FRAMES):
        poses[frame, :3, :3] = poses[frame, :3, :3] @ Rotation.from_euler("x", frame - 6, degrees=True).as_matrix()
    unsound = with_poses(one, poses).unsound
    assert len(unsound & set(range(9, FRAMES))) >= 4 or unsound >= set(range(7))


def test_what_is_carried_along_does_not_contradict_poses(
    rendered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gripper with a pattern fills half of each picture: its matches say nothing about poses, true or wrong."""
    shutil.copytree(rendered, tmp_path, dirs_exist_ok=True)
    blocks = np.random.default_rng(0).integers(0, 255, (40, 27), dtype=np.uint8)
    for path in (tmp_path / "images").iterdir():
        picture = cv2.imread(str(path))
        picture[:, :160] = cv2.resize(blocks, (160, 240), interpolation=cv2.INTER_NEAREST)[..., None]
        cv2.imwrite(str(path), picture)
    (one,) = open_sequence(tmp_path)
    assert one.truth.world_from_cam is not None and one.unsound == frozenset()
    wrong = with_poses(one, np.linalg.inv(one.truth.world_from_cam))
    assert "poses look inverted" in {finding.what for finding in wrong.findings}
    monkeypatch.setattr("spatial_engine.sequences.matched_pixels._MOVES_PX", np.inf)
    assert len(replace(one).unsound) == FRAMES


@pytest.mark.parametrize(("off_deg", "sigma_deg", "fits"), [(0.4, 0.1, False), (0.4, 1.0, True), (20.0, 30.0, False)])
def test_poses_fit_within_their_stated_sigma_only(
    off_deg: float, sigma_deg: float, fits: bool, rendered: Path, tmp_path: Path
) -> None:
    """A σ so wide that the poses fit however they are read proves nothing."""
    one = opened(rendered, tmp_path, changed(poses={"rotation_sigma_deg": sigma_deg, "direction_sigma_deg": sigma_deg}))
    assert one.truth.world_from_cam is not None
    poses = one.truth.world_from_cam.copy()
    off = np.random.default_rng(0).normal(size=(FRAMES, 3)) * np.radians(off_deg)
    poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_rotvec(off).as_matrix()
    assert any("poses do not fit" in finding.what for finding in with_poses(one, poses).findings) is not fits


def test_frames_with_another_frames_depth_are_named(rendered: Path) -> None:
    (one,) = open_sequence(rendered)
    depth = one.truth.depth
    assert depth is not None
    paths = [rendered / "depth" / f"{frame:04d}.png" for frame in range(FRAMES)]
    paths[3], paths[4] = paths[12], paths[13]
    wrong = replace(one, truth=replace(one.truth, depth=replace(depth, paths=paths)))  # type: ignore[type-var]
    assert {3, 4} <= wrong.unsound <= {2, 3, 4, 5}


def test_a_still_camera_is_examined_without_a_word(rendered: Path) -> None:
    (one,) = open_sequence(rendered)
    assert one.truth.world_from_cam is not None
    assert with_poses(one, np.repeat(one.truth.world_from_cam[:1], FRAMES, axis=0)).findings == ()
