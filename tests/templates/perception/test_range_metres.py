"""How many metres away a point is, where the scale is metric."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Scale, SparsePoints
from templates.answers import Numbers
from templates.perception.geometry import RangeMetres
from templates.truth import verdict
from tests.templates import worlds

METRES = RangeMetres()
METRIC = worlds.with_path(worlds.signals(), scale=worlds.METRIC)


def test_metres_are_the_distance_of_the_point_from_the_camera() -> None:
    found, truth = worlds.drafts(worlds.ask(METRES, METRIC)), worlds.scene(METRIC)
    points = METRIC["sparse_points"]
    assert isinstance(points, SparsePoints) and len(found) == 20
    for draft in found:
        here = points.observation_frame == draft.fact["frame"]
        nearest = np.linalg.norm(points.observation_xy_px[here] - draft.fact["a_px"], axis=1).argmin()
        place = points.xyz_world[points.observation_point[here][nearest]]
        metres = np.linalg.norm(place - worlds.camera_poses()[draft.fact["frame"] // 2][:3, 3])
        assert isinstance(draft.answer, Numbers) and draft.answer.value[0] == pytest.approx(metres)
        assert draft.answer.to_json().unit == "m" and draft.answer.tolerance[0] <= 0.15 * metres
        assert draft.answer.sigma[0] == pytest.approx(metres * np.hypot(0.03, 0.01))
        assert verdict(METRES, "numeric", dict(draft.fact), draft.answer, truth) is not False


def test_a_relative_clip_and_an_uncertain_scale_are_not_asked() -> None:
    relative = worlds.ask(METRES, worlds.signals())
    assert not len(relative) and worlds.reasons(relative) == {"scale is not metric"}
    vague = worlds.ask(METRES, worlds.with_path(METRIC, scale=Scale(kind="metric", relative_sigma=0.2, source="model")))
    assert not len(vague) and worlds.reasons(vague) == {"σ too large for the tolerance"}


def test_suspected_outliers_are_not_asked() -> None:
    points = METRIC["sparse_points"]
    assert isinstance(points, SparsePoints)
    doubtful = replace(points, outlier_probability=np.full(len(points.xyz_world), 0.05))
    assert worlds.reasons(worlds.ask(METRES, {**METRIC, "sparse_points": doubtful})) == {"nothing to ask about"}
