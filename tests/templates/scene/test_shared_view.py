"""Which part of the scene two photos share."""

import numpy as np

from templates.scene.shared_view import shared_views
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
