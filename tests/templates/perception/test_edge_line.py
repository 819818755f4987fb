"""Lines drawn beside boards of known outline."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from experts.signals import Depth, Objects, Signal
from templates.asked import Draft
from templates.perception.edge_line import EdgeLine
from tests.templates import worlds

TEMPLATE = EdgeLine()


def exact() -> dict[str, Signal]:
    signals = worlds.boards(worlds.signals())
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    return {**signals, "objects": replace(objects, centre_sigma=None, outlier_probability=None)}


def drafts(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals, facts=60))  # type: ignore[arg-type]


def to_outline(draft: Draft) -> np.ndarray:
    """Mean distance of each line from the nearest place between a pixel of the object and another one."""
    objects = worlds.signals()["objects"]
    assert isinstance(objects, Objects)
    ids = objects.ids[draft.fact["object"]["frame"] // 2]
    column, row = np.floor_divide(draft.fact["object"]["inside_px"], 4).astype(int)
    own = ids == ids[row, column]
    right, below = np.argwhere(own[:, 1:] != own[:, :-1]), np.argwhere(own[1:] != own[:-1])
    places = 4 * np.concatenate([right[:, ::-1] + [1, 0.5], below[:, ::-1] + [0.5, 1]]) - 0.5
    start, end = np.array(draft.fact["lines_px"]).swapaxes(0, 1)[..., None, :]
    points = start + np.linspace(0, 1, 50)[:, None] * (end - start)
    return np.asarray(cKDTree(places).query(points)[0].mean(axis=1))


@pytest.mark.parametrize("signals", [exact(), worlds.boards(worlds.signals())], ids=["exact", "estimated"])
def test_the_right_line_lies_on_an_outline_and_the_others_do_not(signals: dict[str, Signal]) -> None:
    found = drafts(signals)
    assert {draft.answer.to_json().value for draft in found} == {"1", "2", "3", "4"}
    for draft in found:
        away = to_outline(draft)
        right = int(draft.answer.to_json().value) - 1
        assert away[right] < 3 and np.delete(away, right).min() > 8
        assert all(option.mistake for k, option in enumerate(draft.options) if k != worlds.written(draft))
        assert draft.fact["object"]["name"] in draft.prompt
    mistakes = {option.mistake for draft in found for option in draft.options}
    assert {"inside the object", "outside the object", "leaning into the object"} <= mistakes


def test_no_world_and_no_unit_changes_an_answer() -> None:
    first, second = drafts(worlds.boards(worlds.signals())), drafts(worlds.boards(worlds.elsewhere(3, 7.0)))
    assert [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_an_edge_with_nothing_behind_it_is_not_asked() -> None:
    signals = exact()
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    found = worlds.ask(TEMPLATE, {**signals, "depth": replace(depth, z=np.full_like(depth.z, 3.0))})
    assert not found.asked and "behind the edge there is nothing farther away" in worlds.reasons(found)


def test_an_estimated_mask_whose_border_lies_off_the_step_in_depth_is_not_asked() -> None:
    signals = worlds.boards(worlds.signals())
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    moved = np.stack([np.roll(z, 4, axis=1) for z in depth.z])
    found = worlds.ask(TEMPLATE, {**signals, "depth": replace(depth, z=moved)}, facts=60)
    upright = [draft for draft in worlds.drafts(found) if np.ptp(right_line(draft)[:, 0]) < 1]
    assert not upright and len(drafts(signals)) > sum(map(len, found.asked))


def right_line(draft: Draft) -> np.ndarray:
    return np.array(draft.fact["lines_px"])[int(draft.answer.to_json().value) - 1]


def test_an_object_that_may_be_another_is_not_asked_about() -> None:
    signals = worlds.boards(worlds.signals())
    doubtful = replace(signals["objects"], outlier_probability=np.full(6, 0.05))  # type: ignore[type-var]
    assert not worlds.ask(TEMPLATE, {**signals, "objects": doubtful}).asked
