"""Rotations of a camera that only rotates, or hardly translates, from homographies between frames.

The homography of a rotating camera is K R K⁻¹. Whether it fits is tested at all plausible focal lengths. The returned
rotations use the user's focal length, or a broad prior whose σ is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float32, Float64, Int64
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.motion_kind import PairGeometry
from experts.signals import NoEstimate
from experts.stated_camera import contradicted

AMBIGUOUS = "rotation and translation cannot be distinguished"


@dataclass(frozen=True, kw_only=True)
class PureRotationSettings:
    """Pixels are those of the working size."""

    focal_shares: tuple[float, ...] = (0.5, 0.6, 0.7, 0.85, 1.0, 1.2, 1.5, 1.8)
    """Focal lengths, as shares of the longer side, at which K R K⁻¹ is tested."""
    user_ln_factors: tuple[float, ...] = tuple(np.linspace(-0.3, 0.3, 13).tolist())
    """ln of the factors on the user's focal length that are tried as well: ..."""
    max_user_error: float = 0.08
    """... one beyond this, ..."""
    user_residual_ratio: float = 1.15
    """... with a residual so many times smaller, contradicts it; if all of them have a residual so many times larger,
    it is confirmed. On rendered pans of 40 degrees a focal length 15 % off has 4 to 5 times the residual."""
    noise_px: float = 1.0
    """Largest median residual of a fit: SIFT points and homographies have 0.3 to 0.7."""
    fitting_pairs: float = 0.8
    """Smallest share of fitting pairs: one planar segment is enough to spoil a chain."""
    flat_factor: float = 2.0
    """A shifting plane (similarity) must fit this many times worse than a rotation, ..."""
    flat_rotation_rad: float = np.deg2rad(2.0)
    """... unless no pair pans or tilts by more than this: then that angle is added to σ."""
    zoom_step: float = 0.02
    """Scale change between keyframes, about the centre, that counts as a zoom."""
    shown_rotation_rad: float = np.deg2rad(10.0)
    """The motion is "rotation_only" only if the clip rotates by at least this angle ..."""
    shown_share: float = 0.95
    """... and homographies explain this share of F's inliers in nearly all pairs."""
    rotation_floor_rad: float = np.deg2rad(0.7)
    """Systematic σ of a relative rotation."""
    min_tracks: int = 20
    """Smallest number of tracks shared with a keyframe, for a frame between keyframes."""
    rounds: int = 10
    """Iterations of re-weighted least squares, in fits and in averaging."""


@dataclass(frozen=True, kw_only=True)
class RotationEstimate:
    """Rotations of all frames of a clip."""

    world_from_cam: Float64[np.ndarray, "n 3 3"]
    """NaN where unknown; the first known frame is the world."""
    sigma_rad: Float64[np.ndarray, "n"]
    """Per axis; NaN where unknown."""
    rotation_only: bool
    """Whether the camera certainly does not translate."""


def pure_rotation(
    pairs: Sequence[PairGeometry],
    keyframes: Int64[np.ndarray, "k"],
    xy_px: Float32[np.ndarray, "t n 2"],
    camera: Intrinsics,
    focal_known: bool,
    settings: PureRotationSettings,
) -> RotationEstimate | NoEstimate:
    """Rotations of keyframe pairs, averaged over their graph; then of each frame by tracks. `camera`: working size."""
    if not pairs:
        return NoEstimate(reason="keyframes do not match", detail="too little overlap or texture")
    best = camera if focal_known else _best_camera(pairs, camera, settings)
    fits = [rotation_between(pair, best, settings) for pair in pairs]
    residuals = np.array([residual for _, residual in fits])
    fitting = residuals <= settings.noise_px
    if fitting.mean() < settings.fitting_pairs:
        return _not_rotation(pairs, camera, settings, float(np.median(residuals)))
    pan_tilt_rad = np.array([np.linalg.norm(rotation.as_rotvec()[:2]) for rotation, _ in fits])  # without roll
    distinguished = _distinguished_from_translation(pairs, residuals, pan_tilt_rad, settings)
    if not distinguished and pan_tilt_rad.max() >= settings.flat_rotation_rad:
        return NoEstimate(
            reason=AMBIGUOUS,
            detail=f"largest pan or tilt between keyframes {np.degrees(pan_tilt_rad.max()):.1f} degrees",
            remedy="film with more motion, or give --intrinsics",
        )
    measured = {
        (p.pair.first, p.pair.second): rotation_between(p, camera, settings)[0]
        for p, fits_well in zip(pairs, fitting, strict=True)
        if fits_well
    }
    averaged, residual_rad = average_rotations(measured, len(keyframes), settings.rounds)
    sigma = float(np.hypot(residual_rad, 0.0 if distinguished else pan_tilt_rad.max()))
    estimate = _all_frames(averaged, sigma, keyframes, xy_px, camera, settings)
    shown = sigma <= settings.rotation_floor_rad and _rotates_only(estimate, pairs, settings)
    return replace(estimate, rotation_only=shown)


