"""Where a marked point lies in camera axes, on a slope whose depth is known, and in the made-up world."""

from dataclasses import replace

import numpy as np
import pytest

from templates.answers import Numbers
from templates.generate import answers_to
from templates.perception.place_in_camera import MeasuredPlaces, PlaceInCamera
from tests.templates import worlds

TEMPLATE = PlaceInCamera()
METRIC = worlds.with_path({**worlds.signals(), "depth": worlds.slope()}, scale=worlds.METRIC)


def places(a_px: list[float], unit_px: list[float]) -> MeasuredPlaces:
    return MeasuredPlaces(frame=np.zeros(1, dtype=int), a_px=np.array([a_px]), unit_px=np.array([unit_px]))


def position(xy_px: list[float]) -> np.ndarray:
    """Of a pixel in the middle of a row of depth: 48 rows of 10 px from 2 to 6 units."""
    (ray,) = worlds.CAMERA.rays(np.array([xy_px]))
    return np.asarray(ray / ray[2] * (2 + 4 * (xy_px[1] - 4.5) / 10 / 47))


@pytest.mark.parametrize("unit_px", [[np.nan, np.nan], [204.5, 304.5]])
def test_positions_are_those_of_the_surface(unit_px: list[float]) -> None:
    fact, scene = places([504.5, 104.5], unit_px), worlds.scene(METRIC)
    number = answers_to(TEMPLATE, "json", fact, TEMPLATE.measure(fact, scene)).row(0)
    assert isinstance(number, Numbers) and number.names == ("x", "y", "z")
    in_metres = np.isnan(unit_px).any()
    assert number.unit == ("m" if in_metres else "")
    distance = 1 if in_metres else np.linalg.norm(position(unit_px))
    assert number.value == pytest.approx(position([504.5, 104.5]) / distance, rel=1e-6)
    assert number.value[0] > 0 > number.value[1]
    assert (number.tolerance <= 0.15 * np.linalg.norm(number.value)).all()


def test_metres_are_asked_with_metric_scale_alone() -> None:
    for signals, wordings in (
        (worlds.signals(), {"Q"}),
        (worlds.with_path(worlds.signals(), scale=worlds.METRIC), {"Q", "m"}),
    ):
        drafts = worlds.drafts(worlds.ask(TEMPLATE, signals))
        assert {"m" if draft.answer.to_json().unit == "m" else "Q" for draft in drafts} == wordings
        for draft in drafts:
            (photo,) = draft.media
            in_metres = "in metres" in draft.instructions
            assert [mark.text for mark in photo.marks] == (["P"] if in_metres else ["P", "Q"])
            assert in_metres == (draft.answer.to_json().unit == "m")
    fact = places([504.5, 104.5], [np.nan, np.nan])
    relative = worlds.scene({**worlds.signals(), "depth": worlds.slope()})
    assert TEMPLATE.measure(fact, relative).why.tolist() == ["scale is not metric"]


def test_units_of_the_world_do_not_matter() -> None:
    here, there = (worlds.ask(TEMPLATE, signals) for signals in (worlds.signals(), worlds.elsewhere(4, 3.0)))
    assert here.asked and [worlds.shown(draft) for draft in worlds.drafts(here)] == [
        worlds.shown(draft) for draft in worlds.drafts(there)
    ]


def test_a_wrong_camera_moves_the_point_as_sigma_says() -> None:
    """At equal distance from the camera: focal length and principal point."""
    xy_px, right = np.array([[604.5, 44.5]]), worlds.CAMERA
    wrong = [
        replace(right, fx_px=1.01 * right.fx_px, fy_px=1.01 * right.fy_px),
        replace(right, cx_px=right.cx_px + 0.016 * right.fx_px),
        replace(right, cy_px=right.cy_px + 0.016 * right.fy_px),
    ]
    there, *off = (3 * camera.rays(xy_px)[0] / np.linalg.norm(camera.rays(xy_px)[0]) for camera in (right, *wrong))
    moved = np.linalg.norm(np.array(off) - there, axis=0)
    signals = worlds.with_path(METRIC, focal_relative_sigma=0.01)
    fact = places(xy_px[0].tolist(), [np.nan, np.nan])
    wide = TEMPLATE.measure(fact, worlds.scene(signals))
    narrow = TEMPLATE.measure(fact, worlds.scene(worlds.with_path(signals, focal_relative_sigma=0.0)))
    by_camera = np.sqrt(wide.sigma**2 - narrow.sigma**2)[0] / np.linalg.norm(wide.value) * 3
    assert by_camera == pytest.approx(moved, rel=0.03)


def test_without_sure_distances_nothing_is_asked() -> None:
    signals = worlds.signals()
    points = signals["sparse_points"]
    vague = replace(points, range_relative_sigma=10 * points.range_relative_sigma)  # type: ignore[attr-defined,type-var]
    assert not worlds.ask(TEMPLATE, {**signals, "sparse_points": vague}).asked
