"""What yield is a share of: facts drawn from pictures, never from signals."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import NoEstimate
from spatial_engine.trust.candidates import DRAWN, candidates, pictures_of
from spatial_engine.trust.yield_share import NOT_DRAWN, clip_yield, total_yield
from templates.perception.geometry import RangeRatio
from templates.registry import create_templates
from templates.scene.placing import MAX_PIXEL_SHIFT
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.template import Template
from tests.spatial_engine.trust.known_room import measured, opened
from tests.templates import worlds

TEMPLATES = create_templates()


@pytest.fixture(scope="module")
def sequence(room):
    return opened(room)


@pytest.fixture(scope="module")
def pictures(sequence):
    return pictures_of(sequence.clip)


def test_facts_are_drawn_for_every_template_that_says_how_which_those_about_objects_do_not(pictures):
    """No picture alone says where objects are."""
    drawn, again, other = (
        {name: candidates(pictures, each, seed) for name, each in TEMPLATES.items()} for seed in (0, 0, 1)
    )
    says_how = {name for name, each in TEMPLATES.items() if type(each).draw is not Template.draw}
    assert says_how == {name for name, facts in drawn.items() if len(facts)}
    assert len(says_how) >= 20 and not any("objects" in TEMPLATES[name].needs for name in says_how)
    assert max(map(len, drawn.values())) == DRAWN
    json, json_again, json_other = ({name: f.to_json() for name, f in some.items()} for some in (drawn, again, other))
    assert json_again == json != json_other


def test_marks_are_inside_the_picture_and_not_too_close(pictures):
    clip = pictures.clip
    for fact in candidates(pictures, TEMPLATES["range_ratio"], 0).to_json():
        a, b = (np.array(fact[name]) for name in ("a_px", "b_px"))
        assert np.linalg.norm(a - b) >= 0.15 * np.hypot(clip.width_px, clip.height_px) - 0.2
        assert (a > 0).all() and (a < [clip.width_px, clip.height_px]).all() and fact["frame"] in clip.frames


def test_what_is_measured_is_decided_and_what_is_not_is_counted_with_its_reason(sequence):
    signals = measured(sequence)
    names = ("range_ratio", "camera_turn", "camera_tilt", "same_point")
    found = {each.template: each for each in clip_yield(
        sequence.clip, signals, [TEMPLATES[name] for name in names], AskSettings(), 0
    )}  # fmt: skip
    assert found["camera_tilt"].decided > 0.5 * found["camera_tilt"].drawn > 0
    assert found["range_ratio"].decided > 0
    assert found["same_point"].decided == 0 and found["same_point"].reasons == {
        "matches not measured": found["same_point"].drawn
    }
    whole = total_yield(found.values())
    assert whole.drawn == sum(each.drawn for each in found.values()) and 0 < whole.share < 1
    assert list(whole.reasons.values()) == sorted(whole.reasons.values(), reverse=True)


def test_the_denominator_does_not_depend_on_signals(sequence):
    templates = [TEMPLATES["camera_turn"], TEMPLATES["range_ratio"]]
    nothing = {"camera_path": NoEstimate(reason="too little parallax")}
    bare = clip_yield(sequence.clip, nothing, templates, AskSettings(), 0)
    full = clip_yield(sequence.clip, measured(sequence), templates, AskSettings(), 0)
    assert [each.drawn for each in bare] == [each.drawn for each in full]
    assert all(each.decided == 0 and set(each.reasons) == {"too little parallax"} for each in bare)


def test_a_fact_moves_to_the_nearest_known_place_and_no_farther():
    (scene,) = scenes_of(worlds.clip(), worlds.signals())
    metres = TEMPLATES["range_metres"]
    known = metres.propose(scene, np.random.default_rng(0), 1).take(slice(0, 1))
    near, far = known.moved(np.array([0.3, 0.2])), known.moved(np.array([4000.0, 0.0]))
    assert metres.placed(known, scene).to_json() == known.to_json()
    moved, unmoved = (metres.placed(off, scene).pixels()[0, 0] for off in (near, far))
    assert np.linalg.norm(moved - known.pixels()[0, 0]) <= MAX_PIXEL_SHIFT * scene.diagonal_px
    np.testing.assert_array_equal(unmoved, far.pixels()[0, 0])
    track = TEMPLATES["point_moves"].propose(scene, np.random.default_rng(0), 1).take(slice(0, 1))
    placed = TEMPLATES["point_moves"].placed(track.moved(np.array([1.0, 0.0])), scene)
    assert placed.to_json()[0]["frames"] == track.to_json()[0]["frames"]
    pair = TEMPLATES["same_point"].propose(scene, np.random.default_rng(0), 1).take(slice(0, 1))
    later = replace(pair, frame_b=pair.frame_b + 1)
    assert TEMPLATES["same_point"].placed(later, scene).to_json() == pair.rounded().to_json()


class _Undrawn(RangeRatio):
    """Of a third party that says nothing of draws."""

    draw = Template.draw


def test_a_template_without_draws_is_reported(sequence):
    (found,) = clip_yield(sequence.clip, measured(sequence), [_Undrawn()], AskSettings(), 0)
    assert found.drawn == found.decided == 0 and found.reasons[NOT_DRAWN] == 1
