"""A row of points with a track through each; the last one may move."""

from dataclasses import replace

import numpy as np

from experts.provenance import Provenance
from experts.signals import PointTracks, SparsePoints
from templates.scene.nearby_tracks import NearbyTracks
from templates.scene.surface import SUSPECTED_PROBABILITY, OutlierSettings
from templates.scene.suspected_outliers import suspected_outliers

BY = Provenance(expert="fake", version="1")
COUNT = 40
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


def tracks(motion: int) -> PointTracks:
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
        residual_px=np.full(COUNT, 0.3),
        moving_pairs=np.zeros(COUNT, dtype=np.int32),
        parallax_px=np.full(COUNT, 20.0),
        provenance=BY,
    )


def suspected(motion: int = -1, scale: float = 1) -> list[int]:
    nearby = NearbyTracks(tracks=tracks(motion), pixel_scale=scale)
    found = suspected_outliers(points(), nearby, OutlierSettings())
    return np.flatnonzero(found.outlier_probability == SUSPECTED_PROBABILITY).tolist()


def test_points_near_a_moving_track_are_suspected() -> None:
    assert suspected(motion=1) == [36, 37, 38, 39]  # 48 px
    assert suspected(motion=1, scale=2.0) == [33, 34, 35, 36, 37, 38, 39]
    assert suspected() == []


def test_outlier_probabilities_never_decrease() -> None:
    worse = replace(points(), outlier_probability=np.full(COUNT, 0.5))
    nearby = NearbyTracks(tracks=tracks(1), pixel_scale=1.0)
    assert (suspected_outliers(worse, nearby, OutlierSettings()).outlier_probability == 0.5).all()
