"""Converts a pair of reconstructions to signals: full-size pixels, world = first registered camera."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.mapping.camera_effect import CameraEffect
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.focal import FocalSettings, estimated_relative_sigma
from experts.mapping.observations import Observations
from experts.mapping.pose_covariance import keyframe_sigmas
from experts.mapping.pose_refits import refit_shifts
from experts.mapping.reconstruction_checks import (
    TrustSettings,
    outlier_probabilities,
    range_sigmas,
    ranges,
    triangulation_angles,
)
from experts.mapping.registration import FramePoses
from experts.provenance import Provenance
from experts.signals import CameraPath, Scale, SparsePoints


@dataclass(frozen=True, kw_only=True)
class ReconstructionPair:
    """A reconstruction, its frames, and the other reconstruction of the same keyframes."""

    clip: Clip
    keyframes: Int64[np.ndarray, "k"]
    """Position in the clip of each keyframe."""
    sparse: SparseReconstruction
    poses: FramePoses
    other: SparseReconstruction
    other_poses: FramePoses
    known_focal_sigma: float | None
    """σ_f/f of the fixed camera of both; None: they estimated it."""
    known_centre: bool
    """The principal point is the user's, and the footage confirms it."""


@dataclass(frozen=True, kw_only=True)
class SystematicSigma:
    """What the residuals of a reconstruction do not show."""

    joint_errors: float = 10.0
    """σ of a pose is this many times what independent errors of all observations give: those of one picture err
    together (lens, rolling shutter). Measured on 24 rendered rooms and 8 real sets: 2 to 5 and 3 to 17."""
    rotation_px: float = 1.0
    """σ of a relative rotation, per axis, in pixels of the working size."""
    direction_rad: float = np.deg2rad(0.7)
    """σ of a direction between two positions."""
    shift_px: float = 0.2
    """σ of a position, per axis: the step that shifts points at the median range by this many pixels of the working
    size. Without it, 0.7 % of the directions between places 4 to 10 % of the range apart were beyond 3 σ in 59 rendered
    rooms with a rolling shutter; with it 0.2 %."""
    loose_share: float = 0.02
    """Largest formal position σ of a registered frame, as a share of the median range: beyond it the frame has too few
    points."""
    agree_share: float = 0.05
    """Two reconstructions agree on a frame's position within this share of the median range ..."""
    agree_rad: float = np.deg2rad(3.0)
    """... and on its rotation within this. A frame on which they disagree is not registered."""


@dataclass(frozen=True, kw_only=True)
class _Difference:
    """Per frame: half the difference of two reconstructions per axis; 0 where one lacks the frame."""

    rotation_rad: Float64[np.ndarray, "n"]
    """Radians."""
    position: Float64[np.ndarray, "n"]
    """In the unit of the first reconstruction."""
    compared: int
    """Number of frames registered in both."""
    inconsistent: Bool[np.ndarray, "n"]
    """The reconstructions disagree on this frame."""


