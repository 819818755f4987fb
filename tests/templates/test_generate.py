"""Facts, gates and refusals on a small exact world."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, NoEstimate, Signal
from templates.answers import RIGHT, Label, Numbers, Point, Shape
from templates.draft import ClipQuestions, Draft
from templates.generate import ask_clip
from templates.registry import UnknownAbilityError, create_templates, node_called
from templates.scene.scene import scenes_of
from templates.settings import AskSettings
from templates.truth import verdict
from tests.templates import worlds

TEMPLATES = create_templates()


def asked(signals: dict[str, Signal], *, seed: int = 0, **changes: float) -> ClipQuestions:
    return ask_clip(worlds.clip(), signals, list(TEMPLATES.values()), AskSettings(**changes), seed)


def key(draft: Draft) -> tuple[str, str]:
    return draft.fact_id, draft.format


def test_every_leaf_is_asked_and_right() -> None:
    signals = worlds.signals()
    found = asked(signals)
    assert {d.ability for d in found.drafts} == {t.ability for t in TEMPLATES.values()}
    (truth,) = scenes_of(worlds.clip(), signals)
    verdicts = [verdict(TEMPLATES[d.template], d.format, d.fact, d.answer, truth) for d in found.drafts]
    assert False not in verdicts


@pytest.mark.long(sample=True)
def test_equal_seeds_give_equal_drafts_and_another_seed_others() -> None:
    signals = worlds.signals()
    assert repr(asked(signals)) == repr(asked(signals))
    assert repr(asked(signals, seed=1)) != repr(asked(signals))


@pytest.mark.long(sample=True)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_a_label(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=rng).as_matrix()
    turned[:3, 3] = rng.normal(size=3)
    plain, other = worlds.signals(), worlds.signals(world_from_made=turned, unit=unit)
    other["camera_path"] = replace(other["camera_path"], position_sigma=np.full(len(worlds.FRAMES), 1e-4 * unit))
    first, second = asked(plain), asked(other)
    assert [key(d) for d in first.drafts] == [key(d) for d in second.drafts]
    for a, b in zip(first.drafts, second.drafts, strict=True):
        match a.answer, b.answer:
            case Label(), Label():
                assert a.answer.text == b.answer.text
            case (Numbers(), Numbers()) | (Point(), Point()) | (Shape(), Shape()):
                assert a.answer.p_right() == pytest.approx(b.answer.p_right(), abs=1e-6)
        assert a.phrasing.options == b.phrasing.options or isinstance(a.answer, Shape)


def test_mirrored_footage_swaps_left_and_right() -> None:
    """The world seen in a mirror: x → -x in every camera and in every picture."""
    signals = worlds.signals(with_gravity=False)
    flip = np.diag([-1.0, 1, 1, 1])
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    mirrored = {"camera_path": replace(path, world_from_cam=flip @ path.world_from_cam @ flip)}
    for name in ("camera_turn", "camera_travel", "place_direction"):
        template = TEMPLATES[name]
        (scene,) = scenes_of(worlds.clip(), {"camera_path": path})
        (other,) = scenes_of(worlds.clip(), mirrored)
        facts = template.propose(scene, np.random.default_rng(0))
        swapped = 0
        for fact, a, b in zip(facts, template.measure(facts, scene), template.measure(facts, other), strict=True):
            if not (hasattr(a, "value") and hasattr(b, "value")):
                continue
            first, second = template.answer("choice", fact, a), template.answer("choice", fact, b)
            if isinstance(first, Label) and isinstance(second, Label):
                assert second.text == _in_a_mirror(first.text)
                swapped += first.text != second.text
        assert swapped, f"{name}: nothing to swap"


def _in_a_mirror(text: str) -> str:
    pairs = {"right": "left", "left": "right", "Right": "Left", "Left": "Right", "CW": "CCW", "CCW": "CW"}
    return " ".join(pairs.get(word, word) for word in text.split())


def test_nothing_in_metres_is_asked_of_a_relative_clip() -> None:
    assert "range_metres" not in {d.template for d in asked(worlds.signals()).drafts}


def test_a_pure_rotation_gives_no_question_about_positions() -> None:
    found = asked(worlds.signals(motion="rotation_only"))
    kinds = {d.template for d in found.drafts}
    assert "camera_turn" in kinds and "camera_tilt" in kinds and "same_point" in kinds
    assert not kinds & {"camera_travel", "place_direction", "path_map", "range_ratio"}


def test_without_gravity_no_tilt_is_asked_for_the_reason_of_the_expert() -> None:
    signals = worlds.signals(with_gravity=False)
    found = asked({**signals, "gravity": NoEstimate(reason="which axis is up is not known")})
    assert "camera_tilt" not in {d.template for d in found.drafts}
    assert "which axis is up is not known" in {r.reason for r in found.refusals if r.template == "camera_tilt"}


def test_two_reconstructions_that_agree_give_questions_and_two_that_differ_do_not() -> None:
    main = worlds.signals()
    agree = {**main, "camera_path_check": main["camera_path"], "sparse_points_check": main["sparse_points"]}
    assert Counter(map(key, asked(agree).drafts)) == Counter(map(key, asked(main).drafts))
    path = main["camera_path"]
    assert isinstance(path, CameraPath)
    backwards = replace(path, world_from_cam=path.world_from_cam[::-1].copy())
    found = asked({**main, "camera_path_check": backwards, "sparse_points_check": main["sparse_points"]})
    named = {d.template for d in found.drafts if d.format == "choice"}
    assert not named & {"camera_travel", "camera_turn", "path_map", "place_direction"}
    assert "the two reconstructions give different labels" in {r.reason for r in found.refusals}


def test_a_single_reconstruction_counts_as_none() -> None:
    signals = {**worlds.signals(), "camera_path_check": NoEstimate(reason="mapping failed")}
    kinds = {d.template for d in asked(signals).drafts}
    assert not kinds & {"camera_travel", "place_direction", "path_map", "range_ratio"}


def test_every_draft_passes_the_gate_it_is_given() -> None:
    strict = asked(worlds.signals(), min_confidence=0.995)
    assert strict.drafts and all(d.answer.p_right() >= 0.995 for d in strict.drafts)
    assert len(strict.drafts) < len(asked(worlds.signals(), min_confidence=0.9).drafts)


def test_formats_of_a_fact_share_its_id_and_facts_contain_media_terms_only() -> None:
    found = asked(worlds.signals())
    assert len({(d.fact_id, d.format) for d in found.drafts}) == len(found.drafts)
    for draft in found.drafts:
        assert draft.fact.id(draft.clip_id) == draft.fact_id
        assert not {"world", "pose", "sigma"} & set(draft.fact.params)


def test_distractors_are_distinct_and_wrong() -> None:
    for draft in asked(worlds.signals()).drafts:
        options = draft.phrasing.options
        assert len(set(map(repr, options))) == len(options)
        if isinstance(draft.answer, Shape) and draft.format == "choice":
            shapes = [np.array(o.shown.polylines[0]) for o in options]
            for i, shape in enumerate(shapes):
                judged = draft.answer.right(replace(draft.answer, points=shape, sigma=1e-9))
                assert (judged == RIGHT) == (i == draft.phrasing.answer)


def test_abilities_select_and_an_unknown_one_lists_the_known() -> None:
    assert set(create_templates(["L2"])) == {"path_map"}
    motion = create_templates(["L1/Motion"])
    assert [set(create_templates([name])) for name in ("Motion", "motion/", "l1/motion")] == [set(motion)] * 3
    assert set(create_templates(["Gravity", "Ego"])) == {"camera_tilt", "camera_turn", "camera_travel"}
    assert set(create_templates(["l1/motion"])) == {"camera_turn", "camera_travel", "point_moves", "which_moves"}
    with pytest.raises(UnknownAbilityError, match="L2/Memory/Cognitive Map"):
        create_templates(["L9"])


def test_a_name_of_several_nodes_lists_them() -> None:
    leaves = ["L1/Motion/Ego", "L4/Motion/Ego", "L1/Size"]
    with pytest.raises(UnknownAbilityError, match="'motion' names several abilities: L1/Motion, L4/Motion"):
        node_called("motion", leaves)
    assert node_called("L4/Motion", leaves) == node_called("l4/motion/", leaves) == "L4/Motion/"
