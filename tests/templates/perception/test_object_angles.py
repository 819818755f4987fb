"""Azimuth, polar angle and rotation of an object, with as many equal fronts as it has."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import ObjectOrientation
from templates.answers import Numbers
from templates.asked import Draft
from templates.perception.object_axes import ObjectAngles
from tests.templates import worlds

TEMPLATE = ObjectAngles()


def drafts(fronts: int = 1, sigma_deg: float = 3.0, polar_deg: float = 20.0, azimuth_deg: float = 200.0) -> list[Draft]:
    signals = worlds.signals()
    facing = signals["object_orientation"]
    assert isinstance(facing, ObjectOrientation)
    changed = replace(
        facing,
        azimuth_rad=np.full_like(facing.azimuth_rad, np.radians(azimuth_deg)),
        polar_rad=np.full_like(facing.polar_rad, np.radians(polar_deg)),
        rotation_rad=np.full_like(facing.rotation_rad, np.radians(-7)),
        sigma_rad=np.full_like(facing.sigma_rad, np.radians(sigma_deg)),
        fronts=np.full_like(facing.fronts, fronts),
    )
    return worlds.drafts(worlds.ask(TEMPLATE, {**signals, "object_orientation": changed}))


@pytest.mark.parametrize(("fronts", "azimuth"), [(1, 200), (2, 20), (4, 20)])
def test_the_azimuth_repeats_with_the_fronts(fronts: int, azimuth: int) -> None:
    found = drafts(fronts)
    assert found
    for draft in found:
        assert worlds.written(draft) == {"azimuth": azimuth, "polar": 20, "rotation": -7}
        answer = draft.answer
        assert isinstance(answer, Numbers) and answer.tolerance.tolist() == [20, 15, 15]
        other_front, between = (
            replace(answer, value=np.add(answer.value, turn)) for turn in ([360 / fronts, 0, 360], [45, 0, 0])
        )
        assert answer.repeats(other_front) and not answer.repeats(between)


@pytest.mark.parametrize("odd", [{"fronts": 0}, {"fronts": -1}, {"sigma_deg": 10.0}, {"polar_deg": 80.0}])
def test_objects_without_sure_angles_are_not_asked_about(odd: dict[str, float]) -> None:
    assert not drafts(**odd)  # type: ignore[arg-type]


def test_the_azimuth_against_the_viewing_axis_is_kept_as_evidence() -> None:
    assert all("azimuth_against_the_viewing_axis_deg" in draft.evidence for draft in drafts())