def path_of(
    pair: ReconstructionPair,
    effect: CameraEffect,
    focal: FocalSettings,
    floors: SystematicSigma,
    between: Observations,
    provenance: Provenance,
) -> CameraPath:
    """The camera path. σ = that of the frame's own points ⊕ that of the nearest keyframe ⊕ half the difference of the
    two reconstructions ⊕ systematic σ; ⊕ adds squares. `between`: observations in the frames between keyframes."""
    clip, camera = pair.clip, pair.sparse.camera
    difference = _difference(pair, floors)
    assert difference is not None, "the caller checks `reconstructions_agree` first"
    scene = float(np.median(ranges(pair.sparse)))
    registered = np.isfinite(pair.poses.cam_from_world[:, 0, 0]) & ~difference.inconsistent
    registered &= np.nan_to_num(pair.poses.position_sigma, nan=np.inf) <= floors.loose_share * scene
    first = pair.poses.cam_from_world[registered][0]
    world_from_cam = np.full_like(pair.poses.cam_from_world, np.nan)
    world_from_cam[registered] = first @ np.linalg.inv(pair.poses.cam_from_world[registered])
    known = np.where(registered, 1.0, np.nan)
    columns = pair.keyframes[pair.sparse.places]
    nearest = np.abs(np.arange(len(registered))[:, None] - columns).argmin(axis=1)
    rotation, position = (floors.joint_errors * sigma[nearest] for sigma in keyframe_sigmas(pair.sparse))
    pixel_rad = floors.rotation_px / camera.fx_px
    own_focal, centre = _own_focal_sigma(pair, focal), _centre_sigma(pair)
    pulled = _refit_shifts(pair, np.where(registered[:, None, None], pair.poses.cam_from_world, np.nan), between)
    return CameraPath(
        frames=clip.frames,
        world_from_cam=world_from_cam,
        registered=registered,
        keyframe=np.isin(np.arange(len(registered)), pair.keyframes[pair.sparse.places]) & registered,
        intrinsics=camera.scaled(clip.width_px, clip.height_px),
        focal_relative_sigma=focal_sigma(pair, focal),
        motion="general",
        rotation_sigma_rad=known
        * np.sqrt(pair.poses.rotation_sigma_rad**2 + rotation**2 + difference.rotation_rad**2 + pixel_rad**2),
        position_sigma=known * np.sqrt(pair.poses.position_sigma**2 + position**2 + difference.position**2),
        direction_sigma_rad=floors.direction_rad,
        scale=Scale(kind="relative"),
        provenance=provenance,
        rotation_per_focal=effect.rotation,
        centre_relative_sigma=centre,
        turn_sigma_by_centre=float(np.linalg.norm(effect.rotation_by_centre * centre)),
        direction_sigma_by_camera_rad=float(
            np.linalg.norm([effect.direction_rad * own_focal, *(effect.direction_by_centre_rad * centre)])
        ),
        travel_relative_sigma=float(
            np.linalg.norm([effect.ln_travel * own_focal, *(effect.ln_travel_by_centre * centre)])
        ),
        systematic_position_sigma=known * np.hypot(floors.shift_px / camera.fx_px * scene, pulled / np.sqrt(3)),
        position_by_camera=known[:, None, None] * _position_by_camera(pair, effect, focal, first),
    )


def _refit_shifts(
    pair: ReconstructionPair, cam_from_world: Float64[np.ndarray, "n 4 4"], between: Observations
) -> Float64[np.ndarray, "n"]:
    sparse = pair.sparse
    frame = np.concatenate([pair.keyframes[sparse.place], between.column])
    xyz = sparse.xyz_world[np.concatenate([sparse.point, between.point])]
    return refit_shifts(sparse.camera, cam_from_world, xyz, frame, np.concatenate([sparse.xy_px, between.xy_px]))


def _position_by_camera(
    pair: ReconstructionPair, effect: CameraEffect, focal: FocalSettings, first: Float64[np.ndarray, "4 4"]
) -> Float64[np.ndarray, "n 3 3"]:
    """`CameraPath.position_by_camera`: between keyframes it is interpolated. `first`: pose of the first camera."""
    sigmas = np.array([_own_focal_sigma(pair, focal), *_centre_sigma(pair)])
    at_keyframes = (sigmas[:, None] * effect.position) @ first[:3, :3].T
    frames, columns = np.arange(len(pair.poses.cam_from_world)), pair.keyframes[pair.sparse.places]
    each = [np.interp(frames, columns, one) for one in at_keyframes.reshape(len(columns), 9).T]
    return np.stack(each, axis=1).reshape(-1, 3, 3)


def focal_sigma(pair: ReconstructionPair, focal: FocalSettings) -> float:
    """σ_f/f: that of the fixed camera, or of the estimate."""
    if pair.known_focal_sigma is not None:
        return pair.known_focal_sigma
    return estimated_relative_sigma(pair.sparse, pair.other, focal)


def _own_focal_sigma(pair: ReconstructionPair, focal: FocalSettings) -> float:
    """σ_f/f so far as the two reconstructions do not differ by it: every fact is measured on both."""
    difference = np.log(pair.sparse.camera.fx_px / pair.other.camera.fx_px)
    return float(np.sqrt(max(0.0, focal_sigma(pair, focal) ** 2 - difference**2)))


