"""Expert "zoom": the path of a camera that zooms while it stands or turns, from tracks of the image.

It is asked where no camera path is known: one camera for the whole clip explains no zoom. An approach to a wall that
the camera faces scales the picture as a zoom does. Hence straight lines must show perspective: a zoom in front of a
wall or of leaves is not recognised, nor is that of a camera that travels.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float32, Float64, Int64

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.gravity.perspective import PerspectiveSettings, shows_perspective
from experts.mapping.colmap_features import MatchedPair
from experts.mapping.focal import FocalSettings, KnownCamera, unknown_camera
from experts.mapping.keyframes import KeyframeSettings, choose_keyframes
from experts.mapping.motion_kind import MotionSettings, PairGeometry, is_static, pair_geometries, shows_parallax
from experts.mapping.pure_rotation import PureRotationSettings, pure_rotation
from experts.mapping.zoom import Zoom, ZoomSettings, zoom_of
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, MotionKind, NoEstimate, Scale, Signal, Signals, ValidArea


@dataclass(frozen=True, kw_only=True)
class ZoomingSettings:
    """Thresholds and noise floors, by stage."""

    keyframes: KeyframeSettings = field(default_factory=KeyframeSettings)
    motion: MotionSettings = field(default_factory=MotionSettings)
    zoom: ZoomSettings = field(default_factory=ZoomSettings)
    perspective: PerspectiveSettings = field(default_factory=PerspectiveSettings)
    rotation: PureRotationSettings = field(default_factory=PureRotationSettings)
    focal: FocalSettings = field(default_factory=FocalSettings)
    max_keyframes: int = 30
    direction_rad: float = np.deg2rad(0.7)
    """σ of a direction between two positions, of which there are none."""


class ZoomExpert(WeightFreeExpert):
    """Expert "zoom": provides the zooming path."""

    name: ClassVar[str] = "zoom"
    version: ClassVar[str] = "11"
    provides: ClassVar[frozenset[str]] = frozenset({"zooming_path"})
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "image_tracks", "valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px", "intrinsics"})

    def __init__(self, settings: ZoomingSettings | None = None) -> None:
        self.settings = settings or ZoomingSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"zooming_path": CameraPath}`, with a magnification for each frame."""
        return {"zooming_path": self._path(clip, signals)}

    def _path(self, clip: Clip, signals: Signals) -> CameraPath | NoEstimate:
        tracks, area, s = signals["image_tracks"], signals["valid_area"], self.settings
        if isinstance(signals["camera_path"], CameraPath):
            return NoEstimate(reason="one camera explains the whole clip")
        if clip.options.intrinsics is not None:
            return NoEstimate(reason="the user provides one camera for the whole clip")
        if not isinstance(tracks, ImageTracks):
            return NoEstimate(reason="no image tracks")
        xy_px = clip.working_from_full(tracks.xy_px.astype(np.float64)).astype(np.float32)
        size = clip.working_size
        keyframes = choose_keyframes(xy_px, float(np.hypot(*size)), s.max_keyframes, s.keyframes)
        pairs = pair_geometries(_shared_tracks(xy_px[:, keyframes]), max(size), s.motion)
        if not pairs or shows_parallax(pairs, s.motion):
            return NoEstimate(reason="the camera translates, or its tracks break off")
        valid = area.valid if isinstance(area, ValidArea) else None
        if not shows_perspective(clip, clip.frames[keyframes].tolist(), valid, s.perspective):
            return NoEstimate(reason="a zoom is not distinguished from an approach to a wall")
        zoom = zoom_of(pairs, keyframes, xy_px, size, s.zoom)
        if zoom is None:
            return NoEstimate(reason="no zoom explains the motion of the picture")
        return self._posed(clip, zoom, pairs, keyframes, zoom.unzoomed_tracks(xy_px))

    def _posed(
        self,
        clip: Clip,
        zoom: Zoom,
        pairs: list[PairGeometry],
        keyframes: Int64[np.ndarray, "k"],
        steady_px: Float32[np.ndarray, "t n 2"],
    ) -> CameraPath | NoEstimate:
        """The rotations, by the tracks of a camera that does not zoom."""
        s, known = self.settings, unknown_camera(clip, self.settings.focal)
        camera = known.camera.scaled(*clip.working_size)
        if is_static(steady_px, *clip.working_size, s.motion):
            rotation = np.tile(np.eye(3), (len(clip.frames), 1, 1))
            sigma = np.full(len(rotation), s.motion.static_px / camera.fx_px)
            return self._signal(clip, zoom, known, rotation, sigma, keyframes, "static")
        steady = zoom.unzoomed_pairs(pairs, keyframes)
        turns = pure_rotation(steady, keyframes, steady_px, camera, False, s.rotation)
        if isinstance(turns, NoEstimate):
            return turns
        kind: MotionKind = "rotation_only" if turns.rotation_only else "unresolved"
        return self._signal(clip, zoom, known, turns.world_from_cam, turns.sigma_rad, keyframes, kind)

    def _signal(
        self,
        clip: Clip,
        zoom: Zoom,
        known: KnownCamera,
        rotation: Float64[np.ndarray, "n 3 3"],
        sigma_rad: Float64[np.ndarray, "n"],
        keyframes: Int64[np.ndarray, "k"],
        motion: MotionKind,
    ) -> CameraPath:
        registered = np.isfinite(sigma_rad) & np.isfinite(zoom.magnification)
        world_from_cam = np.tile(np.eye(4), (len(registered), 1, 1))
        world_from_cam[:, :3, :3] = rotation
        if motion != "static":
            world_from_cam[:, :3, 3] = np.nan
        return CameraPath(
            frames=clip.frames,
            world_from_cam=np.where(registered[:, None, None], world_from_cam, np.nan),
            registered=registered,
            keyframe=np.isin(np.arange(len(registered)), keyframes) & registered,
            intrinsics=known.camera,
            focal_relative_sigma=known.relative_sigma,
            motion=motion,
            rotation_sigma_rad=np.where(registered, sigma_rad, np.nan),
            position_sigma=np.full(len(registered), np.nan),
            direction_sigma_rad=self.settings.direction_rad,
            scale=Scale(kind="relative"),
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
            magnification=np.where(registered, zoom.magnification, np.nan),
            magnification_sigma=np.where(registered, zoom.ln_sigma, np.nan),
        )


def _shared_tracks(xy_px: Float32[np.ndarray, "t k 2"]) -> list[MatchedPair]:
    """The tracks that each two keyframes share."""
    pairs = []
    for first, second in zip(*np.triu_indices(xy_px.shape[1], 1), strict=True):
        both = np.isfinite(xy_px[:, [first, second], 0]).all(axis=1)
        a, b = (xy_px[both, place].astype(np.float64) for place in (first, second))
        pairs.append(MatchedPair(first=int(first), second=int(second), xy_first=a, xy_second=b))
    return pairs
