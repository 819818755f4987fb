"""Verdicts on labels: right ones, planted ones, and truth that is none."""

import re
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from spatial_engine.trust.label_audit import NO_TRUTH, UNSOUND, compare_labels, frames_of
from templates.answers.registry import recorded_answer
from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.truth import Claim, compare_all
from tests.spatial_engine.trust.known_room import opened

TEMPLATES = create_templates()


@dataclass
class Known:
    """The same scene for all frames."""

    of: Scene
    unsound: frozenset[int] = frozenset()
    asked: list = field(default_factory=list)

    def scene(self, dense=()) -> Scene:
        self.asked.append(tuple(dense))
        return self.of


@pytest.fixture(scope="module")
def scene(room):
    sequence = opened(room)
    return sequence.scene(sequence.clip.frames.tolist())


@pytest.fixture(scope="module")
def questions(labels):
    return list(labels.questions)


def one(question, scene, **changes):
    (found,) = compare_labels([replace(question, **changes)], {question.clip: Known(scene)})
    return found


def by_kind(questions):
    return {(question.template, question.format): question for question in questions}


def test_right_labels_are_right(questions, scene):
    found = list(compare_labels(questions, {questions[0].clip: Known(scene)}))
    assert sorted(v.id for v in found) == sorted(q.id for q in questions)
    words = Counter(verdict.word for verdict in found)
    assert words["wrong"] == 0 and words["right"] >= 0.85 * len(found)
    assert {(v.template, v.format) for v in found if v.word == "right"} >= set(by_kind(questions)) - {
        ("same_point", "point")
    }
    assert all(v.experts == "a good one" for v in found)


def said(comparisons):
    """In words, with numbers to nine decimals: sums of batches differ in the last digit."""
    return re.sub(r"\d+\.\d+(?:e-?\d+)?", lambda number: f"{float(number[0]):.9f}", repr(comparisons))


def test_all_at_once_says_what_one_by_one_says(questions, scene):
    for template in {question.template for question in questions}:
        own = [question for question in questions if question.template == template]
        claims = [Claim(format=q.format, fact=dict(q.fact), predictions=(recorded_answer(q),)) for q in own]
        together = compare_all(TEMPLATES[template], claims, scene, slack_px=3.0)
        singly = [one for claim in claims for one in compare_all(TEMPLATES[template], [claim], scene, slack_px=3.0)]
        assert said(together) == said(singly)


def test_a_wrongly_arranged_letter_is_found(questions, scene):
    """The measurement beside it is right; the answer is what a model is scored against."""
    right = {
        verdict.id
        for verdict in compare_labels(questions, {questions[0].clip: Known(scene)})
        if verdict.word == "right"
    }
    choices = [q for q in questions if q.format == "choice" and q.id in right]
    assert len({q.template for q in choices}) >= 7
    arranged = [replace(q, answer="B" if q.answer == "A" else "A") for q in choices]
    missing = [replace(q, answer="Z") for q in choices]
    for spoiled in (arranged, missing):
        found = list(compare_labels(spoiled, {questions[0].clip: Known(scene)}))
        assert {verdict.word for verdict in found} == {"wrong"} and len(found) == len(choices)


@pytest.mark.parametrize("answer", [None, "seven", {"no": 1}, 10**400, "A"])
def test_an_answer_that_is_none_is_wrong_or_undecided_and_never_raises(questions, scene, answer):
    spoiled = [
        replace(question, answer=answer) for question in by_kind(questions).values() if question.answer != answer
    ]
    found = list(compare_labels(spoiled, {questions[0].clip: Known(scene)}))
    assert len(found) == len(spoiled) and "right" not in {verdict.word for verdict in found}


def test_numbers_words_orders_and_plans_that_are_off_are_found(questions, scene):
    kinds = by_kind(questions)
    ratio = kinds["range_metres", "numeric"]
    assert one(ratio, scene, answer=ratio.answer * 1.4).word == "wrong"
    assert one(ratio, scene, value=ratio.value * 1.4).word == "wrong"
    assert one(ratio, scene, answer=ratio.answer + 0.2 * ratio.tolerance).word == "right"
    tilt = kinds["camera_tilt", "json"]
    assert one(tilt, scene, answer=tilt.answer | {"roll": tilt.answer["roll"] + 9}).word == "wrong"
    order = kinds["route_order", "order"]
    assert one(order, scene, answer=order.answer[::-1]).word == "wrong"
    shown = kinds["path_map", "yes_no"]
    assert one(shown, scene, answer={"yes": "no", "no": "yes"}[shown.answer]).word == "wrong"
    plan = kinds["navigate", "plan"]
    steps = [10 if step < 6 else 1 for step in plan.answer["step_nums"]]
    assert one(plan, scene, answer=plan.answer | {"step_nums": steps}).word == "wrong"


