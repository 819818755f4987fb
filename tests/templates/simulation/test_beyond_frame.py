"""Which object is just outside a photo, in a room with four objects around the camera."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import CameraPath, Depth, Signal
from templates.scene.objects import seen_objects
from templates.simulation.beyond_frame import BeyondFrame, PointAtEdge
from tests.templates.simulation import around

TEMPLATE = BeyondFrame()
RIGHT_EDGE = np.array([[313.1, 119.5]])


def facts(mirrored: bool = False, *, point_px: np.ndarray = RIGHT_EDGE, edge: str = "right") -> PointAtEdge:
    """A point of the first photo, and the objects as the last one shows them."""
    seen = seen_objects(around.scene(around.signals(mirrored)))
    last = seen.take(seen.frame == seen.frame.max())
    by_name = {str(name): row for row, name in enumerate(last.name)}
    each = [last.take(np.array([by_name[name]])).refs() for name in around.AZIMUTHS_DEG]
    first, second, third, fourth = each
    return PointAtEdge(
        frame=np.array([0]), point_px=point_px, size=np.array([[320, 240]]), edge=np.array([edge]),
        first=first, second=second, third=third, fourth=fourth,
    )  # fmt: skip


def said(known: dict[str, Signal], asked: PointAtEdge) -> str:
    found = TEMPLATE.measure(asked, around.scene(known))
    assert found.label is not None
    return str(found.why[0] or found.label[0])


def test_the_first_object_beyond_the_edge_is_the_answer() -> None:
    found = TEMPLATE.measure(facts(), around.scene(around.signals()))
    assert found.label is not None and found.label.tolist() == ["chest"] and found.why.tolist() == [""]
    assert np.degrees(found.value[0, 0]) == pytest.approx(56 - 3.4 - 43.8, abs=0.6)
    assert found.traps["farther beyond the edge"].tolist() == ["board"]
    assert found.traps["in the photo, next to the point"].tolist() == ["crate"]


@pytest.mark.parametrize("unit", [3.0, pytest.param(1.0, marks=pytest.mark.long)])
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    assert said(around.elsewhere(around.signals(), unit), facts()) == "chest"


def test_in_a_mirror_it_is_the_left_edge() -> None:
    left = np.array([[5.9, 119.5]])
    assert said(around.signals(True), facts(True, point_px=left, edge="left")) == "chest"
    assert said(around.signals(True), facts(True)) == "no object is just beyond the edge"


@pytest.mark.parametrize("y", [20.0, 230.0])
def test_an_object_above_or_below_the_row_of_the_point_is_not_meant(y: float) -> None:
    assert said(around.signals(), facts(point_px=np.array([[313.1, y]]))) == "no object is just beyond the edge"


def test_poses_that_are_not_sure_ask_nothing() -> None:
    known = around.signals()
    path, depth = known["camera_path"], known["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    vague = replace(path, rotation_sigma_rad=np.full(len(path.frames), np.radians(5)))
    assert TEMPLATE.measure(facts(), around.scene({**known, "camera_path": vague})).as_label().p_right()[0] < 0.99
    assert said({**known, "depth": replace(depth, outlier_probability=0.01)}, facts()) == "depth is not measured"


def test_what_is_proposed_can_be_answered() -> None:
    for mirrored in (False, True):
        known = around.scene(around.signals(mirrored))
        asked = TEMPLATE.propose(known, np.random.default_rng(0), 20)
        measured = TEMPLATE.measure(asked, known)
        assert len(asked) >= 1 and (measured.why == "").all()
