"""Sizes, pixels and frames of a clip."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experts.clip import Clip, OpeningOptions
from experts.intrinsics import Intrinsics

sides = st.integers(2, 9000)


class Flat:
    """Frames whose grey level is their number."""

    def __init__(self, width: int, height: int) -> None:
        self.shape = (height, width, 3)

    def read(self, frames):  # type: ignore[no-untyped-def]
        """As `FrameReader`."""
        return (np.full(self.shape, f, dtype=np.uint8) for f in frames)


def clip(width: int = 64, height: int = 48, max_side_px: int = 960, times: bool = True) -> Clip:
    """Frames 3, 5, 9."""
    return Clip(
        id="0" * 16,
        name="test",
        frames=np.array([3, 5, 9]),
        times_s=np.array([0.3, 0.5, 0.9]) if times else None,
        width_px=width,
        height_px=height,
        options=OpeningOptions(max_side_px=max_side_px),
        reader=Flat(width, height),
    )


@given(sides, sides, st.integers(32, 2000))
def test_working_size_keeps_the_shape_and_never_grows(width: int, height: int, side: int) -> None:
    w, h = clip(width, height, side).working_size
    assert 2 <= w <= width
    assert 2 <= h <= height
    assert max(w, h) <= side
    factor = min(1, side / max(width, height))
    assert abs(w - width * factor) <= 2
    assert abs(h - height * factor) <= 2


@given(sides, sides, st.floats(-1, 9001), st.floats(-1, 9001))
def test_conversion_of_pixels_to_working_size_is_invertible(width: int, height: int, x: float, y: float) -> None:
    one = clip(width, height, 480)
    np.testing.assert_allclose(one.full_from_working(one.working_from_full(np.array([[x, y]]))), [[x, y]], atol=1e-8)


def test_corners_of_the_picture_stay_corners() -> None:
    one = clip(1000, 500, 100)
    corners = one.full_from_working(np.array([[-0.5, -0.5], [99.5, 49.5]]))
    np.testing.assert_allclose(corners, [[-0.5, -0.5], [999.5, 499.5]])


def test_working_pixels_are_those_of_scaled_intrinsics() -> None:
    one = clip(1000, 500, 100)
    camera = Intrinsics.centred(1000, 500, 700.0)
    xyz = np.array([[0.1, -0.2, 2.0]])
    np.testing.assert_allclose(one.working_from_full(camera.project(xyz)), camera.scaled(100, 50).project(xyz))


def test_frames_are_read_by_index() -> None:
    assert [(f, int(p[0, 0, 0]), p.shape) for f, p in clip().read()] == [(k, k, (48, 64, 3)) for k in (3, 5, 9)]
    assert [(f, p.shape) for f, p in clip(max_side_px=32).read_grey([5])] == [(5, (24, 32))]


def test_times_belong_to_frame_indices() -> None:
    assert [clip().time_s(f) for f in (3, 5, 9)] == [0.3, 0.5, 0.9]
    assert clip(times=False).time_s(5) is None


def test_options_are_changed_in_a_copy() -> None:
    one = clip()
    assert one.with_options(max_side_px=100, upright=True).options == OpeningOptions(max_side_px=100, upright=True)
    assert one.options.max_side_px == 960
    with pytest.raises(TypeError):
        one.with_options(nonsense=1)
