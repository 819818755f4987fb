"""Matches from depth and poses: exact ones, suspected outliers, and reasons for no estimate."""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.trust.layouts import MANIFESTS
from experts.clip import Clip
from experts.expert import joins
from experts.matching.reprojection import ReprojectionExpert, ReprojectionSettings
from experts.signals import CameraPath, Depth, Matches, NoEstimate, PointTracks, Scale, Signal, ValidArea
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room
from spatial_engine.sequences import open_sequence
from templates.scene.correspondence import corresponding_points
from templates.scene.scenes import scenes_of
from tests.experts import learned

DATA = os.environ.get("SPATIAL_ENGINE_DATA")


@cache
def room(moving: bool = False, rotating: bool = False) -> tuple[RenderedScene, Clip]:
    path = camera_paths.pure_rotation if rotating else None
    scene = random_room(
        np.random.default_rng(5), frames=24, width_px=240, height_px=180, moving_object=moving, path=path
    )
    return scene, as_clip(scene)


def exact(moving: bool = False, rotating: bool = False) -> tuple[Clip, dict[str, Signal]]:
    """Ground truth of every other frame as signals."""
    scene, clip = room(moving, rotating)
    signals = true_signals(scene, clip, stride=2)
    return clip, {name: signals[name] for name in ("depth", "camera_path")}


def matches_of(clip: Clip, signals: dict[str, Signal]) -> Matches:
    (found,) = ReprojectionExpert()(clip, signals).values()
    assert isinstance(found, Matches)
    return found


def reason(clip: Clip, signals: dict[str, Signal | NoEstimate]) -> str:
    (found,) = ReprojectionExpert()(clip, signals).values()
    assert isinstance(found, NoEstimate)
    return found.reason


def errors_px(found: Matches, scene: RenderedScene, clip: Clip) -> np.ndarray:
    """Error of at most 400 random matches; NaN for the others, and where the point is not visible in frame b."""
    (truth,) = scenes_of(clip, true_signals(scene, clip))
    rows = np.random.default_rng(0).permutation(len(found.pair))[:400]
    frames = found.pairs[found.pair[rows]]
    true = corresponding_points(truth, frames[:, 0], found.xy_a_px[rows].astype(float), frames[:, 1])
    out = np.full(len(found.pair), np.nan)
    shown = (true.why == "") & (true.label == "")
    out[rows[shown]] = np.linalg.norm(true.value - found.xy_b_px[rows], axis=1)[shown]
    return out


@pytest.mark.parametrize("rotating", [False, True])
def test_exact_depth_and_poses_give_exact_matches(rotating: bool) -> None:
    assert joins(ReprojectionExpert())
    clip, signals = exact(rotating=rotating)
    found = matches_of(clip, signals)
    error = errors_px(found, room(rotating=rotating)[0], clip)
    assert len(found.pairs) >= 5 and np.isfinite(error).sum() > 0.9 * min(400, len(error))
    assert np.nanmax(error) < 0.5
    assert set(found.confirmed_by.tolist()) <= {0, 4}
    assert (found.outlier_probability == 0.005).mean() > 0.8, "a third frame confirms nearly all static points"
    shift = np.linalg.norm(found.xy_b_px - found.xy_a_px, axis=1)
    assert np.ptp([np.median(shift[found.pair == k]) for k in range(len(found.pairs))]) > 10, "small and large shifts"


def test_sigma_comes_from_depth_poses_and_focal_length() -> None:
    clip, signals = exact()
    depth, path = signals["depth"], signals["camera_path"]
    assert isinstance(depth, Depth) and isinstance(path, CameraPath)
    uncertain = replace(path, rotation_sigma_rad=np.full(len(path.frames), 0.01))
    found = matches_of(clip, {"depth": depth, "camera_path": uncertain})
    np.testing.assert_allclose(found.sigma_px, 0.01 * path.intrinsics.fx_px, rtol=0.05)
    uncertain_depth = replace(depth, relative_sigma=np.full_like(depth.relative_sigma, 0.05))
    found = matches_of(clip, {"depth": uncertain_depth, "camera_path": path})
    displaced = found.sigma_px[np.linalg.norm(found.xy_b_px - found.xy_a_px, axis=1) > 10]
    assert 0.3 < np.median(displaced) < 0.1 * clip.width_px


