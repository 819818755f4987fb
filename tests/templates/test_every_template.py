"""What holds for every template on columns: any rows, one row, no rows, rows that cannot be measured."""

from collections import Counter
from functools import cache, lru_cache
from itertools import cycle, islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.generate import Reasons, answers_to, ask_about, measure_on_all, measured_by
from templates.measured import Measured
from templates.offer import Offer
from templates.registry import create_templates
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.simulation.progress.progress_pair import ProgressPair
from templates.template import Template
from templates.world import Procedural
from tests.templates import worlds

TEMPLATES = {n: t for n, t in create_templates(unanswerable=True).items() if t.world is not Procedural}
TEMPLATES["progress_pair"] = ProgressPair(thinned=4)
"""The made-up clip is too short for its windows of every tenth frame."""
IN_ROOM = {"can_see", "which_can_see", "seat_height", "walk_between", "beyond_frame", "behind_it", "route_on_map"}
NAMES = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group("of the room" if name in IN_ROOM else name))
        for name in TEMPLATES
    ],
    scope="module",
)  # all tests of a template, then the next, in one process: scenes and proposed facts are kept


@lru_cache(maxsize=4)
def scene(name: str) -> Scene:
    """What a template is asked about; only those that need depth have any."""
    if name in IN_ROOM:
        return scene_of_room()
    if "task" in TEMPLATES[name].needs:
        return worlds.scene(worlds.as_truth(worlds.with_task(worlds.signals())))
    if name == "count_on_side":
        return worlds.scene(worlds.as_truth(worlds.signals()))
    if TEMPLATES[name].ability == "L2/Understanding/Perspective Taking":
        return worlds.scene(worlds.signals(poses=worlds.poses_around()))
    if name in ("afford_mark", "afford_parts", "afford_point"):
        return worlds.scene(worlds.with_parts(worlds.signals()))
    if name in ("relation_of", "true_statement"):
        return worlds.scene(worlds.boards(worlds.with_vase(worlds.signals())))
    if name == "goal_in_words":
        return worlds.scene(worlds.with_hall(worlds.signals()))
    if name == "body_fit":
        return worlds.scene(worlds.with_floor(worlds.signals()))
    if name in ("room_area", "best_view"):
        return worlds.scene(worlds.empty_room())
    if name == "which_stands":
        return worlds.scene(worlds.with_vase(worlds.signals()))
    if name in (
        "enough_seen",
        "how_many",
        "first_seen",
        "last_seen",
        "stood_beside",
        "map_direction",
        "map_json",
        "which_room_map",
    ):
        return worlds.scene(worlds.as_truth(worlds.signals(poses=worlds.poses_turning())))
    if name == "camera_zoom":
        return worlds.scene(worlds.zooming(worlds.signals()))
    if name in ("what_happens", "moves_along"):
        return worlds.scene(worlds.as_truth(worlds.with_movers(worlds.signals())))
    if name == "camera_manner":
        return worlds.scene(worlds.signals(poses=worlds.poses_around()))
    if name in ("where_next", "meets_first"):
        return worlds.scene(worlds.on_tripod(racing=name == "meets_first"))
    if name == "where_it_ends":
        return worlds.scene(worlds.with_path(worlds.signals(poses=worlds.poses_around()), scale=worlds.METRIC))
    if name == "time_to_contact":
        return worlds.scene(worlds.with_path(worlds.signals(poses=worlds.poses_in_parts()), direction_sigma_rad=0.01))
    if name in ("relation_across", "camera_story", "camera_statement", "camera_caption"):
        return worlds.scene(worlds.signals(poses=worlds.poses_in_parts()))
    if name == "captioned_photo":
        return worlds.scene(worlds.surer(worlds.signals()))
    if name == "primitive_of":
        return scene_of_balls()
    if "effector_path" in TEMPLATES[name].needs:
        return worlds.scene(worlds.with_effector(worlds.signals()))
    return scene_with("depth" in TEMPLATES[name].needs)


@cache
def scene_with(depth: bool) -> Scene:
    """Metric, with moving objects and photos held in different ways, so that every template asks."""
    signals = worlds.with_path(worlds.signals(), scale=worlds.METRIC)
    return worlds.scene(worlds.aslant(worlds.with_movers(worlds.boards(signals) if depth else signals)))


