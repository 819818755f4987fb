"""How far each signal of a clip is from ground truth, in its own σ. Ranges and pixels: `signal_errors_depth`."""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.signals import Calibration, CameraPath, NoEstimate, Signals
from spatial_engine.trust.signal_errors_depth import pixel_errors, range_errors
from spatial_engine.trust.signal_errors_record import SignalErrors, errors_of
from spatial_engine.trust.true_sequence import TrueClip
from templates.scene.marks import spread_frames
from templates.scene.scene import Scene
from templates.settings import MaxTolerances

_DENSE = 8
"""Number of frames whose true depth is read."""
_PAIRS = 4
"""Number of matched pairs whose frames are among them."""


def signal_errors(clip: Clip, signals: Signals, truth: TrueClip) -> list[SignalErrors]:
    """One record per quantity that both the signals and truth know; errors of which truth is unsure are counted and
    left out. The same inputs give the same records.

    Signals are taken as their experts gave them: none is refused, and their σ include no disagreement. A check signal
    (`camera_path_check`) is skipped: its expert is measured where it provides the signal itself.
    """
    kept = {name: s for name, s in signals.items() if not name.endswith("_check") and not isinstance(s, NoEstimate)}
    mine = Scene(clip=clip, signals=kept, no_estimates={})
    unsound = truth.unsound
    dense = _frames(mine, unsound)
    true = truth.scene(dense)
    found = chain(camera_errors(mine, true, unsound), range_errors(mine, true, dense), pixel_errors(mine, true, dense))
    return [each for each in found if each.counted or each.undecided or each.gross]


def _frames(mine: Scene, unsound: frozenset[int]) -> Sequence[int]:
    """Sound frames, evenly spread, and those of a few matched pairs; the first frame, in which most tracks begin."""
    sound = mine.clip.frames[~np.isin(mine.clip.frames, sorted(unsound))]
    matches = np.empty((0, 2), dtype=np.int64) if mine.matches is None else mine.matches.pairs
    pairs = matches[np.isin(matches, sound).all(axis=1)]
    matched = {int(f) for k in spread_frames(np.arange(len(pairs)), _PAIRS) for f in pairs[k]}
    return sorted(matched | set(spread_frames(sound, max(2, _DENSE - len(matched)))))


_FRAMES = 16
"""Pairs of so many frames, evenly spread, are compared."""


def camera_errors(mine: Scene, true: Scene, unsound: frozenset[int]) -> Iterator[SignalErrors]:
    """Every quantity of the camera that both scenes know."""
    if mine.path is not None and true.path is not None:
        pairs = _pairs(mine.path, true.path, unsound)
        if pairs and mine.path.motion != "static":  # a camera that stands still does not test σ
            yield _rotations(mine, true, mine.path, pairs)
        if pairs and mine.path.motion == "general" and true.path.motion == "general":
            yield _directions_error(mine, true, mine.path, pairs)
    for name, camera in (("camera_path", mine.path), ("calibration", mine.calibration)):
        if camera is not None and true.path is not None:
            yield _focal(name, camera, true.path)
    if mine.gravity is not None and true.gravity is not None:
        yield _up(mine, true, unsound)


def _pairs(mine: CameraPath, true: CameraPath, unsound: frozenset[int]) -> list[tuple[int, int]]:
    both = np.intersect1d(mine.frames[mine.registered], true.frames[true.registered])
    sound = both[~np.isin(both, sorted(unsound))]
    return list(combinations(spread_frames(sound, _FRAMES), 2))


def _rotations(mine: Scene, true: Scene, path: CameraPath, pairs: Sequence[tuple[int, int]]) -> SignalErrors:
    """Rotation from one frame to another, per axis. The part of the camera's σ is separate."""
    estimated, exact = (_relative(scene, pairs) for scene in (mine, true))
    return errors_of(
        path.provenance, "camera_path", "rotation",
        error=(exact.inv() * estimated).as_rotvec(),
        own=np.array([mine.rotation_sigma_rad(pair).max() for pair in pairs]),
        truth=np.array([true.rotation_sigma_rad(pair).max() for pair in pairs]),
        beside=path.turn_relative_sigma * estimated.magnitude(),
    )  # fmt: skip


