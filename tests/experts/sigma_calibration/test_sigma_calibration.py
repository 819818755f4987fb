"""The file of maps: read as written, refused where it is none."""

import json

import pytest

from experts.sigma_calibration import NotCalibrated, SigmaCalibration, packaged_calibration, read_calibration
from tests.experts.sigma_calibration.test_applying import one_map

LACKING = NotCalibrated(
    expert="sift", version="1", signal="matches", quantity="pixel", samples=12, sets=("attic",), fitted=1.4,
    within_1=0.6, within_2=0.9, why="one set only",
)  # fmt: skip
MAPS = SigmaCalibration(maps=(one_map("gravity", "up"), one_map("tracks", "pixel", 1.25)), without=(LACKING,))


def test_read_as_written(tmp_path):
    (tmp_path / "maps.json").write_text(json.dumps(MAPS.to_json()))
    assert read_calibration(tmp_path / "maps.json") == MAPS
    assert SigmaCalibration.from_json(MAPS.to_json() | {"digest": MAPS.digest}) == MAPS
    assert SigmaCalibration.from_json({}) == SigmaCalibration()


def test_the_digest_is_that_of_the_maps():
    assert MAPS.digest == SigmaCalibration(maps=MAPS.maps).digest != SigmaCalibration(maps=MAPS.maps[:1]).digest


NO_MAPS = (
    "",
    "{}",
    "[]",
    '{"maps": []}',
    '{"format_version": 9}',
    '{"format_version": 1, "maps": [{"expert": "colmap"}]}',
    '{"format_version": 1, "maps": 3}',
)


@pytest.mark.parametrize("content", NO_MAPS)
def test_what_is_no_file_of_maps_is_refused(tmp_path, content):
    (tmp_path / "maps.json").write_text(content)
    with pytest.raises(ValueError):
        read_calibration(tmp_path / "maps.json")


@pytest.mark.parametrize("gain", [0.99, 0.0, -1.0, float("nan"), float("inf")])
def test_a_map_never_narrows(gain):
    with pytest.raises(ValueError, match="allowed are 1 and more"):
        one_map("gravity", "up", gain)


def test_the_packaged_maps_are_of_sets_and_of_no_footage():
    for each in packaged_calibration().maps:
        assert each.gain >= 1 and len(each.sets) >= 2 and each.samples >= 30
        assert each.gain == pytest.approx(max(1.0, *(one.fitted for one in each.held_out)))
