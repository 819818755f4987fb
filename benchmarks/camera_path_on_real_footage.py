"""Errors of the default camera path on real footage, in degrees and in its own σ.

    SPATIAL_ENGINE_DATA=... python benchmarks/camera_path_on_real_footage.py [set ...]

Per set: kind of motion, registered frames, focal length of both reconstructions, errors between keyframes.
"""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from footage import SETS, Footage, load, with_true_camera
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.mapping.colmap import ColmapExpert
from experts.signals import CameraPath, NoEstimate, Signal, SparsePoints
from experts.tracking.klt import KltExpert

CLEAR_BASELINE = 10.0
"""Least distance between keyframes whose directions are compared, in (formal) σ of position."""


def main() -> None:
    """Prints one block per set."""
    root = Path(os.environ["SPATIAL_ENGINE_DATA"])
    for name in sys.argv[1:] or list(SETS):
        footage = load(root, name.removesuffix("+f"))
        clip = with_true_camera(footage) if name.endswith("+f") else footage.clip
        started = time.process_time()
        signals = {**KltExpert()(clip, {})}
        tracked = time.process_time()
        signals |= ColmapExpert()(clip, signals)
        print(f"{name}: {len(clip.frames)} frames, klt {tracked - started:.1f} s, "
              f"colmap {time.process_time() - tracked:.1f} s of CPU")  # fmt: skip
        for suffix in ("", "_check"):
            print(f"  reconstruction{suffix}: {describe(footage, clip, signals, suffix)}", flush=True)


def describe(footage: Footage, clip: Clip, signals: Mapping[str, Signal | NoEstimate], suffix: str) -> str:
    """One line about one reconstruction."""
    path, points = signals[f"camera_path{suffix}"], signals[f"sparse_points{suffix}"]
    if not isinstance(path, CameraPath):
        return f"no_estimate: {path}"
    text = f"{path.motion}, {path.registered.sum()}/{len(clip.frames)} frames, {path.keyframe.sum()} keyframes, "
    text += f"f {path.intrinsics.fx_px:.0f} ± {100 * path.focal_relative_sigma:.1f} %"
    if footage.true_focal_px:
        error = 1 - footage.true_focal_px / path.intrinsics.fx_px
        text += f" (true {footage.true_focal_px:.0f}: {100 * error:+.1f} %, "
        text += f"{abs(error) / path.focal_relative_sigma:.1f} σ)"
    if isinstance(points, SparsePoints):
        reliable = (points.outlier_probability < 0.005).sum()
        text += f", {len(points.xyz_world)} points, {reliable} reliable, k1 {path.intrinsics.k1:.3f}"
        text += f", angle {np.degrees(np.median(points.triangulation_angle_rad)):.1f} deg"
    if footage.true_world_from_cam is not None:
        text += "".join(f"\n      {which}: {line}" for which, line in errors(footage, path).items())
    return text


def errors(footage: Footage, path: CameraPath) -> dict[str, str]:
    """Rotation and direction errors between frames, for keyframes and for all frames."""
    assert footage.true_world_from_cam is not None
    return {
        which: _errors(path, footage.true_world_from_cam, np.flatnonzero(chosen))
        for which, chosen in (("keyframes", path.keyframe & path.registered), ("all", path.registered))
    }


def _errors(path: CameraPath, truth: np.ndarray, rows: np.ndarray) -> str:
    a, b = np.array([(i, j) for i in rows for j in rows if i < j]).reshape(-1, 2).T
    if not len(a):
        return "no pairs"
    known = np.where(path.registered[:, None, None], path.world_from_cam[:, :3, :3], np.eye(3))
    estimated, true = Rotation.from_matrix(known), Rotation.from_matrix(truth[:, :3, :3])
    error = ((estimated[a].inv() * estimated[b]).inv() * (true[a].inv() * true[b])).magnitude()
    angle = (true[a].inv() * true[b]).magnitude()
    sigma = np.hypot(path.rotation_sigma_rad[np.maximum(a, b)], angle * path.focal_relative_sigma)
    text = f"rotation ≤ {np.degrees(angle.max()):.0f}: {_summary(np.degrees(error), error / sigma)}"
    if path.motion != "general":
        return text
    step, true_step = path.world_from_cam[b, :3, 3] - path.world_from_cam[a, :3, 3], truth[b, :3, 3] - truth[a, :3, 3]
    length = np.linalg.norm(step, axis=1)
    formal = np.hypot(path.position_sigma[a], path.position_sigma[b])
    clear = length > CLEAR_BASELINE * formal
    if not clear.any():
        return text + "; no clear baseline"
    ours, theirs = estimated[a].inv().apply(step)[clear], true[a].inv().apply(true_step)[clear]
    cosine = np.sum(ours * theirs, axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    error = np.arccos(np.clip(cosine, -1, 1))
    sigma = np.hypot(path.direction_sigma_rad, (formal / length)[clear])
    sigma = np.hypot(sigma, (angle * path.focal_relative_sigma)[clear])
    return text + f"; direction ({clear.mean():.2f} clear): {_summary(np.degrees(error), error / sigma)}"


def _summary(degrees: np.ndarray, sigmas: np.ndarray) -> str:
    beyond = 100 * np.mean(sigmas > 2.5)
    return (
        f"median {np.median(degrees):.2f} max {degrees.max():.2f} deg, max {sigmas.max():.1f} σ, {beyond:.1f} % > 2.5 σ"
    )


if __name__ == "__main__":
    main()
