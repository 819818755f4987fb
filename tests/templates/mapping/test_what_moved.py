"""What moves: the marked point, the camera, both or neither."""

import numpy as np

from experts.signals import CameraPath
from templates.mapping.what_moved import WhatMoved
from templates.perception.allo_motion import PointMoves
from templates.truth import verdict
from tests.templates import worlds

WHAT = WhatMoved()


def test_points_and_camera_are_told_apart() -> None:
    signals = worlds.signals()
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    n = len(worlds.FRAMES)
    still = np.tile(np.eye(4), (n, 1, 1))
    static = worlds.with_path(signals, world_from_cam=still, motion="static", rotation_sigma_rad=np.full(n, 0.002))
    for known, words in ((signals, {"both", "camera"}), (static, {"point", "neither"})):
        found = worlds.drafts(worlds.ask(WHAT, known))
        assert {draft.answer.text for draft in found} == words  # type: ignore[attr-defined]
        scene = worlds.scene(known)
        for draft in found:
            assert verdict(WHAT, "choice", dict(draft.fact), draft.answer, scene) is True
            facts = PointMoves().facts.from_json([dict(draft.fact)])
            (moves,) = PointMoves().measure(facts, scene).label  # type: ignore[union-attr]
            assert (draft.answer.text in ("both", "point")) == (moves == "yes")  # type: ignore[attr-defined]
