"""In how many seconds a camera that goes on is level with a point."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Signal
from templates.measured import Measured
from templates.simulation.time_to_contact import PointAhead, TimeToContact
from tests.templates import worlds

TEMPLATE = TimeToContact()
SPEED = 0.9


def poses(turn_after_s: float = 9.0) -> np.ndarray:
    """A camera that goes straight on along its axis; from some time on to the right."""
    time_s = worlds.FRAMES / 24
    found = np.tile(np.eye(4), (len(time_s), 1, 1))
    found[:, :3, :3] = Rotation.from_euler("x", -90, degrees=True).as_matrix()
    found[:, 1, 3] = SPEED * np.minimum(time_s, turn_after_s)
    found[:, 0, 3] = SPEED * np.maximum(time_s - turn_after_s, 0)
    return found


def signals(turn_after_s: float = 9.0) -> dict[str, Signal]:
    return worlds.with_path(worlds.signals(poses=poses(turn_after_s)), direction_sigma_rad=0.01)


def measured(known: dict[str, Signal], facts: PointAhead | None = None) -> tuple[PointAhead, Measured]:
    if facts is None:
        facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 30).rounded()
        assert len(facts) >= 10
    return facts, TEMPLATE.measure(facts, worlds.scene(known))


def test_the_way_ahead_over_the_speed() -> None:
    facts, found = measured(signals())
    scene = worlds.scene(signals())
    last = np.where(facts.frames < 0, 0, facts.frames).max(axis=1)
    assert not found.why.any()
    np.testing.assert_allclose(
        np.exp(found.value[:, 0]), scene.surface(last, facts.point_px).xyz_cam[:, 2] / SPEED, rtol=2e-3
    )
    error = np.abs(np.log(facts.seconds / np.exp(found.value)))
    assert (error.argmin(axis=1) + 1).astype(str).tolist() == np.asarray(found.label).tolist()
    assert len(Counter(np.asarray(found.label).tolist())) == 4


def test_the_other_point_is_a_trap() -> None:
    facts, found = measured(signals())
    swapped = TEMPLATE.measure(
        replace(facts, point_px=facts.other_px, other_px=facts.point_px), worlds.scene(signals())
    )
    both = (swapped.why == "") & np.isfinite(found.traps["time of the other point"])
    np.testing.assert_allclose(found.traps["time of the other point"][both], np.exp(swapped.value[both, 0]), atol=0.01)
    assert (found.traps["time of the other point (option)"] != found.label).all()


def test_the_world_frame_and_the_unit_do_not_matter() -> None:
    facts, here = measured(signals())
    moved = worlds.with_path(worlds.elsewhere(3, 7.0, poses=poses()), direction_sigma_rad=0.01)
    _, there = measured(moved, facts)
    assert there.why.tolist() == here.why.tolist()
    np.testing.assert_allclose(there.value, here.value, atol=1e-6)


def test_a_camera_that_turns_aside_right_after_the_video_is_refused() -> None:
    facts, _ = measured(signals())
    last_s = np.where(facts.frames < 0, 0, facts.frames).max(axis=1) / 24
    _, found = measured(signals(turn_after_s=float(last_s[0])), facts)
    assert found.why[0] == "the camera does not go on like that"
    _, found = measured(signals(turn_after_s=float(last_s[0] + facts.frames[0, 0] / 24) / 2), facts)
    assert found.why[0] == "the camera does not move steadily"


def test_large_errors_of_the_direction_silence_the_numbers() -> None:
    vague = worlds.with_path(signals(), direction_sigma_rad=0.2)
    assert not worlds.ask(TEMPLATE, vague).asked
    assert {draft.format for draft in worlds.drafts(worlds.ask(TEMPLATE, signals()))} == {"numeric", "choice"}


@pytest.mark.parametrize("missing", ["camera_path", "sparse_points"])
def test_nothing_is_asked_without_the_path_or_points(missing: str) -> None:
    known = {name: signal for name, signal in signals().items() if name != missing}
    assert len(TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 5)) == 0