@pytest.mark.long(sample=True)
def test_matches_on_moving_tracks_are_suspected_outliers() -> None:
    scene, clip = room(moving=True)
    models = learned.simulated(scene, clip, np.random.default_rng(0), noise=learned.Noise(lost_share=0.0))
    signals = {**exact(moving=True)[1], **tracks_of(clip, models)}
    found = matches_of(clip, signals)
    sure = found.outlier_probability < 0.01
    assert sure.mean() > 0.3
    assert not (sure & on_moving_object(found, scene)).any()


def test_matches_on_objects_whose_pose_changes_are_suspected_outliers() -> None:
    scene, clip = room(moving=True)
    truth = true_signals(scene, clip, stride=2)
    found = matches_of(clip, {name: truth[name] for name in ("depth", "camera_path", "objects")})
    assert not (found.outlier_probability[on_moving_object(found, scene)] < 0.01).any()
    assert (found.outlier_probability < 0.01).mean() > 0.5


def on_moving_object(found: Matches, scene: RenderedScene) -> np.ndarray:
    """Matches whose pixel in frame a is on a moving object."""
    at, frames = np.round(found.xy_a_px).astype(int), found.pairs[found.pair, 0]
    ids = {int(f): scene.ids(int(f)) for f in np.unique(frames)}
    return np.array([ids[int(f)][y, x] >= len(scene.boxes) for f, (x, y) in zip(frames, at, strict=True)])


def tracks_of(clip: Clip, models: learned.Models) -> dict[str, Signal]:
    signals = learned.with_joining_experts(clip, models)
    return {"tracks": signals["tracks"]} if isinstance(signals["tracks"], PointTracks) else {}


@pytest.mark.long(sample=True)
def test_matches_of_learned_signals_with_tracks_are_correct_within_sigma() -> None:
    scene, clip = room()
    signals = learned.with_joining_experts(clip, learned.simulated(scene, clip, np.random.default_rng(2), stride=2))
    found = signals["matches"]
    assert isinstance(found, Matches)
    sure = found.outlier_probability < 0.004
    assert sure.sum() > 100, "tracks confirm"
    error = errors_px(found, scene, clip)
    known = sure & np.isfinite(error)
    assert np.mean(error[known] <= 3.5 * found.sigma_px[known]) > 0.98
    assert np.nanpercentile(error[sure], 99) < 4


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("how", ["depth inverted", "path mirrored"])
def test_tracks_contradict_wrong_depth_and_wrong_paths(how: str) -> None:
    """The remaining matches are suspected outliers, or correct."""
    scene, clip = room()
    models = learned.broken(learned.simulated(scene, clip, np.random.default_rng(2), stride=2), how)
    found = learned.with_joining_experts(clip, models)["matches"]
    if isinstance(found, Matches):
        error = errors_px(found, scene, clip)
        sure = (found.outlier_probability < 0.01) & (
            found.sigma_px < 0.02 * np.hypot(clip.width_px, clip.height_px) / 3.04
        )
        assert np.nansum(error[sure] > 0.02 * np.hypot(clip.width_px, clip.height_px)) <= 0.01 * max(sure.sum(), 100)