@cache
def scene_of_room() -> Scene:
    """Things that hide others, from many sides; of the size of the made-up world."""
    room = furnished_room(np.random.default_rng(1), frames=16, width_px=640, height_px=480)
    return worlds.scene(true_signals(room, as_clip(room)))


@cache
def scene_with_slope() -> Scene:
    return worlds.scene({**worlds.signals(), "depth": worlds.slope()})


@cache
def scene_of_balls() -> Scene:
    """Of one photo alone, boards might be boxes."""
    return worlds.scene(worlds.balls(worlds.signals()))


@cache
def proposed(name: str) -> Facts:
    facts = TEMPLATES[name].propose(scene(name), np.random.default_rng(0), 40).rounded()
    assert len(facts) >= 4
    return facts


@cache
def measured(name: str) -> Measured:
    return measured_by(TEMPLATES[name], proposed(name), scene(name))


def some_rows(name: str) -> st.SearchStrategy[np.ndarray]:
    last = len(proposed(name)) - 1
    return st.lists(st.integers(0, last), max_size=6).map(lambda rows: np.array(rows, dtype=int))


def assert_equal(found: Measured, expected: Measured) -> None:
    """Where a fact is undecided, its numbers mean nothing."""
    assert found.why.tolist() == expected.why.tolist()
    known = found.why == ""
    np.testing.assert_array_equal(np.isnan(found.value[known]), np.isnan(expected.value[known]))
    columns = {
        name: (getattr(found, name), getattr(expected, name)) for name in ("value", "sigma", "margin", "outliers")
    }
    if known.any():
        columns |= {name: (found.evidence[name], expected.evidence[name]) for name in expected.evidence}
    for name, (one, other) in columns.items():
        if one is not None and one.dtype.kind in "fib":
            shown = ~np.isnan(found.value[known]) if name == "sigma" else ...  # a path may be shorter than others
            np.testing.assert_allclose(one[known][shown], other[known][shown], rtol=1e-12, atol=1e-12, err_msg=name)
        elif one is not None:
            assert one[known].tolist() == other[known].tolist(), name
    if found.label is not None and expected.label is not None:
        assert found.label[known].tolist() == expected.label[known].tolist()


@NAMES
@settings(max_examples=10)
@given(data=st.data())
def test_a_measurement_does_not_depend_on_the_other_rows(name: str, data: st.DataObject) -> None:
    rows = data.draw(some_rows(name))
    assert (measured(name).why == "").any()
    assert_equal(measured_by(TEMPLATES[name], proposed(name).take(rows), scene(name)), measured(name).take(rows))


@NAMES
@settings(max_examples=5)
@given(data=st.data())
def test_answers_and_offers_do_not_depend_on_the_other_rows(name: str, data: st.DataObject) -> None:
    template, rows = TEMPLATES[name], data.draw(some_rows(name))
    every, some = all_stages(name), stages(template, proposed(name).take(rows))
    for format in template.formats:
        (answers, offer), (few, offered) = every[format], some[format]
        assert few.why.tolist() == answers.why[rows].tolist()
        np.testing.assert_allclose(few.p_right, answers.p_right[rows], rtol=1e-9, atol=1e-12)
        for k, row in enumerate(rows.tolist()):
            if few.why[k] == "":
                assert_close(few.row(k).to_json().value, answers.row(row).to_json().value)
        if offer is not None and offered is not None and offer.options is not None and offered.options is not None:
            asked = few.why == ""
            np.testing.assert_array_equal(offered.right[asked], offer.right[rows][asked])  # type: ignore[index]
            np.testing.assert_array_equal(offered.options[asked], offer.options[rows][asked])


@lru_cache(maxsize=4)
def all_stages(name: str) -> dict[str, tuple[Answers, Offer | None]]:
    return stages(TEMPLATES[name], proposed(name))


def stages(template: Template, facts: Facts) -> dict[str, tuple[Answers, Offer | None]]:
    """The answers, refused where there is no offer, and the offers, by format."""
    found = measure_on_all(template, facts, (scene(template.name),))
    chance, by_format = Chance.of(facts.ids("c", template.name), 0), {}
    for format in template.formats:
        answers = answers_to(template, format, facts, found).gated(0.99)
        offer = template.offer(format, facts, answers, chance)
        by_format[format] = (answers if offer is None else answers.refused(offer.why), offer)
    return by_format