def held_against_rotations(
    pairs: Sequence[PairGeometry], camera: Intrinsics, settings: PureRotationSettings
) -> bool | NoEstimate:
    """Whether rotations confirm the user's focal length, or that they contradict it. `camera`: working size.

    Another one contradicts it that explains the pairs clearly better. It is confirmed if no other one that differs as
    much explains them nearly as well.
    """
    if not pairs:
        return False
    factors = np.exp(settings.user_ln_factors)
    cameras = [replace(camera, fx_px=camera.fx_px * f, fy_px=camera.fy_px * f) for f in factors]
    residual = np.array([_mean_residual_px(pairs, candidate, settings) for candidate in cameras])
    given, far = _mean_residual_px(pairs, camera, settings), np.abs(settings.user_ln_factors) > settings.max_user_error
    best = int(residual.argmin())
    if far[best] and residual[best] <= settings.noise_px and given > settings.user_residual_ratio * residual[best]:
        return contradicted(float(factors[best]), "rotations")
    return bool(given <= settings.noise_px and residual[far].min() > settings.user_residual_ratio * given)


def fit_rotation(
    ray_first: Float64[np.ndarray, "m 3"],
    xy_second: Float64[np.ndarray, "m 2"],
    camera: Intrinsics,
    settings: PureRotationSettings,
) -> tuple[Rotation, float]:
    """(second from first, median residual in pixels): robust fit of a rotation to viewing directions."""
    ray_second = camera.rays(xy_second)
    weight = np.ones(len(ray_first))
    for _ in range(settings.rounds):
        rotation, _ = Rotation.align_vectors(ray_second, ray_first, weights=weight)
        residual = np.linalg.norm(camera.project(rotation.apply(ray_first)) - xy_second, axis=-1)
        residual = np.nan_to_num(residual, nan=1e3)
        weight = 1 / (1 + (residual / settings.noise_px) ** 2)
    return rotation, float(np.median(residual))


def rotation_between(
    geometry: PairGeometry, camera: Intrinsics, settings: PureRotationSettings
) -> tuple[Rotation, float]:
    """As `fit_rotation`, for the matches of a pair that its homography explains."""
    pair, inlier = geometry.pair, geometry.inlier
    return fit_rotation(camera.rays(pair.xy_first[inlier]), pair.xy_second[inlier], camera, settings)


def _best_camera(pairs: Sequence[PairGeometry], camera: Intrinsics, settings: PureRotationSettings) -> Intrinsics:
    """The camera with the plausible focal length at which rotations explain the pairs best."""
    width, height = camera.width_px, camera.height_px
    cameras = [Intrinsics.centred(width, height, share * max(width, height)) for share in settings.focal_shares]
    return cameras[int(np.argmin([_mean_residual_px(pairs, candidate, settings) for candidate in cameras]))]


def _mean_residual_px(pairs: Sequence[PairGeometry], camera: Intrinsics, settings: PureRotationSettings) -> float:
    """Of rotations between the widest pairs."""
    widest = sorted(pairs, key=lambda p: p.pair.first - p.pair.second)[:20]
    return float(np.mean([rotation_between(p, camera, settings)[1] for p in widest]))


