"""KLT tracks follow the picture."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from experts.clip import Clip, OpeningOptions, Picture
from experts.provenance import Provenance
from experts.signals import ImageTracks, NoEstimate, ValidArea
from experts.tracking.klt import KltExpert, KltSettings

WORLD = (gaussian_filter(np.random.default_rng(0).normal(size=(300, 400)), 2.0) * 600 + 128).clip(0, 255)


class Window:
    """Frames cut from a large picture, shifted right and down by `step` pixels per frame."""

    def __init__(self, world: np.ndarray, step: int = 1) -> None:
        self.world, self.step = world.astype(np.uint8), step

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            at = frame * self.step
            yield np.repeat(self.world[at : at + 120, at : at + 160, None], 3, axis=2)


def clip_of(reader: Window, frames: int = 12, **options: int) -> Clip:
    return Clip(
        id="x", name="x", frames=np.arange(frames), times_s=None, width_px=160, height_px=120,
        options=OpeningOptions(**options), reader=reader,
    )  # fmt: skip


def follow(clip: Clip, **signals: ValidArea) -> ImageTracks:
    tracks = KltExpert()(clip, signals)["image_tracks"]
    assert isinstance(tracks, ImageTracks)
    return tracks


def test_tracks_move_with_the_picture() -> None:
    xy = follow(clip_of(Window(WORLD))).xy_px
    step = np.diff(xy, axis=1)
    step = step[np.isfinite(step[..., 0])]
    assert len(xy) > 30
    assert np.median(np.abs(step + 1)) < 0.03
    assert np.quantile(np.abs(step + 1), 0.95) < 0.3


def test_new_corners_are_detected_when_old_ones_leave_the_picture() -> None:
    xy = follow(clip_of(Window(WORLD, step=8), frames=16)).xy_px
    assert np.isfinite(xy[:, -1, 0]).sum() > 10
    assert np.isnan(xy[:, 0, 0]).any(), "some tracks begin later"


def test_tracks_are_in_full_size_pixels() -> None:
    xy = follow(clip_of(Window(WORLD), max_side_px=80)).xy_px
    assert np.nanmax(xy) > 80
    step = np.diff(xy, axis=1)
    assert np.nanmedian(np.abs(step + 1)) < 0.2


def test_masked_pixels_have_no_track() -> None:
    valid = np.zeros((120, 160), dtype=bool)
    valid[:, :80] = True
    area = ValidArea(valid=valid, provenance=Provenance(expert="test", version="1"))
    xy = follow(clip_of(Window(WORLD)), valid_area=area).xy_px
    assert np.nanmax(xy[..., 0]) < 80


@pytest.mark.parametrize("frames", [1, 6])
def test_too_few_frames_and_missing_texture_give_no_estimate(frames: int) -> None:
    black = KltExpert()(clip_of(Window(np.zeros((300, 400))), frames=frames), {})["image_tracks"]
    assert isinstance(black, NoEstimate)
    assert black.reason == ("fewer than two frames" if frames == 1 else "no texture to follow")


def test_corners_that_no_other_frame_has_are_not_missing_texture() -> None:
    world = WORLD.copy()
    world[120:] = 128
    found = KltExpert()(clip_of(Window(world, step=130), frames=2), {})["image_tracks"]
    assert isinstance(found, NoEstimate) and found.reason == "frames too different to track"


def test_the_number_of_tracks_is_limited() -> None:
    settings = KltSettings(max_tracks=20)
    tracks = KltExpert(settings)(clip_of(Window(WORLD)), {})["image_tracks"]
    assert isinstance(tracks, ImageTracks) and len(tracks.xy_px) == 20
    assert np.isfinite(tracks.xy_px[..., 0]).sum(axis=1).min() >= settings.min_frames


class Passing:
    """A static picture before which a small square with another texture passes."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            grey = WORLD[:120, :160].astype(np.uint8)
            x = 20 + 2 * frame
            grey[45:75, x : x + 30] = WORLD[150:180, 200:230]
            yield np.repeat(grey[..., None], 3, axis=2)


def test_more_points_are_followed_on_what_moves_and_none_beside_it() -> None:
    clip = clip_of(Passing(), frames=40)  # type: ignore[arg-type]
    counts = []
    for settings in (KltSettings(max_active=60), KltSettings(max_active=60, max_moving=0)):
        tracks = KltExpert(settings)(clip, {})["image_tracks"]
        assert isinstance(tracks, ImageTracks)
        step = np.diff(tracks.xy_px, axis=1)
        moving = np.abs(step - [2, 0]).max(axis=-1) < 0.3
        inside = tracks.xy_px[:, :-1] - [20, 45] - np.stack([2 * np.arange(39), np.zeros(39)], axis=1)
        beside = moving & ((inside < -2) | (inside > 31)).any(axis=-1)
        assert beside.sum() <= 0.02 * moving.sum()
        counts.append(int(moving.sum()))
    assert counts[0] > 1.3 * counts[1]
