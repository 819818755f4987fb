"""Signals made of a map and of what another map says about it: full-size pixels, world = first registered camera."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.mapping.colmap_mapping import SparseMap
from experts.mapping.focal import FocalSettings, estimated_relative_sigma
from experts.mapping.map_trust import TrustSettings, gross_errors, range_sigmas, ranges, triangulation_angles
from experts.mapping.registration import PlacedFrames
from experts.provenance import Provenance
from experts.signals import CameraPath, Scale, SparsePoints


@dataclass(frozen=True, kw_only=True)
class MapPair:
    """A map, its frames, and the other map of the same keyframes."""

    clip: Clip
    keyframes: Int64[np.ndarray, "k"]
    """Position in the clip of each keyframe."""
    sparse: SparseMap
    placed: PlacedFrames
    other: SparseMap
    other_placed: PlacedFrames
    known_focal_sigma: float | None
    """σ_f/f of the camera that both maps were given; None: they estimated it."""


@dataclass(frozen=True, kw_only=True)
class PathFloors:
    """Systematic σ of a camera path: what an optimiser cannot know of itself."""

    rotation_rad: float = np.deg2rad(0.7)
    """Of a relative rotation, per axis."""
    direction_rad: float = np.deg2rad(3.0)
    """Of a direction between two positions."""
    position_share: float = 0.005
    """Of a position, per axis, as a share of the median range of the scene. Measured on hololens_indoor, where short
    baselines err by up to 90 degrees: with 0.3 % some directions are beyond 2.5 σ, with 0.5 % none is."""
    loose_share: float = 0.02
    """A frame whose formal σ is a larger share of the median range hangs on too few points: it is left out."""
    agree_share: float = 0.05
    """Two maps agree on a frame's place within this share of the median range ..."""
    agree_rad: float = np.deg2rad(3.0)
    """... and on its rotation within this: some four floors. Where they do not, neither is believed."""


@dataclass(frozen=True, kw_only=True)
class _Spread:
    """Per frame: half the difference of two maps per axis, 0 where one lacks the frame."""

    turned: Float64[np.ndarray, "n"]
    """Radians."""
    moved: Float64[np.ndarray, "n"]
    """In the first map's unit."""
    compared: int
    """Frames that both maps place."""
    apart: Bool[np.ndarray, "n"]
    """The maps put this frame at two different places: neither is believed."""


def path_of(pair: MapPair, focal: FocalSettings, floors: PathFloors, provenance: Provenance) -> CameraPath:
    """The camera path. σ = formal (points exact) ⊕ half the difference of the two maps ⊕ systematic floor."""
    clip, camera = pair.clip, pair.sparse.camera
    spread = _spread(pair, floors)
    assert spread is not None, "ask `agreeing` first"
    scene = float(np.median(ranges(pair.sparse)))
    registered = np.isfinite(pair.placed.cam_from_world[:, 0, 0]) & ~spread.apart
    registered &= np.nan_to_num(pair.placed.position_sigma, nan=np.inf) <= floors.loose_share * scene
    first = pair.placed.cam_from_world[registered][0]
    world_from_cam = np.full_like(pair.placed.cam_from_world, np.nan)
    world_from_cam[registered] = first @ np.linalg.inv(pair.placed.cam_from_world[registered])
    floor = np.where(registered, 1.0, np.nan)
    return CameraPath(
        frames=clip.frames,
        world_from_cam=world_from_cam,
        registered=registered,
        keyframe=np.isin(np.arange(len(registered)), pair.keyframes[pair.sparse.places]) & registered,
        intrinsics=camera.scaled(clip.width_px, clip.height_px),
        focal_relative_sigma=focal_sigma(pair, focal),
        motion="general",
        rotation_sigma_rad=np.sqrt(
            pair.placed.rotation_sigma_rad**2 + spread.turned**2 + (floors.rotation_rad * floor) ** 2
        ),
        position_sigma=np.sqrt(
            pair.placed.position_sigma**2 + spread.moved**2 + (floors.position_share * scene * floor) ** 2
        ),
        direction_sigma_rad=floors.direction_rad,
        scale=Scale(kind="relative"),
        provenance=provenance,
    )


