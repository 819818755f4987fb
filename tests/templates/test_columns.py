"""Tables of columns: what a class declares, what it refuses, rows."""

from dataclasses import dataclass

import numpy as np
import pytest
from jaxtyping import Bool, Float32, Float64, Int64

from templates.columns import ColumnError, Columns, Texts, column_types


@dataclass(frozen=True, kw_only=True)
class Walls(Columns):
    number: Int64[np.ndarray, "n"]
    corners: Float64[np.ndarray, "n 4 2"]
    openings: Int64[np.ndarray, "n k"]
    name: Texts
    load_bearing: Bool[np.ndarray, "n"] | None = None


@dataclass(frozen=True, kw_only=True)
class Rooms(Columns):
    wall: Walls
    area: Float64[np.ndarray, "n"]


def walls(count: int = 3) -> Walls:
    return Walls(
        number=np.arange(count),
        corners=np.arange(8.0 * count).reshape(count, 4, 2),
        openings=np.full((count, 2), -1),
        name=np.array(["north", "east", "south"][:count], dtype=np.str_),
    )


def test_the_annotations_say_what_a_column_is() -> None:
    declared = column_types(Walls)
    assert {name: each.kind for name, each in declared.items()} == {
        "number": "int", "corners": "float", "openings": "int", "name": "text", "load_bearing": "bool",
    }  # fmt: skip
    assert [name for name, each in declared.items() if each.ragged] == ["openings"]
    assert [name for name, each in declared.items() if each.optional] == ["load_bearing"]
    assert column_types(Rooms)["wall"].table is Walls


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"number": np.zeros((3, 1), dtype=int)}, r"Walls\.number has shape \(3, 1\); declared: \(n\)"),
        ({"number": np.zeros(3)}, r"Walls\.number holds float64; declared: int"),
        ({"corners": np.zeros((3, 4, 3))}, r"Walls\.corners has shape \(3, 4, 3\); declared: \(n, 4, 2\)"),
        ({"corners": np.full((3, 4, 2), "x")}, r"Walls\.corners holds <U1; declared: float"),
        ({"name": np.zeros(3)}, r"Walls\.name holds float64; declared: text"),
        ({"load_bearing": np.ones(3)}, r"Walls\.load_bearing holds float64; declared: bool"),
        ({"number": np.arange(2)}, "columns of Walls have unequal lengths"),
    ],
)
def test_a_column_that_is_not_what_the_class_declares_is_named(change: dict[str, np.ndarray], said: str) -> None:
    good = walls()
    columns = {name: getattr(good, name) for name in column_types(Walls)}
    with pytest.raises(ColumnError, match=said):
        Walls(**{**columns, **change})


def test_whole_numbers_serve_as_floats_and_any_integers_as_int64() -> None:
    made = Walls(number=np.arange(1, dtype=np.int32), corners=np.ones((1, 4, 2), dtype=int), openings=[[1]], name=["a"])
    assert (made.number.dtype, made.corners.dtype) == (np.int64, np.float64)


def test_columns_of_other_types_cannot_be_declared() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Odd(Columns):
        mass: Float32[np.ndarray, "n"]

    with pytest.raises(ColumnError, match=r"Odd\.mass is declared as .*; allowed: Int64, Float64 or Bool"):
        Odd(mass=np.zeros(1, dtype=np.float32))


@pytest.mark.parametrize("rows", [np.array([2, 0]), np.array([True, False, True]), slice(1, None), np.empty(0, int)])
def test_rows_are_taken_from_every_column_and_every_table(rows: np.ndarray | slice) -> None:
    rooms = Rooms(wall=walls(), area=np.array([1.0, 2.0, 3.0]))
    some = rooms.take(rows)
    np.testing.assert_array_equal(some.area, rooms.area[rows])
    np.testing.assert_array_equal(some.wall.corners, rooms.wall.corners[rows])
    assert some.wall.name.tolist() == rooms.wall.name[rows].tolist() and some.wall.load_bearing is None
    assert len(some) == len(some.wall) == len(some.area)


def test_a_table_of_no_rows_has_the_declared_shapes() -> None:
    empty = Walls(number=[], corners=[], openings=[], name=[])
    assert (len(empty), empty.corners.shape, empty.openings.shape) == (0, (0, 4, 2), (0, 1))
    assert (empty.number.dtype, empty.name.dtype.kind) == (np.int64, "U")
