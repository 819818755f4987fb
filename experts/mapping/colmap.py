"""Camera path and sparse points by structure from motion: checks before, two independent reconstructions, checks after.

Footage from a static or purely rotating camera is not reconstructed, as SfM would invent a path; that of a plane is
only with the user's camera. Otherwise two reconstructions from different initial focal lengths are returned
(`camera_path`, `camera_path_check`); a label must hold on both. If the footage does not determine the focal length,
both use one that was measured without a path, if there is one. If the keyframes contradict each other and the tracks
show that something moves, the reconstruction is tried once more without the features on it; if too little of the
footage could be joined, with more and weaker features.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float32, Int64

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.mapping.camera_effect import camera_effect
from experts.mapping.colmap_features import FeatureSettings, build_database, read_pairs
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.mapping.focal import (
    FocalSettings,
    KnownCamera,
    agrees,
    held_against_footage,
    independent_camera,
    max_relative_sigma,
    unknown_camera,
    user_camera,
)
from experts.mapping.keyframes import KeyframeSettings, choose_keyframes
from experts.mapping.motion_kind import MotionSettings, PairGeometry, is_static, pair_geometries, shows_parallax
from experts.mapping.moving_parts import MovingPartsSettings, moving_parts
from experts.mapping.observations import ObservationSettings, observations_between
from experts.mapping.pure_rotation import AMBIGUOUS, PureRotationSettings, held_against_rotations, pure_rotation
from experts.mapping.reconstruction_checks import TrustSettings, translates
from experts.mapping.reconstruction_signals import (
    ReconstructionPair,
    SystematicSigma,
    focal_sigma,
    path_of,
    points_of,
    reconstructions_agree,
)
from experts.mapping.registration import RegistrationSettings, register_frames
from experts.mapping.turns import Turns, TurnSettings, turning_pairs, turns_of
from experts.mapping.two_reconstructions import Attempt, Reconstructor, attempts
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, MotionKind, NoEstimate, Scale, Signal, Signals, ValidArea
from experts.stated_camera import contradiction

_NAMES = ("camera_path", "sparse_points", "camera_path_check", "sparse_points_check")

_FEW_FEATURES = ("few keyframes registered", "few points", "focal length undecided", "no reconstruction")
"""Refusals that occur if too few features are found."""

_NO_STRUCTURE = ("few points", "no reconstruction")
"""Those of them that also occur with a purely rotating camera, where nothing can be triangulated."""

_UNKNOWN_FOCAL = (
    "implausible distortion",
    "implausible focal length",
    "focal length undecided",
    "the second reconstruction failed",
    "the two reconstructions disagree",
    "one rigid camera does not fit",
    "no reconstruction",
)
"""Refusals of reconstructions with a free focal length that occur if the footage does not determine it."""

_CONTRADICTING = (
    "few keyframes registered",
    "few points",
    "matches contradict the reconstruction",
    "no reconstruction",
    "one rigid camera does not fit",
    "the second reconstruction failed",
    "the two reconstructions disagree",
)
"""Refusals that occur if something moves."""


@dataclass(frozen=True, kw_only=True)
class ColmapSettings:
    """All thresholds and noise floors, by stage."""

    keyframes: KeyframeSettings = field(default_factory=KeyframeSettings)
    motion: MotionSettings = field(default_factory=MotionSettings)
    moving_parts: MovingPartsSettings = field(default_factory=MovingPartsSettings)
    features: FeatureSettings = field(default_factory=FeatureSettings)
    more_features: FeatureSettings = field(
        default_factory=lambda: FeatureSettings(max_features=3000, min_contrast=0.005)
    )
    """For a further try where too little of the footage could be joined."""
    focal: FocalSettings = field(default_factory=FocalSettings)
    trust: TrustSettings = field(default_factory=TrustSettings)
    registration: RegistrationSettings = field(default_factory=RegistrationSettings)
    observations: ObservationSettings = field(default_factory=ObservationSettings)
    pure_rotation: PureRotationSettings = field(default_factory=PureRotationSettings)
    turns: TurnSettings = field(default_factory=TurnSettings)
    floors: SystematicSigma = field(default_factory=SystematicSigma)


@dataclass(frozen=True, kw_only=True)
class _Input:
    """A clip and what is known of it before the reconstruction."""

    clip: Clip
    keyframes: Int64[np.ndarray, "k"]
    """Positions in the clip."""
    xy_px: Float32[np.ndarray, "t n 2"]
    """Tracks at working size."""
    user: KnownCamera | None
    """The user's camera."""
    known: KnownCamera | None
    """The user's camera, or one that was estimated without a path."""
    confirmed: bool
    """Without a path."""
    turns: Turns | None = None
    """What turns in place show of the camera, if it is not the user's. Full size."""


