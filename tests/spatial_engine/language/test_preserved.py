"""Rules find a change of what an answer depends on, and let other words pass."""

import json
from pathlib import Path

import pytest

from spatial_engine.language.preserved import changed, gives_away, to_keep

CLOSER = "Which of the two marked points is closer to the camera?"
WIDTHS = "How many times as wide as the chair in box 1 is the table in box 2?"
ROUTE = "Plan the camera's route from photo 1 to photo 2, in steps of 0.25 m and turns of 15°."
FACING = "Standing at the chair in box 1 and facing the lamp in box 2, at what angle in degrees is the pot in box 3?"
NAMES = ("chair", "table", "lamp", "pot")

PLANTED = [
    (CLOSER, "Which of the two marked points is farther from the camera?", "a comparison differs"),
    (CLOSER, "Which of the two marked points is not closer to the camera?", "a negation differs"),
    (CLOSER, "Which of the two marked points isn't closer to the camera?", "a negation differs"),
    (CLOSER, "Which of the three marked points is closer to the camera?", "a number differs"),
    (CLOSER, "Which of the two marked points is closer?", "the frame of reference differs"),
    (WIDTHS, "How many times as wide as the table in box 1 is the chair in box 2?", "what plays which part"),
    (WIDTHS, "How many times as wide as the chair in box 2 is the table in box 1?", "the numbers differ"),
    (WIDTHS, "How many times as high as the chair in box 1 is the table in box 2?", "a comparison differs"),
    (WIDTHS, "How many times as wide is the chair in box 1 as the table in box 2?", "what plays which part"),
    (ROUTE, ROUTE.replace("15°", "30°"), "the measures differ"),
    (ROUTE, ROUTE.replace("0.25 m", "0.25 cm"), "a unit differs"),
    (ROUTE, ROUTE.replace("photo 1 to photo 2", "photo 2 to photo 1"), "what plays which part"),
    (ROUTE, ROUTE.replace("from photo 1 to photo 2", "to photo 1 from photo 2"), "what plays which part"),
    (FACING, FACING.replace("degrees", "radians"), "a unit differs"),
    (FACING, FACING.replace("facing", "ignoring"), "a negation differs"),
    ("Is the point P left of the edge?", "Is the point P right of the edge?", "a direction differs"),
    ("Which sentence tells it correctly?", "Which sentence tells it wrongly?", "a negation differs"),
    ("Which map is it, as in the scene?", "Which map is it, mirrored from the scene?", "a direction differs"),
    ("Sort them from left to right.", "Sort them from right to left.", "opposites are exchanged"),
    ("Where is point P of photo 1 in photo 2?", "Where is point Q of photo 1 in photo 2?", "the marks differ"),
]

FAITHFUL = [
    (
        "In the scene, line 2 is how many times as long as line 1?",
        "How many times as long as line 1 is line 2 in the scene?",
    ),
    (CLOSER, "Of the marked points, which one lies nearer to the camera?"),
    (CLOSER, "Two points are marked: which of the two is closer to the camera, would you say?"),
    (WIDTHS, "By how many times is it as wide as the chair in box 1, the table in box 2?"),
    (
        ROUTE,
        "Write the route of the camera that goes from photo 1 to photo 2. Steps are 0.25 metres, turns 15 degrees.",
    ),
    (
        FACING,
        "At the chair in box 1, facing the lamp in box 2: at which angle in degrees is the pot in box 3?",
    ),
    ("Which order is right?", "Which order is the correct one?"),
    ("Look at the photo. Which way is up?", "In the photo, which way is up?"),
]


@pytest.mark.parametrize(("before", "after", "reason"), PLANTED)
def test_a_change_is_found_and_named(before: str, after: str, reason: str) -> None:
    assert (changed(before, after, NAMES) or "").startswith(reason)


@pytest.mark.parametrize(("before", "after"), FAITHFUL)
def test_other_words_for_the_same_pass(before: str, after: str) -> None:
    assert changed(before, after, NAMES) is None


def test_what_was_filled_in_stays_word_for_word() -> None:
    before = "The task is: put the red cube on the shelf. Which step comes next in the photo?"
    after = "The task is: put the red block on the shelf. Which step comes next in the photo?"
    assert changed(before, after, ("put the red cube on the shelf",)) == "the names differ"


def test_an_option_must_not_be_given_away() -> None:
    assert gives_away("What holds the lamp?", "Does the oak table hold the lamp?", ["Oak table", "Chair"])
    assert not gives_away("Is it the oak table?", "Would you say the oak table?", ["Oak table", "Chair"])


def test_the_request_names_what_to_keep() -> None:
    assert to_keep(WIDTHS, NAMES) == ["times", "wide", "chair", "box 1", "table", "box 2"]
    assert to_keep(ROUTE, ()) == ["camera's", "photo 1", "photo 2", "0.25 m", "turns", "15°"]


def test_rewordings_of_all_templates() -> None:
    """Written by hand while the rules were: planted changes of every kind, and rewordings in free order."""
    lines = (Path(__file__).parent / "rewordings.jsonl").read_text(encoding="utf-8").splitlines()
    passed: dict[bool, list[bool]] = {False: [], True: []}
    for record in map(json.loads, lines):
        passed[record["planted"]].append(changed(record["prompt"], record["text"], record["values"]) is None)
    assert len(passed[True]) >= 100 and not any(passed[True])
    assert len(passed[False]) >= 100 and sum(passed[False]) >= 0.95 * len(passed[False])
