"""Axes of static objects that several views agree on hold in every frame; flipped views are outvoted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experts.objects.front_agreement import FrontSettings
from experts.objects.joined_fronts import joined
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import ImitatedErrors, imitated_signals

SETTINGS = FrontSettings()


@pytest.fixture(scope="module")
def scene() -> RenderedScene:
    """A path around a table."""
    return furnished_room(np.random.default_rng(5), frames=48, width_px=320, height_px=240, path="orbit", movers=0)


@pytest.fixture(scope="module")
def found(scene: RenderedScene) -> Mapping[str, Any]:
    """Signals of imitated experts, one view in ten flipped."""
    return imitated_signals(scene, as_clip(scene), ImitatedErrors(flipped=0.1))


@pytest.fixture(scope="module")
def fronts(scene: RenderedScene, found: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The errors of confirmed fronts and their σ, in the world."""
    clip, objects, seen = as_clip(scene), found["objects"], found["object_orientation"]
    true = true_signals(scene, clip, seen.frames.tolist())
    errors, sigmas = [], []
    for n, frame in enumerate(seen.frames.tolist()):
        ids = objects.ids[int(np.searchsorted(objects.frames, frame))]
        for k in np.flatnonzero(seen.outlier_probability[n] == SETTINGS.confirmed):
            shown = true["objects"].ids[n][ids == k]
            row = np.bincount(shown[shown >= 0]).argmax()
            own = seen.cam_from_object[n, k][:, 0], true["object_orientation"].cam_from_object[n, row][:, 0]
            turns = true["object_orientation"].fronts[n, row]
            if turns == 1:
                errors.append(np.arccos(np.clip(own[0] @ own[1], -1, 1)))
                sigmas.append(np.linalg.norm(seen.sigma_rad[n, k, :2]))
    return np.array(errors), np.array(sigmas)


def test_no_confirmed_front_is_flipped_and_sigma_covers_the_errors(fronts) -> None:
    errors, sigmas = fronts
    assert len(errors) > 50
    assert errors.max() < np.radians(60)
    assert (errors < 2 * sigmas).mean() > 0.9


def test_joined_axes_are_known_in_more_frames_than_were_looked_at(found) -> None:
    seen = found["object_orientation"]
    confirmed = (seen.outlier_probability == SETTINGS.confirmed).sum(axis=0)
    assert confirmed.max() > 6


def test_what_moves_keeps_its_views(scene, found) -> None:
    """Without a pose that holds in all frames, no view speaks for another."""
    objects, seen = found["objects"], found["object_orientation"]
    moving = replace(objects, world_from_object=np.full_like(objects.world_from_object, np.nan))
    assert joined(as_clip(scene), moving, found["camera_path"], seen, SETTINGS) is seen
