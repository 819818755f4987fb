"""Errors of signals in their own σ: known errors are found, and what truth cannot tell is left out."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from benchmarks.trust.rooms import RenderedTruth
from experts.sigma_calibration.fitting import fitted_factor
from experts.signals import Calibration, Matches, NoEstimate
from spatial_engine.rendering import as_clip, demo_scene
from spatial_engine.trust.signal_errors import signal_errors
from spatial_engine.trust.signal_errors_record import MOST, GrossCount, SignalErrors, gross_counts, joined_counts
from tests.spatial_engine.trust import known_signals as k
from tests.spatial_engine.trust.known_room import COUNT, EXPERT, measured, opened

KINDS = {
    ("camera_path", "rotation"), ("camera_path", "direction"), ("camera_path", "focal"), ("gravity", "up"),
    ("sparse_points", "range"), ("matches", "pixel"), ("tracks", "pixel"),
}  # fmt: skip
A, B = 0, 60
"""Frames between which the crate slides."""


@dataclass(frozen=True)
class Known:
    """A sequence as truth, with its unsound frames said."""

    of: object
    unsound: frozenset = frozenset()

    def scene(self, dense=()):
        return self.of.scene(dense)


@pytest.fixture(scope="module")
def sequence(room):
    """Its truth is exact and says so."""
    return known_within(opened(room), rotation_sigma_deg=0.005, direction_sigma_deg=0.01, position_relative_sigma=1e-3)


def known_within(sequence, **sigmas):
    manifest = replace(sequence.manifest, poses=replace(sequence.manifest.poses, **sigmas))
    camera = replace(sequence.truth.camera, focal_relative_sigma=1e-5)
    return replace(sequence, truth=replace(sequence.truth, manifest=manifest, camera=camera))


def errors(sequence, signals, unsound=frozenset()) -> dict[tuple[str, str], SignalErrors]:
    found = signal_errors(sequence.clip, signals, Known(sequence, unsound))
    return {(each.signal, each.quantity): each for each in found}


@pytest.mark.parametrize("factor", [1.0, 2.5])
def test_true_sigma_over_stated_is_found(sequence, factor):
    runs = [errors(sequence, k.noisy(sequence, factor, seed)) for seed in range(4)]
    assert all(set(run) == KINDS for run in runs)
    for kind in KINDS - {("camera_path", "focal"), ("camera_path", "direction")}:
        found = fitted_factor({str(seed): run[kind].sample for seed, run in enumerate(runs)})
        assert found == pytest.approx(factor, rel=0.2), kind
    direction = fitted_factor({str(seed): run["camera_path", "direction"].sample for seed, run in enumerate(runs)})
    assert direction == pytest.approx(factor, rel=0.35), "its σ hang together over frames"


def test_neither_world_nor_unit_nor_common_scale_is_an_error(sequence):
    true = sequence.scene(range(COUNT))
    rng = np.random.default_rng(0)
    exact = {"camera_path": k.exact_path(true), "sparse_points": k.points(true, rng, 1e-9)}
    exact |= {"matches": k.noisy(sequence, 1e-9)["matches"], "tracks": k.tracks(true, rng, 1e-9)}
    found = errors(sequence, exact)
    assert found.pop(("camera_path", "focal")).undecided == 1
    for kind, each in found.items():
        assert each.off.max() < 0.05, kind
        assert not any(count.gross for count in each.gross), kind


def test_a_wrong_focal_length_shows_in_its_sigma(sequence):
    path = k.exact_path(sequence.scene())
    camera = replace(path.intrinsics, fx_px=1.1 * path.intrinsics.fx_px, fy_px=1.1 * path.intrinsics.fy_px)
    made = {"camera_path": replace(path, intrinsics=camera, focal_relative_sigma=0.04),
            "calibration": Calibration(intrinsics=camera, focal_relative_sigma=0.02, provenance=EXPERT)}  # fmt: skip
    found = errors(sequence, made)
    assert found["camera_path", "focal"].off == pytest.approx([np.log(1.1) / 0.04])
    assert found["calibration", "focal"].off == pytest.approx([np.log(1.1) / 0.02])


def test_learned_depth_counts_up_to_one_factor(sequence):
    depth = measured(sequence)["depth"]
    doubled = replace(depth, z=depth.z * np.float32(2), outlier_probability=0.02)
    found = errors(sequence, measured(sequence) | {"depth": doubled})["depth", "range"]
    assert found.off.max() < 0.05 and sum(count.samples for count in found.gross) > 500
    half = doubled.z.copy()
    half[:, :, : half.shape[2] // 3] *= 1.5
    found = errors(sequence, measured(sequence) | {"depth": replace(doubled, z=half)})["depth", "range"]
    (count,) = found.gross
    assert count.gross / count.samples == pytest.approx(1 / 3, abs=0.1) and count.claimed == 0.02
    assert found.off.max() < 5, "σ describes the others"


def test_what_is_plainly_wrong_is_counted_by_what_was_claimed(sequence):
    signals = k.noisy(sequence, 1.0)
    points, matches, tracks = (signals[name] for name in ("sparse_points", "matches", "tracks"))
    centre = k.exact_path(sequence.scene()).world_from_cam[:, :3, 3][points.observation_frame]
    far = np.where(
        (np.arange(len(centre)) % 10 == 1)[:, None], centre + 3 * (points.xyz_world - centre), points.xyz_world
    )
    shifted = matches.xy_b_px + np.where(np.arange(len(matches.pair)) % 4 == 0, 30.0, 0.0)[:, None]
    slid = tracks.xy_px.copy()
    slid[: k.PER_FRAME // 2, -1] += 40.0
    signals |= {
        "camera_path": k.exact_path(sequence.scene()),
        "sparse_points": replace(points, xyz_world=far),
        "matches": replace(matches, xy_b_px=shifted),
        "tracks": replace(tracks, xy_px=slid),
    }
    found = errors(sequence, signals)
    low, high = found["sparse_points", "range"].gross
    assert (low.claimed, high.claimed) == (0.003, 0.05) and (low.at_most, high.at_most) == (0.005, 0.1)
    assert low.gross / low.samples == pytest.approx(0.2, abs=0.07) and high.gross == 0
    (count,) = found["matches", "pixel"].gross
    assert count.gross / count.samples == pytest.approx(0.25, abs=0.08)
    (count,) = found["tracks", "pixel"].gross
    assert 0.2 < count.gross / count.samples < 0.6 and count.samples <= k.PER_FRAME, "a track counts once"
    assert all(each.off.max() < 6 for each in found.values() if len(each.off))


def test_a_small_slip_is_not_plainly_wrong(sequence):
    matches = k.noisy(sequence, 1e-9)["matches"]
    slipped = replace(matches, xy_b_px=matches.xy_b_px + 0.5, sigma_px=np.full_like(matches.sigma_px, 0.01))
    found = signal_errors(sequence.clip, {"matches": slipped}, Known(sequence))
    assert all(count.gross == 0 for each in found for count in each.gross)


def test_moving_objects_do_not_count(sequence):
    tracks = k.noisy(sequence, 1e-9)["tracks"]
    off = replace(tracks, xy_px=tracks.xy_px + np.linspace(0, 60, COUNT)[:, None], motion=np.ones_like(tracks.motion))
    assert signal_errors(sequence.clip, {"tracks": off}, Known(sequence)) == []
    resting = replace(off, motion=np.full_like(tracks.motion, -1))
    ((count,),) = (each.gross for each in signal_errors(sequence.clip, {"tracks": resting}, Known(sequence)))
    assert count.gross == count.samples > 20


def test_a_point_on_a_known_mover_goes_with_it():
    scene = demo_scene(200, 150)
    clip, crate = as_clip(scene), scene.labels.index("crate")
    truth = RenderedTruth(of=scene, clip=clip)
    true = truth.scene([A, B])
    xy = np.argwhere(scene.ids(A) == crate)[::7, ::-1].astype(float)
    before, after = (scene.world_from_boxes(frame)[crate] for frame in (A, B))
    (cam_a,), (cam_b,) = true.world_from_cam([A]), true.world_from_cam([B])
    moved = np.linalg.inv(cam_b) @ after @ np.linalg.inv(before) @ cam_a
    there = true.path.intrinsics.project(true.surface(A, xy).xyz_cam @ moved[:3, :3].T + moved[:3, 3])
    n = len(xy)
    matches = Matches(
        pairs=np.array([[A, B]]), pair=np.zeros(n, dtype=np.int64), xy_a_px=xy, xy_b_px=there,
        sigma_px=np.full(n, 0.7), outlier_probability=np.full(n, 0.003),
        confirmed_by=np.ones(n, dtype=np.int32), provenance=EXPERT,
    )  # fmt: skip
    (found,) = signal_errors(clip, {"matches": matches}, truth)
    (count,) = found.gross
    assert count.samples > 20 and count.gross == 0 and found.off.max() < 0.1


def test_borders_of_objects_do_not_count(sequence):
    true = sequence.scene(range(COUNT))
    points = k.points(true, np.random.default_rng(0), 1e-9)
    spread = np.concatenate([
        true.surface(f, points.observation_xy_px[points.observation_frame == f]).range_relative_sigma
        for f in range(COUNT)
    ])  # fmt: skip
    border, other = spread > 0.025, spread <= 0.025
    assert border.sum() > 10
    centre = k.exact_path(true).world_from_cam[:, :3, 3][points.observation_frame]
    off = np.where(border[:, None], centre + 3 * (points.xyz_world - centre), points.xyz_world)
    made = {"camera_path": k.exact_path(true), "sparse_points": replace(points, xyz_world=off)}
    found = errors(sequence, made)["sparse_points", "range"]
    assert sum(count.gross for count in found.gross) == 0
    assert 0 < sum(count.samples for count in found.gross) <= other.sum()


def test_an_uncertain_focal_length_is_reported_beside_rotation_and_translation(sequence):
    path = k.exact_path(sequence.scene())
    for kind in ("rotation", "direction"):
        sure, unsure = (
            errors(sequence, {"camera_path": replace(path, focal_relative_sigma=sigma)})["camera_path", kind].other
            for sigma in (1e-6, 0.2)
        )
        assert np.quantile(unsure, 0.9) > 3 * np.quantile(sure, 0.9), kind


def test_ranges_do_not_count_where_the_focal_length_is_not_determined(sequence):
    signals = k.noisy(sequence, 1.0)
    unsure = {**signals, "camera_path": replace(signals["camera_path"], focal_relative_sigma=1.2)}
    assert ("sparse_points", "range") in errors(sequence, signals)
    assert {quantity for _, quantity in errors(sequence, unsure)} == {q for _, q in errors(sequence, signals)} - {
        "range"
    }


def test_truth_less_accurate_than_the_signal_does_not_count(sequence):
    unsure = known_within(sequence, rotation_sigma_deg=3.0)
    signals = k.noisy(sequence, 1.0)
    sure, found = errors(sequence, signals), errors(unsure, signals)
    for kind in (("camera_path", "rotation"), ("matches", "pixel"), ("tracks", "pixel")):
        assert not len(found[kind].off) and found[kind].undecided >= sure[kind].counted > 0
    assert len(found["gravity", "up"].off)


def test_unsound_frames_do_not_count(sequence):
    signals = k.noisy(sequence, 1.0)
    path = signals["camera_path"]
    poses = path.world_from_cam.copy()
    poses[5:9, :3, :3] = -poses[5:9, :3, :3][:, [1, 0, 2]]
    broken = signals | {"camera_path": replace(path, world_from_cam=poses)}
    seen, unseen = errors(sequence, broken), errors(sequence, broken, frozenset(range(5, 9)))
    assert seen["camera_path", "rotation"].off.max() > 30 > 6 > unseen["camera_path", "rotation"].off.max()
    everything = frozenset(range(COUNT))
    assert errors(sequence, signals, everything).keys() <= {("camera_path", "focal")}


def test_truth_without_depth_gives_no_errors_of_ranges_and_pixels(sequence):
    bare = replace(sequence, truth=replace(sequence.truth, depth=None))
    assert errors(bare, k.noisy(sequence, 1.0)).keys() == KINDS - {
        ("sparse_points", "range"), ("matches", "pixel"), ("tracks", "pixel"),
    }  # fmt: skip


def test_without_signals_there_are_no_errors(sequence):
    assert errors(sequence, {"camera_path": NoEstimate(reason="too little parallax")}) == {}
    assert errors(sequence, {"camera_path_check": k.exact_path(sequence.scene())}) == {}


def test_records_are_small_repeatable_and_survive_json(sequence):
    first, again = (signal_errors(sequence.clip, k.noisy(sequence, 1.0), Known(sequence)) for _ in range(2))
    texts = [json.dumps([each.to_json() for each in found]) for found in (first, again)]
    assert texts[0] == texts[1] and len(texts[0]) < 7 * MOST * 20
    read = SignalErrors.from_json(json.loads(texts[0])[0])
    assert read.to_json() == first[0].to_json() and len(read.off) <= MOST
    np.testing.assert_allclose(read.off, first[0].off, atol=6e-4)


def test_counts_of_clips_together():
    one = gross_counts(np.array([0.003, 0.004, 0.05]), np.array([True, False, False]))
    assert [(each.at_most, each.samples, each.gross) for each in one] == [(0.005, 2, 1), (0.1, 1, 0)]
    both = joined_counts([one, (GrossCount(at_most=0.005, claimed=0.001, samples=2, gross=0),)])
    assert both[0] == GrossCount(at_most=0.005, claimed=0.00225, samples=4, gross=1) and len(both) == 2
