"""The way an object faces: by the azimuth of its one front, where the measurement tells the ways apart."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import ObjectOrientation
from templates.perception.object_facing import WAYS, ObjectFaces
from tests.templates import worlds

TEMPLATE = ObjectFaces()


def ways(**changes: object) -> set[str]:
    signals = worlds.signals()
    facing = replace(signals["object_orientation"], **changes)  # type: ignore[type-var]
    found = worlds.ask(TEMPLATE, signals | {"object_orientation": facing}, facts=100)
    return {label for asked in found.asked for label in asked.answers.labels().tolist()}


def azimuth(degrees: float) -> np.ndarray:
    known = worlds.signals()["object_orientation"]
    assert isinstance(known, ObjectOrientation)
    return np.full_like(known.azimuth_rad, np.radians(degrees))


@pytest.mark.parametrize(
    ("degrees", "way"),
    [(0, 0), (-25, 0), (359, 0), (80, 1), (115, 1), (180, 2), (-179, 2), (270, 3), (-90, 3), (295, 3)],
)
def test_ways_are_those_of_orient_anything(degrees: float, way: int) -> None:
    assert ways(azimuth_rad=azimuth(degrees)) == {WAYS[way]}


@pytest.mark.parametrize(
    "changes",
    [
        {"azimuth_rad": azimuth(45)},
        {"azimuth_rad": azimuth(np.nan)},
        {"sigma_rad": np.full((24, 6, 3), 0.5)},
        {"sigma_rad": np.full((24, 6, 3), np.nan)},
        {"rotation_rad": azimuth(25)},
        {"rotation_rad": azimuth(180)},
        {"polar_rad": azimuth(-65)},
        {"polar_rad": azimuth(80)},
        *({"fronts": np.full((24, 6), fronts, dtype=np.int32)} for fronts in (-1, 0, 2, 4)),
    ],
)
def test_nothing_is_asked_where_the_front_is_not_decided(changes: dict[str, object]) -> None:
    assert ways(**changes) == set()
