"""Matches on a painted plane under exact homographies; repeated tiles must not give wrong matches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import pytest
from jaxtyping import Float64, UInt8

from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from experts.matching.sift_matches import SiftExpert
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, Matches, NoEstimate, Scale

NONE = NoEstimate(reason="not needed")
SIZE = (320, 240)
FRAMES = 4


@dataclass(frozen=True, kw_only=True)
class PlaneReader:
    """Pictures of one painted plane."""

    paint: UInt8[np.ndarray, "h w"]
    picture_from_paint: Float64[np.ndarray, "n 3 3"]

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            grey = cv2.warpPerspective(self.paint, self.picture_from_paint[frame], SIZE, flags=cv2.INTER_AREA)
            noise = np.random.default_rng(frame).normal(0, 2, grey.shape)
            yield np.repeat(np.clip(grey + noise, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


def random_paint(seed: int, height: int = 480, width: int = 640) -> UInt8[np.ndarray, "h w"]:
    """Blobs of many sizes."""
    rng = np.random.default_rng(seed)
    total = sum(cv2.GaussianBlur(rng.normal(0, 1, (height, width)), (0, 0), s) * s for s in (1.5, 3.0, 6.0, 12.0))
    return np.clip(128 + 45 * total / total.std(), 0, 255).astype(np.uint8)


def moving_plane(paint: UInt8[np.ndarray, "h w"]) -> tuple[Clip, ImageTracks]:
    """The picture shifts by a tile and a half, shrinks and rotates slightly; tracks are on a grid."""
    homographies = []
    for k in range(FRAMES):
        angle, factor = 0.02 * k, 0.8 - 0.01 * k
        cos, sin = factor * np.cos(angle), factor * np.sin(angle)
        homographies.append([[cos, -sin, -40 - 12.0 * k], [sin, cos, -40 - 4.0 * k], [1e-5 * k, 0, 1]])
    picture_from_paint = np.array(homographies)
    grid = np.stack(np.meshgrid(np.arange(40, 600, 14.0), np.arange(40, 440, 14.0)), axis=-1).reshape(-1, 1, 2)
    xy = np.stack([cv2.perspectiveTransform(grid, h)[:, 0] for h in picture_from_paint], axis=1)
    xy[((xy < 0) | (xy > np.array(SIZE) - 1)).any(axis=-1)] = np.nan
    clip = Clip(
        id="0" * 16,
        name="plane",
        frames=np.arange(FRAMES),
        times_s=None,
        width_px=SIZE[0],
        height_px=SIZE[1],
        reader=PlaneReader(paint=paint, picture_from_paint=picture_from_paint),
    )
    source = Provenance(expert="test", version="0")
    return clip, ImageTracks(frames=clip.frames, xy_px=xy.astype(np.float32), provenance=source)


def matched(clip: Clip, tracks: ImageTracks | NoEstimate) -> Matches | NoEstimate:
    signals = {"image_tracks": tracks, "camera_path": NONE, "sparse_points": NONE, "valid_area": NONE}
    out = SiftExpert()(clip, signals)["matches"]
    assert isinstance(out, Matches | NoEstimate)
    return out


def errors_px(clip: Clip, out: Matches) -> Float64[np.ndarray, "m"]:
    h = clip.reader.picture_from_paint  # type: ignore[attr-defined]
    errors = np.zeros(len(out.pair))
    for row, (a, b) in enumerate(out.pairs):
        of = out.pair == row
        there = cv2.perspectiveTransform(out.xy_a_px[of][:, None], h[b] @ np.linalg.inv(h[a]))[:, 0]
        errors[of] = np.linalg.norm(there - out.xy_b_px[of], axis=1)
    return errors


@pytest.mark.long(sample=True)
def test_matches_of_a_painted_plane_are_correct_and_confirmed() -> None:
    clip, tracks = moving_plane(random_paint(0))
    out = matched(clip, tracks)
    assert isinstance(out, Matches)
    sure, errors = out.outlier_probability < 0.005, errors_px(clip, out)
    assert sure.sum() > 100 and set(np.unique(out.confirmed_by[sure])) <= {1, 3}
    assert errors[sure].max() < 2.5
    assert np.mean(errors[sure] > 2 * 1.5 * out.sigma_px[sure]) < 0.05
    assert len(out.pairs) > 1 and (out.pairs[:, 0] < out.pairs[:, 1]).all()
    again = matched(clip, tracks)
    assert isinstance(again, Matches) and np.array_equal(again.xy_b_px, out.xy_b_px)


def test_what_a_match_and_its_confirmation_differ_by_is_part_of_its_sigma() -> None:
    clip, tracks = moving_plane(random_paint(0))
    off_px = 0.6
    off = tracks.xy_px + np.float32([off_px, 0]) * (np.arange(FRAMES) == 1)[:, None]  # in the second frame
    exact, other = matched(clip, tracks), matched(clip, replace(tracks, xy_px=off))
    assert isinstance(exact, Matches) and isinstance(other, Matches)
    sigma = []
    for out in (exact, other):
        of = np.isin(out.pair, np.flatnonzero((out.pairs == [0, 1]).all(axis=1))) & (out.outlier_probability < 0.005)
        assert of.sum() > 20
        sigma.append(np.median(out.sigma_px[of]))
    assert sigma[1] ** 2 == pytest.approx(sigma[0] ** 2 + off_px**2 / 2, rel=0.2)


def test_wrong_tracks_confirm_no_match() -> None:
    clip, tracks = moving_plane(random_paint(0))
    rng = np.random.default_rng(0)
    wrong = ImageTracks(
        frames=tracks.frames,
        xy_px=(tracks.xy_px + 15 * rng.normal(size=tracks.xy_px.shape)).astype(np.float32),
        provenance=tracks.provenance,
    )
    out = matched(clip, wrong)
    assert isinstance(out, Matches)
    assert (out.confirmed_by == 0).mean() > 0.95 and (out.outlier_probability >= 0.005).mean() > 0.99


@pytest.mark.parametrize("worn", [0.0, 4.0])
def test_tiles_are_not_mistaken_for_one_another(worn: float) -> None:
    paint = np.tile(random_paint(1, 60, 40), (8, 16)).astype(np.float64)
    paint += worn * np.random.default_rng(2).normal(size=paint.shape)
    clip, tracks = moving_plane(np.clip(paint, 0, 255).astype(np.uint8))
    out = matched(clip, tracks)
    if isinstance(out, Matches):
        assert not (errors_px(clip, out)[out.outlier_probability < 0.005] > 2.5).any()


@dataclass(frozen=True, kw_only=True)
class PassingReader:
    """A static picture before which a painted square passes to the right."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            grey = random_paint(5, SIZE[1], SIZE[0])
            grey[60:180, 20 + 20 * frame : 140 + 20 * frame] = random_paint(6, 120, 120)
            noise = np.random.default_rng(frame).normal(0, 2, grey.shape)
            yield np.repeat(np.clip(grey + noise, 0, 255).astype(np.uint8)[..., None], 3, axis=2)


