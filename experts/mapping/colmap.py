"""The camera's path and sparse points from pixels alone: gates before mapping, two maps, gates after.

Static, turning and flat footage never reaches the mapper: SfM would invent a path for it. Where it does, two maps from
different starts go out side by side (`camera_path`, `camera_path_check`); what rests on them must hold on both.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np
from jaxtyping import Float32, Int64

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.mapping.colmap_features import FeatureSettings, build_database, read_pairs, verified_copy
from experts.mapping.colmap_mapping import SparseMap, map_globally
from experts.mapping.focal import FocalSettings, camera_without_map, disagreement
from experts.mapping.keyframes import KeyframeSettings, choose_keyframes
from experts.mapping.map_signals import MapPair, PathFloors, agreeing, focal_sigma, path_of, points_of
from experts.mapping.map_trust import TrustSettings, refusal, triangulation_angles, without_misplaced
from experts.mapping.motion_kind import MotionSettings, PairGeometry, is_static, look_at_pairs, shows_parallax
from experts.mapping.registration import RegistrationSettings, place_all_frames
from experts.mapping.turning import TurningSettings, turning
from experts.provenance import Provenance
from experts.signals import Abstained, CameraPath, ImageTracks, MotionKind, Scale, Signal, Signals, ValidArea

_NAMES = ("camera_path", "sparse_points", "camera_path_check", "sparse_points_check")

_NO_STRUCTURE = ("few points", "no map")
"""Refusals that a camera which only turns earns too: nothing triangulates."""


@dataclass(frozen=True, kw_only=True)
class ColmapSettings:
    """All thresholds and floors, by stage."""

    keyframes: KeyframeSettings = field(default_factory=KeyframeSettings)
    motion: MotionSettings = field(default_factory=MotionSettings)
    features: FeatureSettings = field(default_factory=FeatureSettings)
    focal: FocalSettings = field(default_factory=FocalSettings)
    trust: TrustSettings = field(default_factory=TrustSettings)
    registration: RegistrationSettings = field(default_factory=RegistrationSettings)
    turning: TurningSettings = field(default_factory=TurningSettings)
    floors: PathFloors = field(default_factory=PathFloors)


class ColmapExpert:
    """Provides the camera path and sparse points, twice."""

    name = "colmap"
    version = "1"
    code_licence = "BSD-3-Clause"  # shown by --plan
    provides = frozenset(_NAMES)
    needs = frozenset({"valid_area", "image_tracks"})
    options = frozenset({"max_side_px", "max_keyframes", "intrinsics"})

    def __init__(self, settings: ColmapSettings | None = None) -> None:
        self.settings = settings or ColmapSettings()
        self.provenance = Provenance(
            expert=self.name,
            version=self.version,
            settings=asdict(self.settings),
            seed=0,
            code_licence="BSD-3-Clause",
        )

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | Abstained]:
        """What the footage allows: two maps; or rotations; or a camera that stands still; or reasons."""
        tracks, area = signals.get("image_tracks"), signals.get("valid_area")
        if not isinstance(tracks, ImageTracks):
            return _all(tracks if isinstance(tracks, Abstained) else Abstained(reason="no image tracks"))
        s, size = self.settings, clip.working_size
        xy_px = clip.working_from_full(tracks.xy_px.astype(np.float64)).astype(np.float32)
        if is_static(xy_px, *size, s.motion):
            return self._still(clip)
        keyframes = choose_keyframes(xy_px, float(np.hypot(*size)), clip.options.max_keyframes, s.keyframes)
        with tempfile.TemporaryDirectory() as folder:
            valid = area.valid if isinstance(area, ValidArea) else None
            database = build_database(Path(folder), clip, clip.frames[keyframes], valid, s.features)
            pairs = look_at_pairs(read_pairs(database), max(size), s.motion)
            if len(keyframes) < 3 or not shows_parallax(pairs, s.motion):
                return self._turning(clip, keyframes, pairs, xy_px)
            maps = self._two_maps(database, clip, pairs, len(keyframes))
        if isinstance(maps, Abstained):
            turned = self._turning(clip, keyframes, pairs, xy_px) if maps.reason in _NO_STRUCTURE else {}
            return turned if isinstance(turned.get("camera_path"), CameraPath) else _all(maps)
        if min(float(np.median(triangulation_angles(m))) for m in maps) < s.trust.min_angle_rad:
            return self._turning(clip, keyframes, pairs, xy_px)
        return self._mapped(clip, keyframes, maps, xy_px)

    def _two_maps(
        self, database: Path, clip: Clip, pairs: list[PairGeometry], keyframes: int
    ) -> tuple[SparseMap, SparseMap] | Abstained:
        """Two maps that pass all gates and agree on the focal length, the one with more points first.

        A start is only a start: where one map is refused, another start is tried. The user's camera is never changed;
        then the starts differ by their seed alone.
        """
        s, (width, height), given = self.settings, clip.working_size, clip.options.intrinsics
        maps: list[SparseMap | None] = []
        chosen: tuple[SparseMap, SparseMap] | Abstained = Abstained(reason="no map")
        for seed, share in enumerate((*s.focal.start_shares, *s.focal.spare_shares)):
            start = Intrinsics.centred(width, height, share * max(width, height))
            camera = start if given is None else given.scaled(width, height)
            found = self._map(database, seed, camera, given is not None)
            maps.append(found and without_misplaced(found, pairs, s.trust))
            chosen = self._agreeing(maps, pairs, keyframes)
            if not isinstance(chosen, Abstained):
                break
        return chosen

    def _map(self, database: Path, seed: int, camera: Intrinsics, fixed: bool) -> SparseMap | None:
        verified = database.with_name(f"start{seed}.db")
        verified_copy(database, verified, camera, fixed, seed)
        return map_globally(verified, database.with_name(f"map{seed}"), fixed, seed)

    def _agreeing(
        self, maps: list[SparseMap | None], pairs: list[PairGeometry], keyframes: int
    ) -> tuple[SparseMap, SparseMap] | Abstained:
        """The best two maps that pass the gates, if their focal lengths agree.

        A passed map at another focal length must be beaten by both, in points and in residual: a wrong start ends in
        a worse minimum, or nothing is known.
        """
        s = self.settings
        refusals = [refusal(m, pairs, keyframes, s.trust, s.focal) for m in maps]
        passed = [m for m, refused in zip(maps, refusals, strict=True) if m is not None and refused is None]
        if len(passed) < 2:
            first = next((r for r in refusals if r is not None), None)
            detail = first.reason if first is not None else ""
            return first if first and not passed else Abstained(reason="the second map failed", detail=detail)
        by_points = sorted(passed, key=lambda m: -len(m.xyz_world))
        for a, b in combinations(by_points, 2):
            if disagreement(a.camera.fx_px, b.camera.fx_px) > s.focal.max_disagreement:
                continue
            odd = [m for m in passed if disagreement(a.camera.fx_px, m.camera.fx_px) > s.focal.max_disagreement]
            fewest, worst = len(b.xyz_world), max(a.error_px.mean(), b.error_px.mean())
            if all(len(m.xyz_world) < fewest and m.error_px.mean() > worst for m in odd):
                return a, b
        focal = [m.camera.fx_px for m in passed]
        detail = f"maps say {min(focal):.0f} to {max(focal):.0f} px"
        return Abstained(reason="focal length undecided", detail=detail, remedy="give --intrinsics")

    def _mapped(
        self,
        clip: Clip,
        keyframes: Int64[np.ndarray, "k"],
        maps: tuple[SparseMap, SparseMap],
        xy_px: Float32[np.ndarray, "t n 2"],
    ) -> Mapping[str, Signal | Abstained]:
        s = self.settings
        placed = [place_all_frames(m, keyframes, xy_px, s.registration) for m in maps]
        results: dict[str, Signal | Abstained] = {}
        for suffix, this, other in (("", 0, 1), ("_check", 1, 0)):
            pair = MapPair(
                clip=clip, keyframes=keyframes, sparse=maps[this], placed=placed[this],
                other=maps[other], other_placed=placed[other],
            )  # fmt: skip
            if not agreeing(pair, s.floors):
                return _all(Abstained(reason="the two maps disagree", detail="no similarity joins their cameras"))
            if focal_sigma(pair, s.focal) > s.focal.max_relative_sigma:
                return _all(
                    Abstained(reason="focal length undecided", remedy="give --intrinsics, or turn while moving")
                )
            path = path_of(pair, s.focal, s.floors, self.provenance)
            results[f"camera_path{suffix}"] = path
            results[f"sparse_points{suffix}"] = points_of(pair, path, s.trust, self.provenance)
        return results

    def _turning(
        self,
        clip: Clip,
        keyframes: Int64[np.ndarray, "k"],
        pairs: list[PairGeometry],
        xy_px: Float32[np.ndarray, "t n 2"],
    ) -> Mapping[str, Signal | Abstained]:
        camera, _ = camera_without_map(clip, self.settings.focal)
        known = clip.options.intrinsics is not None
        turned = turning(pairs, keyframes, xy_px, camera.scaled(*clip.working_size), known, self.settings.turning)
        if isinstance(turned, Abstained):
            return _all(turned)
        world_from_cam = np.tile(np.eye(4), (len(clip.frames), 1, 1))
        world_from_cam[:, :3, :3] = turned.world_from_cam
        world_from_cam[:, :3, 3] = np.nan
        world_from_cam[np.isnan(turned.sigma_rad)] = np.nan
        kind: MotionKind = "rotation_only" if turned.turns_only else "unresolved"
        return self._without_map(clip, world_from_cam, turned.sigma_rad, keyframes, kind)

    def _still(self, clip: Clip) -> Mapping[str, Signal | Abstained]:
        """A camera that stands: σ of its rotation is the pixel below which points count as still."""
        camera, _ = camera_without_map(clip, self.settings.focal)
        sigma = self.settings.motion.still_px / camera.scaled(*clip.working_size).fx_px
        count = len(clip.frames)
        everywhere = np.tile(np.eye(4), (count, 1, 1))
        return self._without_map(clip, everywhere, np.full(count, sigma), np.arange(count), "static")

    def _without_map(
        self,
        clip: Clip,
        world_from_cam: np.ndarray,
        sigma_rad: np.ndarray,
        keyframes: Int64[np.ndarray, "k"],
        kind: MotionKind,
    ) -> Mapping[str, Signal | Abstained]:
        camera, focal_sigma = camera_without_map(clip, self.settings.focal)
        path = CameraPath(
            frames=clip.frames,
            world_from_cam=world_from_cam,
            registered=np.isfinite(sigma_rad),
            keyframe=np.isin(np.arange(len(clip.frames)), keyframes) & np.isfinite(sigma_rad),
            intrinsics=camera,
            focal_relative_sigma=focal_sigma,
            motion=kind,
            rotation_sigma_rad=sigma_rad,
            position_sigma=np.full(len(clip.frames), np.nan),
            direction_sigma_rad=self.settings.floors.direction_rad,
            scale=Scale(kind="relative"),
            provenance=self.provenance,
        )
        reason = {"static": "camera does not move", "rotation_only": "camera only turns"}.get(
            kind, "too little parallax"
        )
        none = Abstained(reason=reason, remedy="film with more sideways motion")
        no_check = Abstained(
            reason="no second map", detail="without a map there is one estimate; its focal σ says how far"
        )
        return {**_all(none), "camera_path": path, "camera_path_check": no_check}


def _all(abstained: Abstained) -> dict[str, Signal | Abstained]:
    return dict.fromkeys(_NAMES, abstained)
