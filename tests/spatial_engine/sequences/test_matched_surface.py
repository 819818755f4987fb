"""Distances of pixels by matching along true epipolar lines: right, or unknown."""

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from spatial_engine.sequences import Sequence, open_sequence
from spatial_engine.sequences.depth_elsewhere import DepthElsewhere
from spatial_engine.sequences.matched_pixels import pairs
from spatial_engine.sequences.matched_surface import MatchedSurface
from templates.scene.shared_view import scene_distance
from templates.scene.surface import Surface
from tests.spatial_engine.sequences.rendered_set import FRAMES, manifest, walk
from tests.spatial_engine.sequences.test_findings import opened, with_poses

FRAME = FRAMES // 2


@pytest.fixture(scope="module")
def still(rendered: Path, tmp_path_factory: pytest.TempPathFactory) -> Sequence:
    """The walk without depth, stated to be of a scene in which nothing moves."""
    stated = {name: part for name, part in manifest().items() if name != "depth"} | {"static": True}
    return opened(rendered, tmp_path_factory.mktemp("still"), stated)


@pytest.fixture(scope="module")
def corners(still: Sequence) -> Float64[np.ndarray, "k 2"]:
    ((_, grey),) = still.clip.read_grey([FRAME])
    found = cv2.goodFeaturesToTrack(grey, 24, 0.05, 24).reshape(-1, 2).astype(np.float64)
    return still.clip.full_from_working(found)


def seen(still: Sequence, xy_px: Float64[np.ndarray, "k 2"]) -> tuple[MatchedSurface, Surface]:
    matched = still.scene().matched
    assert isinstance(matched, MatchedSurface)
    return matched, matched.at(np.full(len(xy_px), FRAME), xy_px)


@pytest.mark.long(sample=True)
def test_distances_are_those_of_the_scene(still: Sequence, rendered: Path, corners: Float64[np.ndarray, "k 2"]) -> None:
    matched, found = seen(still, corners)
    (whole,) = open_sequence(rendered)
    true = whole.scene([FRAME]).surface(FRAME, corners)
    both = np.isfinite(found.range) & (true.range_relative_sigma < 0.02)
    assert both.sum() >= 5
    error = np.abs(np.log(found.range / true.range))[both]
    assert np.all(error < 5 * np.hypot(found.range_relative_sigma, true.range_relative_sigma)[both])
    assert np.median(error) < 0.03
    pair = np.full((both.sum(), 2), (FRAME, FRAME + 1))
    assert matched.shows(pair, corners[both], found.xyz_cam[both, 2]).mean() > 0.8
    assert matched.shows(pair, corners[both], 0.4 * found.xyz_cam[both, 2]).mean() < 0.5


def test_how_far_a_scene_is_is_known_without_depth(still: Sequence, rendered: Path) -> None:
    """Whether a camera moves at all is a matter of that distance."""
    (whole,) = open_sequence(rendered)
    true, matched = (scene_distance(scene, np.array([FRAME])) for scene in (whole.scene([FRAME]), still.scene()))
    assert matched == pytest.approx(true, rel=0.3)


@pytest.mark.long(sample=False)
def test_wrong_poses_give_no_distances(still: Sequence, corners: Float64[np.ndarray, "k 2"]) -> None:
    poses = walk().world_from_cam[::-1].copy()
    matched, _ = seen(still, corners[:1])
    path = replace(matched.path, world_from_cam=poses)
    found = replace(matched, path=path, _found={}).at(np.full(len(corners), FRAME), corners)
    assert np.isfinite(found.range).sum() <= 2


@pytest.mark.long(sample=True)
def test_depth_around_a_pixel_confirms_or_refutes_a_match(
    still: Sequence, rendered: Path, corners: Float64[np.ndarray, "k 2"]
) -> None:
    """Of each corner's surroundings the right half has no depth."""
    matched, _ = seen(still, corners[:1])
    (whole,) = open_sequence(rendered)
    exact = whole.truth.depth_of(whole.clip, [FRAME])
    assert exact is not None
    z = exact.z.copy()
    for x, y in np.rint(corners).astype(int).tolist():
        z[0, y - 3 : y + 4, x : x + 4] = np.nan

    def by(factor: float) -> tuple[Surface, Bool[np.ndarray, "k"]]:
        own = replace(exact, z=np.float32(factor) * z)
        elsewhere = DepthElsewhere(path=matched.path, depth_of=lambda frame: own if frame == FRAME else None)
        found = replace(matched, elsewhere=elsewhere, _found={}).at(np.full(len(corners), FRAME), corners)
        return found, np.array([elsewhere.around(FRAME, xy) is not None for xy in corners])

    found, around = by(1.0)
    true = whole.scene([FRAME]).surface(FRAME, corners)
    both = np.isfinite(found.range) & around & (true.range_relative_sigma < 0.02)
    assert both.sum() >= 5
    error = np.abs(np.log(found.range / true.range))[both]
    assert np.all(error < 5 * np.hypot(found.range_relative_sigma, true.range_relative_sigma)[both])
    refuted, around = by(0.6)
    assert around.sum() >= 5 and np.isfinite(refuted.range[around]).sum() <= 1 < both.sum()


def test_only_a_still_scene_with_poses_is_matched(still: Sequence, rendered: Path) -> None:
    (moving,) = open_sequence(rendered)
    assert moving.scene().matched is None
    lost = with_poses(still, np.full((FRAMES, 4, 4), np.nan))
    assert lost.scene().matched is None


def test_poses_that_miss_every_match_place_no_patch(still: Sequence) -> None:
    path = still.scene().path
    assert path is not None
    turned = path.world_from_cam.copy()
    turned[::2, :3, :3] = turned[::2, :3, :3] @ Rotation.from_euler("z", 40, degrees=True).as_matrix()
    found = list(pairs(still.clip, [(FRAME, FRAME + 1), (FRAME - 1, FRAME)]))
    assert isinstance(MatchedSurface.of(still.clip, path, found), MatchedSurface)
    assert MatchedSurface.of(still.clip, replace(path, world_from_cam=turned), found) is None