def focal_sigma(pair: MapPair, focal: FocalSettings) -> float:
    """σ_f/f: that of the camera that was given, or formal ⊕ difference of the two maps ⊕ floor."""
    if pair.known_focal_sigma is not None:
        return pair.known_focal_sigma
    return estimated_focal_sigma(pair.sparse, pair.other, focal)


def estimated_focal_sigma(sparse: SparseMap, other: SparseMap, focal: FocalSettings) -> float:
    """σ_f/f of a map that estimated it."""
    noise_px = max(focal.min_noise_px, 0.8 * float(sparse.error_px.mean()))  # σ per axis of a mean distance
    formal_px = sparse.focal_formal_px * noise_px
    return estimated_relative_sigma(sparse.camera.fx_px, formal_px, other.camera.fx_px, focal)


def points_of(pair: MapPair, path: CameraPath, trust: TrustSettings, provenance: Provenance) -> SparsePoints:
    """Sparse points. σ of the range = 3 % ⊕ triangulation; the difference of the two maps is not in it: whoever asks
    measures on both. Observations in frames that `path` does not hold are left out, and make their point doubtful."""
    sparse, clip = pair.sparse, pair.clip
    angle = triangulation_angles(sparse)
    held = path.registered[pair.keyframes[sparse.place]]
    outlier_probability = gross_errors(sparse, pair.other, angle, trust)
    outlier_probability[sparse.point[~held]] = trust.outlier_probability_other
    first = pair.placed.cam_from_world[path.registered][0]
    return SparsePoints(
        xyz_world=sparse.xyz_world @ first[:3, :3].T + first[:3, 3],
        range_relative_sigma=range_sigmas(sparse, angle, trust),
        triangulation_angle_rad=angle,
        outlier_probability=outlier_probability,
        observation_point=sparse.point[held],
        observation_frame=clip.frames[pair.keyframes[sparse.place[held]]],
        observation_xy_px=clip.full_from_working(sparse.xy_px[held]),
        provenance=provenance,
    )


def agreeing(pair: MapPair, floors: PathFloors) -> bool:
    """Whether one similarity joins at least half of the frames that both maps place, rotations included."""
    spread = _spread(pair, floors)
    return spread is not None and bool(spread.apart.sum() <= spread.compared / 2)


def _spread(pair: MapPair, floors: PathFloors) -> _Spread | None:
    """How far the maps are apart, after the similarity that joins their cameras.

    Its rotation comes from the cameras' rotations (centres on a line leave a turn about it open), scale and shift are
    medians: a few misplaced frames do not bend it.
    """
    here, there = pair.placed.cam_from_world, pair.other_placed.cam_from_world
    both = np.flatnonzero(np.isfinite(here[:, 0, 0]) & np.isfinite(there[:, 0, 0]))
    if len(both) < 2:
        return None
    a, b = np.linalg.inv(here[both]), np.linalg.inv(there[both])
    relative = Rotation.from_matrix(a[:, :3, :3] @ b[:, :3, :3].swapaxes(1, 2))
    middle = min(range(len(both)), key=lambda k: float(np.median((relative[k].inv() * relative).magnitude())))
    near = (relative[middle].inv() * relative).magnitude() <= floors.agree_rad
    joint = relative[near].mean()
    turn = (joint.inv() * relative).magnitude()
    centre, other = a[:, :3, 3], joint.apply(b[:, :3, 3])
    scale = float(np.median(pdist(centre) / np.maximum(pdist(other), 1e-12)))
    apart = centre - scale * other
    distance = np.linalg.norm(apart - np.median(apart, axis=0), axis=1)
    within = floors.agree_share * float(np.median(ranges(pair.sparse)))
    count = len(here)
    spread = _Spread(
        turned=np.zeros(count), moved=np.zeros(count), compared=len(both), apart=np.zeros(count, dtype=bool)
    )
    spread.turned[both], spread.moved[both] = turn / 2 / np.sqrt(3), distance / 2 / np.sqrt(3)
    spread.apart[both] = (distance > within) | (turn > floors.agree_rad)
    return spread
