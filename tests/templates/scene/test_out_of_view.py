"""Points that certainly lie outside a photo, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, MotionKind, PointTracks, Signal, SparsePoints
from templates.measured import Measured
from templates.scene.out_of_view import NOT_PROVEN, out_of_view, overshoots_px, pixels_out_of_view
from templates.scene.scene import Scene
from templates.unanswerable import UNDETERMINED
from tests.templates import worlds

POSES = worlds.camera_poses()
STATIC, _ = worlds.moving_points(np.random.default_rng(0))
PAIRS = [(0, 46), (6, 24), (46, 0), (40, 10), (12, 40)]


def scene(signals: dict[str, Signal] | None = None, **changes: object) -> Scene:
    """`changes` of the camera path."""
    signals = signals or worlds.signals()
    return worlds.scene(worlds.with_path(signals, **changes))


def asked(made: Scene, a: int, xy: np.ndarray, b: int) -> Measured:
    """Of pixels (k, 2) of one pair of frames."""
    return out_of_view(made, np.full(len(xy), a), xy, np.full(len(xy), b))


def seen(frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and pixels of the static points inside a frame."""
    pose = POSES[frame // 2]
    xy = worlds.CAMERA.project((STATIC - pose[:3, 3]) @ pose[:3, :3])
    rows = np.flatnonzero(worlds.CAMERA.contains(xy))
    return rows, xy[rows]


def beyond(row: int, frame: int, *, of: int = 0, range_factor: float = 1.0) -> float:
    """Distance of a static point outside a frame, at `range_factor` times its range from frame `of`; < 0 inside."""
    pose, first = POSES[frame // 2], POSES[of // 2][:3, 3]
    place = first + range_factor * (STATIC[row] - first)
    return float(overshoots_px(worlds.CAMERA, (place - pose[:3, 3]) @ pose[:3, :3]).max())


def test_points_with_the_label_lie_outside_at_every_range() -> None:
    exact, labelled, unlabelled = scene(), 0, 0
    for a, b in PAIRS:
        rows, xy = seen(a)
        found = asked(exact, a, xy, b)
        assert found.label is not None and set(found.why.tolist()) <= {"", NOT_PROVEN}
        for row in rows[found.why == ""]:
            assert all(beyond(row, b, of=a, range_factor=factor) > 0 for factor in (0.51, 1, 2, 1000))
        assert (found.label[found.why == ""] == UNDETERMINED).all()
        labelled += int((found.why == "").sum())
        unlabelled += int((found.why != "").sum())
    assert labelled > 10 and unlabelled > 10


@pytest.mark.parametrize("factor", [0.55, 1.5])
def test_a_wrong_range_gives_no_label_to_a_visible_point(factor: float) -> None:
    """The points lie on the measured rays of the first frame, but at other ranges."""
    a, b = 6, 24
    signals, pose = worlds.signals(), POSES[3]
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    measured = replace(points, xyz_world=(points.xyz_world - pose[:3, 3]) / factor + pose[:3, 3])
    rows, xy = seen(a)
    outside = rows[asked(scene({**signals, "sparse_points": measured}), a, xy, b).why == ""]
    assert len(outside) > 2 and all(beyond(row, b) > 0 for row in outside)


def test_margins_shrink_with_every_sigma() -> None:
    n = len(worlds.FRAMES)
    exact = scene()
    a, b = 6, 24
    xy = pixels_out_of_view(exact, a, b, 40.0)
    found = asked(exact, a, xy, b)
    assert len(xy) and found.margin is not None and (found.why == "").all()
    for changes in (
        {"rotation_sigma_rad": np.full(n, 0.05)},
        {"position_sigma": np.full(n, 0.2)},
        {"direction_sigma_rad": 0.5},
        {"focal_relative_sigma": 0.2},
    ):
        other = asked(scene(**changes), a, xy[:1], b)
        assert other.margin is not None and other.why[0] == "" and other.margin[0] < 0.8 * found.margin[0]


def test_pixels_lie_far_enough_outside_and_inside_photo_a_away_from_its_edges() -> None:
    near, far = (pixels_out_of_view(scene(), 6, 24, least) for least in (5.0, 60.0))
    assert 0 < len(far) < len(near)
    assert (near >= 0.06 * 480).all() and (near[:, 0] <= 0.94 * 640).all()


def test_a_track_visible_in_the_photo_contradicts_the_label() -> None:
    signals = worlds.signals()
    xy = pixels_out_of_view(scene(), 6, 24, 40.0)[:1]
    tracks = signals["tracks"]
    assert isinstance(tracks, PointTracks)
    pixels, visible = tracks.xy_px.copy(), tracks.visible.copy()
    pixels[-1], visible[-1] = np.nan, False
    pixels[-1, [3, 12]], visible[-1, [3, 12]] = [xy[0], [300.0, 200.0]], True
    found = asked(scene({**signals, "tracks": replace(tracks, xy_px=pixels, visible=visible)}), 6, xy, 24)
    assert found.why.tolist() == ["a track contradicts the reconstruction"]


def test_a_pure_rotation_decides_if_the_focal_length_is_known() -> None:
    """Rotates to the right by half a radian."""
    signals = worlds.signals(motion="rotation_only")
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    world_from_cam, angles = path.world_from_cam.copy(), np.linspace(0, 0.5, len(path.frames))
    world_from_cam[:, :3, :3] = world_from_cam[0, :3, :3] @ Rotation.from_euler("y", angles[:, None]).as_matrix()
    a, b = 0, 40
    rotation = Rotation.from_euler("y", angles[b // 2] - angles[a // 2]).as_matrix()
    known = scene(signals, world_from_cam=world_from_cam, focal_relative_sigma=0.01)
    xy = pixels_out_of_view(known, a, b, 20.0)
    assert len(xy) and (xy[:, 0] < 320).all()
    inside = worlds.CAMERA.contains(worlds.CAMERA.project(worlds.CAMERA.rays(xy) @ rotation))
    found = asked(known, a, xy, b)
    assert not inside.any() and (found.why == "").all() and found.outliers == pytest.approx(0.003)
    unmatched = np.array([[41.0, 41.0]])
    assert asked(known, a, unmatched, b).why.tolist() == [NOT_PROVEN]
    guessed = scene(signals, world_from_cam=world_from_cam, focal_relative_sigma=0.2)
    assert not len(pixels_out_of_view(guessed, a, b, 20.0)) and (asked(guessed, a, xy, b).why == NOT_PROVEN).all()


def test_an_unknown_kind_of_motion_gives_no_label() -> None:
    kinds: list[MotionKind] = ["static", "unresolved"]
    for motion in kinds:
        made = scene(worlds.signals(motion=motion))
        assert not len(pixels_out_of_view(made, 6, 24, 5.0))
        assert (asked(made, 6, seen(6)[1], 24).why == NOT_PROVEN).all()


def test_points_behind_the_camera_or_folded_by_distortion_are_not_outside() -> None:
    assert (overshoots_px(worlds.CAMERA, np.array([[0.0, 0.0, -1.0], [3.0, 0.0, 0.0]])) == -np.inf).all()
    barrel = Intrinsics(width_px=640, height_px=480, fx_px=600.0, fy_px=600.0, cx_px=319.5, cy_px=239.5, k1=-0.2)
    far = np.array([[2.0, 0.0, 1.0], [0.8, 0.0, 1.0]])  # the first comes back into the picture as it is drawn
    folded, plain = overshoots_px(barrel, far)
    assert (folded == -np.inf).all() and plain[2] > 0
    assert barrel.contains(barrel.project(far[:1])).all()
