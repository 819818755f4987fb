"""Whether a marked point moves, on the made-up world with one moving group."""

from dataclasses import replace

import numpy as np

from experts.signals import PointTracks
from templates.perception.allo_motion import PointMoves
from templates.truth import verdict
from tests.templates import worlds

MOVES = PointMoves()


def tracks() -> PointTracks:
    found = worlds.signals()["tracks"]
    assert isinstance(found, PointTracks)
    return found


def test_moving_and_static_points_are_asked_and_right() -> None:
    found, truth = worlds.drafts(worlds.ask(MOVES, worlds.signals())), worlds.scene(worlds.signals())
    known, words = tracks(), set()
    for draft in found:
        column = int(np.flatnonzero(known.frames == draft.fact["frames"][0])[0])
        distance = np.linalg.norm(known.xy_px[:, column] - draft.fact["points_px"][0], axis=1)
        assert np.nanmin(distance) < 0.1
        word = "yes" if known.motion[np.nanargmin(distance)] == 1 else "no"
        assert draft.answer.text == worlds.written(draft) == word  # type: ignore[attr-defined]
        assert verdict(MOVES, "yes_no", dict(draft.fact), draft.answer, truth) is True
        first, *rest = draft.media
        assert [m.text for m in first.marks] == ["P"] and not any(photo.marks for photo in rest)
        assert [photo.frame for photo in draft.media] == sorted(draft.fact["frames"])
        words.add(word)
    assert words == {"yes", "no"} and len(found) >= 8


def test_undecided_tracks_are_not_asked() -> None:
    unknown = replace(tracks(), motion=np.full(len(tracks().motion), -1, dtype=np.int32))
    scene = worlds.scene({**worlds.signals(), "tracks": unknown})
    facts = MOVES.propose(worlds.scene(worlds.signals()), np.random.default_rng(0), 10)
    assert set(MOVES.measure(facts, scene).why.tolist()) == {"the tracks do not decide whether the point moves"}
    assert not len(worlds.ask(MOVES, {**worlds.signals(), "tracks": unknown}))


def test_a_drawn_pixel_moves_to_a_track_near_it_and_no_farther() -> None:
    scene = worlds.scene(worlds.signals())
    frames = [0, 10, 20]
    seen = tracks().visible[:, [0, 5, 10]].all(axis=1)
    at = tracks().xy_px[seen, 0][0]
    facts = MOVES.facts.from_json([{"frames": frames, "points_px": [p]} for p in ((at + 3).tolist(), [-900.0, -900.0])])
    placed = MOVES.placed(facts, scene)
    near = np.linalg.norm(tracks().xy_px[seen, 0] - placed.points_px[0, 0], axis=1)  # type: ignore[attr-defined]
    assert near.min() < 0.1 and placed.to_json()[1] == facts.to_json()[1]
