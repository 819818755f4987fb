"""What the middle of the picture shows in a video, and whether other frames show the same there: whether it was hidden
before, or has moved away since."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from templates.scene.marks import inside, known_pixels
from templates.scene.scene import Scene

_LOOKS = 4
"""Frames of a video whose middle is looked at."""
_MIDDLE, _INNER = 0.25, 5
"""Half the middle of the picture, in shares of its sides; and the number of points in the very middle of which the
range is the median."""
_MOST_POINTS = 80
_NOT_THERE, _SIGMAS = np.log(1.15), 3.0
"""A surface is another one if it is nearer or farther by this logarithm, and by so many σ."""


@dataclass(frozen=True, kw_only=True)
class Middle:
    """What the middle of the picture shows in some frames."""

    frames: Int64[np.ndarray, "n"]
    world_from_cam: Float64[np.ndarray, "n 4 4"]
    range: Float64[np.ndarray, "n"]
    """Of the very middle."""
    sigma: float
    """Relative σ of the ranges."""
    xyz_world: Sequence[Float64[np.ndarray, "_ 3"]]
    """Surface points in the middle of each, from the very middle outwards."""
    around: Int64[np.ndarray, "2"]
    """The last frame with a known surface up to the first one of the video, and the first one from its last one on."""

    def hidden(self, scene: Scene) -> tuple[float, float, float]:
        """Least and largest share of what the middle shows at the end that something nearer hides at the beginning; and
        how much nearer that is, as a logarithm. Both ends lie between two frames with known surfaces."""
        after = _known(scene, int(self.around[1]))
        shares, nearer = [], []
        for xyz in (self.xyz_world[-1], self.xyz_world[-1] if after is None else after[2]):
            for behind in _behind(scene, xyz, np.array([self.frames[0], self.around[0]])):
                is_hidden = behind > self._least
                shares.append(float(is_hidden.mean()))
                nearer.append(float(np.median(behind[is_hidden])) if is_hidden.any() else 0.0)
        return min(shares), max(shares), min(nearer)

    def hidden_at_first(self, scene: Scene) -> float:
        """Share of what the middle of the last frame shows that the first frame hides. It is one of those of which
        `hidden` gives the least."""
        return float((_behind(scene, self.xyz_world[-1], self.frames[:1]) > self._least).mean())

    def vacated(self, scene: Scene) -> float:
        """Largest share of what the very middle shows in a frame that is not there in another one, which sees past its
        place."""
        shares = [0.0]
        for k, xyz in enumerate(self.xyz_world):
            for behind in _behind(scene, xyz[:_INNER], np.delete(self.frames, k)):
                if np.isfinite(behind).any():
                    shares.append(float((behind[np.isfinite(behind)] < -self._least).mean()))
        return max(shares)

    @property
    def _least(self) -> float:
        return max(_NOT_THERE, _SIGMAS * np.sqrt(2) * self.sigma)


def picture_middle(scene: Scene, frames: Int64[np.ndarray, "n"]) -> Middle | None:
    """What is seen in some of the frames; None where too little is known."""
    around = frames[[0, -1]]
    if scene.depth is not None and len(with_depth := np.intersect1d(frames, scene.depth.frames)):
        earlier = np.append(-1, scene.depth.frames)[np.searchsorted(scene.depth.frames, around[0], side="right")]
        later = np.append(scene.depth.frames, -1)[np.searchsorted(scene.depth.frames, around[1])]
        frames = with_depth
        around = np.where(np.array([earlier, later]) < 0, frames[[0, -1]], [earlier, later])
    found = [_known(scene, frame) for frame in spread(frames, _LOOKS).tolist()]
    known = [one for one in found if one is not None]
    if len(known) < 2:
        return None
    shown, poses, points, ranges, sigmas = zip(*known, strict=True)
    return Middle(
        frames=np.array(shown, dtype=np.int64),
        world_from_cam=np.stack(poses),
        range=np.array(ranges),
        sigma=float(max(sigmas)),
        xyz_world=points,
        around=around,
    )


def spread(rows: Int64[np.ndarray, "n"], count: int) -> Int64[np.ndarray, "k"]:
    """At most `count` of the rows, evenly spaced, the first and the last among them."""
    if not len(rows):
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, count).round().astype(np.int64))]


_Seen = tuple[int, Float64[np.ndarray, "4 4"], Float64[np.ndarray, "p 3"], float, float]


def _known(scene: Scene, frame: int) -> _Seen | None:
    """The same of any video that shows the frame."""
    return scene.once(("picture middle", frame), lambda: _seen(scene, frame))


def _seen(scene: Scene, frame: int) -> _Seen | None:
    """A frame, its pose, surface points in the middle of its picture, and the range of the very middle with its σ; None
    where too few points are known."""
    away = known_pixels(scene, frame) / [scene.clip.width_px, scene.clip.height_px] - 0.5
    middle = known_pixels(scene, frame)[np.abs(away).max(axis=1, initial=0) <= _MIDDLE]
    middle = middle[:: 1 + len(middle) // _MOST_POINTS]
    seen = scene.surface(frame, middle)
    seen, middle = seen.take(np.isfinite(seen.range)), middle[np.isfinite(seen.range)]
    if len(middle) < _INNER:
        return None
    away = np.linalg.norm(middle / [scene.clip.width_px, scene.clip.height_px] - 0.5, axis=1)
    outwards, pose = np.argsort(away, kind="stable"), scene.world_from_cam(frame)
    inner = outwards[:_INNER]
    xyz_world = seen.xyz_cam[outwards] @ pose[:3, :3].T + pose[:3, 3]
    sigma = float(np.median(seen.range_relative_sigma[inner]))
    return frame, pose, xyz_world, float(np.median(seen.range[inner])), sigma


def _behind(
    scene: Scene, xyz_world: Float64[np.ndarray, "p 3"], frames: Int64[np.ndarray, "f"]
) -> Float64[np.ndarray, "f p"]:
    """By which logarithm of the range points lie behind what other frames show in their direction; NaN outside their
    pictures, and where nothing is known."""
    assert scene.path is not None
    poses = scene.world_from_cam(frames)
    xyz_cam = ((xyz_world - poses[:, None, :3, 3]) @ poses[:, :3, :3]).reshape(-1, 3)
    found = np.full(len(xyz_cam), np.nan)
    ahead = np.flatnonzero(xyz_cam[:, 2] > 0)
    xy_px = scene.path.intrinsics.project(xyz_cam[ahead])
    shown = np.isfinite(xy_px).all(axis=1)
    ahead, xy_px = ahead[shown], xy_px[shown]
    shown = inside(scene.clip, xy_px)
    ahead, xy_px = ahead[shown], xy_px[shown]
    with np.errstate(divide="ignore", invalid="ignore"):
        range = scene.surface(np.repeat(frames, len(xyz_world))[ahead], xy_px).range
        found[ahead] = np.log(np.linalg.norm(xyz_cam[ahead], axis=1) / range)
    return found.reshape(len(frames), len(xyz_world))
