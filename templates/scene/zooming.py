"""How much the camera zooms between two photos, and the scene of a clip that zooms for what reads poses alone."""

from collections import ChainMap
from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Int64

from experts.signals import CameraPath, Signal
from templates.scene.scene import Scene, find_rows

NO_ZOOM, VISIBLE_ZOOM = np.log([1.02, 1.1])
"""|ln| of the ratio of two focal lengths: up to the first nobody sees a zoom, from the second on everybody does."""
_STEADY_SIGMA = {"static": 0.005, "rotation_only": 0.02}
"""σ of it in clips that one camera explains, by motion: a zoom moves the edges of the picture. A translation hides a
slow zoom."""


def posed(scene: Scene) -> Scene:
    """The scene with its `zooming_path` as camera path, if that is the path it has: only for what reads poses alone,
    since pixels have other directions in each frame."""
    zooming = scene.signals.get("zooming_path")
    if scene.path is not None or not isinstance(zooming, CameraPath):
        return scene
    signals = ChainMap[str, Signal]({"camera_path": zooming}, scene.signals)  # type: ignore[arg-type]  # only read
    return scene.once("posed", lambda: replace(scene, signals=signals))


def ln_magnification(
    scene: Scene, frames: Int64[np.ndarray, "n 2"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """ln of the focal length of the second photo over that of the first, and its σ; NaN where not known."""
    path = posed(scene).path
    if path is None or path.magnification is None or path.magnification_sigma is None:
        sigma = np.nan if path is None else _STEADY_SIGMA.get(path.motion, np.nan)
        return np.full(len(frames), 0 * sigma), np.full(len(frames), sigma)
    rows = find_rows(path.frames, frames)
    ln = np.where(rows >= 0, np.log(path.magnification)[rows], np.nan)
    sigma = np.where(rows >= 0, path.magnification_sigma[rows], np.nan).max(axis=1)
    return ln[:, 1] - ln[:, 0], sigma
