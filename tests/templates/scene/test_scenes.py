"""Scenes from several experts: disagreement in σ, refusals with all derived signals, the second opinion."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.provenance import Provenance, makers
from experts.signals import (
    Agreement,
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    Matches,
    NoEstimate,
    PointTracks,
    Room,
    Scale,
    Signal,
    SparsePoints,
)
from experts.tracking.fitted_path import FittedPathExpert
from templates.asked import ClipQuestions, Draft, Origin
from templates.generate import ask_clip, provenance_of
from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from tests.templates import worlds

CLIP = worlds.clip()
OTHER = Provenance(expert="another", version="1")
FACTS = pytest.mark.parametrize("facts", [2, pytest.param(8, marks=pytest.mark.long)])
"""Of each template, where all of them ask."""


def agreement(disagreement: dict[str, float] | None = None, refused: dict[str, str] | None = None) -> Agreement:
    source = Provenance(expert="cross_check", version="1")
    return Agreement(compared=("a: b",), disagreement=disagreement or {}, refused=refused or {}, provenance=source)


def depth(z: float = 4.0, outlier_probability: float = 0.02, source: Provenance = worlds.SOURCE) -> Depth:
    """A wall, seen by every frame."""
    count = len(worlds.FRAMES)
    return Depth(
        frames=worlds.FRAMES,
        z=np.full((count, 48, 64), z, dtype=np.float32),
        relative_sigma=np.full((count, 48, 64), 0.03, dtype=np.float32),
        scale=Scale(kind="relative"),
        provenance=source,
        outlier_probability=outlier_probability,
    )


def main_scene(signals: dict[str, Signal | NoEstimate]) -> Scene:
    return scenes_of(CLIP, signals)[0]


def with_check(unit: float = 0.5, by: Provenance = OTHER) -> dict[str, Signal | NoEstimate]:
    """Main signals, and another expert's reconstruction of the same motion in another unit."""
    main = worlds.signals()
    other = worlds.signals(unit=unit)
    check = {f"{name}_check": replace(other[name], provenance=by) for name in ("camera_path", "sparse_points")}
    return {**{name: main[name] for name in ("camera_path", "tracks", "matches", "gravity")}, **check}


def fitted(signals: dict[str, Signal | NoEstimate]) -> dict[str, Signal | NoEstimate]:
    """The signals, and the camera paths fitted to the tracks."""
    return {**signals, **FittedPathExpert()(CLIP, signals)}


def test_disagreement_widens_every_sigma() -> None:
    signals = {**worlds.signals(), "depth": depth(z=2.0)}
    disagreement = {
        "rotation_rad": 0.03,
        "direction_rad": 0.04,
        "position_share": 0.05,
        "depth_relative": 0.06,
        "up_rad": 0.07,
        "focal_relative": 0.08,
    }
    before, after = main_scene(signals), main_scene({**signals, "agreement": agreement(disagreement)})
    a, b = before.path, after.path
    assert isinstance(a, CameraPath) and isinstance(b, CameraPath) and before.depth and after.depth
    np.testing.assert_allclose(b.rotation_sigma_rad, np.hypot(a.rotation_sigma_rad, 0.03))
    assert b.direction_sigma_rad == pytest.approx(np.hypot(a.direction_sigma_rad, 0.04))
    np.testing.assert_allclose(b.position_sigma, np.hypot(a.position_sigma, 0.05 * 2.0), err_msg="median range is 2")
    np.testing.assert_allclose(after.depth.relative_sigma, np.hypot(0.03, 0.06), rtol=1e-6)
    assert b.focal_relative_sigma == pytest.approx(np.hypot(a.focal_relative_sigma, 0.08))
    assert after.up_cam(0)[1] == pytest.approx(np.hypot(before.up_cam(0)[1], 0.07))


def test_disagreement_widens_the_check_scene_too() -> None:
    signals = with_check()
    plain, widened = (scenes_of(CLIP, s)[1] for s in (signals, {**signals, "agreement": agreement({"up_rad": 0.1})}))
    assert widened.up_cam(0)[1] > plain.up_cam(0)[1]


def test_a_refused_signal_has_no_estimate_and_its_reason_in_every_scene() -> None:
    refusing = {**with_check(), "agreement": agreement(refused={"gravity": "two depths disagree"})}
    for scene in scenes_of(CLIP, refusing):
        assert scene.gravity is None and scene.no_estimates["gravity"] == NoEstimate(reason="two depths disagree")
        assert scene.path is not None
    asked = ask_clip(CLIP, refusing, [create_templates()["camera_tilt"]], AskSettings(), 0)
    assert [r.reason for r in asked.refusals] == ["two depths disagree"]


