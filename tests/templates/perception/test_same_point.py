"""The same point in another photo, and points outside that photo, on a small exact world."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.answers import Label, Point
from templates.draft import Draft
from templates.generate import ask_clip
from templates.measured import Measured, Undecided
from templates.media import Photo
from templates.perception.same_point import SamePoint
from templates.registry import create_templates
from templates.scene.scene import scenes_of
from templates.settings import AskSettings
from templates.truth import verdict
from templates.unanswerable import UNDETERMINED, is_unanswerable, offers_undetermined
from tests.templates import worlds

PLAIN, WITH_UNANSWERABLE = SamePoint(), SamePoint(unanswerable=True)
MANY = AskSettings(facts_per_template=40)


def asked(signals: dict[str, Signal], template: SamePoint = WITH_UNANSWERABLE, seed: int = 0) -> Sequence[Draft]:
    return ask_clip(worlds.clip(), signals, [template], MANY, seed).drafts


def unanswerable(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if is_unanswerable(draft.answer)]


def with_path(**changes: object) -> dict[str, Signal]:
    signals = worlds.signals()
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    return {**signals, "camera_path": replace(path, **changes)}  # type: ignore[arg-type]


def test_without_the_flag_every_question_is_answerable() -> None:
    drafts = asked(worlds.signals(), PLAIN)
    assert drafts and not unanswerable(drafts)
    assert not any(offers_undetermined(draft.phrasing) for draft in drafts)
    assert not create_templates()["same_point"].unanswerable  # type: ignore[attr-defined]
    assert create_templates(unanswerable=True)["same_point"].unanswerable  # type: ignore[attr-defined]


def test_with_the_flag_the_other_questions_only_gain_one_option() -> None:
    plain, drafts = asked(worlds.signals(), PLAIN), asked(worlds.signals())
    others = [draft for draft in drafts if not is_unanswerable(draft.answer)]
    assert unanswerable(drafts) and len(others) == len(plain)
    for before, after in zip(plain, others, strict=True):
        options = after.phrasing.options
        if after.format == "choice":
            assert options[-1].value == UNDETERMINED
            options = options[:-1]
        assert repr(replace(after, phrasing=replace(after.phrasing, options=options))) == repr(before)


def test_a_point_outside_the_photo_is_asked_like_one_inside() -> None:
    signals = worlds.signals()
    (truth,) = scenes_of(worlds.clip(), signals)
    for draft in unanswerable(asked(signals)):
        assert isinstance(draft.answer, Label) and draft.answer.text == UNDETERMINED and draft.answer.margin > 2.33
        assert draft.format == "choice" and len(draft.phrasing.options) == 5 and draft.phrasing.answer == 4
        assert verdict(PLAIN, "choice", draft.fact, draft.answer, truth) is True
        first, second = draft.phrasing.media
        assert isinstance(first, Photo) and isinstance(second, Photo)
        marks = np.array([mark.xy_px for mark in second.marks])
        assert len(first.marks) == 1 and len(marks) == 4
        assert (np.abs(marks - draft.fact.params["decoy"]).max(axis=1) < 0.2).sum() == 1
        assert draft.evidence["outside_px"] >= 0.06 * 800 and draft.evidence["outside_sigma_px"] > 0


def test_points_lie_as_far_outside_as_wrong_points_from_the_right_one() -> None:
    (scene,) = scenes_of(worlds.clip(), worlds.signals())
    facts = [fact for seed in range(6) for fact in WITH_UNANSWERABLE.propose(scene, np.random.default_rng(seed))]
    measured = [WITH_UNANSWERABLE.measure([fact], scene)[0] for fact in facts if "decoy" in fact.params]
    outside = [found.evidence["outside_px"] for found in measured if isinstance(found, Measured)]
    assert len(outside) > 2 and min(outside) >= 0.06 * 800 - 0.2


def test_a_match_outside_the_picture_is_not_asked_as_unanswerable() -> None:
    """Measured depth may contradict a match."""
    (draft, *_) = unanswerable(asked(worlds.signals()))
    params = {name: value for name, value in draft.fact.params.items() if name != "decoy"}
    fact = replace(draft.fact, params=params)
    for template in (PLAIN, WITH_UNANSWERABLE):
        found = template.phrase("choice", fact, draft.answer, np.random.default_rng(0))
        assert found == Undecided(reason="photo 2 does not show it")


def test_a_pixel_for_a_point_outside_and_the_label_for_a_point_inside_are_wrong() -> None:
    signals = worlds.signals()
    (truth,) = scenes_of(worlds.clip(), signals)
    drafts = asked(signals)
    shown = next(draft for draft in drafts if isinstance(draft.answer, Point))
    (hidden, *_) = unanswerable(drafts)
    assert verdict(PLAIN, "choice", hidden.fact, shown.answer, truth) is False
    assert verdict(PLAIN, "choice", shown.fact, hidden.answer, truth) is False


@pytest.mark.parametrize(
    "changes",
    [
        {"rotation_sigma_rad": np.full(len(worlds.FRAMES), 0.2)},
        {"direction_sigma_rad": 2.0},
        {"focal_relative_sigma": 1.0},
        {"position_sigma": np.full(len(worlds.FRAMES), np.inf)},
    ],
)
def test_with_large_sigma_no_unanswerable_question_is_asked(changes: dict[str, object]) -> None:
    drafts = asked(with_path(**changes))
    assert drafts and not unanswerable(drafts)


def test_the_point_must_lie_outside_in_both_reconstructions() -> None:
    signals = worlds.signals()
    both = {**signals, "camera_path_check": signals["camera_path"], "sparse_points_check": signals["sparse_points"]}
    assert len(unanswerable(asked(both))) == len(unanswerable(asked(signals)))
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    still = np.tile(path.world_from_cam[:1], (len(path.frames), 1, 1))
    still[:, 0, 3] += np.linspace(0, 0.05, len(still))
    assert not unanswerable(asked({**both, "camera_path_check": replace(path, world_from_cam=still)}))


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_unanswerable_questions(seed: int, unit: float) -> None:
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    turned[:3, 3] = (1.0, -2.0, 3.0)
    other = worlds.signals(world_from_made=turned, unit=unit)
    path = other["camera_path"]
    assert isinstance(path, CameraPath)
    other["camera_path"] = replace(path, position_sigma=path.position_sigma * unit)
    first, second = unanswerable(asked(worlds.signals())), unanswerable(asked(other))
    assert first and [draft.phrasing for draft in first] == [draft.phrasing for draft in second]
