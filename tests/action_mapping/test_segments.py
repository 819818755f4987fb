"""Segments of paths of known motion: their names, and the poses where these change."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.camera_rates import PathWarning
from action_mapping.dead_zones import SegmentSettings
from action_mapping.primitives import COMPONENTS, primitive_of
from action_mapping.rigid import PoseError
from action_mapping.segments import motion_segments, motion_segments_at
from tests.action_mapping.paths import DOWN_Y_UP, MOVES, names, noisy, posed, twist, walk

DOLLY, PAN = [0, 0, 0, 0, 0, 0.5], [0, 0.35, 0, 0, 0, 0]
STILL, TRUCK, BACK = [0] * 6, [0, 0, 0, 0.3, 0, 0], [0, 0, 0, -0.3, 0, 0]
ARC = [0, 0.3, 0, 0.2, 0, 0.4]
SCENES = [DOLLY, PAN, STILL, TRUCK, BACK, ARC]
EXPECTED = [["Dolly In"], ["Pan Right"], ["Stay"], ["Truck Right"], ["Truck Left"],
            ["Pan Right", "Truck Right", "Dolly In"]]  # fmt: skip
HEADINGS, PITCHES, ROLLS = range(0, 360, 15), (-60, -30, 0, 30, 60), (-40, 0, 40)


def scenes(fps: float = 30.0, seconds: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    return walk([scene for scene in SCENES for _ in range(round(fps * seconds))], fps)


@pytest.mark.parametrize("scale", ["metric", "relative"])
def test_names_and_boundaries_are_exact(scale: str) -> None:
    segments = motion_segments(*scenes(), scale=scale)  # type: ignore[arg-type]
    assert [names(s.primitives) for s in segments] == EXPECTED
    assert [(s.first, s.last) for s in segments] == [(30 * k, 30 * k + 30) for k in range(6)]
    assert [s.levelled for s in segments] == [None] * 6


@pytest.mark.parametrize("known", [True, False], ids=["σ given", "σ from the path"])
@pytest.mark.parametrize("sigma", [1e-4, 1e-3, 5e-3])
def test_noise_changes_neither_names_nor_boundaries(sigma: float, known: bool) -> None:
    poses, times_s = scenes()
    poses = noisy(poses, np.random.default_rng(0), sigma, 0.1 * sigma)
    given_sigmas = {"position_sigma": sigma, "rotation_sigma_rad": 0.1 * sigma} if known else {}
    segments = motion_segments(poses, times_s, scale="metric", **given_sigmas)
    assert [names(s.primitives) for s in segments] == EXPECTED
    assert [s.first for s in segments] == pytest.approx([30 * k for k in range(6)], abs=2)


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("after_turn", [False, True])
def test_each_primitive_in_every_attitude(after_turn: bool) -> None:
    """24 headings × 5 pitches × 3 rolls × 12 primitives: exactly its own name, also after a rotation.

    One path holds all twelve; each pair of opposites leads back to the attitude that it started from.
    """
    turn = [[0.0, math.radians(73), 0.0, 0.0, 0.0, 0.0]] * 12 if after_turn else []
    moves = [twist(move, 0.4) for move in MOVES for _ in range(12)]
    poses, times_s = walk(turn + [STILL] * 12 + moves, 12.0)
    wanted = [[move.name] for move in MOVES]
    right = 0
    for heading in HEADINGS:
        for pitch in PITCHES:
            for roll in ROLLS:
                segments = motion_segments(
                    posed(heading, pitch, roll, (3.0, -2.0, 8.0)) @ poses, times_s, scale="metric"
                )
                found = [names(segment.primitives) for segment in segments[-12:]]
                right += sum(one == other for one, other in zip(found, wanted, strict=True))
    assert right == 4320


def first_frame_names(poses: np.ndarray) -> list[str]:
    """How a widely used script names a translation: along the axes of the first frame."""
    way = poses[0, :3, :3].T @ (poses[-1, :3, 3] - poses[-2, :3, 3])
    signs = np.sign(way) * (np.abs(way) > 1e-3)
    return [primitive_of(c, s).name for c, s in zip(("truck", "pedestal", "dolly"), signs, strict=True) if s]


def test_camera_axes_name_what_first_frame_axes_do_not() -> None:
    """All of 216 single primitives and of 108 translations after a rotation; of the latter, the axes of the first frame
    name fewer than half."""
    single = after = theirs = 0
    for move in MOVES:
        single_poses, times_s = walk([twist(move, 0.4)] * 12, 12.0)
        for heading in range(0, 360, 20):
            poses = posed(heading) @ single_poses
            single += names(motion_segments(poses, times_s, scale="metric")[-1].primitives) == [move.name]
            if move.unit == "m":
                turn = np.stack([posed(heading * k / 12) for k in range(12)])
                poses = np.concatenate([turn, posed(heading) @ single_poses])
                segments = motion_segments(poses, np.arange(len(poses)) / 12.0, scale="metric")
                after += names(segments[-1].primitives) == [move.name]
                theirs += first_frame_names(poses) == [move.name]
    assert (single, after) == (216, 108)
    assert theirs < 108 / 2


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_no_choice_of_world_changes_a_name(seed: int) -> None:
    rng = np.random.default_rng(seed)
    poses, times_s = scenes()
    other = RigidTransform.from_components(100.0 * rng.normal(size=3), Rotation.random(rng=rng)).as_matrix()
    up = rng.normal(size=3)
    here = motion_segments(poses, times_s, scale="metric", up_world=up)
    there = motion_segments(other @ poses, times_s, scale="metric", up_world=other[:3, :3] @ up)
    assert [(s.first, s.primitives) for s in here] == [(s.first, s.primitives) for s in there]


@pytest.mark.parametrize("every", [2, 3, 5])
def test_names_do_not_change_by_sub_sampling(every: int) -> None:
    poses, times_s = scenes()
    segments = motion_segments(poses[::every], times_s[::every], scale="metric")
    assert [names(s.primitives) for s in segments] == EXPECTED
    assert [s.t0_s for s in segments] == pytest.approx(range(6), abs=0.2)


def test_a_reversed_path_has_opposite_names() -> None:
    poses, times_s = scenes()
    back = motion_segments(poses[::-1].copy(), times_s, scale="metric")
    opposite = {move.name: primitive_of(move.component, -move.sign).name for move in MOVES} | {"Stay": "Stay"}  # type: ignore[arg-type]
    assert [names(s.primitives) for s in back] == [[opposite[n] for n in e] for e in reversed(EXPECTED)]


def test_a_rotation_about_the_vertical_looking_down() -> None:
    poses = np.stack([posed(20 * k / 30, -30) for k in range(31)])
    (segment,) = motion_segments(poses, np.arange(31) / 30, scale="metric", up_world=DOWN_Y_UP)
    assert segment.levelled is not None
    assert (names(segment.primitives), names(segment.levelled)) == (["Pan Right", "Roll CW"], ["Pan Right"])


def test_a_level_walk_looking_down() -> None:
    poses = np.stack([posed(0, -30, 0, (0.0, 0.0, k / 30)) for k in range(31)])
    (segment,) = motion_segments(poses, np.arange(31) / 30, scale="metric", up_world=DOWN_Y_UP)
    assert segment.levelled is not None
    assert (names(segment.primitives), names(segment.levelled)) == (["Pedestal Up", "Dolly In"], ["Dolly In"])


def test_there_are_no_levelled_names_when_steep() -> None:
    poses = np.stack([posed(20 * k / 30, -80) for k in range(31)])
    (segment,) = motion_segments(poses, np.arange(31) / 30, scale="metric", up_world=DOWN_Y_UP)
    assert segment.levelled is None


@pytest.mark.parametrize("known", [True, False], ids=["σ given", "σ from the path"])
@pytest.mark.parametrize("seed", range(5))
def test_a_pan_with_position_noise_does_not_translate(seed: int, known: bool) -> None:
    poses, times_s = walk([PAN] * 90)
    poses = noisy(poses, np.random.default_rng(seed), 0.01, 0.0)
    segments = motion_segments(poses, times_s, scale="relative", position_sigma=0.01 if known else None)
    assert [names(s.primitives) for s in segments] == [["Pan Right"]]


@pytest.mark.parametrize("scale", ["metric", "relative"])
def test_positions_that_are_not_known_are_not_named(scale: str) -> None:
    poses, times_s = scenes()
    poses[:, :3, 3] = np.nan
    segments = motion_segments(poses, times_s, scale=scale)  # type: ignore[arg-type]
    assert [names(s.primitives) for s in segments] == [["Stay"], ["Pan Right"], ["Stay"], ["Pan Right"]]


def test_scale_does_not_change_a_relative_name() -> None:
    poses, times_s = scenes()
    for factor in (1e-3, 1e3):
        scaled = poses.copy()
        scaled[:, :3, 3] *= factor
        assert [names(s.primitives) for s in motion_segments(scaled, times_s, scale="relative")] == EXPECTED


def test_known_noise_gives_few_false_names() -> None:
    """A still camera under noise of known σ: under 1 % of its time has a name, at any σ and rate."""
    rng = np.random.default_rng(1)
    false = total = 0
    for fps in (10.0, 30.0, 200.0):
        for position_sigma, rotation_sigma_rad in ((1e-4, 1e-5), (5e-3, 1e-3), (0.1, 0.02)):
            for _ in range(10):
                poses = noisy(np.tile(np.eye(4), (301, 1, 1)), rng, position_sigma, rotation_sigma_rad)
                times_s = np.arange(301) / fps
                segments = motion_segments(
                    poses, times_s, scale="metric", position_sigma=position_sigma, rotation_sigma_rad=rotation_sigma_rad
                )
                false += sum(s.last - s.first for s in segments if names(s.primitives) != ["Stay"])
                total += len(poses) - 1
    assert false / total < 0.01


def test_known_noise_adds_no_name_to_a_motion() -> None:
    rng = np.random.default_rng(2)
    false = segments_seen = 0
    for move in MOVES:
        exact, times_s = walk([twist(move, 0.5)] * 60)
        for _ in range(10):
            poses = noisy(exact, rng, 2e-3, 1e-3)
            segments = motion_segments(poses, times_s, scale="metric", position_sigma=2e-3, rotation_sigma_rad=1e-3)
            segments_seen += len(segments)
            false += sum(names(s.primitives) != [move.name] for s in segments)
    assert false / segments_seen < 0.01


def test_a_zoom_is_not_a_dolly() -> None:
    poses, times_s = walk([STILL] * 30 + [DOLLY] * 30)
    focal_px = np.append(500.0 * 1.02 ** np.arange(31), np.full(30, 500.0 * 1.02**30))
    segments = motion_segments(poses, times_s, scale="metric", focal_px=focal_px)
    assert [names(s.primitives) for s in segments] == [["Zoom In"], ["Dolly In"]]


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan])
def test_focal_lengths_must_be_positive(bad: float) -> None:
    with pytest.raises(PoseError, match="focal"):
        motion_segments(*walk([DOLLY] * 5), scale="metric", focal_px=np.array([500.0, 500.0, bad, 500.0, 500.0, 500.0]))


def test_no_motion_is_named_across_a_gap() -> None:
    poses, times_s = walk([DOLLY] * 60)
    keep = np.r_[0:21, 51:61]
    with pytest.warns(PathWarning, match="1 gaps"):
        segments = motion_segments(poses[keep], times_s[keep], scale="metric")
    assert [(s.first, s.last, names(s.primitives)) for s in segments] == [
        (0, 20, ["Dolly In"]), (20, 21, []), (21, 30, ["Dolly In"]),
    ]  # fmt: skip


def test_short_motions_and_pauses_are_ignored() -> None:
    poses, times_s = walk([DOLLY] * 30 + [STILL] * 3 + [DOLLY] * 30 + [STILL] * 30 + [PAN] * 3 + [STILL] * 30)
    segments = motion_segments(poses, times_s, scale="metric")
    assert [names(s.primitives) for s in segments] == [["Dolly In"], ["Stay"]]


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_short_paths_have_names(count: int) -> None:
    segments = motion_segments(*walk([DOLLY] * (count - 1), fps=2.0), scale="metric", up_world=DOWN_Y_UP)
    assert [names(s.primitives) for s in segments] == [["Dolly In"]]


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 80), st.integers(0, 2**32 - 1), st.sampled_from(["metric", "relative"]))
def test_segments_cover_every_path_without_holes(count: int, seed: int, scale: str) -> None:
    rng = np.random.default_rng(seed)
    poses, _ = walk(rng.normal(size=(count - 1, 6)) * rng.integers(0, 2, size=(count - 1, 1)))
    times_s = np.cumsum(rng.uniform(0.03, 0.06, size=count))
    segments = motion_segments(poses, times_s, scale=scale, up_world=DOWN_Y_UP)  # type: ignore[arg-type]
    assert [s.first for s in segments] == [0, *(s.last for s in segments[:-1])]
    assert segments[-1].last == count - 1
    assert all(a.primitives != b.primitives or a.levelled != b.levelled for a, b in itertools.pairwise(segments))
    assert len(COMPONENTS) >= max(len(s.primitives) for s in segments)


@pytest.mark.parametrize("scale", ["metric", "relative"])
def test_segments_at_several_thresholds_are_those_at_each(scale: str) -> None:
    poses, times_s = scenes()
    poses = noisy(poses, np.random.default_rng(0), 1e-3, 1e-4)
    thresholds = [
        SegmentSettings(rotation_rad_s=f * 0.2, translation_m_s=f * 0.25, translation_fraction=f * 0.5, max_window_s=f)
        for f in (0.5, 1.3, 2.0)
    ]
    each = [motion_segments(poses, times_s, scale=scale, up_world=DOWN_Y_UP, settings=one) for one in thresholds]  # type: ignore[arg-type]
    assert [*motion_segments_at(poses, times_s, thresholds, scale=scale, up_world=DOWN_Y_UP)] == each  # type: ignore[arg-type]
    assert each[0] != each[1] != each[2] != each[0]