@FACTS
def test_a_refused_path_removes_the_signals_derived_from_it(facts: int) -> None:
    signals = {**with_check(), "depth": depth(), "agreement": agreement(refused={"camera_path": "paths disagree"})}
    for scene in scenes_of(CLIP, signals):
        assert not scene.signals.keys() & {"camera_path", "sparse_points", "depth", "tracks", "matches"}
        assert scene.gravity is not None
    assert {create_templates()[name].ability for name in origins(ask_all(signals, facts))} <= {"L1/Orientation/Gravity"}


def test_refused_depth_removes_the_matches_that_it_confirmed_and_no_others() -> None:
    signals = {**worlds.signals(), "depth": depth(), "agreement": agreement(refused={"depth": "two depths disagree"})}
    assert main_scene(signals).depth is None and main_scene(signals).matches is not None
    matches = signals["matches"]
    assert isinstance(matches, Matches)
    by_depth = replace(matches, confirmed_by=np.full_like(matches.confirmed_by, 4))
    assert main_scene({**signals, "matches": by_depth}).matches is None


def test_provenance_includes_the_agreement() -> None:
    scene = main_scene({**worlds.signals(), "agreement": agreement()})
    for template in create_templates().values():
        assert "cross_check" in {maker["expert"] for maker in provenance_of(template, [scene])}


def ask_all(signals: dict[str, Signal | NoEstimate], facts: int) -> ClipQuestions:
    return ask_clip(CLIP, signals, list(create_templates().values()), AskSettings(facts_per_template=facts), 0)


def origins(found: ClipQuestions) -> dict[str, Origin]:
    """By template; one object for all its formats."""
    by_template = {asked.template.name: asked.origin for asked in found.asked}
    assert by_template and all(asked.origin is by_template[asked.template.name] for asked in found.asked)
    return by_template


@FACTS
def test_a_non_commercial_second_reconstruction_makes_every_label_compared_with_it_non_commercial(facts: int) -> None:
    assert all(origin.licence["commercial_ok"] for origin in origins(ask_all(with_check(), facts)).values())
    non_commercial = Provenance(expert="another", version="1", weights_licence="CC-BY-NC-4.0", commercial_ok=False)
    reads = {name: template.reads for name, template in create_templates().items()}
    for name, origin in origins(ask_all(with_check(by=non_commercial), facts)).items():
        concerned = bool(reads[name] & {"camera_path", "sparse_points"})
        assert origin.licence["commercial_ok"] is not concerned
        assert ("CC-BY-NC-4.0" in origin.licence["signals"]) == concerned
        makers = {maker["signal"]: maker["expert"] for maker in origin.provenance}
        assert (makers.get("camera_path_check") == "another") == ("camera_path" in reads[name])


@FACTS
def test_the_licence_of_every_label_covers_the_signals_that_an_agreement_compared(facts: int) -> None:
    non_commercial = Provenance(expert="another", version="1", commercial_ok=False)
    signals = {**with_check(), "depth_check": depth(source=non_commercial)}
    for origin in origins(ask_all({**signals, "agreement": agreement()}, facts)).values():
        assert origin.licence["commercial_ok"] is False
        assert "depth_check" in {maker["signal"] for maker in origin.provenance}


def test_the_licence_covers_the_tracks_that_confirm_an_uncalibrated_path() -> None:
    non_commercial = Provenance(expert="another", version="1", commercial_ok=False)
    signals, turn = worlds.signals(), create_templates()["camera_turn"]
    tracks = replace(signals["tracks"], provenance=non_commercial)
    for sigma, may in (("measured", True), ("raw", False)):
        path = replace(signals["camera_path"], provenance=replace(worlds.SOURCE, sigma=sigma))
        known = fitted({**signals, "camera_path": path, "tracks": tracks})
        asked = ask_clip(CLIP, known, [turn], AskSettings(), 0)
        found = origins(asked)
        assert found["camera_turn"].licence["commercial_ok"] is may  # reads path and gravity alone


def test_the_licence_covers_what_signals_were_computed_from() -> None:
    model = Provenance(expert="model", version="1", weights_licence="CC-BY-NC-4.0", commercial_ok=False)
    signals, turn = worlds.signals(), create_templates()["camera_turn"]
    for made_from, may in (([], True), (makers([model]), False)):
        path = replace(signals["camera_path"], provenance=replace(worlds.SOURCE, made_from=made_from))
        origin = origins(ask_clip(CLIP, {**signals, "camera_path": path}, [turn], AskSettings(), 0))["camera_turn"]
        assert origin.licence["commercial_ok"] is may
        assert ("CC-BY-NC-4.0" in origin.licence["signals"]) is not may


