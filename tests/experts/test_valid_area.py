"""Borders and logos are masked; the scene is not."""

import numpy as np
import pytest

from experts.clip import Clip, OpeningOptions
from experts.signals import NoEstimate, ValidArea
from experts.valid_area import ValidAreaExpert
from tests.films import texture

H, W = 180, 320


class Pictures:
    """Reads frames from memory."""

    def __init__(self, pictures: list[np.ndarray]) -> None:
        self.pictures = pictures

    def read(self, frames):  # type: ignore[no-untyped-def]
        """As `FrameReader`."""
        return (self.pictures[f] for f in frames)


def moving(count: int = 30, step_px: int = 5) -> list[np.ndarray]:
    """A pan over a texture."""
    wide = texture(0, H, W + count * step_px)
    return [wide[:, k * step_px : k * step_px + W].copy() for k in range(count)]


def estimate(pictures: list[np.ndarray], max_side_px: int = 960) -> ValidArea | NoEstimate:
    """The output of the expert."""
    h, w = pictures[0].shape[:2]
    clip = Clip(
        id="0" * 16,
        name="test",
        frames=np.arange(len(pictures)),
        times_s=None,
        width_px=w,
        height_px=h,
        options=OpeningOptions(max_side_px=max_side_px),
        reader=Pictures(pictures),
    )
    return ValidAreaExpert()(clip, {})["valid_area"]


def valid(pictures: list[np.ndarray], max_side_px: int = 960) -> np.ndarray:
    """The mask."""
    area = estimate(pictures, max_side_px)
    assert isinstance(area, ValidArea)
    return area.valid


def with_logo(pictures: list[np.ndarray], opacity: float = 1.0) -> tuple[list[np.ndarray], np.ndarray]:
    """The pictures with burnt-in letters, and the mask of the letters."""
    import cv2

    ink = np.zeros((H, W), dtype=np.uint8)
    cv2.putText(ink, "NEWS 7", (200, 40), cv2.FONT_HERSHEY_SIMPLEX, 0.9, 255, 2)
    share = opacity * (ink[..., None] > 0)
    return [(p * (1 - share) + 255 * share).astype(np.uint8) for p in pictures], ink > 0


def test_a_moving_picture_without_overlay_is_valid_throughout() -> None:
    assert valid(moving()).all()


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (20, 60, 120)])
@pytest.mark.parametrize("still", [False, True])
def test_borders_of_any_colour_are_masked(colour: tuple[int, int, int], still: bool) -> None:
    rng = np.random.default_rng(0)
    pictures = moving()
    if still:
        pictures = [pictures[0].copy() for _ in pictures]
    for p in pictures:
        p[:20], p[-20:], p[:, :30] = colour, colour, colour
        p[:] = np.clip(p + rng.normal(0, 1, p.shape), 0, 255)
    mask = valid(pictures)
    assert not mask[:20].any()
    assert not mask[-20:].any()
    assert not mask[:, :30].any()
    assert mask[30:-30, 40:].all()


@pytest.mark.parametrize("opacity", [1.0, 0.6])
def test_a_logo_is_masked_if_the_rest_moves(opacity: float) -> None:
    pictures, ink = with_logo(moving(), opacity)
    mask = valid(pictures)
    assert not mask[ink].any()
    assert mask.mean() > 0.85


def test_with_a_static_camera_nothing_is_masked() -> None:
    still = [moving()[0].copy() for _ in range(30)]
    for k, p in enumerate(still):
        p[60:90, 5 * k : 5 * k + 30] = 255  # somebody walks by
    pictures, _ = with_logo(still)
    assert valid(pictures).all()


def test_with_few_frames_no_overlay_is_masked() -> None:
    pictures, _ = with_logo(moving(5))
    assert valid(pictures).all()


def test_the_mask_has_the_working_size() -> None:
    pictures, ink = with_logo(moving())
    mask = valid(pictures, max_side_px=160)
    assert mask.shape == (90, 160)
    assert not mask[np.argwhere(ink)[:, 0] // 2, np.argwhere(ink)[:, 1] // 2].any()


@pytest.mark.parametrize("level", [0, 255])
def test_pictures_of_one_colour_give_no_estimate(level: int) -> None:
    area = estimate([np.full((H, W, 3), level, dtype=np.uint8)] * 10)
    assert isinstance(area, NoEstimate)
    assert "cover most of the picture" in area.reason
