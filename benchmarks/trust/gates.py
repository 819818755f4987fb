"""All gates that refuse facts, and the settings that switch each of them off, for `ablation`."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, pi

import numpy as np

from experts.signals import Matches, NoEstimate, PointTracks, Signal, SparsePoints
from templates.answers import Label
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.facts import Facts
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName
from templates.simulation.route import RouteOrder, ShuffledPhotos
from templates.template import Template

Found = Mapping[str, Signal | NoEstimate]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A condition without which facts are refused."""

    name: str
    """The condition."""
    guards: str
    """The kind of error that it prevents."""
    off: Mapping[str, object] = field(default_factory=dict)
    """Values that switch it off, by path: "<expert>.<setting>", "ask.<setting>", "outliers.<setting>",
    "templates.<template>.<field>"."""
    signals: Callable[[Found], Found] | None = None
    """Changes the signals to those without the gate."""
    templates: Mapping[str, Template] = field(default_factory=dict)
    """Templates without the gate, by name."""

    @property
    def of_expert(self) -> bool:
        """Whether it belongs to an expert, which has to run again."""
        return any(path.split(".")[0] not in ("ask", "outliers", "templates") for path in self.off)

    @property
    def key(self) -> str:
        """Hash of what it switches off, for file names."""
        parts = [self.name, repr(sorted(self.off.items())), getattr(self.signals, "__name__", ""), *self.templates]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def one_reconstruction(signals: Found) -> Found:
    """The signals without those of the second reconstruction."""
    return {name: signal for name, signal in signals.items() if not name.endswith("_check")}


def no_outliers(signals: Found) -> Found:
    """The signals with outlier probabilities of 0."""
    return {name: _no_outliers(signal) for name, signal in signals.items()}


def _no_outliers(signal: Signal | NoEstimate) -> Signal | NoEstimate:
    if isinstance(signal, SparsePoints | PointTracks | Matches):
        return replace(signal, outlier_probability=0.0 * signal.outlier_probability)
    return signal


@dataclass(frozen=True, kw_only=True)
class _NearlyAsShort(RouteOrder):
    """Asks also where another route is nearly as short."""

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        assert measured.label is not None and measured.margin is not None
        return Answers.of(Label(text=measured.label, margin=measured.margin), measured.why)


@dataclass(frozen=True, kw_only=True)
class _ShortestOfAll(RouteOrder):
    """Asks for the shortest route, whatever the time stamps say."""

    def offer(self, format: FormatName, facts: ShuffledPhotos, answers: Answers, chance: Chance) -> Offer | None:
        return super().offer(format, replace(facts, by_time=np.zeros(len(facts), dtype=bool)), answers, chance)


def _gates(guards: str, **named: Mapping[str, object]) -> list[Gate]:
    return [Gate(name=name.replace("_", " "), guards=guards, off=off) for name, off in named.items()]


