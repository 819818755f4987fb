"""Which marked point is just outside another photo, in a small exact world."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from experts.signals import CameraPath
from templates.scene.past_edge import mirrored
from templates.simulation.point_beyond import MarksBeyond, PointBeyond
from tests.templates import worlds

TEMPLATE = PointBeyond()
SIGNALS = worlds.signals()


@cache
def facts() -> MarksBeyond:
    return TEMPLATE.propose(worlds.scene(SIGNALS), np.random.default_rng(0), 40).rounded()


def test_the_nearest_mark_outside_is_the_answer() -> None:
    """By pixels of a picture without end."""
    asked, known = facts(), worlds.scene(SIGNALS)
    found = TEMPLATE.measure(asked, known)
    assert len(asked) >= 5 and (found.why == "").all() and found.label is not None
    for k, label in enumerate(found.label.tolist()):
        seen = known.surface(int(asked.frame_marked[k]), asked.marks_px[k]).xyz_cam
        there, here = known.world_from_cam(asked.frame_marked[k]), known.world_from_cam(asked.frame[k])
        cam = (seen @ there[:3, :3].T + there[:3, 3] - here[:3, 3]) @ here[:3, :3]
        xy = worlds.CAMERA.project(cam)
        away = np.degrees(np.arccos(cam / np.linalg.norm(cam, axis=1)[:, None] @ worlds.CAMERA.rays(asked.point_px[k])))
        away[worlds.CAMERA.contains(xy)] = 180
        assert away.argmin() == int(label) - 1 and away.min() < 17 and np.sort(away)[1] > away.min() + 9.9


@pytest.mark.parametrize("unit", [0.2, pytest.param(1.0, marks=pytest.mark.long)])
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    there = worlds.elsewhere(3, unit)
    found, same = (TEMPLATE.measure(facts(), worlds.scene(known)) for known in (SIGNALS, there))
    assert found.label is not None and same.label is not None
    assert (same.why == "").all() and same.label.tolist() == found.label.tolist()


def test_beyond_the_opposite_edge_is_another_answer_or_none() -> None:
    asked, known = facts(), worlds.scene(SIGNALS)
    point_px, edge = mirrored(asked.point_px, asked.edge, asked.size)
    found, other = TEMPLATE.measure(asked, known), TEMPLATE.measure(replace(asked, point_px=point_px, edge=edge), known)
    assert found.label is not None and other.label is not None
    assert not ((other.why == "") & (other.label == found.label)).any()


def test_poses_that_are_not_sure_ask_nothing() -> None:
    path = SIGNALS["camera_path"]
    assert isinstance(path, CameraPath)
    vague = replace(path, rotation_sigma_rad=np.full(len(path.frames), np.radians(8)))
    found = TEMPLATE.measure(facts(), worlds.scene({**SIGNALS, "camera_path": vague}))
    assert (found.as_label().p_right() < 0.99).all()


def test_answers_and_edges_are_many() -> None:
    asked = facts()
    labels = TEMPLATE.measure(asked, worlds.scene(SIGNALS)).label
    assert labels is not None and len({*labels.tolist()}) >= 3