def test_the_second_opinion_has_its_own_world_and_shares_the_other_signals() -> None:
    first, second = scenes_of(CLIP, {**with_check(), "depth": depth()})
    assert first.second is second and second.second is None
    assert second.depth is None and second.points is not None
    assert second.signals["matches"] is first.signals["matches"]
    assert second.path is not None and second.path.provenance == OTHER


@pytest.mark.parametrize("unit", [1.0, 0.5])
def test_objects_and_tracks_survive_on_the_second_reconstruction(unit: float) -> None:
    """Each has its place relative to every camera, in the world and unit of the second path."""
    signals, rng = worlds.signals(), np.random.default_rng(1)
    tracks = signals["tracks"]
    assert isinstance(tracks, PointTracks)
    places = rng.normal(size=(*tracks.visible.shape, 3)).astype(np.float32)
    tracks = replace(tracks, xyz_world=places, xyz_sigma=np.full(tracks.visible.shape, 0.02, dtype=np.float32))
    first, second = scenes_of(CLIP, {**with_check(unit), "objects": signals["objects"], "tracks": tracks})
    assert first.objects is not None and second.objects is not None and second.objects.size is not None
    assert first.tracks is not None and second.tracks is not None and second.tracks.xyz_sigma is not None
    cam_from = [np.linalg.inv(scene.world_from_cam(worlds.FRAMES)) for scene in (first, second)]
    in_cam = [
        (pose[:, None] @ scene.objects.world_from_object)[..., :3, 3]  # type: ignore[union-attr]
        for pose, scene in zip(cam_from, (first, second), strict=True)
    ]
    np.testing.assert_allclose(in_cam[1], unit * in_cam[0], atol=1e-9)
    np.testing.assert_allclose(second.objects.size, unit * signals["objects"].size)  # type: ignore[union-attr]
    points = [
        np.einsum("nij,tnj->tni", pose[:, :3, :3], scene.tracks.xyz_world) + pose[:, :3, 3]  # type: ignore[union-attr]
        for pose, scene in zip(cam_from, (first, second), strict=True)
    ]
    np.testing.assert_allclose(points[1], unit * points[0], atol=1e-5)
    np.testing.assert_allclose(second.tracks.xyz_sigma, 0.02 * unit, rtol=1e-5)


def room() -> Room:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.from_rotvec([1.5, 0.2, -0.4]).as_matrix(), [0.5, 1.5, 2.0]
    return Room(
        world_from_floor=turned,
        floor_sigma=0.01,
        outline=np.array([[0, 0], [4, 0], [4, 3], [0, 3.0]]),
        wall_sigma=np.array([0.02, np.inf, 0.02, 0.02]),
        height=2.5,
        height_sigma=0.02,
        doorways=np.zeros((0, 2, 2)),
        cells=np.ones((30, 40), dtype=np.int32),
        cell=0.1,
        cells_from=np.zeros(2),
        provenance=worlds.SOURCE,
    )


@pytest.mark.parametrize("unit", [1.0, 0.5])
def test_the_room_survives_on_the_second_reconstruction(unit: float) -> None:
    first, second = scenes_of(CLIP, {**with_check(unit), "room": room()})
    assert first.room is not None and second.room is not None
    cam_from_floor = [
        np.linalg.inv(scene.world_from_cam(worlds.FRAMES)) @ scene.room.world_from_floor  # type: ignore[union-attr]
        for scene in (first, second)
    ]
    np.testing.assert_allclose(cam_from_floor[1][:, :3, :3], cam_from_floor[0][:, :3, :3], atol=1e-9)
    np.testing.assert_allclose(cam_from_floor[1][:, :3, 3], unit * cam_from_floor[0][:, :3, 3], atol=1e-9)
    np.testing.assert_allclose(second.room.outline, unit * first.room.outline)
    np.testing.assert_allclose(second.room.wall_sigma, unit * first.room.wall_sigma)
    assert second.room.floor_sigma == pytest.approx(unit * first.room.floor_sigma)


