"""Camera paths from pictures of rendered rooms, compared with ground truth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.colmap import ColmapExpert
from experts.provenance import Provenance
from experts.signals import CENTRE_RELATIVE_SIGMA, Calibration, CameraPath, NoEstimate, Signal, SparsePoints
from experts.stated_camera import contradicted
from experts.tracking.klt import KltExpert
from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.clips import as_clip
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import Effects, RenderedScene

Found = Mapping[str, Signal | NoEstimate]


@dataclass(frozen=True)
class Kept:
    """Reads pictures from memory, so that each is rendered once."""

    pictures: list[Picture]

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        yield from (self.pictures[frame] for frame in frames)


def clip_of(scene: RenderedScene) -> Clip:
    clip = as_clip(scene)
    return replace(clip, reader=Kept([picture for _, picture in clip.read()]))


def reconstructed(clip: Clip, calibration: Calibration | None = None) -> Found:
    tracks = KltExpert()(clip, {})
    return ColmapExpert()(clip, tracks if calibration is None else {**tracks, "calibration": calibration})


def measured(scene: RenderedScene, factor: float = 1.0, relative_sigma: float = 0.06) -> Calibration:
    """A calibration whose focal length is wrong by a factor."""
    camera = scene.intrinsics
    return Calibration(
        intrinsics=Intrinsics.centred(camera.width_px, camera.height_px, camera.fx_px * factor),
        focal_relative_sigma=relative_sigma,
        provenance=Provenance(expert="test", version="1"),
    )


def scene(path: object, frames: int = 8, **effects: float) -> RenderedScene:
    rng = np.random.default_rng(0)
    return random_room(rng, frames=frames, path=path, effects=Effects(**effects))  # type: ignore[arg-type]


@cache
def walk() -> tuple[RenderedScene, Clip, Found]:
    walked = scene(camera_paths.walk)
    clip = clip_of(walked)
    return walked, clip, reconstructed(clip)


def path_in(found: Found) -> CameraPath:
    path = found["camera_path"]
    assert isinstance(path, CameraPath), path
    return path


def rotation_errors(path: CameraPath, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(error, rotation) in radians, relative to the first frame."""
    here, there = Rotation.from_matrix(path.world_from_cam[:, :3, :3]), Rotation.from_matrix(true[:, :3, :3])
    rotation = there[0].inv() * there
    return ((here[0].inv() * here).inv() * rotation).magnitude(), rotation.magnitude()


def test_a_walk_is_reconstructed_twice_within_sigma() -> None:
    walked, _clip, found = walk()
    for suffix in ("", "_check"):
        path, points = found[f"camera_path{suffix}"], found[f"sparse_points{suffix}"]
        assert isinstance(path, CameraPath) and isinstance(points, SparsePoints)
        assert path.motion == "general" and path.registered.all()
        assert np.allclose(path.world_from_cam[0], np.eye(4))
        focal_error = abs(1 - walked.intrinsics.fx_px / path.intrinsics.fx_px)
        assert focal_error < 2.5 * path.focal_relative_sigma
        error, rotation = rotation_errors(path, walked.world_from_cam)
        assert np.all(error < 2.5 * np.hypot(path.rotation_sigma_rad, rotation * path.turn_relative_sigma))
        assert 0.05 < path.turn_sigma_by_centre / CENTRE_RELATIVE_SIGMA < 3
        assert (path.centre_relative_sigma < CENTRE_RELATIVE_SIGMA).all()
        assert 0.001 < path.direction_sigma_by_camera_rad < 0.1
        assert path.position_by_camera is not None and np.isfinite(path.position_by_camera).all()
        far = np.linalg.norm(path.position_by_camera[-1] - path.position_by_camera[0]) / np.sqrt(3)
        assert path.systematic_position_sigma is not None and (path.systematic_position_sigma > 0).all()
        assert np.median(path.systematic_position_sigma / path.position_sigma) < 3
        way = np.linalg.norm(path.world_from_cam[-1, :3, 3] - path.world_from_cam[0, :3, 3])
        assert 0.3 < far / way / path.direction_sigma_by_camera_rad < 3


def test_a_principal_point_off_the_middle_is_measured() -> None:
    walked = scene(camera_paths.walk)
    true = walked.intrinsics
    off = replace(true, cx_px=true.cx_px + 0.03 * true.fx_px, cy_px=true.cy_px - 0.025 * true.fx_px)
    path = path_in(reconstructed(clip_of(replace(walked, intrinsics=off))))
    error = np.array([path.intrinsics.cx_px - off.cx_px, path.intrinsics.cy_px - off.cy_px]) / off.fx_px
    assert np.all(np.abs(error) < 0.015) and np.all(np.abs(error) < 3 * path.centre_relative_sigma)
    assert abs(1 - off.fx_px / path.intrinsics.fx_px) < 2.5 * path.focal_relative_sigma


