"""Rendered episodes are what they say: the object rises with the closed gripper and ends on the plate, or does not."""

import numpy as np
import pytest

from experts.signals import SIGNAL_TYPES
from spatial_engine.rendering import as_clip
from spatial_engine.rendering.episodes import RenderedEpisode, pick_and_place, true_episode_signals
from spatial_engine.rendering.push_and_pull import open_drawer, push
from templates.scene.episode import Episode
from templates.scene.scenes import scenes_of


def made(seed: int, *, succeeds: bool = True) -> RenderedEpisode:
    return pick_and_place(np.random.default_rng(seed), frames=60, width_px=64, height_px=48, succeeds=succeeds)


def way(episode: RenderedEpisode) -> np.ndarray:
    """Places of the object that is moved, in the world."""
    return episode.scene.moving_boxes[0].world_from_box[:, :3, 3]


@pytest.mark.parametrize("seed", range(6))
def test_the_object_ends_on_the_plate(seed: int) -> None:
    episode = made(seed)
    (plate,) = (box for box in episode.scene.boxes if box.name == "plate")
    taken, places = episode.scene.moving_boxes[0].box, way(episode)
    assert episode.task.instruction == f"put the {taken.name} on the plate" and episode.task.success
    np.testing.assert_allclose(places[-1, :2], plate.world_from_box[:2, 3], atol=0.01)
    top = plate.world_from_box[2, 3] + plate.half_m[2]
    assert places[-1, 2] - taken.half_m[2] == pytest.approx(top, abs=0.005)
    assert places[:, 2].max() > places[0, 2] + 0.2


@pytest.mark.parametrize("seed", range(3))
def test_the_object_moves_only_in_the_closed_gripper(seed: int) -> None:
    episode = made(seed)
    moves = np.linalg.norm(np.diff(way(episode), axis=0), axis=1) > 1e-6
    assert moves.any() and (episode.opening[:-1][moves] < 0.9).all()
    wrist = episode.world_from_base @ episode.base_from_view
    fingers = wrist[:, :3, 3] + 0.1 * wrist[:, :3, 2]
    assert (np.linalg.norm(fingers - way(episode), axis=1)[:-1][moves] < 0.02).all()
    np.testing.assert_allclose(wrist[:, :3, 2], [[0, 0, -1]] * len(wrist), atol=1e-9)


def test_an_episode_that_fails_moves_nothing() -> None:
    episode = made(1, succeeds=False)
    assert episode.task.success is False and np.ptp(way(episode), axis=0).max() == 0
    assert episode.opening.min() < 0.9


def test_steps_are_in_order_and_signals_make_an_episode() -> None:
    episode = made(2)
    clip = as_clip(episode.scene)
    signals = true_episode_signals(episode, clip, stride=20)
    assert all(isinstance(signal, SIGNAL_TYPES[name]) for name, signal in signals.items())
    (world,) = scenes_of(clip, signals)
    assert isinstance(world, Episode) and world.effector is not None and world.task is not None
    steps = world.task.step_frames
    assert len(steps) == len(world.task.step_texts) == 5 and (np.diff(steps) > 0).all() and steps[-1] < 60
    assert world.objects is not None and "gripper" in world.objects.labels
    assert (episode.scene.object_ids(0) == world.objects.labels.index("gripper")).any()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [push, open_drawer])
def test_what_is_pushed_or_pulled_goes_with_the_gripper_and_with_nothing_else(kind, seed: int) -> None:
    episode = kind(np.random.default_rng(seed), frames=60, width_px=64, height_px=48)
    places = way(episode)
    (tip,) = {tuple(axis) for axis in (episode.world_from_base @ episode.base_from_view)[:, :3, 2].round(9).tolist()}
    assert tip == (0, 1, 0), "the fingers point away from the camera"
    wrist = (episode.world_from_base @ episode.base_from_view)[:, :3, 3]
    steps = np.diff(places, axis=0)
    moves = np.linalg.norm(steps, axis=1) > 1e-9
    assert moves.sum() > 10 and (steps[moves][:, 1] > 0).all() == (kind is push)
    np.testing.assert_allclose(steps[moves], np.diff(wrist, axis=0)[moves], atol=1e-9)
    assert (episode.opening[:-1][moves] < 0.3).all()
    if kind is push:
        (mat,) = (box for box in episode.scene.boxes if box.name == "mat")
        np.testing.assert_allclose(places[-1, :2], mat.world_from_box[:2, 3], atol=1e-9)
    else:
        assert 0.13 <= places[0, 1] - places[-1, 1] <= 0.17


@pytest.mark.parametrize("kind", [push, open_drawer])
def test_a_push_or_pull_that_fails_moves_nothing(kind) -> None:
    episode = kind(np.random.default_rng(1), frames=60, width_px=64, height_px=48, succeeds=False)
    assert episode.task.success is False and np.ptp(way(episode), axis=0).max() == 0
    steps = episode.task.step_frames
    assert len(steps) == len(episode.task.step_texts) and (np.diff(steps) > 0).all()
