"""Order of shuffled photos on a small exact world."""

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.answers import Label
from templates.draft import ClipQuestions
from templates.generate import ask_clip
from templates.scene.scene import scenes_of
from templates.settings import AskSettings
from templates.simulation.route import RouteOrder
from templates.truth import verdict
from tests.templates import worlds

ROUTE = RouteOrder()


def asked(signals: dict[str, Signal], *, with_times: bool = True, seed: int = 0) -> ClipQuestions:
    clip = worlds.clip() if with_times else replace(worlds.clip(), times_s=None)
    return ask_clip(clip, signals, [ROUTE], AskSettings(facts_per_template=20), seed)


def with_path(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    return {**signals, "camera_path": replace(path, **changes)}  # type: ignore[arg-type]


def along(x: np.ndarray) -> dict[str, Signal]:
    """A camera that looks ahead, x metres to the right of its first position, frame by frame."""
    world_from_cam = np.tile(worlds.camera_poses()[0], (len(worlds.FRAMES), 1, 1))
    world_from_cam[:, 0, 3] += x
    return with_path(worlds.signals(), world_from_cam=world_from_cam)


def test_the_order_is_that_of_time_and_right() -> None:
    signals = worlds.signals()
    found = asked(signals)
    (truth,) = scenes_of(worlds.clip(), signals)
    assert {d.format for d in found.drafts} == {"order", "choice"} and len(found.drafts) >= 16
    for draft in found.drafts:
        shuffled = draft.fact.params["shuffled"]
        assert min(shuffled) > draft.fact.params["first"] and len(set(shuffled)) == 4
        assert isinstance(draft.answer, Label) and draft.answer.margin >= 3
        numbers = [int(word) for word in draft.answer.text.split()]
        assert [shuffled[number - 2] for number in numbers] == sorted(shuffled)
        assert draft.phrasing.answer == (numbers if draft.format == "order" else 0)
        assert verdict(ROUTE, draft.format, draft.fact, draft.answer, truth) is True
        wrong = replace(draft.answer, text=" ".join(map(str, numbers[::-1])))
        assert verdict(ROUTE, draft.format, draft.fact, wrong, truth) is False
    assert len({d.answer.text for d in found.drafts if isinstance(d.answer, Label)}) > 5


def test_photos_are_shown_in_the_order_of_the_fact() -> None:
    for draft in asked(worlds.signals()).drafts:
        frames = [photo.frame for photo in draft.phrasing.media]
        assert frames == [draft.fact.params["first"], *draft.fact.params["shuffled"]]


def test_options_come_in_pairs_of_an_order_and_its_reverse() -> None:
    for draft in asked(worlds.signals()).drafts:
        if draft.format == "choice":
            orders = [str(option.shown).split(", ") for option in draft.phrasing.options]
            assert len({*draft.phrasing.options}) == 4 and all(order[0] == "1" for order in orders)
            assert all([order[0], *order[:0:-1]] in orders for order in orders)


def test_without_time_stamps_nothing_is_asked() -> None:
    found = asked(worlds.signals(), with_times=False)
    assert not found.drafts
    assert {r.reason for r in found.refusals} == {"the photos have no time stamps"}


def test_a_route_there_and_back_is_asked_only_where_the_order_is_clear() -> None:
    half = np.linspace(0, 1.0, len(worlds.FRAMES) // 2)
    x = np.concatenate([half, half[::-1]])
    found = asked(along(x))
    for draft in found.drafts:
        first, *rest = (float(x[f // 2]) for f in (draft.fact.params["first"], *sorted(draft.fact.params["shuffled"])))
        lengths = [sum(abs(b - a) for a, b in pairwise((first, *order))) for order in permutations(rest)]
        assert lengths[0] < 0.95 * sorted(lengths)[1]  # the first permutation is the order in time
    assert "another order is nearly as short" in {r.reason for r in found.refusals}


def test_a_route_that_is_not_the_shortest_is_refused() -> None:
    zigzag = np.array([0, 0.5, 0.25, 0.75] * (len(worlds.FRAMES) // 4)) + np.linspace(0, 0.05, len(worlds.FRAMES))
    found = asked(along(zigzag))
    assert "the route taken is not the shortest one through the photos" in {r.reason for r in found.refusals}
    for draft in found.drafts:
        assert isinstance(draft.answer, Label)
        numbers = [int(word) for word in draft.answer.text.split()]
        assert [draft.fact.params["shuffled"][n - 2] for n in numbers] == sorted(draft.fact.params["shuffled"])


def test_too_large_a_sigma_asks_nothing() -> None:
    for changes in ({"direction_sigma_rad": 0.8}, {"position_sigma": np.full(len(worlds.FRAMES), 1.0)}):
        found = asked(with_path(worlds.signals(), **changes))
        assert not found.drafts
        assert {r.reason for r in found.refusals} == {"another order is nearly as short"}


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_an_order(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=rng).as_matrix()
    turned[:3, 3] = rng.normal(size=3)
    other = worlds.signals(world_from_made=turned, unit=unit)
    other = with_path(other, position_sigma=np.full(len(worlds.FRAMES), 1e-4 * unit))
    first, second = asked(worlds.signals()), asked(other)
    assert [(d.format, d.phrasing) for d in first.drafts] == [(d.format, d.phrasing) for d in second.drafts]


def test_a_pure_rotation_has_no_route() -> None:
    assert not asked(worlds.signals(motion="rotation_only")).drafts
