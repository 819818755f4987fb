"""The same point by coordinates, on a small exact world."""

import re
from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Matches
from templates.answers import Label, Point
from templates.media import Photo
from templates.perception.same_point_on_grid import SamePointOnGrid
from templates.unanswerable import UNDETERMINED
from tests.templates import worlds

ON_GRID = SamePointOnGrid()
SIZE = np.array([640, 480])


def test_coordinates_are_those_of_the_match_in_thousandths_of_the_photo() -> None:
    signals = worlds.matched_by_expert(worlds.signals())
    matches = signals["matches"]
    assert isinstance(matches, Matches)
    drafts = worlds.drafts(worlds.ask(ON_GRID, signals))
    assert drafts and {draft.format for draft in drafts} == {"choice"}
    for draft in drafts:
        assert all(isinstance(photo, Photo) and not photo.marks for photo in draft.media)
        named = np.array([int(number) for number in re.findall(r"\[(\d+), (\d+)\]", draft.prompt)[0]])
        row = np.linalg.norm(matches.xy_a_px - (named / 1000 * SIZE - 0.5), axis=1).argmin()
        assert matches.xy_a_px[row] == pytest.approx(named / 1000 * SIZE, abs=1.0)
        shown = draft.options[draft.written].shown
        assert isinstance(shown, str) and isinstance(draft.answer, Point)
        said = np.array([int(number) for number in re.findall(r"\d+", shown)])
        assert matches.xy_b_px[row] == pytest.approx(said / 1000 * SIZE, abs=1.0)
        assert all(0 <= int(n) <= 1000 for option in draft.options for n in re.findall(r"\d+", str(option.shown)))


def test_a_point_that_photo_2_does_not_show_cannot_be_determined() -> None:
    drafts = worlds.drafts(worlds.ask(SamePointOnGrid(unanswerable=True), worlds.signals(seed=3), facts=40))
    outside = [draft for draft in drafts if isinstance(draft.answer, Label)]
    assert outside and all(draft.options[-1].value == UNDETERMINED for draft in drafts)
    assert all(draft.written == 4 for draft in outside)


def test_with_large_sigma_nothing_is_asked() -> None:
    sure = worlds.matched_by_expert(worlds.signals())
    matches = sure["matches"]
    assert isinstance(matches, Matches)
    unsure = {**sure, "matches": replace(matches, sigma_px=10 * matches.sigma_px)}
    assert worlds.drafts(worlds.ask(ON_GRID, sure)) and not worlds.drafts(worlds.ask(ON_GRID, unsure))


def test_options_lie_symmetrically_about_the_point_of_photo_1() -> None:
    for draft in worlds.drafts(worlds.ask(ON_GRID, worlds.signals())):
        asked = np.array([int(number) for number in re.findall(r"\[(\d+), (\d+)\]", draft.prompt)[0]])
        shown = np.array([[int(n) for n in re.findall(r"\d+", str(option.shown))] for option in draft.options])
        assert np.abs(shown.mean(axis=0) - asked).max() <= 2
        assert len(np.unique(shown, axis=0)) == 4
