import numpy as np
import pytest

from spatial_engine.dataset.hint_pictures import depth_size, drawn_depth, drawn_matches, matches_size, ticks
from templates.media import DepthMap

FRAME = (320, 240)


def depth_map(levels: np.ndarray) -> DepthMap:
    return DepthMap(
        frame=0, levels=levels.astype(np.uint8).tobytes(), columns=levels.shape[1], near=1.0, far=4.0, unit="m"
    )


def test_near_is_yellow_far_is_dark_blue_and_unknown_is_grey() -> None:
    levels = np.full((12, 16), 255)
    levels[:, :5], levels[:, 5:10] = 1, 0
    picture = drawn_depth(depth_map(levels), FRAME)
    width, height = depth_size(FRAME)
    assert picture.shape == (height, width, 3)
    near, unknown, far = (picture[120, x].astype(int) for x in (20, 150, 300))
    assert near[0] > 200 and near[1] > 200 and near[2] < 100
    assert len({*unknown.tolist()}) == 1
    assert far.max() < 100 and far[2] > far[1]


def test_lines_end_at_the_matched_pixels() -> None:
    photos = [np.full((240, 320, 3), value, dtype=np.uint8) for value in (60, 120)]
    picture = drawn_matches(photos, [((40.0, 60.0), (200.0, 180.0))], (1.0, 1.0))
    width, height = matches_size(FRAME)
    assert picture.shape == (height, width, 3)
    second = width - 320
    for x, y in ((40, 60), (second + 200, 180)):
        assert picture[y, x].tolist() == [240, 228, 66]
    assert picture[200, 40].tolist() == [60] * 3 and picture[60, second + 200].tolist() == [120] * 3


@pytest.mark.parametrize(("near", "far"), [(0.66, 4.8), (1.0, 1.2), (0.02, 90.0), (1.01, 1.02)])
def test_ticks_are_few_rising_and_within_the_scale(near: float, far: float) -> None:
    found = ticks(near, far)
    assert 2 <= len(found) <= 7 and found == sorted({*found}) and near <= found[0] and found[-1] <= far


def test_a_scale_without_extent_is_refused() -> None:
    with pytest.raises(ValueError, match="near < far"):
        DepthMap(frame=0, levels=b"\x01", columns=1, near=2.0, far=2.0, unit="m")