def _relative(scene: Scene, pairs: Sequence[tuple[int, int]]) -> Rotation:
    a, b = (scene.world_from_cam([pair[k] for pair in pairs])[:, :3, :3] for k in (0, 1))
    return Rotation.from_matrix(a.swapaxes(1, 2) @ b)


def _directions_error(mine: Scene, true: Scene, path: CameraPath, pairs: Sequence[tuple[int, int]]) -> SignalErrors:
    """Error of the direction from one camera to another, perpendicular to it: σ as in `place_direction`; the parts of
    the rotation and of the camera are separate. Directions that no question can use are left out."""
    assert true.path is not None
    direction, length = _directions(mine, pairs)
    exact, true_length = _directions(true, pairs)
    frames = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    own = np.hypot(path.direction_sigma_rad, np.linalg.norm(mine.position_sigma(frames), axis=1) / length)
    beside = np.hypot(mine.relative_rotation_sigma_rad(frames), mine.systematic_offset_sigma(frames) / length)
    known = np.hypot(true.path.direction_sigma_rad, [true.rotation_sigma_rad(pair).max() for pair in pairs])
    known = np.hypot(known, [np.hypot(*true.position_sigma(pair)) for pair in pairs] / true_length)
    return errors_of(
        path.provenance, "camera_path", "direction",
        error=_across(direction, exact),
        own=np.where(np.hypot(own, beside) <= np.radians(MaxTolerances().direction_deg), own, np.nan),
        truth=known,
        beside=beside,
    )  # fmt: skip


def _directions(
    scene: Scene, pairs: Sequence[tuple[int, int]]
) -> tuple[Float64[np.ndarray, "n 3"], Float64[np.ndarray, "n"]]:
    """Unit directions to the first of two frames in the second's camera axes, and their baselines; NaN for none."""
    first, second = (scene.world_from_cam([pair[k] for pair in pairs]) for k in (0, 1))
    offset = np.einsum("nji,nj->ni", second[:, :3, :3], first[:, :3, 3] - second[:, :3, 3])
    length = np.linalg.norm(offset, axis=1)
    length = np.where(length > 0, length, np.nan)
    return offset / length[:, None], length


def _focal(name: str, camera: CameraPath | Calibration, true: CameraPath) -> SignalErrors:
    mine, exact = camera.intrinsics, true.intrinsics
    off = np.log([mine.fx_px / exact.fx_px, mine.fy_px / exact.fy_px]).mean()
    return errors_of(
        camera.provenance, name, "focal",
        error=np.array([[off]]),
        own=np.array([camera.focal_relative_sigma]),
        truth=np.array([true.focal_relative_sigma]),
    )  # fmt: skip


def _up(mine: Scene, true: Scene, unsound: frozenset[int]) -> SignalErrors:
    assert mine.gravity is not None and true.gravity is not None
    frames = sorted({int(f) for f in np.intersect1d(mine.gravity.frames, true.gravity.frames)} - unsound)
    up, own = _ups(mine, frames)
    exact, known = _ups(true, frames)
    return errors_of(mine.gravity.provenance, "gravity", "up", error=_across(up, exact), own=own, truth=known)


def _ups(scene: Scene, frames: Sequence[int]) -> tuple[Float64[np.ndarray, "n 3"], Float64[np.ndarray, "n"]]:
    return scene.up_cam(np.array(frames, dtype=np.int64))


def _across(directions: Float64[np.ndarray, "n 3"], true: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 2"]:
    """The angle from true unit directions to others, along two axes across the true one."""
    axis = np.cross(true, directions)
    sine = np.linalg.norm(axis, axis=1)
    angle = np.arctan2(sine, np.einsum("ni,ni->n", true, directions))
    turn = axis * (angle / np.maximum(sine, 1e-12))[:, None]
    helper = np.eye(3)[np.abs(np.nan_to_num(true)).argmin(axis=1)]
    first = np.cross(true, helper)
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-12)
    second = np.cross(true, first)
    return np.stack([np.einsum("ni,ni->n", turn, axis) for axis in (first, second)], axis=1)