GATES: tuple[Gate, ...] = (
    *_gates(
        "focal length",
        plausible_focal_length={"colmap.focal.plausible_shares": (0.0, inf)},
        plausible_distortion={"colmap.trust.max_k1": inf},
        no_zoom={"colmap.trust.max_focal_change": inf},
        focal_length_known_to_15_percent={"colmap.focal.max_relative_sigma": inf},
        no_alternative_focal_length={"colmap.focal.max_alternative_share": inf},
        both_extremes_keep_their_observations={"colmap.focal.max_extreme_loss": inf},
        the_extremes_differ_strongly={"colmap.focal.extreme_ratio": 1.0},
        enough_keyframes_for_two_extremes={"colmap.focal.extreme_keyframes": 0},
        lines_determine_one_focal_length={"straight_lines.min_height": 0.0, "straight_lines.finite_segments": 0.0},
        lines_are_straight={"straight_lines.max_k1_gain": inf},
        lines_determine_it_to_12_percent={
            "straight_lines.max_relative_sigma": inf,
            "colmap.focal.max_independent_sigma": inf,
        },
    ),
    *_gates(
        "parallax",
        pairs_show_more_than_a_homography={"colmap.motion.homography_share": 1.0},
        points_seen_under_an_angle={"colmap.trust.min_angle_rad": 0.0},
    ),
    *_gates(
        "planar scenes",
        homographies_of_a_pure_rotation={"colmap.pure_rotation.fitting_pairs": 0.0},
        rotation_distinguished_from_translation={"colmap.pure_rotation.flat_factor": 0.0},
        rotation_is_large_enough={
            "colmap.pure_rotation.shown_rotation_rad": 0.0,
            "colmap.pure_rotation.shown_share": 0.0,
        },
    ),
    *_gates(
        "moving foreground",
        the_reconstruction_explains_its_matches={
            "colmap.trust.min_explained_share": 0.0,
            "colmap.trust.drop_share": 0.0,
        },
        frames_registered_to_most_tracks={"colmap.registration.min_inlier_share": 0.0},
        tracks_meet_in_points={"colmap.registration.track_error_px": inf},
    ),
    *_gates("static camera", a_static_camera_is_not_reconstructed={"colmap.motion.static_cells": 2.0}),
    *_gates(
        "weak reconstructions",
        enough_keyframes_registered={"colmap.trust.min_registered_share": 0.0},
        enough_points={"colmap.trust.min_points_per_keyframe": 0.0},
        small_residual={"colmap.trust.max_error_px": inf},
        no_loose_frames={"colmap.floors.loose_share": inf},
    ),
    *_gates(
        "agreement",
        reconstructions_and_lines_agree_on_the_focal_length={"colmap.focal.independent_sigmas": inf},
        two_reconstructions_agree_on_the_focal_length={"colmap.focal.max_disagreement": inf},
        two_reconstructions_agree_on_positions={"colmap.floors.agree_share": inf, "colmap.floors.agree_rad": inf},
        points_confirmed_by_the_other_reconstruction={"colmap.trust.outlier_probability_other": 0.003},
    ),
    Gate(name="every fact measured on two reconstructions", guards="agreement", signals=one_reconstruction),
    Gate(name="confirmed independently (outlier_probability)", guards="agreement", signals=no_outliers),
    *_gates(
        "gravity",
        lines_share_three_directions={
            "vanishing_points.explained_share": 0.0,
            "vanishing_points.up_share": 0.0,
            "vanishing_points.level_share": 0.0,
        },
        no_alternative_directions={"vanishing_points.max_alternative_share": inf},
        one_axis_is_clearly_upright={
            "vanishing_points.image_up_rad": pi,
            "vanishing_points.other_axes_rad": 0.0,
            "vanishing_points.min_image_up_length": 0.0,
        },
        the_footage_confirms_upright={"vanishing_points.upright": None},
        lines_do_not_contradict_the_users_focal_length={"straight_lines.user_sigmas": inf},
        frames_agree_on_gravity={"vanishing_points.supporting_frames": 0, "vanishing_points.frame_rad": pi},
        both_halves_agree_on_gravity={"vanishing_points.halves_rad": inf},
        gravity_does_not_depend_on_the_focal_length={
            "vanishing_points.focal_rad": inf,
            "vanishing_points.max_focal_sigma": inf,
        },
    ),
    *_gates(
        "tracks (occlusion)",
        tracks_pass_the_forward_backward_check={"klt.forward_backward_px": 1e6},
        static_tracks_fit_one_point={"track_geometry.static_share": 0.0},
        static_tracks_have_parallax={"track_geometry.parallax_px": 0.0},
        a_motion_would_have_been_visible={"track_geometry.shown_px": 0.0, "track_geometry.shown_ratio": 0.0},
        nothing_nearer_hides_the_point={"track_geometry.occluder_radius_px": 0.0},
        frames_next_to_a_large_residual={"track_geometry.guard_frames": 0},
        tracks_away_from_occlusion_borders={"track_geometry.moving.border_share": 1.0},
    ),
    *_gates(
        "moving points",
        most_tracks_are_static={"track_geometry.moving.explained_share": 0.0},
        moving_tracks_have_moving_neighbours={
            "track_geometry.moving.neighbours": 0,
            "track_geometry.moving.neighbour_share": 0.0,
        },
        moving_tracks_are_surrounded={"track_geometry.moving.open_angle_rad": 2 * pi},
        moving_tracks_depart_all_the_time={"track_geometry.moving.third_px": 0.0, "track_geometry.moving.half_px": 0.0},
        moving_tracks_differ_from_static_neighbours={"track_geometry.moving.like_static_px": 0.0},
        marks_away_from_the_outline_of_moving_objects={
            "templates.point_moves.inside_px": -inf,
            "templates.which_moves.inside_px": -inf,
        },
        points_near_moving_objects_are_suspected_outliers={"outliers.moving_radius_px": 0.0},
        points_do_not_err_together_with_their_neighbours={"outliers.max_shared_residual": inf},
        points_are_joined_to_the_largest_surface={"outliers.joining_range": inf},
        isolated_points_are_suspected_outliers={"outliers.min_neighbours": 0, "outliers.same_range_share": 0.0},
        points_that_end_a_surface_are_suspected_outliers={"outliers.open_angle_rad": 2 * pi},
    ),
    *_gates(
        "matches",
        no_similar_keypoints={"sift.unambiguous_ratio": inf},
        one_two_view_geometry={"sift.epipolar_px": 1e6},
        matches_away_from_occlusion_borders={
            "sift.border_depth_ratio": inf,
            "sift.flow_px": inf,
            "sift.flow_tracks": 0,
        },
        matches_confirmed={"sift.outlier_probability_unconfirmed": 0.003},
    ),
    Gate(name="the route is shorter by 3 σ", guards="frame order", templates={"route_order": _NearlyAsShort()}),
    Gate(name="the route taken is the shortest", guards="frame order", templates={"route_order": _ShortestOfAll()}),
    *_gates("everything", P_right_of_99_percent={"ask.min_confidence": 0.5}),
)
"""Gates of one expert are in the order in which it applies them."""
