"""How the focal length changes while a camera stands or turns: a zoom scales the picture about its principal point.

Each pair of keyframes gives a rotation and a ratio of focal lengths, by least squares on its matches. The ratios are
averaged over the graph of pairs; the frames between are compared with keyframes by their tracks. "Unzoomed" pixels are
those that a camera with the focal length of the first keyframe would have.

A camera that approaches a wall scales the picture too. Where it faces the wall, that looks exactly like a zoom, so the
caller must know that it does not. Where the wall is aslant, a homography explains the pictures better than a zoom.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float32, Float64, Int64
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.motion_kind import PairGeometry
from experts.mapping.pose_covariance import pixels_by_pose

_PLAIN_STEPS, _ROBUST_STEPS = 4, 6
"""Iterations of a fit: with equal weights, then re-weighted."""


@dataclass(frozen=True, kw_only=True)
class ZoomSettings:
    """Pixels are those of the working size."""

    noise_px: float = 1.0
    """Largest median residual of a pair: tracked points have 0.2 to 0.5."""
    max_excess: float = 1.1
    """Largest mean squared residual, over that of a homography, in the median pair. Pictures of 5 real sets, cropped to
    zoom by 1.08, have 1.00 to 1.04; approaches of rendered walls by 8 % have 1.13 to 1.2 at a slant of 6 degrees, and
    1.6 and more at 12; a real camera that comes nearer to a wall of shelves has 1.35."""
    clipped_px: float = 1.5
    """Larger residuals count as this in it."""
    grid: tuple[int, int] = (8, 6)
    """Cells of the picture across and down: the outer ones are its edges ..."""
    edge_px: float = 3.0
    """... and in a pair most matches are within this ..."""
    edge_share: float = 0.7
    """... in this share of the outer cells: what fills the middle and comes nearer is no zoom."""
    fitting_pairs: float = 0.9
    """Smallest share of pairs that keep both."""
    least_ln_range: float = 0.03
    """Smallest ln of the largest over the smallest focal length that counts as a zoom."""
    ln_floor: float = 0.005
    """Systematic σ of ln focal length between two frames: lenses are not centred, and distort."""
    focal_shares: tuple[float, float] = (0.45, 2.0)
    """Limits of the focal length of the first keyframe, as shares of the longer side. The best one is found ..."""
    steps: int = 12
    """... in so many steps ..."""
    widest_pairs: int = 8
    """... on so many pairs; where the camera hardly turns, all are alike."""
    explained_pairs: float = 0.5
    """Smallest share of pairs within `noise_px` while the zoom is not known yet."""
    matches: int = 100
    """Largest number of matches of a pair, or tracks of a frame, that are used."""
    min_tracks: int = 20
    """Smallest number of tracks that a frame shares with a keyframe."""
    rounds: int = 2
    """Fits of all pairs: the second one knows the zoom up to each first frame."""


@dataclass(frozen=True, kw_only=True)
class Zoom:
    """Focal length of each frame over that of the first keyframe."""

    magnification: Float64[np.ndarray, "n"]
    """NaN where unknown."""
    ln_sigma: Float64[np.ndarray, "n"]
    """σ of its logarithm between this and any other frame."""
    centre_px: Float64[np.ndarray, "2"]
    """Principal point."""

    def unzoomed_tracks(self, xy_px: Float32[np.ndarray, "t n 2"]) -> Float32[np.ndarray, "t n 2"]:
        """The tracks of a camera that does not zoom."""
        return ((xy_px - self.centre_px) / self.magnification[:, None] + self.centre_px).astype(np.float32)

    def unzoomed_pairs(self, pairs: Sequence[PairGeometry], keyframes: Int64[np.ndarray, "k"]) -> list[PairGeometry]:
        """The pairs with the pixels of a camera that does not zoom. Their homographies are left as they are."""
        found = []
        for geometry in pairs:
            pair = geometry.pair
            first, second = (self.magnification[keyframes[place]] for place in (pair.first, pair.second))
            unzoomed = replace(
                pair,
                xy_first=(pair.xy_first - self.centre_px) / first + self.centre_px,
                xy_second=(pair.xy_second - self.centre_px) / second + self.centre_px,
            )
            found.append(replace(geometry, pair=unzoomed))
        return found


def zoom_of(
    pairs: Sequence[PairGeometry],
    keyframes: Int64[np.ndarray, "k"],
    xy_px: Float32[np.ndarray, "t n 2"],
    size_px: tuple[int, int],
    settings: ZoomSettings,
) -> Zoom | None:
    """The zoom of a camera that does not translate; None where it does not zoom, or where rotations and zooms do not
    explain the pairs. `size_px`: width and height of the working frames."""
    if not pairs:
        return None
    ln_key = np.zeros(len(keyframes))
    for _ in range(settings.rounds):
        camera = _best_camera(pairs, ln_key, size_px, settings)
        fits = [_fit_pair(pair, ln_key, camera, settings) for pair in pairs]
        ln_key, sigma = _averaged([fit for fit in fits if fit.residual_px <= settings.noise_px], ln_key)
        explained = np.mean([fit.residual_px <= settings.noise_px for fit in fits])
        if explained < settings.explained_pairs or not np.isfinite(ln_key).all():
            return None
    if np.mean([fit.fits for fit in fits]) < settings.fitting_pairs or np.ptp(ln_key) < settings.least_ln_range:
        return None
    if np.median([fit.excess for fit in fits]) > settings.max_excess:
        return None
    return _all_frames(ln_key, float(np.hypot(sigma, settings.ln_floor)), keyframes, xy_px, camera, settings)


def _best_camera(
    pairs: Sequence[PairGeometry], ln_key: Float64[np.ndarray, "k"], size_px: tuple[int, int], settings: ZoomSettings
) -> Intrinsics:
    """The camera of the first keyframe with the plausible focal length that explains the widest pairs best."""
    widest = sorted(pairs, key=lambda p: p.pair.first - p.pair.second)[: settings.widest_pairs]

    def camera(ln_share: float) -> Intrinsics:
        return Intrinsics.centred(*size_px, float(np.exp(ln_share)) * max(size_px))

    def residual_px(ln_share: float) -> float:
        return float(np.mean([_fit_pair(pair, ln_key, camera(ln_share), settings).residual_px for pair in widest]))

    low, high = np.log(settings.focal_shares)
    found = minimize_scalar(residual_px, bounds=(low, high), method="bounded", options={"maxiter": settings.steps})
    return camera(float(found.x))


@dataclass(frozen=True, kw_only=True)
class ZoomFit:
    """A rotation and a ratio of focal lengths, fitted to two frames."""

    camera: Intrinsics
    """Of the first frame."""
    rotation: Rotation
    """second_from_first."""
    ln_ratio: float
    """ln of the second focal length over the first."""

    def mapped(self, xy_first: Float64[np.ndarray, "m 2"]) -> Float64[np.ndarray, "m 2"]:
        """Where the second frame shows the pixels of the first."""
        centre = np.array([self.camera.cx_px, self.camera.cy_px])
        turned = self.camera.project(self.rotation.apply(self.camera.rays(xy_first)))
        return np.asarray((turned - centre) * np.exp(self.ln_ratio) + centre)

    def error_px(
        self, xy_first: Float64[np.ndarray, "m 2"], xy_second: Float64[np.ndarray, "m 2"]
    ) -> Float64[np.ndarray, "m"]:
        """Distance from there."""
        return np.nan_to_num(np.linalg.norm(self.mapped(xy_first) - xy_second, axis=1), nan=1e3)


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """Of a pair of keyframes."""

    first: int
    second: int
    ln_ratio: float
    residual_px: float
    """Median."""
    excess: float
    """Mean squared residual over that of a homography."""
    fits: bool


def _fit_pair(geometry: PairGeometry, ln_key: np.ndarray, camera: Intrinsics, settings: ZoomSettings) -> _Fit:
    pair = geometry.pair
    rows = np.flatnonzero(geometry.inlier)
    rows = rows[:: 1 + len(rows) // settings.matches]
    first, second = pair.xy_first[rows], pair.xy_second[rows]
    fit = fit_zoom(_longer(camera, ln_key[pair.first]), first, second)
    residual = float(np.median(fit.error_px(first, second)))
    by_plane = np.minimum(_homography_error_px(first, second), settings.clipped_px)
    squared = np.minimum(fit.error_px(first, second), settings.clipped_px) ** 2
    return _Fit(
        first=pair.first,
        second=pair.second,
        ln_ratio=fit.ln_ratio,
        residual_px=residual,
        excess=float(squared.mean() / max(float(np.mean(by_plane**2)), 1e-9)),
        fits=residual <= settings.noise_px and _explains_edges(fit, geometry, settings),
    )


def _homography_error_px(first: Float64[np.ndarray, "m 2"], second: Float64[np.ndarray, "m 2"]) -> np.ndarray:
    """Distance of the second pixels to where the homography that fits all of them best maps the first ones."""
    import cv2

    h, _ = cv2.findHomography(first, second, 0)
    if h is None:
        return np.zeros(len(first))
    return np.linalg.norm(cv2.perspectiveTransform(first[:, None], h)[:, 0] - second, axis=1)


def _explains_edges(fit: ZoomFit, geometry: PairGeometry, settings: ZoomSettings) -> bool:
    """Whether the edges of the more magnified picture, all of which the other one shows, move by the zoom."""
    pair, grid = geometry.pair, np.array(settings.grid)
    explained = fit.error_px(pair.xy_first, pair.xy_second) <= settings.edge_px
    seen = pair.xy_second if fit.ln_ratio > 0 else pair.xy_first
    cell = np.floor((seen + 0.5) / [fit.camera.width_px, fit.camera.height_px] * grid).astype(int).clip(0, grid - 1)
    edge = ((cell == 0) | (cell == grid - 1)).any(axis=1)
    _, row = np.unique(cell[edge] @ [1, grid[0]], return_inverse=True)
    share = np.bincount(row, explained[edge]) / np.maximum(np.bincount(row), 1)
    return bool(len(share) and (share > 0.5).mean() >= settings.edge_share)


def fit_zoom(
    camera: Intrinsics, xy_first: Float64[np.ndarray, "m 2"], xy_second: Float64[np.ndarray, "m 2"]
) -> ZoomFit:
    """Robust least squares of a rotation and a zoom. `camera`: of the first frame."""
    rays, centre = camera.rays(xy_first), np.array([camera.cx_px, camera.cy_px])
    rotation, ln_ratio = Rotation.identity(), 0.0
    for number in range(_PLAIN_STEPS + _ROBUST_STEPS):
        turned_rays = rotation.apply(rays)
        turned = np.nan_to_num(camera.project(turned_rays) - centre, nan=1e3)
        error = xy_second - centre - np.exp(ln_ratio) * turned
        root = np.ones(len(error)) if number < _PLAIN_STEPS else 1 / np.hypot(1, np.linalg.norm(error, axis=1))
        by_rotation = pixels_by_pose(camera, turned_rays)[..., :3]
        slope = np.exp(ln_ratio) * np.concatenate([by_rotation, turned[..., None]], axis=2) * root[:, None, None]
        step = np.linalg.lstsq(slope.reshape(-1, 4), (error * root[:, None]).ravel(), rcond=None)[0]
        rotation, ln_ratio = Rotation.from_rotvec(step[:3]) * rotation, ln_ratio + float(step[3])
    return ZoomFit(camera=camera, rotation=rotation, ln_ratio=ln_ratio)


def _longer(camera: Intrinsics, ln_factor: float) -> Intrinsics:
    return replace(camera, fx_px=camera.fx_px * np.exp(ln_factor), fy_px=camera.fy_px * np.exp(ln_factor))


def _averaged(fits: Sequence[_Fit], known: np.ndarray) -> tuple[np.ndarray, float]:
    """(ln focal length of each keyframe over that of the first, RMS residual of the ratios); NaN where no pair links a
    keyframe with the first."""
    incidence = np.zeros((len(fits), len(known)))
    for row, fit in enumerate(fits):
        incidence[row, [fit.first, fit.second]] = -1, 1
    ratio = np.array([fit.ln_ratio for fit in fits])
    if np.linalg.matrix_rank(incidence) < len(known) - 1:
        return np.full_like(known, np.nan), np.nan
    weight, residual, found = np.ones(len(fits)), ratio, np.zeros(len(known))
    for _ in range(10):
        root = np.sqrt(weight)[:, None]
        found[1:] = np.linalg.lstsq(root * incidence[:, 1:], root[:, 0] * ratio, rcond=None)[0]
        residual = ratio - incidence @ found
        weight = 1 / (1 + (residual / 0.003) ** 2)
    return found, float(np.sqrt(np.average(residual**2, weights=weight)))


def _all_frames(
    ln_key: np.ndarray,
    sigma: float,
    keyframes: Int64[np.ndarray, "k"],
    xy_px: Float32[np.ndarray, "t n 2"],
    camera: Intrinsics,
    settings: ZoomSettings,
) -> Zoom:
    """Frames between keyframes by the tracks that they share with the nearest one, or else the second nearest."""
    count = xy_px.shape[1]
    magnification, ln_sigma = np.full(count, np.nan), np.full(count, np.nan)
    magnification[keyframes], ln_sigma[keyframes] = np.exp(ln_key), sigma
    for column in np.setdiff1d(np.arange(count), keyframes):
        for place in np.argsort(np.abs(keyframes - column), kind="stable")[:2]:
            shared = np.flatnonzero(np.isfinite(xy_px[:, [keyframes[place], column], 0]).all(axis=1))
            if len(shared) < settings.min_tracks:
                continue
            shared = shared[:: 1 + len(shared) // settings.matches]
            first, second = (xy_px[shared, at].astype(np.float64) for at in (keyframes[place], column))
            fit = fit_zoom(_longer(camera, ln_key[place]), first, second)
            if np.median(fit.error_px(first, second)) <= settings.noise_px:
                magnification[column], ln_sigma[column] = np.exp(ln_key[place] + fit.ln_ratio), sigma
                break
    centre_px = np.array([camera.cx_px, camera.cy_px])
    return Zoom(magnification=magnification, ln_sigma=ln_sigma, centre_px=centre_px)
