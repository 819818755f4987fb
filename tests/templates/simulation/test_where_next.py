"""Where a moving point is in the picture some time after a video."""

import numpy as np
import pytest

from experts.signals import Signal
from templates.measured import Measured
from templates.scene.picture_motion import continued
from templates.simulation.where_next import MovingPoint, WhereNext
from tests.templates import worlds

TEMPLATE = WhereNext()


def measured(known: dict[str, Signal], facts: MovingPoint | None = None) -> tuple[MovingPoint, Measured]:
    if facts is None:
        facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 20).rounded()
        assert len(facts) >= 10
    return facts, TEMPLATE.measure(facts, worlds.scene(known))


def test_the_track_gives_the_pixel() -> None:
    facts, found = measured(worlds.on_tripod())
    assert not found.why.any()
    np.testing.assert_allclose(found.value, facts.point_px + facts.seconds[:, None] * worlds.PX_PER_S, atol=0.3)


def test_the_later_frame_is_not_shown() -> None:
    for draft in worlds.drafts(worlds.ask(TEMPLATE, worlds.on_tripod())):
        video, photo = draft.media
        assert max(video.frames) == photo.frame < draft.fact["frame_later"]


def test_points_that_stop_after_the_video_are_refused() -> None:
    facts, _ = measured(worlds.on_tripod())
    row = int(facts.seconds.argmax())
    last, later = int(facts.frames[row].max()), int(facts.frame_later[row])
    stops = {last: "the point moves too little", later - (later - last) // 6: "the point does not go on as before"}
    for at, reason in stops.items():
        assert measured(worlds.on_tripod(stops_at=at), facts)[1].why[row] == reason


def test_a_camera_that_moves_is_refused() -> None:
    facts, _ = measured(worlds.on_tripod())
    moving = {**worlds.on_tripod(), "camera_path": worlds.signals()["camera_path"]}
    assert set(measured(moving, facts)[1].why) == {"the camera does not stand still"}


def test_vague_tracks_are_not_asked_about() -> None:
    assert not worlds.ask(TEMPLATE, worlds.on_tripod(sigma_px=8.0)).asked
    assert {draft.format for draft in worlds.drafts(worlds.ask(TEMPLATE, worlds.on_tripod()))} == {"point", "choice"}


def test_no_option_is_near_the_right_one() -> None:
    for draft in worlds.drafts(worlds.ask(TEMPLATE, worlds.on_tripod())):
        if draft.format == "choice":
            right = np.array(draft.answer.to_json().value)
            off = np.linalg.norm(np.array([option.value for option in draft.options]) - right, axis=1)
            assert (np.sort(off)[1:] > 2.5 * draft.answer.to_json().tolerance).all() and off.min() < 1


@pytest.mark.parametrize("depth_per_s", [0.0, -0.8, 1.1])
def test_an_even_motion_in_space_is_continued(depth_per_s: float) -> None:
    time_s = worlds.FRAMES / 24
    xyz = np.array([-1.0, 0.2, 4.0]) + time_s[:, None] * [0.9, 0.1, depth_per_s]
    xy = worlds.CAMERA.project(xyz)
    shown, later = worlds.FRAMES[None, :12], worlds.FRAMES[-1:]
    expected = continued(worlds.scene(worlds.on_tripod()), shown, xy[None, :12], later)
    assert np.linalg.norm(expected[0, 1] - xy[-1]) < 0.3
    assert (np.linalg.norm(expected[0, 0] - xy[-1]) < 0.3) == (depth_per_s == 0)


def test_nothing_is_asked_without_movers() -> None:
    known = {name: signal for name, signal in worlds.on_tripod().items() if name != "tracks"}
    for few in (known, {}):
        assert len(TEMPLATE.propose(worlds.scene(few), np.random.default_rng(0), 5)) == 0
