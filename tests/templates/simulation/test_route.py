"""Order of shuffled photos on a small exact world."""

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.signals import Signal
from templates.answers import Label
from templates.asked import ClipQuestions
from templates.generate import ask_clip
from templates.settings import AskSettings
from templates.simulation.route import RouteOrder
from templates.truth import verdict
from tests.templates import worlds

ROUTE = RouteOrder()
ZIGZAG = np.array([0, 0.5, 0.25, 0.75] * (len(worlds.FRAMES) // 4)) + np.linspace(0, 0.05, len(worlds.FRAMES))
"""Metres to the right, per frame: a route that is not the shortest."""


def asked(signals: dict[str, Signal], *, with_times: bool = True, seed: int = 0) -> ClipQuestions:
    clip = worlds.clip() if with_times else replace(worlds.clip(), times_s=None)
    return ask_clip(clip, signals, [ROUTE], AskSettings(facts_per_template=20), seed)


def along(x: np.ndarray) -> dict[str, Signal]:
    """A camera that looks ahead, x metres to the right of its first position, frame by frame."""
    world_from_cam = np.tile(worlds.camera_poses()[0], (len(worlds.FRAMES), 1, 1))
    world_from_cam[:, 0, 3] += x
    return worlds.with_path(worlds.signals(), world_from_cam=world_from_cam)


def test_the_order_is_that_of_time_and_right() -> None:
    signals = worlds.signals()
    found = asked(signals)
    drafts, truth = worlds.drafts(found), worlds.scene(signals)
    assert {d.format for d in drafts} == {"order", "choice"} and len(drafts) >= 16
    for draft in drafts:
        shuffled = draft.fact["frames_shuffled"]
        assert min(shuffled) > draft.fact["frame_first"] and len(set(shuffled)) == 4
        assert isinstance(draft.answer, Label) and draft.answer.margin >= 3
        numbers = [int(word) for word in draft.answer.text.split()]
        assert [shuffled[number - 2] for number in numbers] == sorted(shuffled)
        assert draft.written == (numbers if draft.format == "order" else 0)
        assert verdict(ROUTE, draft.format, draft.fact, draft.answer, truth) is True
        wrong = replace(draft.answer, text=" ".join(map(str, numbers[::-1])))
        assert verdict(ROUTE, draft.format, draft.fact, wrong, truth) is False
    assert len({d.answer.text for d in drafts if isinstance(d.answer, Label)}) > 5


def test_photos_are_shown_in_the_order_of_the_fact() -> None:
    for draft in worlds.drafts(asked(worlds.signals())):
        frames = [photo.frame for photo in draft.media]
        assert frames == [draft.fact["frame_first"], *draft.fact["frames_shuffled"]]


def test_options_come_in_pairs_of_an_order_and_its_reverse() -> None:
    for draft in worlds.drafts(asked(worlds.signals())):
        if draft.format == "choice":
            orders = [str(option.shown).split(", ") for option in draft.options]
            assert len({*draft.options}) == 4 and all(order[0] == "1" for order in orders)
            assert all([order[0], *order[:0:-1]] in orders for order in orders)


def test_without_time_stamps_the_shortest_route_is_asked_for() -> None:
    drafts = worlds.drafts(asked(along(ZIGZAG), with_times=False))
    assert {draft.format for draft in drafts} == {"order", "choice"} and len(drafts) >= 16
    truth, detours = worlds.scene(along(ZIGZAG)), 0
    for draft in drafts:
        shuffled, at = draft.fact["frames_shuffled"], ZIGZAG[np.array(draft.fact["frames_shuffled"]) // 2]
        start = ZIGZAG[draft.fact["frame_first"] // 2]
        shortest = min(permutations(range(4)), key=lambda order: np.abs(np.diff([start, *at[list(order)]])).sum())
        numbers = [k + 2 for k in shortest]
        assert isinstance(draft.answer, Label) and draft.answer.text == " ".join(map(str, numbers))
        assert draft.written == (numbers if draft.format == "order" else 0)
        if draft.format == "choice":
            assert draft.options[0].shown == ", ".join(map(str, [1, *numbers]))
        assert "One camera took the photos from different viewpoints" in draft.instructions
        assert verdict(ROUTE, draft.format, draft.fact, draft.answer, truth) is True
        detours += [shuffled[k] for k in shortest] != sorted(shuffled)
    assert detours >= 4


def test_a_route_there_and_back_is_asked_only_where_the_order_is_clear() -> None:
    half = np.linspace(0, 1.0, len(worlds.FRAMES) // 2)
    x = np.concatenate([half, half[::-1]])
    found = asked(along(x))
    for draft in worlds.drafts(found):
        first, *rest = (float(x[f // 2]) for f in (draft.fact["frame_first"], *sorted(draft.fact["frames_shuffled"])))
        lengths = [sum(abs(b - a) for a, b in pairwise((first, *order))) for order in permutations(rest)]
        assert lengths[0] < 0.95 * sorted(lengths)[1]  # the first permutation is the order in time
    assert "another order is nearly as short" in worlds.reasons(found)


def test_a_route_that_is_not_the_shortest_is_refused() -> None:
    found = asked(along(ZIGZAG))
    assert "the route taken is not the shortest one through the photos" in worlds.reasons(found)
    for draft in worlds.drafts(found):
        assert isinstance(draft.answer, Label)
        numbers = [int(word) for word in draft.answer.text.split()]
        assert [draft.fact["frames_shuffled"][n - 2] for n in numbers] == sorted(draft.fact["frames_shuffled"])


def test_too_large_a_sigma_asks_nothing() -> None:
    for changes in ({"direction_sigma_rad": 0.8}, {"position_sigma": np.full(len(worlds.FRAMES), 1.0)}):
        found = asked(worlds.with_path(worlds.signals(), **changes))
        assert not len(found)
        assert worlds.reasons(found) == {"another order is nearly as short"}


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_an_order(seed: int, unit: float) -> None:
    first, second = (worlds.drafts(asked(known)) for known in (worlds.signals(), worlds.elsewhere(seed, unit)))
    assert [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_a_pure_rotation_has_no_route() -> None:
    assert not len(asked(worlds.signals(motion="rotation_only")))
