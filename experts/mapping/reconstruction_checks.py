"""Checks of a reconstruction, and σ of its points.

Registered share, reprojection error, PnP inliers and agreement of two reconstructions do not prove accuracy; they only
refuse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from experts.mapping.bundle_adjustment import focal_change
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.motion_kind import PairGeometry
from experts.mapping.registration import widest_angle
from experts.signals import NoEstimate


@dataclass(frozen=True, kw_only=True)
class TrustSettings:
    """Limits of a reconstruction, and σ. Pixels are those of the working size."""

    min_points_per_keyframe: float = 20.0
    """With fewer points every measured reconstruction was wrong."""
    max_k1: float = 0.12
    """A larger distortion indicates a wrong focal length: correct reconstructions of nine clips have 0.05 at most; a
    1.2x initial value on 7-Scenes gave 0.30, a sideways translation without rotation gave 0.21 with f 21 % wrong. For a
    wide lens use `--intrinsics`. For a longer lens than is usual the limit is multiplied by the square of the focal
    length, as a share of the longer side: what counts is how far the corners move."""
    long_lens_share: float = 3.0
    """A longer focal length than is usual is plausible up to this share of the longer side, ..."""
    long_lens_sigma: float = 0.02
    """... if its formal σ_f/f is at most this (0.005 on a real set at 2.4; 0.1 and more on straight zoomed drives with
    twice the true focal length)."""
    focal_groups: int = 5
    """Number of groups of keyframes whose focal lengths are compared."""
    max_focal_change: float = 0.05
    """Largest range of their ln focal lengths plus 2 σ. Of 44 clips and their zoomed copies, 46 of 69 right maps of
    steady cameras and 3 of 133 wrong ones of zooming cameras pass all checks."""
    max_change_sigma: float = 0.005
    """A larger σ of it counts as this: on a straight drive the footage determines no focal length, and a zoom changes
    no angle. With 0.01 the same 3 of 133 wrong zoomed reconstructions pass, and a long lens is refused."""
    min_registered_share: float = 0.5
    """Smallest registered share of the keyframes."""
    max_error_px: float = 1.0
    """Largest mean reprojection error (0.2 to 0.9 on nine clips): above it one rigid scene and camera do not fit."""
    epipolar_px: float = 2.0
    """A match is explained if it is this close to its epipolar line in the reconstruction."""
    epipolar_matches: int = 40
    """Smallest number of epipolar inliers of a tested pair: a fundamental matrix explains a few matches by chance."""
    epipolar_baseline: float = 0.02
    """Smallest baseline of a tested pair, as a share of the median range: below it some epipolar geometry explains
    everything, moving objects included (the demo clip's tilt: 14 % of the matches)."""
    drop_share: float = 0.7
    """A keyframe with a smaller share of explained matches is misplaced and removed (0.0 for keyframes with errors of
    26 degrees)."""
    min_explained_share: float = 0.85
    """If the share of any other keyframe is smaller, the reconstruction is bent and refused (correct ones have at least
    0.91 in all keyframes, ones folded by 12 degrees 0.82 to 0.88 in some; the focal length of one of these that was
    measured changes by 20 to 26 %)."""
    min_angle_rad: float = np.deg2rad(1.5)
    """Smallest median triangulation angle, ..."""
    readout_s: float = 1 / 30
    """... and at least the rotation of the camera in this time, the longest readout of a rolling shutter: with such a
    shutter the pictures of a turning camera have parallax without translation (a turn in place of 147 degrees per
    second gave 0.3 times that angle; 70 translating clips have at least 2.6 times)."""
    range_relative_floor: float = 0.03
    """σ of range / range, systematic: measured 2.2 to 3.4 % on sparse points of 7-Scenes against its depth."""
    point_residuals: float = 3.0
    """σ of a pixel behind the triangulation term σ_px / (f · angle), in median reprojection errors: with 1 px for every
    clip σ was twice too large in rendered rooms, and the same on hololens_indoor."""
    sure_observations: int = 5
    """A point is reliable only if at least this many keyframes see it (in 12 rendered rooms 0.14 % of the points that 4
    see are more than 15 % off, 0.09 % of those that 5 see), or 4 in a clip of fewer than 10, ..."""
    sure_error_px: float = 1.5
    """... its reprojection error is below this, ..."""
    sure_angle_rad: float = np.deg2rad(2.0)
    """... its triangulation angle is at least this, ..."""
    sure_sigmas: float = 3.0
    """... and the other reconstruction has it at the same relative range within this many σ."""
    outlier_probability_sure: float = 0.003
    """Outlier probability of a reliable point."""
    outlier_probability_other: float = 0.05
    """Outlier probability of any other point."""


def refusal(
    sparse: SparseReconstruction | None,
    pairs: Sequence[PairGeometry],
    keyframes: int,
    settings: TrustSettings,
    plausible_shares: tuple[float, float] | None,
) -> NoEstimate | None:
    """Why a reconstruction must not be used; None if it passes.

    `plausible_shares`: of the focal length, as a share of the longer side; None: the camera was fixed.
    """
    if sparse is None or len(sparse.places) < 2:
        return NoEstimate(reason="no reconstruction", detail="the keyframes are not connected")
    explained = min(explained_shares(sparse, pairs, settings).values())
    registered = len(sparse.places) / keyframes
    share = sparse.camera.fx_px / max(sparse.camera.width_px, sparse.camera.height_px)
    per_keyframe = len(sparse.xyz_world) / len(sparse.places)
    error = float(sparse.error_px.mean())
    low, high = plausible_shares or (0.0, np.inf)
    max_k1 = np.inf if plausible_shares is None else settings.max_k1 * (share**2 if share > high else 1.0)
    if sparse.focal_formal_sigma <= settings.long_lens_sigma:
        high = max(high, settings.long_lens_share)
    gates = [
        (registered < settings.min_registered_share, "few keyframes registered", f"{registered:.2f} of them"),
        (per_keyframe < settings.min_points_per_keyframe, "few points", f"{per_keyframe:.0f} per keyframe"),
        (abs(sparse.camera.k1) > max_k1, "implausible distortion", f"k1 = {sparse.camera.k1:.2f}"),
        (not low <= share <= high, "implausible focal length", f"{share:.2f} of the longer side"),
        (error > settings.max_error_px, "one rigid camera does not fit", f"mean residual {error:.1f} px"),
        (
            explained < settings.min_explained_share,
            "matches contradict the reconstruction",
            f"only {explained:.2f} explained",
        ),
    ]
    remedy = "give --intrinsics, or film with more sideways motion"
    for failed, reason, detail in gates:
        if failed:
            return NoEstimate(reason=reason, detail=detail, remedy=remedy)
    change = focal_change(sparse, settings.focal_groups)
    if change.range + 2 * min(change.sigma, settings.max_change_sigma) > settings.max_focal_change:
        detail = f"by {100 * change.range:.1f} ± {100 * change.sigma:.1f} % over the clip"
        return NoEstimate(reason="focal length changes", detail=detail, remedy="film without zooming")
    return None


def without_misplaced(
    sparse: SparseReconstruction, pairs: Sequence[PairGeometry], settings: TrustSettings
) -> SparseReconstruction:
    """The reconstruction without keyframes that their own matches contradict, the worst first."""
    while len(sparse.places) > 1:
        shares = explained_shares(sparse, pairs, settings)
        worst = min(shares, key=lambda place: (shares[place], place))
        if shares[worst] >= settings.drop_share:
            break
        sparse = sparse.without(worst)
    return sparse


def explained_shares(
    sparse: SparseReconstruction, pairs: Sequence[PairGeometry], settings: TrustSettings
) -> dict[int, float]:
    """Per keyframe: share of its epipolar inliers that the geometry of the reconstruction explains.

    Over all pairs with other registered keyframes; 0 without any, 1 if all baselines are too short. Unlike reprojection
    errors, this includes the matches that the mapper rejected.
    """
    shortest = settings.epipolar_baseline * float(np.median(ranges(sparse)))
    centre = np.linalg.inv(sparse.cam_from_world)[:, :3, 3]
    counts = {int(place): np.zeros(2) for place in sparse.places}
    matched: set[int] = set()
    for seen in pairs:
        ends = (seen.pair.first, seen.pair.second)
        if not counts.keys() >= set(ends) or seen.epipolar.sum() < settings.epipolar_matches:
            continue
        matched.update(ends)
        first, second = centre[sparse.row(np.array(ends))]
        if np.linalg.norm(second - first) >= shortest:
            explained = _epipolar_error_px(sparse, seen) < settings.epipolar_px
            for end in ends:
                counts[end] += (explained.sum(), len(explained))
    return {
        place: float(explained / total) if total else float(place in matched)
        for place, (explained, total) in counts.items()
    }


def _epipolar_error_px(sparse: SparseReconstruction, seen: PairGeometry) -> Float64[np.ndarray, "m"]:
    """Sampson distance of the epipolar inliers of a pair to the reconstruction's geometry."""
    a, b = sparse.cam_from_world[sparse.row(np.array([seen.pair.first, seen.pair.second]))]
    second_from_first = b @ np.linalg.inv(a)
    x, y, z = second_from_first[:3, 3]
    essential = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ second_from_first[:3, :3]
    first, second = (sparse.camera.rays(xy[seen.epipolar]) for xy in (seen.pair.xy_first, seen.pair.xy_second))
    first, second = first / first[:, 2:], second / second[:, 2:]
    line_second, line_first = first @ essential.T, second @ essential
    slope = np.sum(line_second[:, :2] ** 2, axis=1) + np.sum(line_first[:, :2] ** 2, axis=1)
    error = np.abs(np.sum(second * line_second, axis=1)) / np.sqrt(np.maximum(slope, 1e-18))
    return np.asarray(error * sparse.camera.fx_px)


def translates(sparse: SparseReconstruction, times_s: Float64[np.ndarray, "k"] | None, settings: TrustSettings) -> bool:
    """Whether the parallax is that of a translation. `times_s`: of the registered keyframes, if known."""
    least = settings.min_angle_rad
    if times_s is not None and len(times_s) > 1:
        steps = Rotation.from_matrix(sparse.cam_from_world[1:, :3, :3] @ sparse.cam_from_world[:-1, :3, :3].mT)
        least = max(least, settings.readout_s * float(np.median(steps.magnitude() / np.diff(times_s))))
    return bool(np.median(triangulation_angles(sparse)) >= least)


def triangulation_angles(sparse: SparseReconstruction) -> Float64[np.ndarray, "p"]:
    """Largest angle between two rays of each point."""
    world_from_cam = np.linalg.inv(sparse.cam_from_world)
    ray = sparse.xyz_world[sparse.point] - world_from_cam[sparse.row(sparse.place), :3, 3]
    ray = ray / np.linalg.norm(ray, axis=-1, keepdims=True)
    order = np.argsort(sparse.point, kind="stable")
    counts = np.bincount(sparse.point, minlength=len(sparse.xyz_world))
    angle = np.zeros(len(counts))
    for length in np.unique(counts[counts > 1]):  # points with equally many rays at once
        rows = np.flatnonzero(counts == length)
        starts = np.cumsum(counts)[rows] - length
        angle[rows] = widest_angle(ray[order[starts[:, None] + np.arange(length)]])
    return angle


def range_sigmas(
    sparse: SparseReconstruction, angle: Float64[np.ndarray, "p"], settings: TrustSettings
) -> Float64[np.ndarray, "p"]:
    """σ of range / range: systematic floor ⊕ σ_px / (f · angle)."""
    sigma_px = settings.point_residuals * float(np.median(sparse.error_px))
    with np.errstate(divide="ignore"):
        triangulation = sigma_px / (sparse.camera.fx_px * angle)
    return np.asarray(np.hypot(settings.range_relative_floor, triangulation))


def outlier_probabilities(
    sparse: SparseReconstruction, other: SparseReconstruction, angle: Float64[np.ndarray, "p"], settings: TrustSettings
) -> Float64[np.ndarray, "p"]:
    """Outlier probability of each point of `sparse`: small only where both reconstructions triangulate the same
    keypoints to the same point."""
    least = min(settings.sure_observations, max(4, len(sparse.places) // 2))
    sure = np.bincount(sparse.point, minlength=len(angle)) >= least
    sure &= (sparse.error_px < settings.sure_error_px) & (angle >= settings.sure_angle_rad)
    sure &= _confirmed(sparse, other, range_sigmas(sparse, angle, settings), settings.sure_sigmas)
    return np.where(sure, settings.outlier_probability_sure, settings.outlier_probability_other)


def _confirmed(
    sparse: SparseReconstruction, other: SparseReconstruction, sigma: Float64[np.ndarray, "p"], sigmas: float
) -> Bool[np.ndarray, "p"]:
    """Points whose keypoints the other reconstruction places at the same range, up to one scale."""
    key, other_key = ((m.place << 32) + m.keypoint for m in (sparse, other))
    _, here, there = np.intersect1d(key, other_key, return_indices=True)
    if not len(here):
        return np.zeros(len(sigma), dtype=bool)
    ratio = ranges(other)[there] / ranges(sparse)[here]
    point = sparse.point[here]
    log_error = np.abs(np.log(ratio / np.median(ratio)))
    agreeing = log_error < sigmas * np.sqrt(2) * sigma[point]
    votes = np.bincount(point, minlength=len(sigma))
    return np.asarray((votes >= 2) & (np.bincount(point[agreeing], minlength=len(sigma)) == votes))


def ranges(sparse: SparseReconstruction) -> Float64[np.ndarray, "o"]:
    """Distance of each observation's point from its camera."""
    world_from_cam = np.linalg.inv(sparse.cam_from_world)
    ray = sparse.xyz_world[sparse.point] - world_from_cam[sparse.row(sparse.place), :3, 3]
    return np.asarray(np.linalg.norm(ray, axis=-1))