def _centre_sigma(pair: ReconstructionPair) -> Float64[np.ndarray, "2"]:
    """σ of each coordinate of the principal point over the focal length: of the less certain reconstruction."""
    either = np.maximum(pair.sparse.centre_relative_sigma, pair.other.centre_relative_sigma)
    return np.zeros(2) if pair.known_centre else either


def points_of(
    pair: ReconstructionPair,
    effect: CameraEffect,
    focal: FocalSettings,
    path: CameraPath,
    between: Observations,
    trust: TrustSettings,
    provenance: Provenance,
) -> SparsePoints:
    """Sparse points, with their observations in keyframes and in the frames `between`. σ of the range = 3 % ⊕
    triangulation ⊕ focal length ⊕ principal point. The difference of the two reconstructions is not included, as every
    fact is measured on both. Observations in unregistered frames are dropped; points of unregistered keyframes are
    suspect."""
    sparse, clip = pair.sparse, pair.clip
    angle, by_focal = triangulation_angles(sparse), effect.ln_range * _own_focal_sigma(pair, focal)
    by_camera = np.hypot(by_focal, np.linalg.norm(effect.ln_range_by_centre * _centre_sigma(pair), axis=1))
    column = pair.keyframes[sparse.place]
    outlier_probability = outlier_probabilities(sparse, pair.other, angle, trust)
    outlier_probability[sparse.point[~path.registered[column]]] = trust.outlier_probability_other
    column = np.concatenate([column, between.column])
    registered = path.registered[column]
    first = pair.poses.cam_from_world[path.registered][0]
    return SparsePoints(
        xyz_world=sparse.xyz_world @ first[:3, :3].T + first[:3, 3],
        range_relative_sigma=np.hypot(range_sigmas(sparse, angle, trust), by_camera),
        triangulation_angle_rad=angle,
        outlier_probability=outlier_probability,
        observation_point=np.concatenate([sparse.point, between.point])[registered],
        observation_frame=clip.frames[column[registered]],
        observation_xy_px=clip.full_from_working(np.concatenate([sparse.xy_px, between.xy_px])[registered]),
        provenance=provenance,
        camera_relative_sigma=by_camera,
    )


def reconstructions_agree(pair: ReconstructionPair, floors: SystematicSigma) -> bool:
    """Whether one similarity transform aligns at least half of the common frames, rotations included."""
    difference = _difference(pair, floors)
    return difference is not None and bool(difference.inconsistent.sum() <= difference.compared / 2)


def _difference(pair: ReconstructionPair, floors: SystematicSigma) -> _Difference | None:
    """Differences of the two reconstructions after the similarity that aligns their cameras.

    Its rotation comes from the camera rotations (centres on a line leave one rotation undetermined). Scale and shift
    are medians, so that a few misplaced frames do not bias them.
    """
    here, there = pair.poses.cam_from_world, pair.other_poses.cam_from_world
    both = np.flatnonzero(np.isfinite(here[:, 0, 0]) & np.isfinite(there[:, 0, 0]))
    if len(both) < 2:
        return None
    a, b = np.linalg.inv(here[both]), np.linalg.inv(there[both])
    relative = Rotation.from_matrix(a[:, :3, :3] @ b[:, :3, :3].swapaxes(1, 2))
    middle = min(range(len(both)), key=lambda k: float(np.median((relative[k].inv() * relative).magnitude())))
    near = (relative[middle].inv() * relative).magnitude() <= floors.agree_rad
    joint = relative[near].mean()
    angle = (joint.inv() * relative).magnitude()
    centre, other = a[:, :3, 3], joint.apply(b[:, :3, 3])
    scale = float(np.median(pdist(centre) / np.maximum(pdist(other), 1e-12)))
    offset = centre - scale * other
    distance = np.linalg.norm(offset - np.median(offset, axis=0), axis=1)
    within = floors.agree_share * float(np.median(ranges(pair.sparse)))
    count = len(here)
    difference = _Difference(
        rotation_rad=np.zeros(count),
        position=np.zeros(count),
        compared=len(both),
        inconsistent=np.zeros(count, dtype=bool),
    )
    difference.rotation_rad[both], difference.position[both] = angle / 2 / np.sqrt(3), distance / 2 / np.sqrt(3)
    difference.inconsistent[both] = (distance > within) | (angle > floors.agree_rad)
    return difference