def assert_close(one: Json, other: Json) -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_close(one[name], other[name])
    elif isinstance(one, str) or one is None:
        assert one == other
    else:
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@NAMES
def test_no_facts_pass_through_every_stage(name: str) -> None:
    template = TEMPLATES[name]
    for none in (template.facts.none(), proposed(name).take(np.empty(0, dtype=int)), template.facts.from_json([])):
        for known in (scene(name), worlds.scene({}), scene_with_slope()):
            assert len(measured_by(template, none, known)) == 0
        for answers, offer in stages(template, none).values():
            assert len(answers) == len(answers.p_right) == len(answers.labels()) == 0
            assert offer is None or (len(offer.why) == 0 and offer.take(np.empty(0, dtype=int)).why.tolist() == [])
        reasons: Reasons = Counter()
        assert ask_about(template, none, (scene(name),), AskSettings(), 0, reasons) == [] and not reasons
        assert len(template.placed(none, scene(name))) == 0


@NAMES
def test_questions_of_no_rows_have_no_words(name: str) -> None:
    reasons: Reasons = Counter()
    for asked in ask_about(TEMPLATES[name], proposed(name).distinct(), (scene(name),), AskSettings(), 0, reasons):
        none = asked.take(np.empty(0, dtype=int))
        assert len(none) == len(none.right_words()) == len(none.offers_undetermined()) == len([*none.drafts()]) == 0
        one = asked.take(np.array([len(asked) - 1]))
        (draft,), last = one.drafts(), asked.draft(len(asked) - 1)
        assert worlds.shown(draft) == worlds.shown(last) and repr(draft.evidence) == repr(last.evidence)


@NAMES
def test_facts_of_frames_that_the_clip_lacks_are_refused_with_a_reason(name: str) -> None:
    """Signals may be missing for drawn facts, and in a second scene."""
    template, drawn = TEMPLATES[name], []
    corners = {
        int(f): np.random.default_rng(int(f)).uniform([60, 50], [580, 430], (30, 2)).round(1) for f in (1, 7, 21)
    }
    rng = np.random.default_rng(0)
    pictures = Pictures(clip=worlds.clip(), corners=corners)
    if type(template).draw is Template.draw:  # its facts cannot be drawn before signals are known
        drawn = [*islice(cycle(proposed(name).to_json()), 8)]
    while len(drawn) < 8:
        if (fact := template.draw(pictures, rng)) is not None:
            drawn.append(fact)
    facts = template.facts.from_json(drawn)
    assert facts.to_json() == drawn
    for known in (scene(name), worlds.scene({}), worlds.scene(worlds.signals(motion="rotation_only"))):
        found = measured_by(template, facts, known)
        for format in template.formats:
            why = answers_to(template, format, facts, found).why
            assert (why[found.why != ""] == found.why[found.why != ""]).all()
        assert (found.why != "").all() or known.signals
    placed = template.placed(facts, scene(name))
    assert (
        len(placed) == len(facts)
        and (measured_by(template, placed, scene(name)).why == "").sum()
        >= (measured_by(template, facts, scene(name)).why == "").sum()
    )


@NAMES
def test_facts_survive_json(name: str) -> None:
    facts, template = proposed(name), TEMPLATES[name]
    again = template.facts.from_json(facts.to_json())
    assert again.to_json() == facts.to_json() and again.ids("c", name) == facts.ids("c", name)
    assert_equal(measured_by(template, again, scene(name)), measured(name))


@NAMES
def test_two_scenes_of_one_path_agree_with_one(name: str) -> None:
    """The same reconstruction twice adds no σ, and refuses nothing."""
    signals = dict(scene(name).signals)
    own = [n for n in ("camera_path", "sparse_points", "depth") if n in signals]
    twice = scenes_of(worlds.clip(), {**signals, **{f"{n}_check": signals[n] for n in own}})
    assert len(twice) == 1 + ("camera_path" in own)
    assert_equal(measure_on_all(TEMPLATES[name], proposed(name), twice), measured(name))
