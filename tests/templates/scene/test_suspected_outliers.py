"""A row of points with a track through each: static on the left, on a sliding object on the right."""

from dataclasses import replace

import numpy as np

from experts.provenance import Provenance
from experts.signals import PointTracks, SparsePoints
from templates.scene.nearby_tracks import NearbyTracks
from templates.scene.surface import SUSPECTED_PROBABILITY, OutlierSettings
from templates.scene.suspected_outliers import suspected_outliers

BY = Provenance(expert="fake", version="1")
COUNT, SLIDES = 40, 28
"""Points from `SLIDES` on lie on an object that slides along with the camera."""
XY = np.stack([np.linspace(20, 620, COUNT), np.full(COUNT, 200.0)], axis=1)
SURE = 0.003


def points() -> SparsePoints:
    """Points that frames 0 and 5 show."""
    return SparsePoints(
        xyz_world=np.ones((COUNT, 3)),
        range_relative_sigma=np.full(COUNT, 0.03),
        triangulation_angle_rad=np.full(COUNT, 0.1),
        outlier_probability=np.full(COUNT, SURE),
        observation_point=np.tile(np.arange(COUNT), 2),
        observation_frame=np.repeat([0, 5], COUNT),
        observation_xy_px=np.tile(XY, (2, 1)),
        provenance=BY,
    )


def tracks(residual_px: np.ndarray, motion: int = -1) -> PointTracks:
    """One track through each point, of unknown motion; the last one has `motion`."""
    xy_px = np.repeat(XY[:, None] + 1.0, 6, axis=1)
    shape = xy_px.shape[:2]
    return PointTracks(
        frames=np.arange(6),
        xy_px=xy_px,
        visible=np.ones(shape, dtype=bool),
        sigma_px=np.full(shape, 0.2),
        outlier_probability=np.full(COUNT, 0.05),
        motion=np.where(np.arange(COUNT) == COUNT - 1, motion, -1).astype(np.int32),
        residual_px=residual_px,
        moving_pairs=np.zeros(COUNT, dtype=np.int32),
        parallax_px=np.full(COUNT, 20.0),
        provenance=BY,
    )


def suspected(
    residual_px: np.ndarray, settings: OutlierSettings | None = None, motion: int = -1, scale: float = 1
) -> list[int]:
    nearby = NearbyTracks(tracks=tracks(residual_px, motion), pixel_scale=scale)
    found = suspected_outliers(points(), nearby, settings or OutlierSettings())
    return np.flatnonzero(found.outlier_probability == SUSPECTED_PROBABILITY).tolist()


def sliding(rest_px: float = 0.3, slide_px: float = 2.0) -> np.ndarray:
    return np.where(np.arange(COUNT) >= SLIDES, slide_px, rest_px)


def test_points_on_an_object_that_slides_along_with_the_camera_are_suspected() -> None:
    found = suspected(sliding())
    assert set(range(SLIDES + 1, COUNT)) <= set(found) and min(found) >= SLIDES - 1  # at its edge, as most neighbours


def test_no_point_is_suspected_where_residuals_are_equal() -> None:
    assert suspected(sliding(0.3, 0.9)) == []
    assert suspected(np.linspace(1.6, 2.0, COUNT)) == []  # an error of the path raises all residuals


def test_residuals_count_in_pixels_at_640_px_width() -> None:
    assert suspected(sliding(0.6, 1.8), scale=2.0) == []
    assert suspected(sliding(0.6, 2.4), scale=2.0)


def test_few_or_distant_tracks_make_no_point_suspected() -> None:
    few = np.full(COUNT, np.nan)
    few[[30, 31]] = 5.0
    assert suspected(few) == []
    far = replace(OutlierSettings(), moving_radius_px=0.5)
    assert suspected(sliding(), far) == []


def test_points_near_a_moving_track_are_suspected_whatever_its_residual() -> None:
    assert suspected(np.full(COUNT, 0.3), motion=1) == [36, 37, 38, 39]  # 48 px
    assert suspected(np.full(COUNT, 0.3)) == []


def test_outlier_probabilities_never_decrease() -> None:
    worse = replace(points(), outlier_probability=np.full(COUNT, 0.5))
    nearby = NearbyTracks(tracks=tracks(sliding()), pixel_scale=1.0)
    assert (suspected_outliers(worse, nearby, OutlierSettings()).outlier_probability == 0.5).all()


def test_without_the_gate_only_moving_tracks_count() -> None:
    off = OutlierSettings(max_residual_px=np.inf)
    assert suspected(sliding(), off) == [] and suspected(sliding(), off, motion=1) == [36, 37, 38, 39]
