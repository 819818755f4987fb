"""Expert "fitted_path": what it provides on exact signals, and why it provides nothing."""

from dataclasses import replace

import numpy as np

from experts.expert import joins
from experts.signals import CameraPath, NoEstimate, PathOnTracks, PointTracks, Signal
from experts.tracking.fitted_path import FittedPathExpert
from experts.tracking.path_on_tracks import FitSettings, path_by_tracks
from tests.templates import worlds

SIGNALS = worlds.signals()
PATH, TRACKS = SIGNALS["camera_path"], SIGNALS["tracks"]
assert isinstance(PATH, CameraPath) and isinstance(TRACKS, PointTracks)


def found(**signals: Signal | NoEstimate) -> tuple[PathOnTracks | NoEstimate, PathOnTracks | NoEstimate]:
    """What the expert says of both paths."""
    given = FittedPathExpert()(worlds.clip(), {"camera_path": PATH, "tracks": TRACKS, **signals})
    first, second = given["fitted_path"], given["fitted_path_check"]
    assert isinstance(first, PathOnTracks | NoEstimate) and isinstance(second, PathOnTracks | NoEstimate)
    return first, second


def test_both_paths_are_fitted_each_in_its_own_unit() -> None:
    other = worlds.signals(unit=0.5)["camera_path"]
    assert isinstance(other, CameraPath)
    first, second = found(camera_path_check=other)
    for one, path in ((first, PATH), (second, other)):
        fitted = path_by_tracks(TRACKS, path, FitSettings())
        assert fitted is not None and isinstance(one, PathOnTracks)
        np.testing.assert_array_equal(one.world_from_cam, fitted.path.world_from_cam)
        assert (one.intrinsics, one.residual_px) == (fitted.path.intrinsics, fitted.residual_px)
    assert joins(FittedPathExpert())


def test_without_a_second_path_there_is_no_check() -> None:
    first, second = found()
    assert isinstance(first, PathOnTracks) and second == NoEstimate(reason="no translating camera path")


def test_reasons_to_fit_nothing() -> None:
    flip = np.diag([-1.0, 1, 1, 1])
    mirrored = replace(PATH, world_from_cam=flip @ PATH.world_from_cam @ flip)
    assert found(camera_path=mirrored)[0] == NoEstimate(reason="tracks contradict the camera path")
    turning = replace(PATH, motion="rotation_only")
    assert found(camera_path=turning)[0] == NoEstimate(reason="no translating camera path")
    assert found(tracks=NoEstimate(reason="no image tracks"))[0] == NoEstimate(reason="no tracks")
