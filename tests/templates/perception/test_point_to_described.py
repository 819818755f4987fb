"""Objects that a description singles out: by distance from the camera or from another object, and by side."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.answers import Region
from templates.answers.region import outside_px
from templates.perception.described_object import PointToDescribed
from templates.scene.objects import projected_boxes
from tests.templates import worlds

TEMPLATE = PointToDescribed()
TABLE, CHAIRS = (0.0, 0.0, 6.0), ((-2.6, 0.0, 6.2), (1.2, 0.2, 5.7), (3.0, -0.3, 9.5))
"""In the axes of the camera of the first photo."""


def scene(
    *chairs: tuple[float, float, float], sigma: float | None = None, complete: tuple[str, ...] = ("*",)
) -> dict[str, Signal]:
    """A table and chairs, cubes of 0.8, as the first photo shows them; the nearest chair is listed first."""
    signals = worlds.signals()
    places = np.array([*(chairs or CHAIRS), TABLE])
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    poses[:, :3, 3] = places
    count = len(places)
    known = Objects(
        frames=worlds.FRAMES[:1],
        labels=(*["chair"] * (count - 1), "table"),
        ids=np.full((1, 1, 1), -1, dtype=np.int32),
        world_from_object=(worlds.scene(signals).world_from_cam([0])[0] @ poses)[None],
        provenance=worlds.SOURCE,
        size=np.full((count, 3), 0.8),
        centre_sigma=None if sigma is None else np.full(count, sigma),
        size_sigma=None if sigma is None else np.full((count, 3), sigma),
        complete=complete,
    )
    boxes = projected_boxes(worlds.scene({**signals, "objects": known}), known, 0)
    ids = np.full((1, 240, 320), -1, dtype=np.int32)
    for number in np.argsort(-places[:, 2]):
        x0, y0, x1, y1 = np.clip((boxes[number].ravel() + 0.5) / 2, 0, 320).round().astype(int)
        ids[0, y0:y1, x0:x1] = number
    return {**signals, "objects": replace(known, ids=ids)}


def answers(signals: dict[str, Signal]) -> dict[tuple[str, str], int]:
    """The numbers of the objects that are meant, by format and relation."""
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    boxes, found = projected_boxes(worlds.scene(signals), objects, 0), {}
    for draft in worlds.drafts(worlds.ask(TEMPLATE, signals, facts=100)):
        if draft.format == "point":
            assert len(draft.fact["box_px"]) == len(objects.labels) - 1
            assert isinstance(draft.answer, Region)
            middle = draft.answer.xy_px
            assert outside_px(middle, draft.answer.outline) < 0 and "640 × 480 pixels" in draft.prompt
        else:
            (photo,) = draft.media
            middle = np.array(photo.marks[draft.written].xy_px)
            assert len(photo.marks) == len(draft.fact["box_px"]) == 2
        number = int(np.linalg.norm(boxes.mean(axis=1) - middle, axis=1).argmin())
        found[draft.format, draft.fact["relation"]] = number
    return found


def test_each_description_singles_out_its_object() -> None:
    found = {relation: number for (format, relation), number in answers(scene()).items() if format == "point"}
    assert found == {
        "closest to the camera": 1,
        "second closest to the camera": 0,
        "farthest from the camera": 2,
        "closest": 1,
        "farthest": 2,
        "left": 0,
    }, "two chairs are to the right of the table"


def test_the_reasoning_states_distances() -> None:
    here = worlds.scene(scene())
    measured = TEMPLATE.measure(TEMPLATE.propose(here, np.random.default_rng(0), 30), here)
    assert np.nanmin(np.asarray(measured.evidence["compared"])) >= 0


def test_two_boxes_are_compared_with_each_other_alone() -> None:
    found = answers(scene(*CHAIRS[:2]))
    assert {relation: number for (format, relation), number in found.items() if format == "choice"} == {
        "closest to the camera": 1,
        "farthest from the camera": 0,
        "closest": 1,
        "farthest": 0,
        "left": 0,
        "right": 1,
    }


def test_a_list_that_is_not_complete_allows_choices_alone() -> None:
    formats = {format for format, _ in answers(scene(*CHAIRS[:2], complete=("table",)))}
    assert formats == {"choice"}
    assert {format for format, _ in answers(scene(*CHAIRS[:2], complete=("chair",)))} == {"choice", "point"}


def test_a_reference_of_which_there_may_be_others_is_not_used() -> None:
    relations = {relation for _, relation in answers(scene(*CHAIRS[:2], complete=("chair",)))}
    assert relations == {"closest to the camera", "farthest from the camera"}


@pytest.mark.parametrize("sigma", [0.02, 0.5])
def test_nothing_is_asked_where_places_are_uncertain(sigma: float) -> None:
    signals = scene(*CHAIRS[:2], sigma=sigma)
    assert bool(answers(signals)) == (sigma < 0.1)
    if sigma > 0.1:
        reasons = worlds.reasons(worlds.ask(TEMPLATE, signals, facts=100))
        assert "the description does not single out one object" in reasons


def test_in_a_mirror_left_is_right_and_nothing_else_changes() -> None:
    here, there = (answers(scene(*((s * x, y, z) for x, y, z in CHAIRS[:2]))) for s in (1, -1))
    other = {"left": "right", "right": "left"}
    assert there == {(format, other.get(relation, relation)): number for (format, relation), number in here.items()}


def test_wrong_boxes_are_named_mistakes() -> None:
    drafts = worlds.drafts(worlds.ask(TEMPLATE, scene(*CHAIRS[:2]), facts=100))
    chosen = [draft for draft in drafts if draft.format == "choice"]
    assert chosen and all(option.mistake for d in chosen for k, option in enumerate(d.options) if k != d.written)


def test_neither_world_frame_nor_unit_matters() -> None:
    here, there = (worlds.ask(TEMPLATE, signals) for signals in (worlds.signals(), worlds.elsewhere(4, 3.0)))
    assert here.asked and [worlds.shown(draft)[1:] for draft in worlds.drafts(here)] == [
        worlds.shown(draft)[1:] for draft in worlds.drafts(there)
    ]