@pytest.mark.parametrize("spacing_px", [12.0, 36.0])
def test_a_static_camera_matches_what_moves(spacing_px: float) -> None:
    """Marks need tracks that move with them on all sides."""
    grid = np.stack(np.meshgrid(np.arange(8, 312, 12.0), np.arange(8, 232, 12.0)), axis=-1).reshape(-1, 1, 2)
    on_square = (np.abs(grid[:, 0] - [80, 120]) < 58).all(axis=1)
    sparse = ((grid[:, 0] - 8) % spacing_px == 0).all(axis=1)
    grid, on_square = grid[sparse], on_square[sparse]
    xy = np.repeat(grid, FRAMES, axis=1)
    xy[on_square] += 20 * np.arange(FRAMES)[:, None] * np.array([1, 0])
    source = Provenance(expert="test", version="0")
    clip = Clip(
        id="0" * 16, name="square", frames=np.arange(FRAMES), times_s=None, width_px=SIZE[0], height_px=SIZE[1],
        reader=PassingReader(),
    )  # fmt: skip
    path = CameraPath(
        frames=clip.frames,
        world_from_cam=np.tile(np.eye(4), (FRAMES, 1, 1)),
        registered=np.ones(FRAMES, dtype=bool),
        keyframe=np.ones(FRAMES, dtype=bool),
        intrinsics=Intrinsics.centred(*SIZE, 300.0),
        focal_relative_sigma=0.2,
        motion="static",
        rotation_sigma_rad=np.full(FRAMES, 0.002),
        position_sigma=np.full(FRAMES, np.nan),
        direction_sigma_rad=0.05,
        scale=Scale(kind="relative"),
        provenance=source,
    )
    tracks = ImageTracks(frames=clip.frames, xy_px=xy.astype(np.float32), provenance=source)
    signals = {"image_tracks": tracks, "camera_path": path, "sparse_points": NONE, "valid_area": NONE}
    out = SiftExpert()(clip, signals)["matches"]
    if spacing_px > 24:
        assert isinstance(out, NoEstimate) and out.reason == "no pair of frames matches"
        return
    assert isinstance(out, Matches)
    sure = out.outlier_probability < 0.005
    frames = out.pairs[out.pair[sure]]
    shift = out.xy_b_px[sure] - out.xy_a_px[sure]
    assert sure.sum() > 8
    np.testing.assert_allclose(shift, 20 * np.diff(frames, axis=1) * np.array([1, 0]), atol=2.0)


def test_missing_tracks_and_missing_displacement_give_no_estimate() -> None:
    clip, tracks = moving_plane(random_paint(4))
    still = ImageTracks(
        frames=tracks.frames, xy_px=np.repeat(tracks.xy_px[:, :1], FRAMES, axis=1), provenance=tracks.provenance
    )
    for available, reason in ((NONE, "no tracks"), (still, "no two frames overlap")):
        out = matched(clip, available)
        assert isinstance(out, NoEstimate) and reason in out.reason
