"""Which photo a caption describes: its words against points at known places, and what keeps it silent."""

from collections import Counter
from dataclasses import replace

import numpy as np

from experts.signals import Signal, SparsePoints
from templates.asked import Draft
from templates.mapping.captioned_photo import CaptionedPhoto
from templates.mapping.captions import PAIRS
from templates.scene.compared import AXES
from tests.templates import worlds

PHOTO = CaptionedPhoto()
SIGNALS = worlds.surer(worlds.signals())
SCENE = worlds.scene(SIGNALS)


def drafts(signals: dict[str, Signal], seed: int = 0) -> list[Draft]:
    return worlds.drafts(worlds.ask(PHOTO, dict(signals), facts=40, seed=seed))


def places(frame: int, points_px: list[list[float]]) -> np.ndarray:
    """Of the points at pixels, in the world: they are those that are seen there."""
    points = SIGNALS["sparse_points"]
    assert isinstance(points, SparsePoints)
    mine = points.observation_frame == frame
    off = np.linalg.norm(points.observation_xy_px[mine][:, None] - np.array(points_px), axis=2)
    assert (off.min(axis=0) < 0.1).all()
    return np.asarray(points.xyz_world[points.observation_point[mine][off.argmin(axis=0)]])


def false_statements(draft: Draft, photo: int) -> int:
    """By heights in the world, whose z is up, and distances from the camera."""
    frame = draft.fact["frames"][photo]
    spots = places(frame, draft.fact["points_px"][photo])
    distance = np.linalg.norm(spots - SCENE.world_from_cam(frame)[:3, 3], axis=1)
    measures = {"higher": spots[:, 2], "lower": -spots[:, 2], "nearer": -distance, "farther": distance}
    said = [(a, b, AXES[axis][column]) for a, b, axis, column in draft.fact["claims"]]
    return sum(measures[word][a] < measures[word][b] for a, b, word in said)


def test_the_caption_is_true_of_one_photo_alone() -> None:
    found = drafts(SIGNALS)
    assert len(found) >= 20
    for draft in found:
        wrong = [false_statements(draft, photo) for photo in range(4)]
        assert wrong.pop(int(draft.answer.text) - 1) == 0 and min(wrong) >= 2  # type: ignore[attr-defined]
        assert len({*draft.fact["frames"]}) == 4


def test_each_photo_is_right_in_turn_and_pictures_mislead() -> None:
    asked = [worlds.ask(PHOTO, dict(SIGNALS), facts=40, seed=seed).asked[0] for seed in range(3)]
    said, suggested = (
        np.concatenate(column) for column in zip(*((o.right_words(), *o.traps.values()) for o in asked), strict=True)
    )
    assert {*said} == {*"1234"} and max(Counter(said).values()) < len(said) / 2
    assert np.mean(said != suggested) >= 0.3


def test_photos_in_another_order_have_another_number() -> None:
    facts = PHOTO.propose(SCENE, np.random.default_rng(0), 40)
    turned = replace(facts, frames=facts.frames[:, ::-1], points_px=facts.points_px[:, ::-1])
    one, other = PHOTO.measure(facts, SCENE), PHOTO.measure(turned, SCENE)
    assert one.label is not None and other.label is not None and len(facts) and (other.why == "").all()
    assert [int(a) + int(b) for a, b in zip(one.label, other.label, strict=True)] == [5] * len(facts)
    np.testing.assert_allclose(one.margin, other.margin)  # type: ignore[arg-type]


def test_a_caption_that_fits_two_photos_is_refused() -> None:
    facts = PHOTO.propose(SCENE, np.random.default_rng(0), 10)
    right = np.array([int(text) - 1 for text in PHOTO.measure(facts, SCENE).label])  # type: ignore[union-attr]
    rows, other = np.arange(len(facts)), (right + 1) % 4
    frames, points_px = facts.frames.copy(), facts.points_px.copy()
    frames[rows, other], points_px[rows, other] = frames[rows, right], points_px[rows, right]
    twice = replace(facts, frames=frames, points_px=points_px)
    assert {*PHOTO.measure(twice, SCENE).why.tolist()} == {"the caption is not surely true of exactly one photo"}


def test_one_false_statement_is_not_enough() -> None:
    facts = PHOTO.propose(SCENE, np.random.default_rng(0), 40)
    right = np.array([int(text) - 1 for text in PHOTO.measure(facts, SCENE).label])  # type: ignore[union-attr]
    claims = facts.claims.copy()
    claims[:, 1:] = claims[:, :1]  # the same statement three times is false three times, or never
    assert claims.shape[1:] == (len(PAIRS), 4)
    repeated = PHOTO.measure(replace(facts, claims=claims), SCENE)
    kept = repeated.why == ""
    assert (np.array(repeated.label)[kept] == (1 + right[kept]).astype(str)).all() and not kept.all()


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    there = drafts(worlds.surer(worlds.elsewhere(3, unit)))
    assert sorted(map(repr, map(worlds.shown, drafts(SIGNALS)))) == sorted(map(repr, map(worlds.shown, there)))


def test_large_errors_and_no_gravity_silence_it() -> None:
    points = SIGNALS["sparse_points"]
    assert isinstance(points, SparsePoints)
    blurred = replace(points, range_relative_sigma=np.full(len(points.xyz_world), 0.8))
    doubtful = replace(points, outlier_probability=np.full(len(points.xyz_world), 0.009))
    assert not drafts({**SIGNALS, "sparse_points": blurred})
    assert not drafts({**SIGNALS, "sparse_points": doubtful})
    assert not drafts({name: signal for name, signal in SIGNALS.items() if name != "gravity"})
