"""Difficulty is measured for every question, and limits of it select facts."""

import numpy as np
import pytest

from spatial_engine.errors import UsageError
from spatial_engine.options import GenerateOptions
from templates.asked import ClipQuestions
from templates.condition import MEASURES, Condition
from templates.generate import ask_clip
from templates.registry import TEMPLATES
from templates.settings import AskSettings
from tests.templates import worlds

NAMES = ("closest_object", "place_direction", "range_metres", "camera_tilt")


def asked(*conditions: str) -> ClipQuestions:
    templates = [TEMPLATES.load(name)() for name in NAMES]
    settings = AskSettings(facts_per_template=20, difficulty=tuple(map(Condition.parsed, conditions)))
    signals = worlds.with_path(worlds.signals(), scale=worlds.METRIC)
    return ask_clip(worlds.clip(), signals, templates, settings, 0)  # type: ignore[arg-type]


def measures(found: ClipQuestions, template: str) -> list[dict[str, float]]:
    return [draft.evidence["difficulty"] for draft in worlds.drafts(found) if draft.template == template]


def test_each_question_has_the_measures_that_apply_to_it() -> None:
    found = asked()
    for template, expected in {
        "closest_object": {"margin", "photos", "objects", "like_named", "picture_share"},
        "place_direction": {"margin", "photos", "turn_deg", "objects"},
        "range_metres": {"margin", "photos", "range_m", "objects"},
    }.items():
        each = measures(found, template)
        assert each and all(one.keys() == expected for one in each)
    assert {one["photos"] for one in measures(found, "place_direction")} == {2}
    assert all(0 < one["picture_share"] < 1 for one in measures(found, "closest_object"))
    distances = [(one["range_m"], draft) for one, draft in zip(
        measures(found, "range_metres"), [d for d in worlds.drafts(found) if d.template == "range_metres"], strict=True
    )]  # fmt: skip
    assert all(abs(metres / float(worlds.written(draft)) - 1) < 0.05 for metres, draft in distances)


def test_limits_select() -> None:
    turns = [one["turn_deg"] for one in measures(asked(), "place_direction")]
    limit = float(np.median(turns))
    kept = [one["turn_deg"] for one in measures(asked(f"turn_deg>={limit:.3f}"), "place_direction")]
    assert kept and min(kept) >= limit - 1e-3 > min(turns)
    found = asked("turn_deg >= 1e3")
    assert not found.asked and f"not {Condition.parsed('turn_deg>=1000')}" in worlds.reasons(found)


def test_a_measure_that_is_not_known_meets_no_limit() -> None:
    assert {one.template.name for one in asked("picture_share<=1").asked} == {"closest_object"}


@pytest.mark.parametrize(
    "text", ["", "turn_deg", "turn>=3", "turn_deg>=x", "turn_deg=3", "margin>=nan", "margin>=1.2.3"]
)
def test_what_is_no_limit_is_refused_and_the_measures_are_named(text: str) -> None:
    with pytest.raises(UsageError, match=f"{'|'.join(MEASURES)}|names nothing"):
        GenerateOptions(difficulty=text)
