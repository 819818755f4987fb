"""Which part of the scene two photos share."""

from dataclasses import dataclass, replace
from typing import NoReturn

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.shared_view import scene_distance, shared_views
from templates.scene.surface import Surface
from tests.templates import worlds


def test_share_and_baseline_of_pairs() -> None:
    scene = worlds.scene(worlds.signals())
    unknown = 47
    views = shared_views(scene, [0, 10, 46, unknown])
    np.testing.assert_allclose(np.diag(views.share)[:3], 1)
    np.testing.assert_allclose(np.diag(views.travel)[:3], 0)
    assert views.share[0, 1] > views.share[0, 2]
    assert views.travel[0, 1] < views.travel[0, 2]
    assert not views.share[3].any() and not views.share[:, 3].any()
    assert np.isnan(views.travel[3]).all() and np.isnan(views.travel[:, 3]).all()


def test_pairs_are_computed_once_per_scene() -> None:
    scene = worlds.scene(worlds.signals())
    assert shared_views(scene, [0, 10]) is shared_views(scene, np.array([0, 10]))
    assert shared_views(scene, [0, 10]) is not shared_views(scene, [0, 20])


def test_pixels_are_matched_only_where_no_photo_has_depth() -> None:
    """Each takes long."""

    @dataclass
    class Matcher:
        asked: int = 0
        pose_sigma_px: float = 1.0

        def at(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
            self.asked += len(frames)
            return replace(Surface.unknown(len(frames)), xyz_cam=np.tile([0.0, 0.0, 4.0], (len(frames), 1)))

        def shows(self, frames: object, xy_px: object, z: object) -> NoReturn:
            raise AssertionError

    bare = {"camera_path": worlds.signals()["camera_path"]}
    holed = replace(worlds.slope(), z=np.where(np.arange(64) < 20, np.nan, worlds.slope().z).astype(np.float32))
    for signals, asks in ((bare, True), ({**bare, "depth": holed}, False)):
        matcher = Matcher()
        scene = replace(worlds.scene(signals), matched=matcher)
        distance = scene_distance(scene, np.array([0, 10]))
        assert np.isfinite(distance).all() and bool(matcher.asked) is asks
