"""Signals made of a map and of what another map says about it: full-size pixels, world = first registered camera."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.colmap_mapping import SparseMap
from experts.focal import FocalSettings, estimated_relative_sigma
from experts.map_trust import TrustSettings, gross_errors, range_sigmas, triangulation_angles
from experts.provenance import Provenance
from experts.registration import PlacedFrames
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


def path_of(
    pair: MapPair, focal: FocalSettings, rotation_floor_rad: float, direction_sigma_rad: float, provenance: Provenance
) -> CameraPath:
    """The camera path. σ = formal (points exact) ⊕ half the difference of the two maps ⊕ systematic floor."""
    clip, camera = pair.clip, pair.sparse.camera
    registered = np.isfinite(pair.placed.cam_from_world[:, 0, 0])
    turned, moved = _spread(pair)
    first = pair.placed.cam_from_world[registered][0]
    world_from_cam = np.full_like(pair.placed.cam_from_world, np.nan)
    world_from_cam[registered] = first @ np.linalg.inv(pair.placed.cam_from_world[registered])
    given = clip.options.intrinsics is not None
    floor = np.where(registered, rotation_floor_rad, np.nan)
    return CameraPath(
        frames=clip.frames,
        world_from_cam=world_from_cam,
        registered=registered,
        keyframe=np.isin(np.arange(len(registered)), pair.keyframes[pair.sparse.places]),
        intrinsics=camera.scaled(clip.width_px, clip.height_px),
        focal_relative_sigma=focal.given_relative_floor
        if given
        else estimated_relative_sigma(camera.fx_px, pair.other.camera.fx_px, focal),
        motion="general",
        rotation_sigma_rad=np.sqrt(pair.placed.rotation_sigma_rad**2 + turned**2 + floor**2),
        position_sigma=np.hypot(pair.placed.position_sigma, moved),
        direction_sigma_rad=direction_sigma_rad,
        scale=Scale(kind="relative"),
        provenance=provenance,
    )


def points_of(pair: MapPair, trust: TrustSettings, provenance: Provenance) -> SparsePoints:
    """Sparse points. σ of the range = 3 % ⊕ triangulation; the difference of the two maps is not in it: whoever asks
    measures on both."""
    sparse, clip = pair.sparse, pair.clip
    angle = triangulation_angles(sparse)
    first = pair.placed.cam_from_world[np.isfinite(pair.placed.cam_from_world[:, 0, 0])][0]
    return SparsePoints(
        xyz_world=sparse.xyz_world @ first[:3, :3].T + first[:3, 3],
        range_relative_sigma=range_sigmas(sparse, angle, trust),
        triangulation_angle_rad=angle,
        p_gross=gross_errors(sparse, pair.other, angle, trust),
        observation_point=sparse.point,
        observation_frame=clip.frames[pair.keyframes[sparse.place]],
        observation_xy_px=clip.full_from_working(sparse.xy_px),
        provenance=provenance,
    )


def _spread(pair: MapPair) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """Half the difference of the two maps per axis, after the similarity that joins their camera centres.

    (rotation in radians, position in this map's unit), 0 where the other map lacks the frame.
    """
    here, there = pair.placed.cam_from_world, pair.other_placed.cam_from_world
    both = np.isfinite(here[:, 0, 0]) & np.isfinite(there[:, 0, 0])
    turned, moved = np.zeros(len(here)), np.zeros(len(here))
    a, b = np.linalg.inv(here[both]), np.linalg.inv(there[both])
    relative = Rotation.from_matrix(a[:, :3, :3] @ b[:, :3, :3].swapaxes(1, 2))
    joint = relative.mean()
    turned[both] = (relative * joint.inv()).magnitude() / 2 / np.sqrt(3)
    here_centre = a[:, :3, 3] - a[:, :3, 3].mean(axis=0)
    there_centre = joint.apply(b[:, :3, 3] - b[:, :3, 3].mean(axis=0))
    scale = np.sum(here_centre * there_centre) / max(float(np.sum(there_centre**2)), 1e-12)
    moved[both] = np.linalg.norm(here_centre - scale * there_centre, axis=1) / 2 / np.sqrt(3)
    return turned, moved
