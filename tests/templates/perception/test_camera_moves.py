"""Whether the camera moves: by its path, or by the static points of the picture where there is none."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import CameraPath, ImageTracks, PointTracks, Signal
from templates.perception.ego_motion import CameraMoves, Intervals
from templates.scene.shared_view import shared_views
from templates.truth import verdict
from tests.templates import worlds

MOVES = CameraMoves()


def asked(signals: dict[str, Signal]) -> set[str]:
    return {draft.answer.text for draft in worlds.drafts(worlds.ask(MOVES, signals))}  # type: ignore[attr-defined]


def without_path(xy_px: np.ndarray) -> dict[str, Signal]:
    tracks = worlds.signals()["tracks"]
    assert isinstance(tracks, PointTracks)
    still = (tracks.motion == 0)[:, None] & np.isfinite(xy_px[..., 0])
    return {"tracks": replace(tracks, xy_px=xy_px, visible=still)}


def shifted(by_px: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Random points of a picture that shifts and scales about its middle."""
    start = np.random.default_rng(0).uniform([-300, -220], [300, 220], (len(worlds.signals()["tracks"].motion), 2))  # type: ignore[union-attr]
    return np.array([320, 240]) + start[:, None] * scale[:, None] + by_px


N = len(worlds.FRAMES)
PAN, ZOOM, STILL = np.linspace([0, 0], [150, 0], N), np.linspace(1, 1.3, N), np.ones(N)


def test_a_path_that_moves() -> None:
    found = worlds.drafts(worlds.ask(MOVES, worlds.signals()))
    assert len(found) >= 8 and asked(worlds.signals()) == {"yes"}
    truth = worlds.scene(worlds.signals())
    assert all(verdict(MOVES, "yes_no", dict(draft.fact), draft.answer, truth) for draft in found)


def test_a_static_camera() -> None:
    signals = worlds.signals(motion="static")
    pose = np.tile(np.eye(4), (N, 1, 1))
    assert asked(worlds.with_path(signals, world_from_cam=pose, rotation_sigma_rad=np.full(N, 0.002))) == {"no"}


@pytest.mark.parametrize(
    ("by_px", "scale", "words"),
    [(PAN, STILL, {"yes"}), (0 * PAN, ZOOM, set()), (0 * PAN, STILL, set()), (PAN, ZOOM, {"yes"})],
)
def test_without_a_path_the_picture_decides_unless_it_only_zooms(by_px, scale, words) -> None:
    assert asked(without_path(shifted(by_px, scale))) == words


def test_a_small_motion_is_undecided() -> None:
    facts = Intervals(frames=np.array([[0, 2, 4, 6]]))
    scene = worlds.scene(without_path(shifted(PAN / 20, STILL)))
    assert MOVES.measure(facts, scene).why.tolist() == ["the camera moves too little to decide"]


@pytest.mark.parametrize(("shift_px", "why"), [(16, "the camera moves too little to decide"), (22, "")])
def test_an_upright_picture_counts_by_its_height(shift_px: int, why: str) -> None:
    """A room was filmed through a long lens that turned by 1 degree: 3.3 % of the width, 2.5 % of the height."""
    facts = Intervals(frames=np.array([[0, 2, 4, 6]]))
    by_px = np.outer(np.arange(N) > 0, [shift_px, 0])
    lying = worlds.scene(without_path(shifted(by_px, STILL)))
    upright = replace(lying, clip=replace(lying.clip, width_px=480, height_px=640))
    assert MOVES.measure(facts, upright).why.tolist() == [why]


@pytest.mark.parametrize(("share", "label"), [(0.0, "no"), (0.005, "no"), (0.02, None), (0.06, "yes")])
def test_a_translation_counts_where_it_is_visible(share, label) -> None:
    """Shares of the scene's distance; positions are exact to a ten-thousandth of it."""
    signals = worlds.signals()
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    ends = np.array([[0, 2]])
    distance = shared_views(worlds.scene(signals), ends[0]).distance.min()
    poses = np.tile(path.world_from_cam[0], (N, 1, 1))
    poses[1:, 0, 3] += share * distance
    exact = {"world_from_cam": poses, "rotation_sigma_rad": np.full(N, 1e-3), "position_sigma": np.full(N, 1e-4)}
    measured = MOVES.measure(Intervals(frames=ends), worlds.scene(worlds.with_path(signals, **exact)))
    assert (measured.why[0] == "") == (label is not None)
    assert label is None or measured.label[0] == label


def image_tracks(move) -> ImageTracks:
    """Random points all over the picture of the world's clip, which `move` shifts over the frames."""
    start = np.random.default_rng(0).uniform([0, 0], [640, 480], (400, 2))
    xy_px = start[:, None] + np.linspace(0, 1, N)[:, None] * move(start)[:, None]
    return ImageTracks(frames=np.array(worlds.FRAMES), xy_px=xy_px.astype(np.float32), provenance=worlds.SOURCE)


PANS = image_tracks(lambda xy: np.where(np.abs(xy - [320, 240]).max(axis=1)[:, None] < 120, 0, [90.0, 10.0]))
PASSES = image_tracks(lambda xy: np.where(xy[:, :1] < 400, [90.0, 10.0], 0))
ZOOMS = image_tracks(lambda xy: 0.4 * (xy - [320, 240]))


@pytest.mark.parametrize(("tracks", "words"), [(PANS, {"yes"}), (PASSES, set()), (ZOOMS, set())])
def test_where_no_static_point_is_known_the_edges_of_the_picture_decide(tracks, words) -> None:
    assert asked({"image_tracks": tracks}) == words


def test_a_path_decides_without_tracks() -> None:
    signals = {name: signal for name, signal in worlds.signals().items() if "tracks" not in name}
    assert asked(signals) == {"yes"}
