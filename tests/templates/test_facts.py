"""Parameters of facts: JSON and back, ids, pixels."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Bool, Float64, Int64

from templates.columns import ColumnError, Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.registry import create_templates


@dataclass(frozen=True, kw_only=True)
class Boxes(Facts):
    corner_px: Float64[np.ndarray, "n 2"]
    label: Texts


@dataclass(frozen=True, kw_only=True)
class Everything(Facts):
    frame: Int64[np.ndarray, "n"]
    size: Int64[np.ndarray, "n 2"]
    path: Int64[np.ndarray, "n k"]
    a_px: Float64[np.ndarray, "n 2"]
    marks_px: Float64[np.ndarray, "n m 2"]
    spans: Int64[np.ndarray, "n s 2"]
    limit: Float64[np.ndarray, "n"]
    sure: Bool[np.ndarray, "n"]
    box: Boxes


PIXEL = st.tuples(*[st.integers(-5000, 5000).map(lambda tenth: tenth / 10)] * 2).map(list)
BOX = st.fixed_dictionaries(
    {"corner_px": PIXEL, "label": st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=4)}
)
ROW = st.fixed_dictionaries({
    "frame": st.integers(0, 10**6),
    "size": st.lists(st.integers(1, 4000), min_size=2, max_size=2),
    "path": st.lists(st.integers(0, 500), max_size=5),
    "a_px": st.none() | PIXEL,
    "marks_px": st.lists(PIXEL, max_size=3),
    "spans": st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=2),
    "limit": st.none() | st.floats(-1e9, 1e9),
    "sure": st.booleans(),
    "box": BOX,
})  # fmt: skip
ROWS = st.lists(ROW, max_size=4)


@given(ROWS)
def test_rows_read_from_json_are_written_as_they_were(rows: list[dict[str, Json]]) -> None:
    """Ragged ones, unknown pixels, tables in tables; none, one, several."""
    facts = Everything.from_json(rows)
    assert len(facts) == len(rows)
    assert facts.to_json() == rows == json.loads(json.dumps(facts.to_json()))


@given(ROWS, st.data())
def test_rows_taken_are_those_rows_whatever_the_others_are(rows: list[dict[str, Json]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=5)) if rows else []
    facts = Everything.from_json(rows)
    some, alone = facts.take(np.array(chosen, dtype=int)), Everything.from_json([rows[k] for k in chosen])
    assert some.to_json() == alone.to_json()
    assert some.ids("clip", "kind") == alone.ids("clip", "kind") == [facts.ids("clip", "kind")[k] for k in chosen]


@given(ROWS)
def test_ids_are_equal_for_equal_facts_alone(rows: list[dict[str, Json]]) -> None:
    facts = Everything.from_json([*rows, *rows])
    ids = facts.ids("clip", "kind")
    assert ids[: len(rows)] == ids[len(rows) :] and all(len(id) == 16 and int(id, 16) >= 0 for id in ids)
    distinct = {json.dumps(row, sort_keys=True) for row in rows}
    assert len({*ids}) == len(distinct)
    assert facts.distinct().to_json() == list({json.dumps(row, sort_keys=True): row for row in rows}.values())
    if rows:
        assert not {*ids} & {*facts.ids("other clip", "kind"), *facts.ids("clip", "other kind")}


@given(ROWS, PIXEL)
def test_moving_pixels_moves_all_of_them_and_nothing_else(rows: list[dict[str, Json]], by_px: list[float]) -> None:
    facts = Everything.from_json(rows)
    moved = facts.moved(np.array(by_px))
    np.testing.assert_allclose(moved.pixels(), facts.pixels() + by_px)
    back = moved.moved(-np.array(by_px)).rounded()
    np.testing.assert_allclose(back.pixels(), facts.pixels(), atol=1e-9)
    assert [row | {"a_px": None, "marks_px": [], "box": None} for row in back.to_json()] == [
        row | {"a_px": None, "marks_px": [], "box": None} for row in rows
    ]


def test_all_pixels_of_a_fact_stand_in_one_row() -> None:
    row = {"frame": 1, "size": [4, 3], "path": [], "spans": [], "limit": None, "sure": True, "a_px": [1.0, 2.0]}
    row |= {"marks_px": [[3.0, 4.0]], "box": {"corner_px": [5.0, 6.0], "label": "a"}}
    other = row | {"a_px": None, "marks_px": [[3.0, 4.0], [7.0, 8.0]]}
    nan = [np.nan, np.nan]
    np.testing.assert_array_equal(
        Everything.from_json([row, other]).pixels(),
        [[[1, 2], [3, 4], nan, [5, 6]], [nan, [3, 4], [7, 8], [5, 6]]],
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"corner_px": [1.0, 2.0]}, r"Boxes has the columns corner_px, label; missing or unknown: \['label'\]"),
        ({"corner_px": [1.0, 2.0], "label": "a", "xy": 1}, r"missing or unknown: \['xy'\]"),
        ({"corner_px": [1.0, 2.0, 3.0], "label": "a"}, r"Boxes\.corner_px"),
        ({"corner_px": "left", "label": "a"}, r"Boxes\.corner_px"),
        ({"corner_px": [1.0], "label": "a"}, r"Boxes\.corner_px"),
        ({"corner_px": [1.0, 2.0], "label": None}, r"Boxes\.label"),
    ],
)
def test_parameters_that_are_missing_unknown_or_malformed_are_named(row: dict[str, Json], said: str) -> None:
    with pytest.raises(ColumnError, match=said):
        Boxes.from_json([{"corner_px": [1.0, 2.0], "label": "a"}, row])


@pytest.mark.parametrize("template", create_templates().values(), ids=lambda template: template.name)
def test_the_parameters_of_every_template_can_be_none(template) -> None:
    none = template.facts.none()
    assert none.to_json() == none.ids("c", "t") == [] and none.pixels().shape[0] == 0
    assert len(none.rounded()) == len(none.moved(np.ones(2))) == len(none.distinct()) == 0
    assert template.facts.has_pixels() == any(name.endswith("_px") for name, _ in none.arrays())


@dataclass(frozen=True, kw_only=True)
class TwoObjects(Facts):
    a: ObjectRefs
    b: ObjectRefs


def test_a_fact_refers_to_objects_in_terms_of_a_photo() -> None:
    chair = {"frame": 3, "inside_px": [10.0, 20.0], "box_px": [[0.0, 5.0], [30.0, 40.0]], "name": "chair"}
    table = chair | {"frame": 4, "name": "table"}
    facts = TwoObjects.from_json([{"a": chair, "b": table}])
    assert facts.to_json() == [{"a": chair, "b": table}]
    assert facts.pixels().shape == (1, 6, 2) and facts.all_frames().tolist() == [[3, 4]]
    assert facts.moved(np.array([1.0, 2.0])).b.box_px.tolist() == [[[1.0, 7.0], [31.0, 42.0]]]


@dataclass(frozen=True, kw_only=True)
class Optional(Facts):
    frame: Int64[np.ndarray, "n"]
    size: Float64[np.ndarray, "n"] | None = None


@dataclass(frozen=True, kw_only=True)
class Flags(Facts):
    seen: Bool[np.ndarray, "n k"]


@pytest.mark.parametrize("make", [lambda: Optional(frame=[1]), lambda: Flags(seen=[[True]])], ids=["optional", "flags"])
def test_columns_that_rows_cannot_hold_are_refused(make) -> None:
    with pytest.raises(ColumnError, match=r"Optional\.size is optional|Flags\.seen is flags"):
        make()