def test_the_same_point_by_letter(questions, scene):
    """Options are the marks that the picture shows, in the order in which letters were arranged."""
    near = by_kind(questions)["range_metres", "numeric"]
    frame, (x, y) = near.fact["frame"], near.fact["a_px"]
    marks = [{"text": str(k + 1), "xy_px": [x + 60.0 * (k - 2), y]} for k in range(4)]
    values = [marks[k]["xy_px"] for k in (0, 2, 1, 3)]
    question = replace(
        near, template="same_point", format="choice", options=["Point 1", "Point 3", "Point 2", "Point 4"], answer="B",
        fact={"frame_a": frame, "a_px": [x, y], "frame_b": frame, "size": [200, 150], "decoy_px": None},
        value=[x, y], sigma=0.7, tolerance=5.0, scorer="point", scorer_params={"option_values": values},
        media=[{"kind": "frames", "frames": [frame], "marks": marks}],
    )  # fmt: skip
    assert one(question, scene).word != "wrong"
    assert one(question, scene, answer="C").word in ("wrong", "undecidable")


def test_without_sound_truth_every_question_is_undecidable(questions, scene):
    assert {v.reason for v in compare_labels(questions, {})} == {NO_TRUTH}


def test_what_needs_no_unsound_part_of_the_truth_is_decided(questions, scene):
    """A photo has a wrong pose: the rotation to it is open, distances in it are not."""
    turn, near = (by_kind(questions)[name, "numeric"] for name in ("camera_turn", "range_metres"))
    bad = {frames_of(turn)[0], *frames_of(near)}
    poses = scene.path.world_from_cam.copy()
    poses[np.isin(scene.path.frames, sorted(bad))] = np.nan
    path = replace(scene.path, world_from_cam=poses, registered=np.isfinite(poses).all(axis=(1, 2)))
    known = Known(replace(scene, signals={**scene.signals, "camera_path": path}), unsound=frozenset(bad))
    found = {verdict.template: verdict for verdict in compare_labels([turn, near], {turn.clip: known})}
    assert (found["camera_turn"].word, found["camera_turn"].reason) == ("undecidable", UNSOUND)
    assert found["range_metres"].word == "right"


def test_depth_is_asked_for_a_few_frames_at_a_time(questions, scene, monkeypatch):
    monkeypatch.setattr("spatial_engine.trust.label_audit._DENSE_AT_ONCE", 3)
    near, known = by_kind(questions)["range_metres", "numeric"], Known(scene)
    spread = [
        replace(near, fact_id=str(k), fact={**near.fact, "frame": k}, media=[{**near.media[0], "frames": [k]}])
        for k in range(7)
    ]
    turn = by_kind(questions)["camera_turn", "numeric"]  # of whole pictures: needs no depth
    assert len(list(compare_labels([*spread, turn], {near.clip: known}))) == 8
    assert known.asked == [(0, 1, 2), (3, 4, 5), (6,)]


def test_the_distance_of_what_a_video_shows_first_is_asked_for(questions, scene):
    ride, known = by_kind(questions)["how_it_moves", "choice"], Known(scene)
    (found,) = compare_labels([ride], {ride.clip: known})
    assert found.word == "right" and known.asked == [(frames_of(ride)[0],)]
    assert len(frames_of(ride)) > 1


def test_a_template_that_is_not_installed(questions, scene):
    assert one(questions[0], scene, template="of a third party").reason == "its template is not installed"


def test_truth_without_depth_decides_what_needs_none(room, questions):
    bare = replace(sequence := opened(room), truth=replace(sequence.truth, depth=None))
    found = list(compare_labels(questions, {sequence.clip.id: Known(bare.scene())}))
    by_template = {template: {v.word for v in found if v.template == template} for template in TEMPLATES}
    assert by_template["range_ratio"] == by_template["range_metres"] == {"undecidable"}
    assert "right" in by_template["camera_turn"] and not any("wrong" in words for words in by_template.values())


def test_a_set_without_a_clock_borrows_that_of_the_media(scene, questions):
    order = by_kind(questions)["route_order", "order"]
    timeless = replace(scene, clip=replace(scene.clip, times_s=None))
    assert one(order, timeless).word == one(order, scene).word == "right"
    stopped = [{**medium, "times_s": None} for medium in order.media]
    assert one(order, timeless, media=stopped).reason == "truth: the photos have no time stamps"
    assert np.isfinite(scene.clip.times_s).all()
