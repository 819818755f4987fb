"""Maps of named objects: right if every object lies on the right side of every other one."""

import json
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.evaluation import baselines
from spatial_engine.export.spatialtree import OracleReport
from spatial_engine.scoring import official, own, reading
from spatial_engine.scoring.official.row import row
from spatial_engine.scoring.reading import Reading
from templates.answers import RIGHT, UNDECIDED, WRONG, FloorMap
from templates.answers.answer import stacked
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question
from tests.templates.answers.by_hand import asked

PLACES = {"lamp": (0.0, 1.0), "sofa": (9.0, 2.0), "table": (5.0, 8.0), "chair 2": (2.0, 6.0)}
"""Lamp and sofa above, the chair below the lamp, the table right of the chair."""


def floor_map(sigma: float = 0.05, **changes: tuple[float, float]) -> FloorMap:
    places = {**PLACES, **changes}
    return FloorMap(names=np.array([*places]), xy=np.array([*places.values()]), sigma=np.full(4, sigma))


def question() -> Question:
    return asked(floor_map(), "map", ability="L2/Memory/Cognitive Map")


def as_json(xy: np.ndarray) -> Json:
    return {name: {"position": place} for name, place in zip(PLACES, xy.tolist(), strict=True)}


TRUE = floor_map().xy
CENTRED = TRUE - 4.5


@pytest.mark.parametrize(
    ("xy", "share"),
    [
        (TRUE, 1.0),
        (0.3 * TRUE + 4, 1.0),
        (TRUE * [-1, 1], 3 / 6),  # lamp–sofa, sofa–chair and chair–table change sides
        (-TRUE, 0.0),
        (CENTRED @ [[0, 1], [-1, 0]], 0.0),
        (TRUE - np.outer([0, 0, 0, 1], [0, 3.5]), 4 / 6),  # the chair rises: right of the lamp, above the table
        (np.full((4, 2), 5.0), 0.0),
    ],
)
def test_the_score_is_the_share_of_pairs_on_the_right_sides(xy: np.ndarray, share: float) -> None:
    scored = own.score(question(), json.dumps(as_json(xy)))
    assert isinstance(scored, Score)
    by_hand = np.mean([side(xy, a, b) == side(TRUE, a, b) for a in range(4) for b in range(a)])
    assert scored.value == pytest.approx(by_hand) == pytest.approx(share)
    assert scored.detail["coverage"] == 1.0


def side(xy: np.ndarray, a: int, b: int) -> str:
    """By hand, in words; "" for objects at one place."""
    x, y = xy[b] - xy[a]
    if np.hypot(x, y) < 0.5:
        return ""
    return ("right" if x > 0 else "left") if abs(x) > abs(y) else ("down" if y > 0 else "up")


def test_pairs_with_missing_objects_are_wrong() -> None:
    some = as_json(TRUE)
    del some["sofa"]
    scored = own.score(question(), json.dumps(some))
    assert isinstance(scored, Score)
    assert scored.value == 0.5 and scored.detail["coverage"] == 0.75
    assert own.score(question(), "I cannot tell.").value == 0.0  # type: ignore[union-attr]


@pytest.mark.parametrize("sigma", [0.3, 0.6])
def test_p_right_is_at_most_that_of_sampling(sigma: float) -> None:
    answer, rng = floor_map(sigma), np.random.default_rng(0)
    drawn = [replace(answer, xy=answer.xy + rng.normal(size=(4, 2)) * sigma, sigma=np.zeros(4)) for _ in range(3000)]
    share = np.mean([bool(one.repeats(answer)) for one in drawn])
    assert share - 0.03 < answer.p_right() < share + 0.01
    assert floor_map(0.02).p_right() > 0.999 and floor_map(np.inf).p_right() == 0


def test_truth_decides_where_no_pair_is_near_a_diagonal() -> None:
    answer = floor_map()
    assert answer.right(answer) == RIGHT
    assert answer.right(floor_map(table=(5.0, 2.5))) == WRONG
    assert answer.right(floor_map(sigma=1.0)) == UNDECIDED
    assert answer.right(floor_map(table=(5.0, 6.0))) == UNDECIDED  # on the diagonal of lamp and table


def test_a_stack_keeps_the_names_of_each_map() -> None:
    other = replace(floor_map(), names=np.array(["bed", "tub", "door", "cup"]), xy=TRUE[::-1].copy())
    both = stacked([floor_map(), other])
    assert both.p_right().shape == (2,)
    assert [list(both.row(k).to_json().answer) for k in (0, 1)] == [[*PLACES], ["bed", "tub", "door", "cup"]]
    assert list(both.take([1]).row(0).to_json().answer) == ["bed", "tub", "door", "cup"]


def test_a_question_gives_its_map_back() -> None:
    again = recorded_answer(question())
    assert isinstance(again, FloorMap)
    np.testing.assert_allclose(again.xy, TRUE)
    assert again.names.tolist() == [*PLACES] and again.p_right() == pytest.approx(floor_map().p_right())
    assert format_of("map").stated(question(), again).right(again) == RIGHT


def test_guesses_and_near_misses_are_wrong() -> None:
    form = format_of("map")
    for value in (form.no_op(question()), *form.near_misses(question())):
        assert form.score(question(), value).value <= 0.5
    rng = np.random.default_rng(0)
    mean = np.mean([form.score(question(), form.guess(question(), rng)).value for _ in range(2000)])
    assert mean == pytest.approx(form.chance(question()), abs=0.03)
    assert own.score(question(), baselines.oracle_text(question())).value == 1.0  # type: ignore[union-attr]


REPLIES = {
    "a block": f"First ...\n```json\n{json.dumps(as_json(TRUE))}\n```",
    "pairs alone": json.dumps({name.upper(): list(place) for name, place in PLACES.items()}),
    "a list": json.dumps({"objects": [{"name": name, "position": place} for name, place in PLACES.items()]}),
    "x and y": json.dumps({name: {"x": str(x), "y": y} for name, (x, y) in PLACES.items()}),
}


@pytest.mark.parametrize("how", REPLIES)
def test_a_map_is_read_however_it_is_written(how: str) -> None:
    found = reading.read_places(REPLIES[how], [*PLACES])
    assert isinstance(found, Reading) and found.value == as_json(TRUE)


@pytest.mark.parametrize("reply", ["", "[1, 2]", '{"cup": {"position": [1, 2]}}', '{"lamp": "left"}'])
def test_a_reply_without_a_map_is_unreadable(reply: str) -> None:
    assert not isinstance(reading.read_places(reply, [*PLACES]), Reading)


def test_the_official_scorer_gives_the_right_answer_full_marks() -> None:
    made, report = row(question()), OracleReport()
    assert isinstance(made, dict) and made["question_type"] == "mcq" and len(made["option"]) == 4
    report.answer(question().ability, made)
    assert report.by_leaf() == {"L2/Memory/Cognitive Map": {"rows": 1, "score": 1.0, "why": {}}}


def test_the_official_score_of_a_map_includes_the_letter_that_follows_from_it() -> None:
    """A map in a mirror has half of the pairs right; the letter asks about chair and lamp, which it keeps."""
    made = row(question())
    assert isinstance(made, dict)
    told = format_of("map").official_text(as_json(TRUE * [-1, 1] + [9, 0]))
    item = official.process_results(made, [told])["SpaTreeBench"]
    assert 0.2 < item["score"] < 1.0
    assert official.process_results(made, [format_of("map").official_text(as_json(TRUE))])["SpaTreeBench"]["score"] == 1
