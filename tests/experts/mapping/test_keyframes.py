"""Keyframes are few, ordered, and one step from each other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from experts.mapping.keyframes import KeyframeSettings, choose_keyframes

SETTINGS = KeyframeSettings()


@given(st.lists(st.floats(0, 60), min_size=2, max_size=80), st.integers(2, 30))
def test_first_and_last_frame_are_keyframes_and_their_number_is_limited(steps: list[float], most: int) -> None:
    x = np.cumsum([0.0, *steps])
    xy = np.stack([np.tile(x, (40, 1)), np.zeros((40, len(x)))], axis=-1).astype(np.float32)
    chosen = choose_keyframes(xy, 800.0, most, SETTINGS)
    assert chosen[0] == 0 and chosen[-1] == len(x) - 1
    assert np.all(np.diff(chosen) > 0) and len(chosen) <= max(2, most)


def test_a_step_is_a_share_of_the_diagonal() -> None:
    x = np.arange(0.0, 600.0, 4.0)
    xy = np.stack([np.tile(x, (40, 1)), np.zeros((40, len(x)))], axis=-1).astype(np.float32)
    chosen = choose_keyframes(xy, 800.0, 100, SETTINGS)
    assert np.all(np.diff(x[chosen])[:-1] == 28.0)


def test_a_frame_without_common_tracks_is_a_keyframe() -> None:
    xy = np.zeros((60, 9, 2), np.float32)
    xy[:30, 3:], xy[30:, :3] = np.nan, np.nan
    assert 3 in choose_keyframes(xy, 800.0, 40, SETTINGS)
