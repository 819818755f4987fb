"""What hangs on a wall, stands against one, and lies straight below another object, in a hall with few objects."""

from dataclasses import replace

import numpy as np

from experts.signals import Objects, Room, Signal
from templates.scene.at_wall import at_wall
from templates.scene.stands import straight_below
from tests.templates import worlds

NAMES = ("picture", "sofa", "table", "vase", "book")
MIDDLES = [(0, 7.97, 1.0), (3, 7.59, -0.8), (0, 5, -0.8), (0, 5.1, -0.25), (3.1, 7.6, 0.6)]
SIZES = [(0.8, 0.04, 0.5), (1.6, 0.8, 0.8), (1.0, 1.0, 0.8), (0.2, 0.2, 0.3), (0.3, 0.3, 0.2)]


def hall(sigma: float = 1e-6, shifts: dict[str, tuple[float, float, float]] | None = None) -> dict[str, Signal]:
    """The floor is at -1.2, a wall at y = 8. Objects are moved by `shifts`."""
    signals, poses = worlds.with_hall(worlds.signals()), np.tile(np.eye(4), (24, len(NAMES), 1, 1))
    objects, room = signals["objects"], signals["room"]
    assert isinstance(objects, Objects) and isinstance(room, Room)
    outline = np.array([[-12.0, -12], [12, -12], [12, 8], [-12, 8]])
    poses[..., :3, 3] = np.array(MIDDLES) + [(shifts or {}).get(name, (0, 0, 0)) for name in NAMES]
    made = replace(
        objects, labels=NAMES, world_from_object=poses, size=np.array(SIZES), box_px=None,
        centre_sigma=np.full(len(NAMES), sigma), size_sigma=np.full((len(NAMES), 3), sigma),
        outlier_probability=np.zeros(len(NAMES)), complete=("*",),
    )  # fmt: skip
    return {**signals, "objects": made, "room": replace(room, outline=outline, wall_sigma=np.full(4, sigma))}


def words(signals: dict[str, Signal]) -> list[str]:
    """Of all objects, in the first photo."""
    count = len(NAMES)
    return list(at_wall(worlds.scene(signals), np.zeros(count, dtype=np.int64), np.arange(count))[0].tolist())


def under(a: str, b: str, signals: dict[str, Signal]) -> str:
    """How two objects lie along the vertical."""
    one, other = (np.array([NAMES.index(name)]) for name in (a, b))
    return str(straight_below(worlds.scene(signals), np.array([0]), one, other)[0].item())


def test_a_picture_hangs_a_sofa_stands_against_the_wall_and_a_vase_on_a_table() -> None:
    assert words(hall()) == ["hangs", "against", "clear", "upon", ""]  # the book in the air 0.25 m from the wall
    assert words(hall(shifts={"sofa": (0, -0.1, 0), "picture": (0, -0.1, 0)}))[:2] == ["", ""]
    assert words(hall(shifts={"sofa": (0, -0.5, 0), "picture": (3, 0, -1.35)}))[1] == "clear"


def test_what_something_may_hold_up_does_not_hang() -> None:
    signals = hall(shifts={"picture": (3, 0, -1.15)})  # it stands on the sofa
    assert words(signals)[0] == "upon"
    assert words(hall(shifts={"picture": (3, 0, -1.12)}))[0] == ""  # nearly
    objects = hall()["objects"]
    assert isinstance(objects, Objects)
    assert words({**hall(), "objects": replace(objects, complete=())})[0] == ""  # a shelf may not be listed
    assert words({name: signal for name, signal in hall().items() if name != "room"})[:3] == ["", "", ""]


def test_straight_below_needs_space_between_and_more_than_an_edge() -> None:
    assert under("sofa", "book", hall()) == "below" and under("book", "sofa", hall()) == "above"
    assert under("table", "vase", hall()) == "stacked" and under("sofa", "table", hall()) == "aside"
    assert under("sofa", "book", hall(shifts={"book": (-1.0, 0, 0)})) == ""  # less than half of the book is over it
    assert under("sofa", "book", hall(shifts={"book": (0, 0, -0.85)})) == ""  # nearly on it


def test_margins_fall_with_sigma() -> None:
    frame, object = np.zeros(1, dtype=np.int64), np.array([1])
    assert at_wall(worlds.scene(hall()), frame, object)[1].item() > 100
    vague = at_wall(worlds.scene(hall(sigma=0.1)), frame, object)
    assert vague[0].item() == "" or vague[1].item() < 2.33
