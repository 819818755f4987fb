"""Fronts count as confirmed where views from several directions agree on them, and never where they are flipped."""

import numpy as np
from scipy.spatial.transform import Rotation

from experts.objects.front_agreement import FrontSettings, front_outliers

SETTINGS = FrontSettings()


def views(
    rng: np.random.Generator, n: int, flipped: float, sigma: float, step_deg: float = 15.0
) -> tuple[np.ndarray, np.ndarray]:
    """What n views around 200 objects say of their fronts, and which are flipped."""
    turn = rng.normal(scale=sigma, size=(n, 200)) + np.pi * (wrong := rng.random((n, 200)) < flipped)
    front = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=-1)
    angle = np.radians(step_deg) * np.arange(n)
    ray = np.stack([np.cos(angle), np.sin(angle), np.full(n, -0.2)], axis=-1)
    ray = np.repeat((ray / np.linalg.norm(ray, axis=1, keepdims=True))[:, None], 200, axis=1)
    return front_outliers(front, ray, np.full((n, 200), sigma), SETTINGS), wrong


def test_flipped_fronts_are_not_confirmed_and_most_others_are() -> None:
    outliers, wrong = views(np.random.default_rng(0), 8, 0.05, np.radians(10))
    assert (outliers[wrong] == SETTINGS.unconfirmed).all() and wrong.sum() > 50
    assert (outliers[~wrong] == SETTINGS.confirmed).mean() > 0.8


def test_one_view_or_one_direction_confirms_nothing() -> None:
    for n, step_deg in ((1, 15.0), (2, 15.0), (8, 0.5)):
        outliers, _ = views(np.random.default_rng(0), n, 0.0, np.radians(10), step_deg)
        assert (outliers == SETTINGS.unconfirmed).all()


def test_the_choice_of_the_world_does_not_matter_and_unknown_fronts_stay_unconfirmed() -> None:
    rng = np.random.default_rng(1)
    front, ray = (each / np.linalg.norm(each, axis=-1, keepdims=True) for each in rng.normal(size=(2, 5, 6, 3)))
    front[2, 3] = np.nan
    turned = Rotation.random(rng=rng).as_matrix()
    sigma = np.full((5, 6), 1.0)
    first = front_outliers(front, ray, sigma, SETTINGS)
    np.testing.assert_array_equal(first, front_outliers(front @ turned.T, ray @ turned.T, sigma, SETTINGS))
    assert first[2, 3] == SETTINGS.unconfirmed