def test_where_the_paths_disagree_the_room_is_less_certain() -> None:
    signals, rng = with_check(1.0), np.random.default_rng(0)
    path = signals["camera_path_check"]
    assert isinstance(path, CameraPath)
    poses = path.world_from_cam.copy()
    poses[:, :3, 3] += 0.03 * rng.standard_normal((len(poses), 3))
    _, second = scenes_of(CLIP, {**signals, "camera_path_check": replace(path, world_from_cam=poses), "room": room()})
    assert second.room is not None
    assert 0.025 < second.room.floor_sigma < 0.045
    assert (second.room.wall_sigma[[0, 2, 3]] > 0.03).all() and np.isinf(second.room.wall_sigma[1])


def test_two_reconstructions_of_one_expert_are_not_independent() -> None:
    first, _ = scenes_of(CLIP, with_check(by=worlds.SOURCE))
    assert first.second is None


def test_checks_without_a_check_path_of_their_expert_are_not_used() -> None:
    alone = {**worlds.signals(), "depth_check": depth(source=OTHER)}
    assert len(scenes_of(CLIP, alone)) == 1
    (_, of_third) = scenes_of(
        CLIP, {**with_check(), "depth_check": depth(source=Provenance(expert="3rd", version="1"))}
    )
    (_, of_same) = scenes_of(CLIP, {**with_check(), "depth_check": depth(source=OTHER)})
    assert of_third.depth is None and of_same.depth is not None


def test_patches_of_depth_keep_the_unit_of_their_path() -> None:
    """The expert of the patches made both, each on its own path."""
    third = Provenance(expert="3rd", version="1")
    patches, check = depth(source=third), replace(depth(source=third), z=2 * depth().z)
    known = {**with_check(), "depth_patches": patches}
    first, second = scenes_of(CLIP, {**known, "depth_patches_check": check})
    assert first.depth_patches is not None and second.depth_patches is not None
    np.testing.assert_allclose(second.depth_patches.z, 2 * first.depth_patches.z)
    _, without = scenes_of(CLIP, known)
    assert without.depth_patches is None


def test_a_check_without_estimate_replaces_no_shared_signal() -> None:
    _, second = scenes_of(CLIP, {**with_check(), "gravity_check": NoEstimate(reason="no lines")})
    assert second.gravity is not None


def test_each_scene_has_the_path_that_was_fitted_in_its_world_and_unit() -> None:
    signals = fitted(with_check(unit=0.5))
    for scene in scenes_of(CLIP, signals):
        assert scene.path is not None and scene.fitted_path is not None and scene.fitted_path.residual_px < 0.5
        of_path, of_fit = scene.path.world_from_cam, scene.fitted_path.path.world_from_cam
        np.testing.assert_allclose(of_fit, of_path, atol=0.02)
    joined = Scale(kind="relative", relative_sigma=0.2, source="metric model", metres_per_unit=3.0)
    in_metres = main_scene({**signals, "depth": replace(depth(source=OTHER), scale=joined)})
    before = main_scene(signals).fitted_path
    assert before is not None and in_metres.fitted_path is not None
    shifts = before.path.world_from_cam[:, :3, 3]
    np.testing.assert_allclose(in_metres.fitted_path.path.world_from_cam[:, :3, 3], 3 * shifts, atol=1e-9)


def test_a_path_without_calibrated_sigma_counts_only_where_tracks_confirm_it() -> None:
    signals = worlds.signals()
    raw = worlds.with_path(signals, provenance=replace(worlds.SOURCE, sigma="raw"))
    assert main_scene(fitted(raw)).path is not None  # type: ignore[arg-type]
    assert main_scene(raw).path is None  # type: ignore[arg-type]
    assert main_scene(fitted(worlds.mirrored(raw))).path is None  # type: ignore[arg-type]


def test_the_check_takes_its_scale_from_a_metric_path() -> None:
    signals = with_check(unit=0.5)
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    metric = replace(path, scale=Scale(kind="metric", relative_sigma=0.03, source="metric model"))
    _, second = scenes_of(CLIP, {**signals, "camera_path": metric, "depth": depth()})
    assert second.path is not None and second.path.scale == metric.scale and second.points is not None
    np.testing.assert_allclose(second.path.world_from_cam, path.world_from_cam, atol=1e-9)
    points = worlds.signals()["sparse_points"]
    assert isinstance(points, SparsePoints)
    np.testing.assert_allclose(second.points.xyz_world, points.xyz_world)


