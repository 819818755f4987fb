"""Where points and objects of photo 2 were when photo 1 was taken, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.signals import Signal
from templates.asked import Draft
from templates.facts import Facts
from templates.generate import answers_to
from templates.perception.eight_directions import DIRECTIONS
from templates.perception.seen_from import ObjectFromPhoto, PointFromPhoto, PointsElsewhere
from templates.template import Template
from tests.templates import worlds

POINT, OBJECT = PointFromPhoto(), ObjectFromPhoto()
BOTH = pytest.mark.parametrize("template", [POINT, OBJECT], ids=["point", "object"])


def asked(template: Template, signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(template, signals))


def proposed(template: Template) -> Facts:
    facts = template.propose(worlds.scene(worlds.signals()), np.random.default_rng(0), 40)
    assert len(facts) >= 8
    return facts


def test_the_azimuth_of_a_point_is_clockwise_in_the_axes_of_the_other_camera() -> None:
    """Depth 4 in the middle of every photo; the other camera stands where it is turned by known angles."""
    signals = worlds.signals()
    turned = 45.0 * np.arange(8) + 6
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    for k, angle in enumerate(np.radians(turned), start=1):  # facing away from straight ahead by that angle
        c, s = np.cos(angle), np.sin(angle)
        poses[k, :3, :3] = [[c, 0, -s], [0, 1, 0], [s, 0, c]]
    path = worlds.with_path(signals, world_from_cam=poses, focal_relative_sigma=1e-3)["camera_path"]
    scene = worlds.scene({"camera_path": path, "depth": worlds.slope()})
    facts = PointsElsewhere(
        frame=np.zeros(8, dtype=int), point_px=np.tile([320.0, 240.0], (8, 1)), frame_seen_from=worlds.FRAMES[1:9]
    )
    measured = POINT.measure(facts, scene)
    hidden = [k for k, angle in enumerate(turned) if 38 < angle < 322]  # the camera sees 34° to each corner
    assert [k for k, why in enumerate(measured.why.tolist()) if why == ""] == hidden
    assert {measured.why[k] for k in {*range(8)} - {*hidden}} == {"photo 1 may show it"}
    labels = answers_to(POINT, "choice", facts, measured).labels()
    numbers = answers_to(POINT, "numeric", facts, measured)
    for k in hidden:
        assert labels[k] == DIRECTIONS[k]
        assert numbers.row(k).value[0] % 360 == pytest.approx(turned[k], abs=0.2)  # type: ignore[attr-defined]


@BOTH
def test_a_photo_that_shows_it_is_refused(template: Template) -> None:
    facts = proposed(template)
    own = replace(facts, frame_seen_from=facts.frame if template is POINT else facts.object.frame)  # type: ignore[call-arg, attr-defined]
    assert {*template.measure(own, worlds.scene(worlds.signals())).why.tolist()} <= {
        "photo 1 may show it", "photo 1 may show part of it",
    }  # fmt: skip


@BOTH
@pytest.mark.parametrize(
    "changes",
    [{"rotation_sigma_rad": np.full(len(worlds.FRAMES), 0.3)}, {"position_sigma": np.full(len(worlds.FRAMES), 5.0)}],
)
def test_with_large_sigma_nothing_is_asked(template: Template, changes: dict[str, object]) -> None:
    assert asked(template, worlds.signals())
    assert not asked(template, worlds.with_path(worlds.signals(), **changes))


@BOTH
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_the_questions(template: Template, seed: int, unit: float) -> None:
    first, second = (asked(template, known) for known in (worlds.signals(), worlds.elsewhere(seed, unit)))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


@BOTH
def test_options_are_quarter_turns_and_named_after_mistakes(template: Template) -> None:
    drafts = asked(template, worlds.signals())
    assert {draft.format for draft in drafts} == {"choice", "numeric"}
    for draft in drafts:
        first, second = draft.media
        assert not first.marks and len(second.marks) == 1  # type: ignore[union-attr]
        if draft.format == "numeric":
            assert {"mirrored", "opposite", "seen from photo 2"} <= draft.traps.keys()
            azimuth = float(draft.answer.to_json().answer)
            assert abs((draft.traps["mirrored"] + azimuth + 180) % 360 - 180) <= 1
            assert abs((draft.traps["opposite"] - azimuth) % 360 - 180) <= 1
            continue
        right = DIRECTIONS.index(draft.options[draft.written].value)
        for k, option in enumerate(draft.options):
            step = (DIRECTIONS.index(option.value) - right) % 8
            assert step % 2 == 0 and bool(option.mistake) == (k != draft.written)
            if option.mistake == "mirrored":
                assert worlds.in_a_mirror(option.value) == draft.options[draft.written].value
        assert len({option.value for option in draft.options}) == 4