def test_points_agree_with_the_true_depth() -> None:
    walked, clip, found = walk()
    path, points = path_in(found), found["sparse_points"]
    assert isinstance(points, SparsePoints)
    ratio, sigma = [], []
    for frame in clip.frames[::3]:
        rows = points.observation_point[points.observation_frame == frame]
        x, y = np.rint(points.observation_xy_px[points.observation_frame == frame]).astype(int).T
        in_cam = points.xyz_world[rows] - path.world_from_cam[frame, :3, 3]
        z = in_cam @ path.world_from_cam[frame, :3, 2]
        sure = points.outlier_probability[rows] < 0.005
        ratio.append((z / walked.depth(int(frame))[y, x])[sure])
        sigma.append(points.range_relative_sigma[rows][sure])
    error = np.abs(np.concatenate(ratio) / np.median(np.concatenate(ratio)) - 1) / np.concatenate(sigma)
    assert len(error) > 200
    assert np.mean(error > 3) < 0.02, "only pixels at depth edges have larger errors"


def test_both_reconstructions_observe_the_same_pixels() -> None:
    _, _, found = walk()
    seen = []
    for name in ("sparse_points", "sparse_points_check"):
        points = found[name]
        assert isinstance(points, SparsePoints)
        seen.append(
            {
                (int(f), float(x), float(y))
                for f, (x, y) in zip(points.observation_frame, points.observation_xy_px, strict=True)
            }
        )
    assert len(seen[0] & seen[1]) > 0.7 * min(map(len, seen))


@pytest.mark.long(sample=True)
def test_two_runs_return_the_same_bytes() -> None:
    _, clip, found = walk()
    again = reconstructed(clip)
    for name, signal in found.items():
        for field, value in vars(signal).items():
            if isinstance(value, np.ndarray):
                assert value.tobytes() == getattr(again[name], field).tobytes(), (name, field)


def test_the_users_focal_length_is_kept() -> None:
    walked, clip, _ = walk()
    path = path_in(reconstructed(clip.with_options(intrinsics=walked.intrinsics), measured(walked, factor=1.5)))
    assert path.motion == "general" and path.focal_relative_sigma == 0.005
    assert np.isclose(path.intrinsics.fx_px, walked.intrinsics.fx_px)
    assert np.isclose(path.intrinsics.cx_px, walked.intrinsics.cx_px)
    assert path.turn_sigma_by_centre > 0, "no independent estimate confirms the camera"
    sure = measured(walked, relative_sigma=0.02)
    confirmed = path_in(reconstructed(clip.with_options(intrinsics=walked.intrinsics), sure))
    assert confirmed.turn_sigma_by_centre == 0, "the principal point is known"


@pytest.mark.parametrize("factor", [0.85, pytest.param(1.15, marks=pytest.mark.long(sample=True))])
def test_a_false_focal_length_of_the_user_is_contradicted(factor: float) -> None:
    walked, clip, _ = walk()
    true = walked.intrinsics
    false = replace(true, fx_px=factor * true.fx_px, fy_px=factor * true.fy_px)
    found = reconstructed(clip.with_options(intrinsics=false))["camera_path"]
    assert isinstance(found, NoEstimate) and found.reason == "the footage contradicts --intrinsics"


def test_a_tripod_is_static() -> None:
    tripod = scene(camera_paths.static, noise_grey=2.0)
    path = path_in(reconstructed(clip_of(tripod)))
    assert path.motion == "static" and np.isnan(path.position_sigma).all()
    path = path_in(reconstructed(clip_of(tripod), measured(tripod)))
    assert (path.motion, path.focal_relative_sigma) == ("static", 0.06), "instead of the broad prior"
    assert path.intrinsics.fx_px == pytest.approx(tripod.intrinsics.fx_px)


def test_a_static_camera_has_the_users_focal_length_if_straight_lines_confirm_it() -> None:
    tripod = scene(camera_paths.static, noise_grey=2.0)
    clip = clip_of(tripod).with_options(intrinsics=tripod.intrinsics)
    confirmed = path_in(reconstructed(clip, measured(tripod, relative_sigma=0.005)))
    assert (confirmed.intrinsics.fx_px, confirmed.focal_relative_sigma) == (tripod.intrinsics.fx_px, 0.005)
    for calibration in (None, measured(tripod, factor=1.15, relative_sigma=0.03)):
        assert path_in(reconstructed(clip, calibration)).focal_relative_sigma == 0.33, "that of an unknown camera"
    refused = contradicted(1.15, "straight lines")
    found = ColmapExpert()(clip, {**KltExpert()(clip, {}), "calibration": refused})
    assert set(found.values()) == {refused}


