"""The camera of a clip in which it turns in place, all the time or for a while. With any other than the right one, the
homographies between its pictures are not those of rotations, K R K⁻¹ (Hartley 1997, Self-calibration of stationary
cameras)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.optimize import least_squares
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.focal import KnownCamera
from experts.mapping.motion_kind import PairGeometry
from experts.mapping.pure_rotation import PureRotationSettings, rotation_between


@dataclass(frozen=True, kw_only=True)
class TurnSettings:
    """Pixels are those of the working size."""

    flat_share: float = 0.8
    """A pair whose homography explains a smaller share of the inliers of its fundamental matrix shows parallax."""
    least_turn_rad: float = np.deg2rad(10.0)
    """Least pan or tilt between two keyframes. At 2 degrees a hand that moves by 3 cm shifts the principal point by 6 %
    of the focal length."""
    pairs: int = 24
    """Number of pairs that are used, those with the largest pan or tilt."""
    matches: int = 80
    """Most matches of each of them."""
    match_sigma_px: float = 1.5
    """σ of a match: three times its residual, as errors are not independent."""
    distortion_sigma: float = 0.1
    """σ of the radial distortion k1 before."""
    starts: tuple[float, ...] = (-0.3, 0.0, 0.3)
    """ln focal length, relative to the known one, from which the best camera is sought."""
    evaluations: int = 20
    """Most steps of each search."""
    focal_floor: float = 0.01
    """Smallest σ_f/f: what a hand moves and a rolling shutter shifts is not in the residuals (largest
    error in 25 rendered clips 1.4 %, 0.6 σ; of six cameras in a hand 2.4 %, 1.7 σ)."""
    centre_floor: float = 0.006
    """Smallest σ of the principal point over the focal length (largest error there 1.1 %, 1.8 σ)."""
    max_centre_sigmas: float = 3.0
    """A principal point so many σ from the middle is not that of a camera that rotates."""
    sure_turn_rad: float = np.deg2rad(20.0)
    """If it is unknown whether a camera translates, turns count from this pan or tilt between two keyframes on, ..."""
    sure_share: float = 0.85
    """... where a homography explains this share of the inliers of a fundamental matrix (median of the pairs), ..."""
    sure_fitting: float = 0.5
    """... and rotations explain this share of the pairs: a walk in which the camera stops and looks round. A camera
    that walks and hardly turns has some rotation, with some camera, that explains the far part of a room."""
    keyframe_fitting: float = 0.8
    """Then only those keyframes turn in place of whose pairs rotations explain this share: those of a short step along
    a wall fit, too, but not the ones further apart."""


@dataclass(frozen=True, kw_only=True)
class Turns:
    """What the turns of a clip show."""

    camera: KnownCamera
    """At the size of the one that was known."""
    fitting: float
    """Share of the pairs that rotations with this camera explain."""
    turn_rad: float
    """Largest pan or tilt of these pairs."""
    share: float
    """Median share of the inliers of a fundamental matrix that a homography explains, in these pairs."""

    def are_sure(self, settings: TurnSettings) -> bool:
        """Whether they can be used if it is unknown whether the camera translates."""
        far = self.turn_rad >= settings.sure_turn_rad and self.share >= settings.sure_share
        return bool(far and self.fitting >= settings.sure_fitting)


def turns_of(
    pairs: Sequence[PairGeometry],
    known: KnownCamera,
    settings: TurnSettings,
    rotation: PureRotationSettings,
) -> Turns | None:
    """The camera with which rotations explain the pairs best, given what is known of it; fitted again to the pairs that
    it explains. None where it turns too little, or no plausible camera is the best. `known`: working size."""
    flat = [pair for pair in pairs if pair.share >= settings.flat_share]
    if len(flat) < settings.sure_fitting * len(pairs):
        return None
    camera, turning = known, flat
    for _ in range(2):
        turns_rad = np.array([_pan_tilt_rad(pair, camera.camera, rotation) for pair in turning])
        if turns_rad.max(initial=0.0) < settings.least_turn_rad:
            return None
        chosen = [turning[k] for k in np.argsort(-turns_rad, kind="stable")[: settings.pairs]]
        found = _best_camera(chosen, known, camera.camera, settings)
        if found is None:
            return None
        camera = found
        turning = [pair for pair in flat if rotation_between(pair, camera.camera, rotation)[1] <= rotation.noise_px]
    if not turning:
        return None
    return Turns(
        camera=camera,
        fitting=len(turning) / len(pairs),
        turn_rad=max(_pan_tilt_rad(pair, camera.camera, rotation) for pair in turning),
        share=float(np.median([pair.share for pair in turning])),
    )


def turning_pairs(
    pairs: Sequence[PairGeometry], camera: Intrinsics, settings: TurnSettings, rotation: PureRotationSettings
) -> list[PairGeometry]:
    """The pairs of the largest group of keyframes that turn in place. `camera`: working size."""
    fits = {_ends(pair): rotation_between(pair, camera, rotation)[1] <= rotation.noise_px for pair in pairs}
    while fits:
        of_keyframe: dict[int, list[bool]] = {}
        for ends, fitting in fits.items():
            for end in ends:
                of_keyframe.setdefault(end, []).append(fitting)
        worst = min(of_keyframe, key=lambda place: (np.mean(of_keyframe[place]), place))
        if np.mean(of_keyframe[worst]) >= settings.keyframe_fitting:
            break
        fits = {ends: fitting for ends, fitting in fits.items() if worst not in ends}
    joined = np.array([ends for ends, fitting in fits.items() if fitting], dtype=int).reshape(-1, 2)
    count = max((pair.pair.second for pair in pairs), default=0) + 1
    graph = coo_array((np.ones(len(joined)), joined.T), shape=(count, count))
    _, group = connected_components(graph, directed=False)
    largest = np.bincount(group).argmax()
    return [pair for pair in pairs if _ends(pair) in fits and group[pair.pair.first] == largest]


def _ends(pair: PairGeometry) -> tuple[int, int]:
    return pair.pair.first, pair.pair.second


def _best_camera(
    pairs: Sequence[PairGeometry], known: KnownCamera, start: Intrinsics, settings: TurnSettings
) -> KnownCamera | None:
    """None if its principal point is not that of a camera."""
    matches = [_some_matches(pair, settings.matches) for pair in pairs]
    prior = np.array([known.relative_sigma, *known.centre_relative_sigma, settings.distortion_sigma])
    nearest = float(np.log(start.fx_px / known.camera.fx_px))

    def errors(lens: Float64[np.ndarray, "4"]) -> Float64[np.ndarray, "m"]:
        camera = _changed(known.camera, lens)
        of_matches = [_errors_px(camera, *pair) / settings.match_sigma_px for pair in matches]
        return np.concatenate([*of_matches, lens / prior])

    found = min(
        (
            least_squares(errors, [nearest + by, 0, 0, 0], loss="soft_l1", x_scale=prior, max_nfev=settings.evaluations)
            for by in settings.starts
        ),
        key=lambda each: float(each.cost),
    )
    if np.any(np.abs(found.x[1:3]) > settings.max_centre_sigmas * prior[1:3]):
        return None
    sigma = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
    centre = np.hypot(sigma[1:3], settings.centre_floor)
    return KnownCamera(
        camera=_changed(known.camera, found.x),
        relative_sigma=float(np.hypot(sigma[0], settings.focal_floor)),
        centre_relative_sigma=(float(centre[0]), float(centre[1])),
    )


def _pan_tilt_rad(pair: PairGeometry, camera: Intrinsics, settings: PureRotationSettings) -> float:
    return float(np.linalg.norm(rotation_between(pair, camera, settings)[0].as_rotvec()[:2]))


def _some_matches(pair: PairGeometry, most: int) -> tuple[Float64[np.ndarray, "m 2"], Float64[np.ndarray, "m 2"]]:
    """Pixels of evenly spaced matches that one homography explains."""
    rows = np.flatnonzero(pair.inlier)
    rows = rows[np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int)]
    return pair.pair.xy_first[rows].astype(np.float64), pair.pair.xy_second[rows].astype(np.float64)


def _changed(camera: Intrinsics, lens: Float64[np.ndarray, "4"]) -> Intrinsics:
    """`lens`: change of ln focal length, of the principal point over the known focal length (x, y), and k1."""
    factor, (right, down) = float(np.exp(lens[0])), (lens[1:3] * camera.fx_px).tolist()
    return replace(
        camera, fx_px=camera.fx_px * factor, fy_px=camera.fy_px * factor,
        cx_px=camera.cx_px + right, cy_px=camera.cy_px + down, k1=camera.k1 + float(lens[3]),
    )  # fmt: skip


def _errors_px(
    camera: Intrinsics, first: Float64[np.ndarray, "m 2"], second: Float64[np.ndarray, "m 2"]
) -> Float64[np.ndarray, "k"]:
    """Of the second pixels, after the best rotation."""
    rays = camera.rays(first)
    rotation, _ = Rotation.align_vectors(camera.rays(second), rays)
    return np.nan_to_num(camera.project(rotation.apply(rays)) - second, nan=1e3).ravel()
