"""Which of two moving points reaches a line first."""

from dataclasses import replace

import numpy as np

from experts.signals import Signal
from templates.measured import Measured
from templates.simulation.meets_first import MeetsFirst, Race
from tests.templates import worlds

TEMPLATE = MeetsFirst()


def measured(known: dict[str, Signal], facts: Race | None = None) -> tuple[Race, Measured]:
    if facts is None:
        facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 20).rounded()
        assert len(facts) >= 6
    return facts, TEMPLATE.measure(facts, worlds.scene(known))


def starts(facts: Race) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of both points to the line at the slower speed, at the end of the video."""
    x_px = facts.line_px[:, 0, 0]
    slow = [(x_px - xy[:, 0]) / worlds.PX_PER_S[0] for xy in (facts.first_px, facts.second_px)]
    return slow[0], slow[1]


def test_times_are_ways_over_speeds() -> None:
    facts, found = measured(worlds.on_tripod(racing=True))
    a, b = starts(facts)
    assert not found.why.any() and set(np.asarray(found.label)) == {"1", "2"}
    for row, value in enumerate(found.value[:, 0]):
        possible = [p * b[row] - q * a[row] for p in (0.5, 1) for q in (0.5, 1)]
        assert value * (found.label[row] == "1" or -1) > 0  # type: ignore[index]
        reached = abs(np.array(possible) - value).min() < 0.02
        assert reached or abs(value) >= 0.3  # the later one was not followed up to the line


def test_half_of_the_races_are_lost_by_the_nearer_point() -> None:
    _, found = measured(worlds.on_tripod(racing=True))
    assert (found.traps["nearer to the line"] != found.label).mean() >= 0.5


def test_exchanged_points_exchange_the_answer() -> None:
    facts, found = measured(worlds.on_tripod(racing=True))
    other = replace(facts, first_px=facts.second_px, second_px=facts.first_px)
    exchanged = TEMPLATE.measure(other, worlds.scene(worlds.on_tripod(racing=True)))
    assert (np.asarray(exchanged.label) != np.asarray(found.label)).all()
    np.testing.assert_allclose(exchanged.value, -found.value)


def test_the_later_frames_are_not_shown() -> None:
    for draft in worlds.drafts(worlds.ask(TEMPLATE, worlds.on_tripod(racing=True))):
        video, photo = draft.media
        assert max(video.frames) == photo.frame < min(draft.fact["frames_later"])


def test_points_that_stop_and_cameras_that_move_are_refused() -> None:
    facts, _ = measured(worlds.on_tripod(racing=True))
    stops = int(np.where(facts.frames < 0, 0, facts.frames).max(axis=1)[0])
    assert measured(worlds.on_tripod(racing=True, stops_at=stops), facts)[1].why[0] == "a point is not followed"
    moving = {**worlds.on_tripod(racing=True), "camera_path": worlds.signals()["camera_path"]}
    assert set(measured(moving, facts)[1].why) == {"the camera does not stand still"}


def test_vague_tracks_and_missing_ones_are_not_asked_about() -> None:
    assert not worlds.ask(TEMPLATE, worlds.on_tripod(racing=True, sigma_px=60.0)).asked
    for few in ({"camera_path": worlds.on_tripod()["camera_path"]}, {}):
        assert len(TEMPLATE.propose(worlds.scene(few), np.random.default_rng(0), 5)) == 0


def test_the_stated_speed_leads_to_the_stated_time() -> None:
    _, found = measured(worlds.on_tripod(racing=True))
    way_px, each_s, px_per_s = (found.evidence[name] for name in ("way_px", "each_s", "px_per_s"))
    np.testing.assert_allclose(way_px / px_per_s, each_s, rtol=0.02, atol=0.01)
