"""CoTracker 3: conversion of exact tracks in its format, thresholds, licence, packages."""

import numpy as np
import pytest

from experts.expert import SetupProblem
from experts.signals import ImageTracks
from experts.tracking.cotracker import CoTrackerExpert, CoTrackerSettings, decoded
from experts.tracking.learned_tracks import FollowSettings, RawTracks
from spatial_engine.rendering.rooms import random_room
from tests.experts.exact_tracks import ExactTracker, HostNetwork, RenderedOnce, truth

WORLD = RenderedOnce(random_room(np.random.default_rng(7), frames=16, width_px=200, height_px=120))


def network(video: np.ndarray, queries: np.ndarray) -> RawTracks:
    """Returns the truth in upstream's format: (frames, points), pixel centres at integers, two probabilities."""
    xy, seen, _ = ExactTracker(WORLD, (128, 96)).follow(video, queries)
    visible = np.where(seen, 0.9, 0.5).T.astype(np.float32)
    return decoded(xy.swapaxes(0, 1).astype(np.float32), visible, np.full_like(visible, 0.9))


def test_exact_predictions_give_exact_tracks() -> None:
    following = FollowSettings(window_frames=10, overlap_frames=4, points=40)
    expert = CoTrackerExpert(CoTrackerSettings(following=following, size_px=(128, 96)))
    expert.model = HostNetwork(network)
    out = expert(WORLD.clip, {})["image_tracks"]
    assert isinstance(out, ImageTracks) and len(out.xy_px) > 20
    for xy in out.xy_px.astype(np.float64):
        start = int(np.argmax(np.isfinite(xy[:, 0])))
        true = truth(WORLD, start, xy[start : start + 1], out.frames.tolist())[0][0]
        assert np.nanmedian(np.linalg.norm(true - xy, axis=1)) < 0.05
    assert out.provenance.sigma == "raw" and not out.provenance.commercial_ok
    assert out.provenance.code_licence == "CC-BY-NC-4.0"


def test_visibility_and_confidence_are_multiplied() -> None:
    raw = decoded(np.zeros((4, 3, 2), np.float32), np.full((4, 3), 0.7, np.float32), np.full((4, 3), 0.8, np.float32))
    assert raw.xy.shape == (3, 4, 2) and raw.confidence.shape == (3, 4)
    np.testing.assert_allclose(raw.confidence, 0.56, rtol=1e-6)


@pytest.mark.parametrize("variant", CoTrackerExpert.variants)
def test_each_variant_has_its_weights(variant: str) -> None:
    expert = CoTrackerExpert(variant=variant)
    assert expert.weight_names == (f"cotracker3-{variant}",)
    assert not expert.commercial_ok and expert.permissive_substitute == "tapir"


def test_a_missing_package_comes_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "experts.runtime.model_expert.find_spec", lambda name: None if name == "cotracker" else object()
    )
    with pytest.raises(SetupProblem, match="co-tracker@82e02e8029753ad4ef13cf06be7f4fc5facdda4d"):
        CoTrackerExpert().load("random")