class ColmapExpert(WeightFreeExpert):
    """Expert "colmap": provides the camera path and sparse points, twice."""

    name = "colmap"
    version = "29"
    code_licence = "BSD-3-Clause"  # shown by --plan
    provides = frozenset(_NAMES)
    needs = frozenset({"valid_area", "image_tracks"})
    may_use = frozenset({"calibration"})
    options = frozenset({"max_side_px", "max_keyframes", "intrinsics", "times_s"})

    def __init__(self, settings: ColmapSettings | None = None) -> None:
        self.settings = settings or ColmapSettings()
        self.provenance = Provenance(
            expert=self.name,
            version=self.version,
            settings=asdict(self.settings),
            seed=0,
            code_licence="BSD-3-Clause",
        )

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """Depending on the footage: two reconstructions, or rotations, or a static camera, or reasons."""
        tracks, area = signals.get("image_tracks"), signals.get("valid_area")
        if not isinstance(tracks, ImageTracks):
            return _all(tracks if isinstance(tracks, NoEstimate) else NoEstimate(reason="no image tracks"))
        s, size = self.settings, clip.working_size
        if (contradicted := contradiction(signals)) is not None:
            return _all(contradicted)
        user = user_camera(clip, s.focal)
        known = user or independent_camera(signals, s.focal)
        confirmed = user is None or agrees(signals, user, s.focal)
        xy_px = clip.working_from_full(tracks.xy_px.astype(np.float64)).astype(np.float32)
        if is_static(xy_px, *size, s.motion):
            return self._static_path(clip, known if confirmed else None)
        keyframes = choose_keyframes(xy_px, float(np.hypot(*size)), clip.options.max_keyframes, s.keyframes)
        inputs = _Input(clip=clip, keyframes=keyframes, xy_px=xy_px, user=user, known=known, confirmed=confirmed)
        valid = area.valid if isinstance(area, ValidArea) else np.ones(size[::-1], dtype=bool)
        found = self._mapped(inputs, valid, s.features)
        refused = found["camera_path"]
        for again in self._further_tries(inputs, valid, refused) if isinstance(refused, NoEstimate) else ():
            path = again["camera_path"]
            if isinstance(path, CameraPath) and path.motion == "general":
                return again
        return found

    def _further_tries(
        self, inputs: _Input, valid: Bool[np.ndarray, "h w"], refused: NoEstimate
    ) -> Iterator[Mapping[str, Signal | NoEstimate]]:
        """What is found without what moves, and with more features, as far as the refusal may come from either."""
        s = self.settings
        if refused.reason in _CONTRADICTING:
            xy_px = inputs.xy_px.astype(np.float64)
            moving = moving_parts(xy_px, inputs.keyframes, inputs.clip.working_size, s.moving_parts)
            if moving is not None:
                yield self._mapped(inputs, valid & ~moving, s.features)
        if refused.reason in _FEW_FEATURES:
            yield self._mapped(inputs, valid, s.more_features)

    def _mapped(
        self, inputs: _Input, valid: Bool[np.ndarray, "*k h w"], features: FeatureSettings
    ) -> Mapping[str, Signal | NoEstimate]:
        """The signals from the features in the valid pixels, of all keyframes or of each."""
        s, clip, keyframes = self.settings, inputs.clip, inputs.keyframes
        with tempfile.TemporaryDirectory() as folder:
            database = build_database(Path(folder), clip, clip.frames[keyframes], valid, features)
            pairs = pair_geometries(read_pairs(database), max(clip.working_size), s.motion)
            inputs = inputs if inputs.user else self._with_turns(inputs, pairs)
            if len(keyframes) < 3 or not shows_parallax(pairs, s.motion):
                rotating = self._rotating(inputs, pairs)
                if not (inputs.user and len(keyframes) >= 3 and _is_planar(rotating["camera_path"])):
                    return rotating
            reconstructor = Reconstructor(
                database=database, pairs=pairs, keyframes=len(keyframes),
                independent=None if inputs.user else inputs.known, trust=s.trust, focal=s.focal,
            )  # fmt: skip
            candidates = attempts(clip, len(keyframes), inputs.user, reconstructor.independent, s.focal)
            return self._reconstructed(inputs, reconstructor, candidates)

    def _reconstructed(
        self, inputs: _Input, reconstructor: Reconstructor, candidates: Sequence[Attempt]
    ) -> Mapping[str, Signal | NoEstimate]:
        """The first attempt that gives two reconstructions. Another one is made only if the focal length was the
        problem. If nothing can be triangulated, and rotations explain the matches: those."""
        found: Mapping[str, Signal | NoEstimate] | NoEstimate = NoEstimate(reason="no reconstruction")
        for attempt in candidates:
            found = self._attempted(inputs, reconstructor, attempt)
            if not isinstance(found, NoEstimate) or found.reason not in _UNKNOWN_FOCAL:
                break
        if not isinstance(found, NoEstimate):
            return found
        may_translate = found.reason not in _NO_STRUCTURE
        rotating = self._rotating(inputs, reconstructor.pairs, may_translate=may_translate)
        path = rotating["camera_path"]
        ambiguous = isinstance(path, NoEstimate) and path.reason == AMBIGUOUS and found.reason in _FEW_FEATURES
        return rotating if ambiguous or isinstance(path, CameraPath) else _all(found)

    def _attempted(
        self, inputs: _Input, reconstructor: Reconstructor, attempt: Attempt
    ) -> Mapping[str, Signal | NoEstimate] | NoEstimate:
        reconstructions = reconstructor.two_reconstructions(attempt)
        if isinstance(reconstructions, NoEstimate):
            return reconstructions
        times_s = inputs.clip.times_s
        for sparse in reconstructions:
            seen_at = None if times_s is None else times_s[inputs.keyframes[sparse.places]]
            if not translates(sparse, seen_at, self.settings.trust):
                return self._rotating(inputs, reconstructor.pairs)
        if inputs.clip.options.intrinsics is not None:
            held = held_against_footage(reconstructions[0], self.settings.focal)
            if isinstance(held, NoEstimate):
                return held
            attempt = attempt if inputs.confirmed else replace(attempt, known_sigma=held)
        return self._signals(inputs, reconstructions, attempt)

    def _signals(
        self, inputs: _Input, reconstructions: tuple[SparseReconstruction, SparseReconstruction], attempt: Attempt
    ) -> Mapping[str, Signal | NoEstimate] | NoEstimate:
        s = self.settings
        registered = [register_frames(m, inputs.keyframes, inputs.xy_px, s.registration) for m in reconstructions]
        poses = [frames.cam_from_world for frames in registered]
        between = observations_between(inputs.clip, inputs.keyframes, reconstructions, poses, s.observations)
        results: dict[str, Signal | NoEstimate] = {}
        for suffix, this, other in (("", 0, 1), ("_check", 1, 0)):
            pair = ReconstructionPair(
                clip=inputs.clip, keyframes=inputs.keyframes, sparse=reconstructions[this], poses=registered[this],
                other=reconstructions[other], other_poses=registered[other], known_focal_sigma=attempt.known_sigma,
                known_centre=inputs.user is not None and inputs.confirmed,
            )  # fmt: skip
            if not reconstructions_agree(pair, s.floors):
                return NoEstimate(reason="the two reconstructions disagree", detail="no similarity joins their cameras")
            limit = max_relative_sigma(pair.sparse.camera, s.focal)
            if attempt.known_sigma is None and focal_sigma(pair, s.focal) > limit:
                return NoEstimate(
                    reason="focal length undecided", remedy="give --intrinsics, or rotate the camera while moving"
                )
            effect = camera_effect(pair.sparse, free_lens=attempt.known_sigma is None)
            path = path_of(pair, effect, s.focal, s.floors, between[this], self.provenance)
            results[f"camera_path{suffix}"] = path
            results[f"sparse_points{suffix}"] = points_of(
                pair, effect, s.focal, path, between[this], s.trust, self.provenance
            )
        return results

    def _rotating(
        self, inputs: _Input, pairs: Sequence[PairGeometry], *, may_translate: bool = False
    ) -> Mapping[str, Signal | NoEstimate]:
        """`may_translate`: rotations that explain the matches do not yet show that the camera only rotates."""
        clip, s, user = inputs.clip, self.settings, inputs.clip.options.intrinsics is not None
        known = inputs.known or unknown_camera(clip, s.focal)
        if user:
            held = held_against_rotations(pairs, known.camera.scaled(*clip.working_size), s.pure_rotation)
            if isinstance(held, NoEstimate):
                return _all(held)
            if not (held or inputs.confirmed):
                user, known = False, unknown_camera(clip, s.focal)
        turns = inputs.turns
        known = turns.camera if turns else known
        camera = known.camera.scaled(*clip.working_size)
        is_sure = turns is not None and turns.are_sure(s.turns)
        used = turning_pairs(pairs, camera, s.turns, s.pure_rotation) if is_sure else pairs
        found = pure_rotation(used, inputs.keyframes, inputs.xy_px, camera, user or turns is not None, s.pure_rotation)
        if isinstance(found, NoEstimate):
            given = inputs.user is not None and _is_planar(found)
            return _all(replace(found, remedy="film more than a plane") if given else found)
        if may_translate and not is_sure:
            return _all(NoEstimate(reason=AMBIGUOUS, detail="the matches allow no reconstruction, either"))
        world_from_cam = np.tile(np.eye(4), (len(clip.frames), 1, 1))
        world_from_cam[:, :3, :3] = found.world_from_cam
        world_from_cam[:, :3, 3] = np.nan
        world_from_cam[np.isnan(found.sigma_rad)] = np.nan
        rotates_only = found.rotation_only and len(used) == len(pairs) and not may_translate
        kind: MotionKind = "rotation_only" if rotates_only else "unresolved"
        return self._path_alone(clip, known, world_from_cam, found.sigma_rad, inputs.keyframes, kind)

    def _with_turns(self, inputs: _Input, pairs: Sequence[PairGeometry]) -> _Input:
        """With what turns in place show of the camera."""
        s, clip = self.settings, inputs.clip
        known = inputs.known or unknown_camera(clip, s.focal)
        small = replace(known, camera=known.camera.scaled(*clip.working_size))
        turns = turns_of(pairs, small, s.turns, s.pure_rotation)
        if turns is None:
            return inputs
        camera = replace(turns.camera, camera=turns.camera.camera.scaled(clip.width_px, clip.height_px))
        return replace(inputs, turns=replace(turns, camera=camera))

    def _static_path(self, clip: Clip, known: KnownCamera | None) -> Mapping[str, Signal | NoEstimate]:
        """A static camera: σ of its rotation is the displacement below which points count as static."""
        known = known or unknown_camera(clip, self.settings.focal)
        sigma = self.settings.motion.static_px / known.camera.scaled(*clip.working_size).fx_px
        count = len(clip.frames)
        everywhere = np.tile(np.eye(4), (count, 1, 1))
        return self._path_alone(clip, known, everywhere, np.full(count, sigma), np.arange(count), "static")

    def _path_alone(
        self,
        clip: Clip,
        known: KnownCamera,
        world_from_cam: np.ndarray,
        sigma_rad: np.ndarray,
        keyframes: Int64[np.ndarray, "k"],
        kind: MotionKind,
    ) -> Mapping[str, Signal | NoEstimate]:
        path = CameraPath(
            frames=clip.frames,
            world_from_cam=world_from_cam,
            registered=np.isfinite(sigma_rad),
            keyframe=np.isin(np.arange(len(clip.frames)), keyframes) & np.isfinite(sigma_rad),
            intrinsics=known.camera,
            focal_relative_sigma=known.relative_sigma,
            motion=kind,
            rotation_sigma_rad=sigma_rad,
            position_sigma=np.full(len(clip.frames), np.nan),
            direction_sigma_rad=self.settings.floors.direction_rad,
            scale=Scale(kind="relative"),
            provenance=self.provenance,
            centre_relative_sigma=np.array(known.centre_relative_sigma),
            turn_sigma_by_centre=max(known.centre_relative_sigma),
        )
        reason = {"static": "camera does not move", "rotation_only": "camera only rotates"}.get(
            kind, "too little parallax"
        )
        none = NoEstimate(reason=reason, remedy="film with more sideways motion")
        no_check = NoEstimate(reason="no second reconstruction", detail="there is one estimate only; see its focal σ")
        return {**_all(none), "camera_path": path, "camera_path_check": no_check}


def _is_planar(path: Signal | NoEstimate) -> bool:
    """Whether the camera moves in front of a plane: if it zooms, its pictures may look as if it did not."""
    return isinstance(path, NoEstimate) and path.reason == "planar scene"


def _all(no_estimate: NoEstimate) -> dict[str, Signal | NoEstimate]:
    return dict.fromkeys(_NAMES, no_estimate)
