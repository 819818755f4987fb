"""What moves before a background that moves by homographies, without a camera path."""

import numpy as np
import pytest
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import ImageTracks, NoEstimate, PointTracks
from experts.tracking.track_geometry import TrackGeometryExpert

FRAMES = 30
CAMERA = Intrinsics.centred(640, 480, 560.0)
Pixels = Float64[np.ndarray, "t n 2"]
ROTATION = Rotation.from_euler("yx", np.linspace([0, 0], [0.25, 0.08], FRAMES))
BACKGROUND = np.stack(np.meshgrid(np.linspace(-1.1, 1.1, 17), np.linspace(-0.8, 0.8, 13), [2.0]), axis=-1).reshape(
    -1, 3
)
OBJECT = np.stack(np.meshgrid(np.linspace(-0.15, 0.15, 6), np.linspace(-0.2, 0.2, 6), [2.0]), axis=-1).reshape(-1, 3)


class NoFrames:
    """A reader that must not be used."""

    def read(self, frames):
        raise AssertionError("the expert reads a frame although it needs none")


def seen(xyz_world: Float64[np.ndarray, "t n 3"], focal: Float64[np.ndarray, "n"] | None = None) -> Pixels:
    """Pixels inside the picture of a rotating camera, which may zoom."""
    zoom = np.ones(FRAMES) if focal is None else focal
    xyz = np.stack([ROTATION[n].inv().apply(xyz_world[:, n]) for n in range(FRAMES)], axis=1)
    xy = (CAMERA.project(xyz) - [319.5, 239.5]) * zoom[:, None] + [319.5, 239.5]
    inside = (xy >= 0).all(axis=-1) & (xy <= [639, 479]).all(axis=-1)
    noise = np.random.default_rng(0).normal(scale=0.1, size=xy.shape)
    return np.where(inside[..., None], xy + noise, np.nan)


def at(
    xyz: Float64[np.ndarray, "t 3"], velocity: tuple[float, float, float] = (0, 0, 0)
) -> Float64[np.ndarray, "t n 3"]:
    return xyz[:, None] + np.linspace([0, 0, 0], velocity, FRAMES)


def decided(xy: Pixels) -> PointTracks | NoEstimate:
    clip = Clip(
        id="0", name="x", frames=np.arange(FRAMES), times_s=None, width_px=640, height_px=480, reader=NoFrames()
    )
    tracks = ImageTracks(
        frames=clip.frames, xy_px=xy.astype(np.float32), provenance=Provenance(expert="test", version="0")
    )
    none = NoEstimate(reason="zoom")
    return TrackGeometryExpert()(clip, {"image_tracks": tracks, "camera_path": none})["tracks"]  # type: ignore[return-value]


@pytest.mark.parametrize("zoom", [1.0, 1.3])
def test_an_object_moves_before_the_background(zoom: float) -> None:
    focal = np.linspace(1, zoom, FRAMES)
    xy = np.concatenate([seen(at(BACKGROUND), focal), seen(at(OBJECT, (0.5, 0.1, 0)), focal)])
    out = decided(xy)
    assert isinstance(out, PointTracks)
    moves = out.motion[len(BACKGROUND) :]
    assert (moves == 1).mean() > 0.3 and not (moves == 0).any()
    still = out.motion[: len(BACKGROUND)][np.isfinite(xy[: len(BACKGROUND), :, 0]).sum(axis=1) > 20]
    assert (still == 0).mean() > 0.95


def test_what_is_not_surrounded_by_the_background_may_be_near() -> None:
    """A near static object that a translating camera passes looks like this: it is cut by the edge of the picture."""
    xy = seen(at(OBJECT, (0.5, 0, 0))) + np.array([0, 175])
    xy[(xy > [639, 479]).any(axis=-1)] = np.nan
    out = decided(np.concatenate([seen(at(BACKGROUND)), xy]))
    assert isinstance(out, PointTracks) and not (out.motion == 1).any()


def test_an_object_that_fills_the_picture_is_not_the_background() -> None:
    inner = np.abs(BACKGROUND[:, 0]) < 0.75
    xyz = np.where(inner[:, None, None], at(BACKGROUND, (0.4, 0, 0)), at(BACKGROUND))
    out = decided(seen(xyz))
    assert isinstance(out, NoEstimate) and "no background" in out.detail