def test_depth_with_metres_gives_them_to_both_scenes() -> None:
    signals = worlds.with_path(with_check(unit=0.5), scale=Scale(kind="relative"))  # type: ignore[arg-type]
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    joined = Scale(kind="relative", relative_sigma=0.2, source="metric model", metres_per_unit=3.0)
    signals |= {"depth": replace(depth(z=4.0, source=OTHER), scale=joined)}
    metric = Scale(kind="metric", relative_sigma=0.2, source="metric model")
    for scene in scenes_of(CLIP, signals):
        assert scene.path is not None and scene.path.scale == metric and scene.metre_relative_sigma == 0.2
        np.testing.assert_allclose(scene.path.world_from_cam[:, :3, 3], 3 * path.world_from_cam[:, :3, 3], atol=1e-9)
        assert scene.judged_by["depth"].expert == OTHER.expert, "its licence holds for questions in metres"
    assert main_scene(signals).depth.z.max() == 12.0  # type: ignore[union-attr]
    refused = main_scene({**signals, "agreement": agreement(refused={"depth": "two depths disagree"})})
    assert refused.path is not None and refused.path.scale.kind == "relative"


def test_learned_depth_is_reliable_where_another_experts_reconstruction_is() -> None:
    signals = {**with_check(), "depth": depth()}
    del signals["tracks"]
    first, second = scenes_of(CLIP, signals)
    assert second.points is not None
    xy = second.points.observation_xy_px[second.points.observation_frame == 0]
    reliable = second.surface(0, xy).outlier_probability < 0.01
    np.testing.assert_array_equal(first.surface(0, xy).outlier_probability < 0.01, reliable)
    assert reliable.any()
    alone = scenes_of(CLIP, {k: s for k, s in signals.items() if not k.endswith("_check")})[0]
    assert (alone.surface(0, xy).outlier_probability == 0.02).all()


def tilts(signals: dict[str, Signal], facts: int = 8) -> list[Draft]:
    return worlds.drafts(worlds.ask(create_templates()["camera_tilt"], signals, facts=facts))


def test_an_unknown_pixel_changes_no_other_on_learned_depth() -> None:
    """Metric plans mark no point."""
    scene = main_scene(fitted({**worlds.signals(), "depth": depth()}))
    assert scene.fitted_path is not None and scene.points is not None
    xy = scene.points.observation_xy_px[scene.points.observation_frame == 0]
    seen = scene.surface(0, np.concatenate([np.full((1, 2), np.nan), xy]))
    assert np.isnan(seen.range[0]) and np.isnan(seen.outlier_probability[0])
    np.testing.assert_array_equal(seen.outlier_probability[1:], scene.surface(0, xy).outlier_probability)


def test_the_focal_length_of_smaller_sigma_counts_and_sigma_includes_the_difference() -> None:
    signals = worlds.signals()
    camera = worlds.CAMERA
    tight = Calibration(intrinsics=camera, focal_relative_sigma=0.01, provenance=OTHER)
    scene = main_scene({**signals, "calibration": tight})
    vfov, sigma = scene.vfov_rad()
    assert vfov == pytest.approx(camera.vfov_rad) and sigma == pytest.approx(0.01 * np.sin(vfov))
    other = replace(tight, intrinsics=replace(camera, fy_px=1.1 * camera.fy_px))
    assert main_scene({**signals, "calibration": other}).vfov_rad()[1] > 0.08 * np.sin(vfov)
    without_path = {"gravity": signals["gravity"], "calibration": tight}
    (draft,) = [d for d in tilts(without_path, facts=1) if d.format == "json"]
    assert draft.answer.names == ("roll", "pitch", "vfov")
    assert np.isnan(main_scene({"gravity": signals["gravity"]}).vfov_rad()).all()


def test_gravity_alone_still_asks_roll_and_pitch() -> None:
    gravity = worlds.signals()["gravity"]
    assert isinstance(gravity, Gravity)
    assert {d.answer.names for d in tilts({"gravity": gravity}) if d.format == "json"} == {("roll", "pitch")}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("matches", "xy_a_px"),
        ("matches", "xy_b_px"),
        ("matches", "sigma_px"),
        ("sparse_points", "observation_xy_px"),
        ("sparse_points", "range_relative_sigma"),
    ],
)
def test_what_has_no_known_pixel_or_sigma_is_not_asked_about(name: str, column: str) -> None:
    signals = worlds.signals()
    partly = getattr(signals[name], column).copy()
    partly[::2] = np.nan
    templates = [create_templates()[each] for each in ("same_point", "point_pairs", "range_ratio")]
    hurt = {**signals, name: replace(signals[name], **{column: partly})}
    found = ask_clip(CLIP, hurt, templates, AskSettings(), seed=0)
    assert {asked.template.name for asked in found.asked} == {template.name for template in templates}
