"""Roll and tilt of cameras that are held in known ways."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Gravity, Signal
from templates.generate import answers_to
from templates.perception.upright import RollSide, TiltOrder
from templates.scene.attitude import up_of
from tests.templates import worlds

ROLL, TILT = RollSide(), TiltOrder()


def held(roll_deg: list[float], pitch_deg: list[float], sigma_deg: float = 0.5) -> dict[str, Signal]:
    """A frame for each roll and pitch."""
    gravity = worlds.signals()["gravity"]
    assert isinstance(gravity, Gravity)
    n, up = len(roll_deg), up_of(np.array(roll_deg, dtype=float), np.array(pitch_deg, dtype=float))
    return {"gravity": replace(gravity, frames=np.arange(n), up_cam=up, sigma_rad=np.full(n, np.radians(sigma_deg)))}


def test_up_leans_against_the_roll_and_ahead_where_the_camera_looks_up() -> None:
    np.testing.assert_allclose(up_of(np.array([90.0, 0.0]), np.array([0.0, 90.0])), [[-1, 0, 0], [0, 0, 1]], atol=1e-12)


@pytest.mark.parametrize(
    ("roll", "pitch", "expected"),
    [
        (12, 5, "clockwise"), (-12, 5, "counter-clockwise"), (0.5, -20, "level"),
        (90, 0, "clockwise"), (-90, 0, "counter-clockwise"),
        (3, 0, "the roll is neither clear nor near zero"), (178, 0, "the photo is upside down"),
        (12, 60, "the camera looks too steeply to show its roll"),
    ],
)  # fmt: skip
def test_the_side_is_that_of_the_roll(roll: float, pitch: float, expected: str) -> None:
    facts = ROLL.facts.from_json([{"frame": 0}])
    measured = ROLL.measure(facts, worlds.scene(held([roll], [pitch])))
    assert measured.label is not None and expected in (measured.why[0], measured.label[0])


@pytest.mark.parametrize(("sigma_deg", "sure"), [(0.5, [True, True]), (2.0, [True, False]), (6.0, [False, False])])
def test_a_roll_that_may_lie_beyond_the_border_of_level_is_not_asked(sigma_deg: float, sure: list[bool]) -> None:
    facts = ROLL.facts.from_json([{"frame": 0}, {"frame": 1}])
    measured = ROLL.measure(facts, worlds.scene(held([12, 0], [0, 0], sigma_deg)))
    assert (answers_to(ROLL, "choice", facts, measured).gated(0.99).why == "").tolist() == sure


def test_mistakes_lead_to_the_opposite_side_and_of_a_level_photo_to_either() -> None:
    facts = ROLL.facts.from_json([{"frame": 0}, {"frame": 1}, {"frame": 2}])
    measured = ROLL.measure(facts, worlds.scene(held([12, 0, 0], [0, 20, -20])))
    traps = {name: labels.tolist() for name, labels in measured.traps.items()}
    assert traps["the rotation of the photo's content"] == ["counter-clockwise", "", ""]
    assert traps["upright edges on the left taken as leaning"] == ["", "counter-clockwise", "clockwise"]
    assert traps["upright edges on the right taken as leaning"] == ["", "clockwise", "counter-clockwise"]


def test_photos_are_ordered_by_pitch() -> None:
    facts = TILT.facts.from_json([{"frames": [0, 1, 2]}, {"frames": [2, 0, 1]}, {"frames": [0, 1, 3]}])
    measured = TILT.measure(facts, worlds.scene(held([0, 5, 0, 0], [10, -20, 2, 9])))
    assert measured.label is not None and measured.label[:2].tolist() == ["2 3 1", "3 1 2"]
    assert measured.why.tolist() == ["", "", "two photos are tilted about equally"]


def test_an_order_is_offered_with_its_reverse_and_written_as_numbers() -> None:
    found = worlds.ask(TILT, held([0.0] * 6, [-30, -18, -6, 6, 18, 30]))
    assert {asked.format for asked in found.asked} == {"order", "choice"}
    for draft in worlds.drafts(found):
        right = sorted(range(3), key=lambda k: draft.fact["frames"][k])  # pitch grows with the frame
        if draft.format == "order":
            assert worlds.written(draft) == [k + 1 for k in right]
            assert sorted(draft.fact["frames"]) != draft.fact["frames"] or right == [0, 1, 2]
        else:
            texts = [option.shown for option in draft.options]
            assert len({*texts}) == 4 and texts[worlds.written(draft)] == ", ".join(str(k + 1) for k in right)
            assert ", ".join(str(k + 1) for k in right[::-1]) in texts
            assert all(option.mistake for k, option in enumerate(draft.options) if k != worlds.written(draft))


def test_nothing_is_asked_where_gravity_is_ten_times_less_certain() -> None:
    rolls, pitches = [-24, -12, 0, 12, 24], [-30, -15, 0, 15, 30]
    for template in (ROLL, TILT):
        assert worlds.ask(template, held(rolls, pitches, 1.0)).asked
        assert not worlds.ask(template, held(rolls, pitches, 10.0)).asked
