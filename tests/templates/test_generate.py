"""Facts, gates and refusals on a small exact world."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.signals import CameraPath, NoEstimate, Signal
from templates.answers import RIGHT, Label, Numbers, Point, Shape
from templates.asked import ClipQuestions, Draft
from templates.generate import answers_to, ask_clip
from templates.registry import UnknownAbilityError, create_templates, node_called
from templates.settings import AskSettings
from templates.truth import verdict
from templates.world import Procedural
from tests.templates import worlds

TEMPLATES = {name: template for name, template in create_templates().items() if template.world is not Procedural}
pytestmark = pytest.mark.xdist_group("generate")  # in one process the usual questions are asked once
ASKED = {"facts_per_template": 2}
HIGHER = {t.ability for t in TEMPLATES.values() if not t.ability.startswith("L1")}
"""Abilities that are left out where those of perception show as much."""


@pytest.fixture(scope="module", autouse=True, params=[2, pytest.param(8, marks=pytest.mark.long)], ids=["few", "usual"])
def facts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fewer facts of each template; all long tests ask for the usual number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ASKED, "facts_per_template", request.param)
        yield
    usual.cache_clear()


def asked(
    signals: dict[str, Signal], *, seed: int = 0, without: Collection[str] = (), **changes: float
) -> ClipQuestions:
    """All questions but those about abilities that need not be asked again."""
    templates = [template for template in TEMPLATES.values() if template.ability not in without]
    return ask_clip(worlds.clip(), signals, templates, AskSettings(**{**ASKED, **changes}), seed)


@cache
def usual() -> ClipQuestions:
    return asked(worlds.signals())


def drafts(signals: dict[str, Signal | NoEstimate], **changes: float | Collection[str]) -> list[Draft]:
    return worlds.drafts(asked(signals, **changes))  # type: ignore[arg-type]


def key(draft: Draft) -> tuple[str, str]:
    return draft.fact_id, draft.format


def test_every_leaf_is_asked_and_right() -> None:
    abilities: set[str] = set()
    verdicts: list[bool | None] = []
    made = worlds.signals()
    around = worlds.signals(poses=worlds.poses_around())
    for signals in (
        made,
        around,
        worlds.with_vase(made),
        worlds.with_parts(made),
        worlds.with_effector(made),
        worlds.with_task(made),
    ):
        found, truth = drafts(signals, without=abilities), worlds.scene(signals)
        abilities |= {d.ability for d in found}
        verdicts += [verdict(TEMPLATES[d.template], d.format, dict(d.fact), d.answer, truth) for d in found]
    assert abilities == {t.ability for t in TEMPLATES.values()}
    assert False not in verdicts and verdicts.count(True) > 0.9 * len(verdicts)


@pytest.mark.long
def test_equal_seeds_give_equal_drafts_and_another_seed_others() -> None:
    signals = worlds.signals()
    assert repr(drafts(signals)) == repr(drafts(signals))
    assert repr(drafts(signals, seed=1)) != repr(drafts(signals))


@pytest.mark.long
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_a_label(seed: int, unit: float) -> None:
    first, second = drafts(worlds.signals()), drafts(worlds.elsewhere(seed, unit))
    assert [key(d) for d in first] == [key(d) for d in second]
    for a, b in zip(first, second, strict=True):
        match a.answer, b.answer:
            case Label(), Label():
                assert a.answer.text == b.answer.text
            case (Numbers(), Numbers()) | (Point(), Point()) | (Shape(), Shape()):
                assert a.answer.p_right() == pytest.approx(b.answer.p_right(), abs=1e-6)
        assert a.options == b.options or isinstance(a.answer, Shape)


def test_mirrored_footage_swaps_left_and_right() -> None:
    """The world seen in a mirror: x → -x in every camera and in every picture."""
    signals = worlds.signals(with_gravity=False)
    scene, other = (worlds.scene({"camera_path": s["camera_path"]}) for s in (signals, worlds.mirrored(signals)))
    for name in ("camera_turn", "camera_travel", "place_direction"):
        template = TEMPLATES[name]
        facts = template.propose(scene, np.random.default_rng(0), 40)
        first, second = (answers_to(template, "choice", facts, template.measure(facts, s)) for s in (scene, other))
        named = (first.why == "") & (second.why == "")
        labels, mirrored = first.labels()[named], second.labels()[named]
        assert mirrored.tolist() == [worlds.in_a_mirror(text) for text in labels.tolist()]
        assert (labels != mirrored).any(), f"{name}: nothing to swap"


def test_nothing_in_metres_is_asked_of_a_relative_clip() -> None:
    assert "range_metres" not in {d.template for d in worlds.drafts(usual())}


def test_a_pure_rotation_gives_no_question_about_positions() -> None:
    kinds = {d.template for d in drafts(worlds.signals(motion="rotation_only"))}
    assert "camera_turn" in kinds and "camera_tilt" in kinds and "same_point" in kinds
    assert not kinds & {"camera_travel", "place_direction", "path_map", "range_ratio"}


def test_without_gravity_no_tilt_is_asked_for_the_reason_of_the_expert() -> None:
    signals = worlds.signals(with_gravity=False)
    found = asked({**signals, "gravity": NoEstimate(reason="which axis is up is not known")})
    assert "camera_tilt" not in {one.template.name for one in found.asked}
    assert "which axis is up is not known" in {r.reason for r in found.refusals if r.template == "camera_tilt"}


def test_two_reconstructions_that_agree_give_questions_and_two_that_differ_do_not() -> None:
    main = worlds.signals()
    agree = {**main, "camera_path_check": main["camera_path"], "sparse_points_check": main["sparse_points"]}
    usual = drafts(main, without=HIGHER)
    assert Counter(map(key, drafts(agree, without=HIGHER))) == Counter(map(key, usual))
    path = main["camera_path"]
    assert isinstance(path, CameraPath)
    backwards = replace(path, world_from_cam=path.world_from_cam[::-1].copy())
    differing = {**main, "camera_path_check": backwards, "sparse_points_check": main["sparse_points"]}
    found = asked(differing, without=HIGHER)
    named = {one.template.name for one in found.asked if one.format == "choice"}
    assert not named & {"camera_travel", "camera_turn", "place_direction"}
    assert "the two reconstructions give different labels" in worlds.reasons(found)


def test_a_single_reconstruction_counts_as_none() -> None:
    signals = {**worlds.signals(), "camera_path_check": NoEstimate(reason="mapping failed")}
    kinds = {d.template for d in drafts(signals)}
    assert not kinds & {"camera_travel", "place_direction", "path_map", "range_ratio"}


def test_every_draft_passes_the_gate_it_is_given() -> None:
    strict = drafts(worlds.signals(), without=HIGHER, min_confidence=0.995)
    assert strict and all(d.answer.p_right() >= 0.995 for d in strict)
    assert len(strict) < len(asked(worlds.signals(), without=HIGHER, min_confidence=0.9))


def test_the_confidence_of_a_question_is_that_of_its_answer() -> None:
    for one in usual().asked:
        assert one.p_right == pytest.approx([float(draft.answer.p_right()) for draft in one.drafts()])


def test_formats_of_a_fact_share_its_id_and_facts_contain_media_terms_only() -> None:
    found = worlds.drafts(usual())
    assert len({key(d) for d in found}) == len(found)
    for draft in found:
        (id,) = TEMPLATES[draft.template].facts.from_json([draft.fact]).ids(draft.clip_id, draft.template)
        assert id == draft.fact_id
        assert not {"world", "pose", "sigma"} & set(draft.fact)


def test_at_most_so_many_facts_of_a_template_are_asked_whatever_the_format() -> None:
    found = asked(worlds.signals(), without=HIGHER, facts_per_template=5)
    for template in TEMPLATES:
        ids = {id for one in found.asked if one.template.name == template for id in one.fact_ids.tolist()}
        assert len(ids) <= 5


def test_distractors_are_distinct_and_wrong() -> None:
    shapes_seen = 0
    for draft in worlds.drafts(usual()):
        options = draft.options
        assert len(set(map(repr, options))) == len(options)
        if isinstance(draft.answer, Shape) and draft.format == "choice":
            shapes = [np.array(o.shown.polylines[0]) for o in options]  # type: ignore[union-attr]
            for i, shape in enumerate(shapes):
                judged = draft.answer.right(replace(draft.answer, points=shape, sigma=1e-9))
                assert (judged == RIGHT) == (i == draft.written)
            shapes_seen += 1
    assert shapes_seen >= 2


EGO = {"camera_turn", "camera_travel", "camera_moves", "heading_point"} | {
    "camera_speed",
    "faster_camera",
    "how_it_moves",
    "camera_zoom",
}
ALLO = {"point_moves", "which_moves", "object_direction", "comes_or_goes", "object_turns"} | {
    "faster_object",
    "object_speed",
}


def test_abilities_select_and_an_unknown_one_lists_the_known() -> None:
    assert set(create_templates(["L2"])) == {
        "path_map",
        "map_direction",
        "map_json",
        "which_room_map",
        "room_area",
        "where_on_map",
        "which_photo",
        "how_many",
        "which_stands",
        "afford_mark",
        "use_of",
        "relation_of",
        "true_statement",
        "afford_parts",
        "afford_point",
        "body_fit",
        "walk_between",
        "seat_height",
        "first_seen",
        "last_seen",
        "stood_beside",
        "what_moved",
        "camera_story",
        "camera_statement",
        "camera_caption",
        "camera_manner",
        "what_happens",
        "moves_along",
        "from_place",
        "from_object",
        "place_again",
        "count_on_side",
        "can_see",
        "which_can_see",
        "view_from",
        "true_caption",
        "captioned_photo",
        "caption_gap",
        "scene_caption",
    }
    motion = create_templates(["L1/Motion"])
    assert [set(create_templates([name])) for name in ("Motion", "motion/", "l1/motion")] == [set(motion)] * 3
    gravity = {"camera_tilt", "roll_side", "tilt_order", "horizon_line", "up_arrow"}
    assert set(create_templates(["Gravity", "Ego"])) == gravity | EGO
    assert set(motion) == EGO | ALLO
    with pytest.raises(UnknownAbilityError, match="L2/Memory/Cognitive Map"):
        create_templates(["L9"])


def test_a_name_of_several_nodes_lists_them() -> None:
    leaves = ["L1/Motion/Ego", "L4/Motion/Ego", "L1/Size"]
    with pytest.raises(UnknownAbilityError, match="'motion' names several abilities: L1/Motion, L4/Motion"):
        node_called("motion", leaves)
    assert node_called("L4/Motion", leaves) == node_called("l4/motion/", leaves) == "L4/Motion/"
