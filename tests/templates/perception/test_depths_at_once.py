"""Distances of three points in metres, in one JSON object."""

from dataclasses import replace

import numpy as np
import pytest

from templates.perception.depth_queries import DepthsAtOnce
from tests.templates import worlds

TEMPLATE = DepthsAtOnce()
METRIC = worlds.with_path({**worlds.signals(), "depth": worlds.slope()}, scale=worlds.METRIC)


def test_each_mark_has_the_distance_of_its_point() -> None:
    found = worlds.drafts(worlds.ask(TEMPLATE, METRIC))
    assert len(found) == 20
    for draft in found:
        (photo,) = draft.media
        answer = worlds.written(draft)
        assert answer.keys() == {"P", "Q", "R"} and max(answer.values()) > 1.3 * min(answer.values())
        for mark in photo.marks:  # type: ignore[union-attr]
            (ray,) = worlds.CAMERA.rays(np.array([mark.xy_px]))
            depth = 2 + 4 * (mark.xy_px[1] - 4.5) / 10 / 47
            assert answer[mark.text] == pytest.approx(depth * np.linalg.norm(ray) / ray[2], abs=0.07)


def test_a_relative_scale_and_one_vague_point_of_three_refuse_the_question() -> None:
    relative = worlds.ask(TEMPLATE, {**METRIC, "camera_path": worlds.signals()["camera_path"]})
    assert worlds.reasons(relative) == {"scale is not metric"}
    vague = worlds.slope()
    vague = replace(vague, relative_sigma=np.where(vague.z > 4, np.float32(0.2), vague.relative_sigma))
    for draft in worlds.drafts(worlds.ask(TEMPLATE, {**METRIC, "depth": vague})):
        assert max(worlds.written(draft).values()) < 5
