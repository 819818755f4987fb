import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.official import cogmapeval
from spatial_engine.scoring.official.cognitive_map import ROTATIONS, MapObject, relation
from spatial_engine.scoring.official.reading import read_letter, read_map
from tests.spatial_engine.scoring.golden import assert_agrees, cases

Map = dict[str, Any]
NAMES = ("chair", "table", "lamp", "sofa", "View 1")
FACINGS = ("up", "down", "left", "right", "inner", "outer", "north", "back")

positions = st.lists(st.integers(0, 9), min_size=2, max_size=2)
maps = st.dictionaries(
    st.sampled_from(NAMES),
    st.fixed_dictionaries({"position": positions}, optional={"facing": st.sampled_from(FACINGS)}),
    min_size=2,
)
texts = st.text() | st.lists(
    st.sampled_from(('{"objects": [', '"views"', '{"name": "a", "position": [1, 2]', '"facing": ', '"up"', "}", "]",
                     "{", ",", "x: ", "//", "\n", "B.", "<Answer>", "Answer: C", '"A"', "D")),
    max_size=12,
).map("".join)  # fmt: skip


def score(reply: str, truth: Any, answer: str = "B") -> float:
    result = cogmapeval(reply, answer, {"id_type": "among_1", "cogmap": truth})
    assert not result["detail"]
    return float(result["score"])


@pytest.mark.parametrize("case", cases("cogmapeval"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(cogmapeval, case)


@settings(max_examples=25)
@given(maps)
def test_the_truth_scores_one_once_a_relation_is_decided(truth: Map) -> None:
    decided = len({tuple(entry["position"]) for entry in truth.values()}) > 1 or not any(
        entry.get("facing") for entry in truth.values()
    )
    for map_ in (truth, json.dumps(truth)):
        got = score(f"{json.dumps(truth)} Answer: B.", map_)
        assert got == pytest.approx(1) if decided else got >= 0.4


@settings(max_examples=25)
@given(maps)
def test_a_rotated_map_is_the_same_map(truth: Map) -> None:
    turned = {name: {"position": [-y, x]} for name, entry in truth.items() for x, y in [entry["position"]]}
    plain = {name: {"position": entry["position"]} for name, entry in truth.items()}
    if all(abs(ax - bx) != abs(ay - by) for ax, ay in map(tuple, (e["position"] for e in plain.values()))
           for bx, by in map(tuple, (e["position"] for e in plain.values())) if (ax, ay) != (bx, by)):  # fmt: skip
        assert score(json.dumps(turned) + " B.", plain) == pytest.approx(1)


@settings(max_examples=40)
@given(texts, maps)
def test_arbitrary_text_gives_a_number_from_0_to_1(text: str, truth: Map) -> None:
    result = cogmapeval(text, "B", {"id_type": None, "cogmap": truth})
    assert 0 <= result["score"] <= 1


def test_objects_that_are_missing_cost_nothing_but_isomorphism() -> None:
    truth = {name: {"position": [index, index**2]} for index, name in enumerate(NAMES)}
    two = dict(list(truth.items())[:2])
    assert score(json.dumps(two) + " B.", truth) == pytest.approx(0.8)


def test_ties_are_vertical_and_nearness_is_inner_outer_or_undecided() -> None:
    origin = MapObject(0, 0, None)
    assert relation(origin, MapObject(1, 1, None)) == "down"
    assert relation(origin, MapObject(1, -1, None)) == "up"
    assert relation(origin, MapObject(2, 1, None)) == "right"
    assert relation(origin, MapObject(0.1, 0, None)) == "inner"
    assert relation(origin, MapObject(0.3, 0, None)) is None
    assert relation(origin, MapObject(0.3, 0, "inner")) == "outer"
    assert relation(MapObject(0, 0, "inner"), MapObject(0.3, 0, "inner")) == "inner"


def test_four_quarter_turns_are_one() -> None:
    thing = MapObject(2.0, 3.0, "up")
    for facing in ("right", "down", "left", "up"):
        thing = ROTATIONS["z_rot_90"](thing)
        assert thing.facing == facing
    assert (thing.x, thing.y) == pytest.approx((2, 3))


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A. or B. I say C", "B"), ("<Answer> The answer is C but B", "C"), ("<Answer>none</Answer>\nA\n", "A"),
        ("E\nC", "E"), ("not A, \"C\" it is", "C"), ("my answer is B. but", "B"), ("hence answer is D", "D"),
        ("A B\nE D\nnone", "E"), ("F", None), ("", None), ("a b c", None),
    ],
)  # fmt: skip
def test_letters(text: str, letter: str | None) -> None:
    assert read_letter(text) == letter


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('so {"a": 1} or {"b": 2}', None), ("none", None), ('{a: {"position": [1,2],},}', {"a": {"position": [1, 2]}}),
        ('{"a": {"x": 1}, // note\n}', {"a": {"x": 1}}),
        ('{"a": {"x": 1}, "b": {"x": 2, }, "c": [', {"a": {"x": 1}, "b": {"x": 2}}),
        ('{"a": {"x": 1}, "b": {x: 2,}, "c": }', {"a": {"x": 1}, "b": {"x": 2}}),
    ],
)  # fmt: skip
def test_maps_are_mended(text: str, found: Any) -> None:
    assert read_map(text) == found


MILLION = 1_000_000 // 4
HOSTILE = {
    "nested": "{" + "[" * MILLION + "}",
    "one word": "{" + "a" * 3 * MILLION + "}",
    "words": "{" + "a " * MILLION + "}",
    "blanks": "{a" + " " * 3 * MILLION + "}",
    "quotes": "{" + '"' * 2 * MILLION + "}",
    "pairs": "{" + '"a":{' * MILLION + "}",
    "halves of pairs": '{"a":{' + "{}" * MILLION + "}",
    "objects": json.dumps({f"o{i}": {"position": [i, i]} for i in range(5_000)}),
    "tags": "<Answer>" * MILLION,
    "answers": "Answer " * MILLION,
    "lines": "A\n" * MILLION + "\n" * 2 * MILLION,
}


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_maps_cost_little(response: str) -> None:
    start = time.process_time()
    assert 0 <= score(response, {"chair": {"position": [1, 2]}}) <= 1
    assert time.process_time() - start < 2.5
