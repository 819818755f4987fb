"""The table of primitives, and the names and keys of its dialects."""

import pytest

from action_mapping.primitives import COMPONENTS, PRIMITIVES, UnknownPrimitiveError, primitive, primitive_of

WRITTEN = {
    "Truck Left": ["A"], "Truck Right": ["D"],
    "Pedestal Up": ["space", "Q"], "Pedestal Down": ["shift", "E"],
    "Dolly In": ["W"], "Dolly Out": ["S"],
    "Pan Left": ["←", "left_arrow"], "Pan Right": ["→", "right_arrow"],
    "Tilt Up": ["↑", "up_arrow"], "Tilt Down": ["↓", "down_arrow"],
    "Roll CW": ["↻", "⟳", "Z", "clockwise"], "Roll CCW": ["↺", "⟲", "X", "counterclockwise"],
    "Zoom In": [], "Zoom Out": [],
    "Gripper Open": ["G"], "Gripper Close": ["H"], "Push": ["P"], "Pull": ["L"], "Grab": [], "Release": [],
    "Stay": ["STOP"],
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_every_dialect_is_recognised(name: str) -> None:
    assert all(primitive(key).name == name for key in [name, *WRITTEN[name]])


def test_the_table_is_complete_and_no_key_is_used_twice() -> None:
    assert {p.name for p in PRIMITIVES} == set(WRITTEN)
    keys = [key for p in PRIMITIVES for key in {p.name, p.symbol, *p.keys}]
    assert len(keys) == len(set(keys))


def test_both_directions_of_each_component() -> None:
    assert {primitive_of(c, s).name for c in COMPONENTS for s in (1, -1)} == set(list(WRITTEN)[:12])


@pytest.mark.parametrize("key", ["w", "Space", "<-", "", "dolly in"])
def test_an_unknown_key_is_refused_and_the_known_are_listed(key: str) -> None:
    with pytest.raises(UnknownPrimitiveError, match=r"known are .*W \(Dolly In\)"):
        primitive(key)