def _distinguished_from_translation(
    pairs: Sequence[PairGeometry],
    residuals: Float64[np.ndarray, "p"],
    pan_tilt_rad: Float64[np.ndarray, "p"],
    settings: PureRotationSettings,
) -> bool:
    """Whether a rotation fits clearly better than a similarity, which a translation along a plane causes."""
    widest = np.argsort(-pan_tilt_rad, kind="stable")[: max(1, len(pairs) // 4)]
    similarity = [_similarity(pairs[k])[1] for k in widest]
    return bool(np.median(similarity) >= settings.flat_factor * np.median(residuals[widest]))


def _similarity(geometry: PairGeometry) -> tuple[Float64[np.ndarray, "2 3"], float]:
    """Best similarity of a pair and its median residual in pixels."""
    first, second = geometry.pair.xy_first[geometry.inlier], geometry.pair.xy_second[geometry.inlier]
    a, b = (xy @ [1, 1j] for xy in (first, second))
    design = np.stack([a, np.ones_like(a)], axis=1)
    (scale, shift), *_ = np.linalg.lstsq(design, b, rcond=None)
    matrix = np.array([[scale.real, -scale.imag, shift.real], [scale.imag, scale.real, shift.imag]])
    return matrix, float(np.median(np.abs(design @ [scale, shift] - b)))


def _not_rotation(
    pairs: Sequence[PairGeometry], camera: Intrinsics, settings: PureRotationSettings, residual_px: float
) -> NoEstimate:
    """The reason where one homography explains each pair, but is not that of a rotation."""
    fits = [_similarity(p) for p in pairs]
    scale = np.array([np.hypot(*matrix[:, 0]) for matrix, _ in fits])
    residual = np.array([each for _, each in fits])
    zooms = np.mean((residual < settings.noise_px) & (np.abs(np.log(scale)) > settings.zoom_step))
    if zooms > 0.5:
        return NoEstimate(reason="zoom, or translation towards a plane", detail="the picture scales about its centre")
    return NoEstimate(
        reason="planar scene",
        detail=f"homographies are not rotations ({residual_px:.1f} px)",
        remedy="give --intrinsics: a plane does not show whether the camera zooms",
    )


def average_rotations(
    second_from_first: dict[tuple[int, int], Rotation], count: int, rounds: int
) -> tuple[dict[int, Rotation], float]:
    """World-from-camera rotations of the nodes 0 ... count-1, and the RMS residual of the edges in radians.

    Robust least squares on the rotation vectors of the residuals. Nodes without a connection to the first node that has
    one are missing.
    """
    world = _span(second_from_first, count)
    edges = [edge for edge in sorted(second_from_first) if edge[0] in world]
    row = {node: number for number, node in enumerate(sorted(world))}
    incidence = np.zeros((len(edges), len(row)))
    for k, (i, j) in enumerate(edges):
        incidence[k, [row[i], row[j]]] = 1, -1
    weight, residual = np.ones(len(edges)), np.zeros((len(edges), 3))
    for _ in range(rounds if edges else 0):
        residual = np.array(
            [(world[j] * second_from_first[i, j] * world[i].inv()).as_rotvec() for i, j in edges]
        )  # 0 where they agree; first order: residual + δ_j - δ_i
        weight = 1 / (1 + (np.linalg.norm(residual, axis=1) / np.deg2rad(0.5)) ** 2)
        root = np.sqrt(weight)[:, None]
        delta = np.zeros((len(row), 3))
        delta[1:] = np.linalg.lstsq(root * incidence[:, 1:], root * residual, rcond=None)[0]
        world = {node: Rotation.from_rotvec(delta[row[node]]) * rotation for node, rotation in world.items()}
    rms = float(np.sqrt(np.average(np.sum(residual**2, axis=1), weights=weight) / 3)) if edges else 0.0
    return world, rms


def _span(second_from_first: dict[tuple[int, int], Rotation], count: int) -> dict[int, Rotation]:
    """Chains edges outwards from the first node that has one, shortest steps first."""
    world = {min(second_from_first, default=(0, 0))[0]: Rotation.identity()}
    edges = sorted(second_from_first, key=lambda edge: (edge[1] - edge[0], edge))
    for _ in range(count):
        for i, j in edges:
            if i in world and j not in world:
                world[j] = world[i] * second_from_first[i, j].inv()
            elif j in world and i not in world:
                world[i] = world[j] * second_from_first[i, j]
    return world


def _all_frames(
    averaged: dict[int, Rotation],
    sigma_rad: float,
    keyframes: Int64[np.ndarray, "k"],
    xy_px: Float32[np.ndarray, "t n 2"],
    camera: Intrinsics,
    settings: PureRotationSettings,
) -> RotationEstimate:
    """Rotations of all frames. A frame between keyframes is estimated from the tracks that it shares with the nearest
    keyframe, or else the second nearest. `sigma_rad`: that of the keyframes."""
    count = xy_px.shape[1]
    matrices, sigma = np.full((count, 3, 3), np.nan), np.full(count, np.nan)
    known = {int(keyframes[place]): rotation for place, rotation in averaged.items()}
    floor = float(np.hypot(settings.rotation_floor_rad, sigma_rad))
    for column, rotation in known.items():
        matrices[column], sigma[column] = rotation.as_matrix(), floor
    for column in range(count):
        near = sorted(known, key=lambda k: (abs(k - column), k))[:2]
        for keyframe in near if column not in known else ():
            shared = np.isfinite(xy_px[:, keyframe, 0]) & np.isfinite(xy_px[:, column, 0])
            if shared.sum() < settings.min_tracks:
                continue
            rays = camera.rays(xy_px[shared, keyframe].astype(np.float64))
            rotation, residual = fit_rotation(rays, xy_px[shared, column].astype(np.float64), camera, settings)
            if residual <= 2 * settings.noise_px:
                matrices[column] = (known[keyframe] * rotation.inv()).as_matrix()
                sigma[column] = np.hypot(floor, residual / camera.fx_px)
                break
    first = matrices[np.flatnonzero(np.isfinite(sigma))[0]]
    return RotationEstimate(
        world_from_cam=np.einsum("ji,njk->nik", first, matrices), sigma_rad=sigma, rotation_only=False
    )


def _rotates_only(estimate: RotationEstimate, pairs: Sequence[PairGeometry], settings: PureRotationSettings) -> bool:
    """Whether the clip rotates far, and homographies explain nearly all pairs."""
    known = Rotation.from_matrix(estimate.world_from_cam[np.isfinite(estimate.sigma_rad)])
    far = known.magnitude().max() >= settings.shown_rotation_rad
    return bool(far and np.mean([p.share >= settings.shown_share for p in pairs]) >= 0.9)
