"""Which of four photos shows a point of photo 1, on a small exact world."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.signals import Signal
from templates.generate import answers_to
from templates.media import Photo
from templates.perception.photo_of_point import PhotoOfPoint, PointAndPhotos
from templates.scene.correspondence import both_ways
from tests.templates import worlds

PHOTO = PhotoOfPoint()


def proposed(signals: dict[str, Signal] | None = None) -> PointAndPhotos:
    facts = PHOTO.propose(worlds.scene(signals or worlds.signals()), np.random.default_rng(0), 40)
    assert len(facts) >= 4
    return facts


def labels(facts: PointAndPhotos, signals: dict[str, Signal]) -> list[str]:
    answers = answers_to(PHOTO, "choice", facts, PHOTO.measure(facts, worlds.scene(signals))).gated(0.99)
    return np.where(answers.why == "", answers.labels(), answers.why).tolist()  # type: ignore[no-any-return]


def test_the_answer_moves_with_its_photo() -> None:
    facts, order = proposed(), np.array([2, 0, 3, 1])
    before = labels(facts, worlds.signals())
    after = labels(replace(facts, frames_others=facts.frames_others[:, order]), worlds.signals())
    assert {*before} <= {*"2345"}
    assert [order[int(text) - 2] + 2 for text in after] == [int(text) for text in before]


def test_the_point_is_where_the_match_says_and_lies_outside_the_other_photos() -> None:
    facts, signals = proposed(), worlds.signals()
    scene = worlds.scene(signals)
    matches = both_ways(scene)
    assert matches is not None
    for fact, label in zip(facts.to_json(), labels(facts, signals), strict=True):
        pair = [fact["frame_a"], fact["frames_others"][int(label) - 2]]
        own = (matches.pairs[matches.pair] == pair).all(axis=1)
        assert np.linalg.norm(matches.xy_a_px[own] - fact["a_px"], axis=1).min() < 0.1
        point = scene.surface(fact["frame_a"], np.array([fact["a_px"]])).xyz_cam[0]
        pose = scene.world_from_cam(fact["frame_a"])
        for number, frame in enumerate(fact["frames_others"], start=2):
            other = scene.world_from_cam(frame)
            xy = worlds.CAMERA.project((pose[:3, :3] @ point + pose[:3, 3] - other[:3, 3]) @ other[:3, :3])
            assert worlds.CAMERA.contains(xy) == (str(number) == label)


def test_two_photos_with_the_point_or_none_are_refused() -> None:
    facts, signals = proposed(), worlds.signals()
    right = facts.frames_others[np.arange(len(facts)), np.array(labels(facts, signals)).astype(int) - 2]
    twice = np.where(facts.frames_others == right[:, None], right[:, None], facts.frames_others)
    first = twice[:, 0] == right
    twice[np.arange(len(facts)), np.where(first, 1, 0)] = right
    assert {*labels(replace(facts, frames_others=twice), signals)} == {"several photos show the point"}
    wrong = np.where(
        facts.frames_others == right[:, None], np.roll(facts.frames_others, 1, axis=1), facts.frames_others
    )
    assert {*labels(replace(facts, frames_others=wrong), signals)} == {"no photo shows the point"}


def test_with_large_sigma_nothing_is_asked() -> None:
    facts = proposed()
    for changes in ({"rotation_sigma_rad": np.full(len(worlds.FRAMES), 0.2)}, {"focal_relative_sigma": 1.0}):
        assert not {*labels(facts, worlds.with_path(worlds.signals(), **changes))} & {*"2345"}


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_the_questions(seed: int, unit: float) -> None:
    first, second = (
        worlds.drafts(worlds.ask(PHOTO, known)) for known in (worlds.signals(), worlds.elsewhere(seed, unit))
    )
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_every_wrong_photo_is_named_after_what_it_shows() -> None:
    drafts = worlds.drafts(worlds.ask(PHOTO, worlds.signals()))
    for draft in drafts:
        first, *others = draft.media
        assert isinstance(first, Photo) and [mark.text for mark in first.marks] == ["P"]
        assert len(others) == len(draft.options) == 4
        named = [option.mistake for k, option in enumerate(draft.options) if k != draft.written]
        assert sorted(named) == [f"shows {how} of what photo 1 shows" for how in ("least", "less", "most")]
