import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from spatial_engine.scoring.angles import angular_error_deg, direction_error_deg, mean_squared_error, signed_difference


@given(a=st.floats(-1e4, 1e4), b=st.floats(-1e4, 1e4), turns=st.integers(-5, 5))
def test_angles_are_compared_the_short_way_round(a, b, turns):
    assert 0 <= angular_error_deg(a, b) <= 180
    assert angular_error_deg(a, b) == pytest.approx(angular_error_deg(b, a + 360 * turns), abs=1e-9)


def test_signed_difference():
    assert signed_difference(-179, 179, 360) == pytest.approx(2) and signed_difference(179, -179, 360) == pytest.approx(
        -2
    )
    assert signed_difference(3, 5) == -2 and math.isnan(signed_difference(math.nan, 1, 360))
    assert math.isinf(signed_difference(math.inf, 1, 360))


def test_direction_error():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(50, 3))
    axis = np.cross(a, rng.normal(size=(50, 3)))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    angles = np.concatenate([[0, 1e-7, 180], rng.uniform(0, 180, 47)])
    b = Rotation.from_rotvec(np.radians(angles)[:, None] * axis).apply(a) * rng.uniform(0.1, 9, (50, 1))
    assert direction_error_deg(a, b) == pytest.approx(angles, abs=1e-9)
    assert np.isnan(direction_error_deg(np.zeros(3), np.ones(3)))


def test_mean_squared_error():
    assert mean_squared_error([1, 359], [3, 1], 360) == pytest.approx(4)
    assert mean_squared_error([1, 3], [1, 1]) == 2 and math.isnan(mean_squared_error([], []))