def test_overlays_have_no_match() -> None:
    clip, signals = exact()
    valid = np.ones((clip.working_size[1], clip.working_size[0]), dtype=bool)
    valid[:, : clip.working_size[0] // 2] = False
    source = signals["depth"].provenance
    found = matches_of(clip, {**signals, "valid_area": ValidArea(valid=valid, provenance=source)})
    assert found.xy_a_px[:, 0].min() > clip.width_px / 2 - 1


def test_reasons_for_no_estimate() -> None:
    clip, signals = exact()
    depth, path = signals["depth"], signals["camera_path"]
    assert isinstance(depth, Depth) and isinstance(path, CameraPath)
    assert reason(clip, {"depth": NoEstimate(reason="no"), "camera_path": path}) == "no depth"
    assert reason(clip, {"depth": depth, "camera_path": NoEstimate(reason="no")}) == "no camera path"
    per_frame = replace(depth, scale=Scale(kind="per_frame"))
    assert reason(clip, {"depth": per_frame, "camera_path": path}) == "every frame's depth has its own scale"
    for motion, words in (
        ("static", "camera does not move"),
        ("unresolved", "translation of the camera is not known"),
    ):
        assert reason(clip, {"depth": depth, "camera_path": replace(path, motion=motion)}) == words
    one = replace(depth, frames=depth.frames[:1], z=depth.z[:1], relative_sigma=depth.relative_sigma[:1])
    alone = "no two frames overlap with enough displacement"
    assert reason(clip, {"depth": one, "camera_path": path}) == alone
    empty = replace(depth, z=np.full_like(depth.z, np.nan))
    assert reason(clip, {"depth": empty, "camera_path": path}) == alone
    lost = replace(path, registered=np.zeros(len(path.frames), dtype=bool))
    assert reason(clip, {"depth": depth, "camera_path": lost}) == alone


def test_with_two_frames_no_match_is_confirmed() -> None:
    clip, signals = exact()
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    two = [0, len(depth.frames) - 1]
    few = replace(depth, frames=depth.frames[two], z=depth.z[two], relative_sigma=depth.relative_sigma[two])
    found = matches_of(clip, {**signals, "depth": few})
    assert (
        found.outlier_probability == ReprojectionSettings().outlier_probability_unconfirmed
    ).all() and not found.confirmed_by.any()


@pytest.mark.long(sample=True)
@pytest.mark.skipif(DATA is None, reason="SPATIAL_ENGINE_DATA is not set")
@pytest.mark.parametrize("name", ["hololens_indoor", "sevenscenes_rgbd"])
def test_matches_of_measured_depth_and_poses_agree_with_sift(name: str) -> None:
    """7-Scenes: depth and colour come from two cameras (585 and 525 px), which are assumed to be at one position."""
    import cv2

    assert DATA is not None
    clip, signals, zoom = _footage(Path(DATA), name)
    found = matches_of(clip, signals)
    sift = cv2.SIFT.create(3000)
    seen = {
        frame: sift.detectAndCompute(grey, None)
        for frame, grey in clip.read_grey(sorted({int(f) for f in found.pairs.ravel()}))
    }
    middle = (np.array([clip.width_px, clip.height_px]) - 1) / 2
    errors, sigma = [], []
    for k, (a, b) in enumerate(found.pairs.tolist()):
        (ka, da), (kb, db) = seen[a], seen[b]
        alike = [m for m, n in cv2.BFMatcher().knnMatch(da, db, k=2) if m.distance < 0.7 * n.distance]
        ends = [np.array([kp[getattr(m, i)].pt for m in alike]) for kp, i in ((ka, "queryIdx"), (kb, "trainIdx"))]
        start, end = ((xy - middle) * zoom + middle for xy in ends)
        rows = np.flatnonzero((found.pair == k) & (found.outlier_probability < 0.01))
        distance = np.linalg.norm(found.xy_a_px[rows][:, None] - start, axis=2)
        nearest, near = distance.argmin(axis=1), distance.min(axis=1) < 3
        expected = end[nearest] + found.xy_a_px[rows] - start[nearest]
        errors.append(np.linalg.norm(found.xy_b_px[rows] - expected, axis=1)[near])
        sigma.append(found.sigma_px[rows][near])
    error, known = np.concatenate(errors), np.concatenate(sigma)
    assert len(error) > 20
    assert np.median(error) < 3.0
    assert np.mean(error < 3.5 * known) > 0.94


def _footage(root: Path, name: str) -> tuple[Clip, dict[str, Signal], float]:
    """Clip, measured depth and poses, and focal length of the depth over that of the pictures."""
    from PIL import Image

    manifest = MANIFESTS / f"{name}.yaml"
    (sequence,) = open_sequence(root / name, manifest=manifest if manifest.is_file() else None)
    clip = sequence.clip
    known = sequence.truth.signals(clip, clip.frames.tolist())
    path = known["camera_path"]
    assert isinstance(path, CameraPath)
    assert sequence.manifest.depth is not None
    if sequence.manifest.depth.registered:
        return clip, {"depth": known["depth"], "camera_path": path}, 1.0
    files = sorted((root / name).glob("*.depth.png"))
    z = np.stack([np.asarray(Image.open(file)).astype(np.float32) for file in files]) / 1000
    z = np.where((z > 0) & (z < 60), z, np.float32("nan"))
    factor = 585 / path.intrinsics.fx_px
    camera = replace(path.intrinsics, fx_px=585.0, fy_px=585.0)
    depth = Depth(
        frames=clip.frames,
        z=z,
        relative_sigma=np.where(np.isfinite(z), np.float32(0.01), np.float32("nan")),
        scale=path.scale,
        provenance=path.provenance,
    )
    return clip, {"depth": depth, "camera_path": replace(path, intrinsics=camera)}, factor