@pytest.mark.long(sample=True)
def test_a_truck_is_reconstructed_at_both_extremes_of_the_focal_length() -> None:
    trucked = scene(lambda n, start: camera_paths.primitive("truck", 0.8, n, start))
    alone = reconstructed(clip_of(trucked))
    extremes = [path_in({"camera_path": alone[name]}) for name in ("camera_path", "camera_path_check")]
    assert extremes[1].intrinsics.fx_px >= 2 * extremes[0].intrinsics.fx_px and extremes[0].focal_relative_sigma > 1
    for path in extremes:
        direction = path.world_from_cam[-1, :3, 3] / np.linalg.norm(path.world_from_cam[-1, :3, 3])
        assert np.degrees(np.arccos(abs(direction[0]))) < 3, "sideways, whatever the focal length"


@pytest.mark.long(sample=True)
def test_a_truck_uses_an_independent_focal_length() -> None:
    trucked = scene(lambda n, start: camera_paths.primitive("truck", 0.8, n, start))
    found = reconstructed(clip_of(trucked), measured(trucked))
    focal = [path_in({"camera_path": found[name]}).intrinsics.fx_px for name in ("camera_path", "camera_path_check")]
    assert np.allclose(sorted(focal), trucked.intrinsics.fx_px * np.array([0.94, 1.06])), "one σ shorter and longer"
    path = path_in(found)
    assert path.motion == "general" and path.focal_relative_sigma == 0.06
    direction = path.world_from_cam[-1, :3, 3] / np.linalg.norm(path.world_from_cam[-1, :3, 3])
    assert np.degrees(np.arccos(abs(direction[0]))) < 5, "sideways"


@pytest.mark.long(sample=True)
def test_a_determined_focal_length_is_kept_or_contradicted_by_the_independent_one() -> None:
    walked, clip, found = walk()
    agreed = reconstructed(clip, measured(walked))
    assert np.array_equal(path_in(agreed).world_from_cam, path_in(found).world_from_cam)
    assert path_in(agreed).intrinsics == path_in(found).intrinsics
    refused = reconstructed(clip, measured(walked, factor=1.5))["camera_path"]
    assert isinstance(refused, NoEstimate) and refused.reason == "two focal lengths disagree"


@pytest.mark.long(sample=True)
def test_a_zoom_gives_no_path_even_with_a_known_focal_length() -> None:
    zoomed = scene(camera_paths.walk, zoom=1.3)
    refused = reconstructed(clip_of(zoomed), measured(zoomed, factor=1.15))["camera_path"]
    assert isinstance(refused, NoEstimate) and refused.reason == "focal length changes"


def test_a_pan_has_rotations_but_no_positions() -> None:
    panned = scene(camera_paths.pure_rotation, 12)
    found = reconstructed(clip_of(panned))
    path = path_in(found)
    assert path.motion == "rotation_only" and path.focal_relative_sigma < 0.05
    assert path.turn_sigma_by_centre == path.centre_relative_sigma.max() < CENTRE_RELATIVE_SIGMA
    assert abs(np.log(path.intrinsics.fx_px / panned.intrinsics.fx_px)) < 3 * path.focal_relative_sigma
    assert np.isnan(path.world_from_cam[:, :3, 3]).all()
    error, rotation = rotation_errors(path, panned.world_from_cam)
    assert np.all(error < 2.5 * np.hypot(path.rotation_sigma_rad, rotation * path.turn_relative_sigma))
    assert all(isinstance(found[n], NoEstimate) for n in ("sparse_points", "camera_path_check", "sparse_points_check"))


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("factor", [0.85, 1.15])
def test_a_pan_contradicts_a_false_focal_length(factor: float) -> None:
    panned = scene(camera_paths.pure_rotation, 12)
    true = panned.intrinsics
    false = replace(true, fx_px=factor * true.fx_px, fy_px=factor * true.fy_px)
    found = reconstructed(clip_of(panned).with_options(intrinsics=false))["camera_path"]
    assert isinstance(found, NoEstimate) and found.reason == "the footage contradicts --intrinsics"


def test_a_zoom_is_not_a_dolly() -> None:
    found = reconstructed(clip_of(scene(camera_paths.static, zoom=1.5)))
    assert isinstance(found["camera_path"], NoEstimate)


@pytest.mark.parametrize("grey", [0, 255])
def test_blank_pictures_give_no_estimate(grey: int) -> None:
    blank = np.full((120, 160, 3), grey, dtype=np.uint8)
    clip = Clip(
        id="x", name="x", frames=np.arange(4), times_s=None, width_px=160, height_px=120, reader=Kept([blank] * 4)
    )
    found = reconstructed(clip)
    assert {str(getattr(signal, "reason", None)) for signal in found.values()} == {"no texture to follow"}


def test_it_is_given_the_times_of_frames() -> None:
    """Without them no rolling shutter is suspected: an expert sees the fields of a clip that it declares."""
    assert "times_s" in ColmapExpert.options
