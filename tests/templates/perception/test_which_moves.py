"""Which of three marked points moves, on the made-up world with one moving group."""

from dataclasses import replace

import numpy as np

from templates.perception.allo_motion import MarkedTracks, WhichMoves
from templates.truth import verdict
from tests.templates import worlds

WHICH = WhichMoves()
SCENE = worlds.scene(worlds.signals())


def proposed() -> MarkedTracks:
    facts = WHICH.propose(SCENE, np.random.default_rng(1), 40).rounded()
    assert isinstance(facts, MarkedTracks) and facts.points_px.shape[1:] == (3, 2)
    return facts


def test_one_of_three_spaced_points_moves_and_the_answer_is_right() -> None:
    found = [draft for seed in range(6) for draft in worlds.drafts(worlds.ask(WHICH, worlds.signals(), seed=seed))]
    tracks = SCENE.tracks
    assert tracks is not None and len({draft.written for draft in found}) == 3
    for draft in found:
        points = np.array(draft.fact["points_px"])
        column = int(np.flatnonzero(tracks.frames == draft.fact["frames"][0])[0])
        nearest = [int(np.nanargmin(np.linalg.norm(tracks.xy_px[:, column] - xy, axis=1))) for xy in points]
        (moving,) = np.flatnonzero(tracks.motion[nearest] == 1)
        assert draft.written == moving and draft.options[moving].value == str(moving + 1)
        assert [mark.text for mark in draft.media[0].marks] == ["1", "2", "3"]
        assert verdict(WHICH, "choice", dict(draft.fact), draft.answer, SCENE) is True
        wrong = replace(draft.answer, text=str((moving + 1) % 3 + 1))
        assert verdict(WHICH, "choice", dict(draft.fact), wrong, SCENE) is False
        apart = np.linalg.norm(points[:, None] - points, axis=2)
        assert apart[~np.eye(3, dtype=bool)].min() >= 0.12 * 800


def test_none_or_two_moving_points_have_no_answer() -> None:
    facts, decided = proposed(), WHICH.measure(proposed(), SCENE).why == ""
    assert decided.any()
    facts = facts.take(decided)
    still, first = facts.points_px.copy(), np.arange(len(facts))
    label = WHICH.measure(facts, SCENE).label
    assert label is not None
    moving = label.astype(int) - 1
    still[first, moving] = still[first, (moving + 1) % 3]
    none, two = replace(facts, points_px=still), facts.points_px.copy()
    two[first, (moving + 1) % 3] = two[first, moving]
    for each in (none, replace(facts, points_px=two)):
        assert set(WHICH.measure(each, SCENE).why.tolist()) == {"not exactly one of the points moves"}


def test_one_unknown_point_leaves_all_three_undecided() -> None:
    facts = proposed()
    facts.points_px[:, 2] = [45.0, 35.0]
    assert set(WHICH.measure(facts, SCENE).why.tolist()) <= {
        "point is not tracked",
        "at the outline of a moving object",
    }


def test_the_margin_is_the_smallest_and_the_outlier_probabilities_add_up() -> None:
    measured = WHICH.measure(proposed(), SCENE)
    known = measured.why == ""
    np.testing.assert_allclose(measured.outliers[known], 1 - (1 - 0.003) ** 3)
    assert measured.margin is not None
    np.testing.assert_allclose(measured.margin[known], 12.0 / 2.0)
