"""TAPIR: conversion of exact tracks in its format (raster coordinates, (frame, y, x) queries, logits)."""

import numpy as np
import pytest

from experts.expert import SetupProblem
from experts.signals import ImageTracks
from experts.tracking.learned_tracks import FollowSettings, RawTracks
from experts.tracking.tapir import TapirExpert, TapirSettings, decoded, encoded
from spatial_engine.rendering.rooms import random_room
from tests.experts.exact_tracks import ExactTracker, HostNetwork, RenderedOnce, truth

WORLD = RenderedOnce(random_room(np.random.default_rng(7), frames=16, width_px=200, height_px=120))


def network(video: np.ndarray, queries: np.ndarray) -> RawTracks:
    """Returns the truth in upstream's format, from queries in upstream's format."""
    raster = encoded(queries)
    centred = np.column_stack([raster[:, 0], raster[:, 2] - 0.5, raster[:, 1] - 0.5]).astype(np.float32)
    xy, seen, _ = ExactTracker(WORLD, (96, 96)).follow(video, centred)
    hidden = np.where(seen, -4.0, 4.0).astype(np.float32)
    return decoded((xy + 0.5).astype(np.float32), hidden, np.full_like(hidden, -4.0))


def test_exact_predictions_give_exact_tracks_forwards_and_backwards() -> None:
    following = FollowSettings(window_frames=10, overlap_frames=4, points=40)
    expert = TapirExpert(TapirSettings(following=following, side_px=96))
    expert.model = HostNetwork(network)
    out = expert(WORLD.clip, {})["image_tracks"]
    assert isinstance(out, ImageTracks) and len(out.xy_px) > 20
    error = []
    for xy in out.xy_px.astype(np.float64):
        seen = np.flatnonzero(np.isfinite(xy[:, 0]))
        true = truth(WORLD, int(seen[0]), xy[seen[:1]], out.frames.tolist())[0][0]
        error += np.linalg.norm(true - xy, axis=1)[seen].tolist()
    assert np.median(error) < 0.05 and np.quantile(error, 0.9) < 0.5  # depth is sampled at whole pixels
    assert np.isfinite(out.xy_px[..., 0]).sum(axis=0).min() > 15
    assert out.provenance.commercial_ok and out.provenance.weights_licence == "Apache-2.0"


def test_the_centre_of_the_first_pixel_is_half_a_raster_unit() -> None:
    queries = np.array([[3, 0, 0], [1, 7, 2]], np.float32)
    np.testing.assert_array_equal(encoded(queries), [[3, 0.5, 0.5], [1, 2.5, 7.5]])
    raw = decoded(np.full((1, 1, 2), 0.5, np.float32), np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32))
    assert raw.xy.tolist() == [[[0.0, 0.0]]] and raw.confidence.tolist() == [[0.25]]


def test_extreme_logits_give_probabilities() -> None:
    logits = np.array([[-1e4, 1e4, np.nan]], np.float32)
    raw = decoded(np.zeros((1, 3, 2), np.float32), logits, logits)
    assert raw.confidence[0, :2].tolist() == [1.0, 0.0] and np.isnan(raw.confidence[0, 2])


def test_a_missing_package_comes_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experts.runtime.model_expert.find_spec", lambda name: None if name == "tapnet" else object())
    with pytest.raises(SetupProblem, match=r"--no-deps .*tapnet@c2cbab81cc06092b5f05bfe2da7bfec54e2079c9"):
        TapirExpert().load("random")
