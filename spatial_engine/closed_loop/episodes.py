"""Tasks in rooms: where the camera starts, where it is to go, and a way there."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.closed_loop.room import HEADINGS, MOVES, STEP_M, TURN_DEG, Room, Stands

Goal = Literal["photo", "object"]
"""The goal is shown, or named."""
_FEWEST, _MOST = 8, 40
"""Steps from the start to the goal."""
_CELL_M = STEP_M / 2
"""Places in one square of this side, with one heading, count as one in the search for ways."""
_ROOMS, _STARTS = 1000, 6
_NEAR_M = 1.5
_MIN_SHARE, _MIDDLE = 0.004, 0.25
"""An object that is found makes up this share of the picture, and its middle column lies in the middle half."""
_LARGE_M = 0.5
"""Least longest side of an object that is named: smaller ones are hard to recognise."""
_LEAST_SHOWN, _LEAST_OBJECTS = 0.3, 4
"""A goal photo shows objects on this share of its pixels, and so many of them."""


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One task."""

    id: str
    seed: int
    """Of the room."""
    start: tuple[float, float, float]
    """x, y, heading as in `Room`."""
    goal: tuple[float, float, float] | None
    """Where the goal photo was taken; None if an object is named."""
    object: str
    """The object to be found, of whose name there is only one; "" for goal photos."""
    plan: tuple[str, ...]
    """A way to the goal, by names of moves. None is known that has fewer."""

    @cached_property
    def room(self) -> Room:
        """Where it takes place."""
        return Room.of(self.seed)

    @cached_property
    def row(self) -> int:
        """The object's row in `scene.objects`."""
        return [each.name for each in self.room.scene.objects].index(self.object)

    def reached(self, stand: Float64[np.ndarray, "3"]) -> bool:
        """Whether the goal is reached: within one step and one turn of the place and heading of the goal photo; or at
        most 1.5 m from the object, which lies in the middle half of the photo."""
        if self.goal is None:
            return found(self.room, stand, self.row)
        there = np.array(self.goal)
        away = np.linalg.norm(stand[:2] - there[:2])
        return bool(away <= STEP_M + 1e-6 and _turns_between(stand[2], there[2]) <= 1)


def episodes(goal: Goal, count: int, seed: int) -> Iterator[Episode]:
    """One in each of `count` rooms. The first ones do not depend on the count."""
    for number in range(count):
        tries = (
            _episode(goal, _ROOMS * seed + number, start, f"{goal}-{seed}-{number:04d}") for start in range(_STARTS)
        )
        found_one = next((one for one in tries if one is not None), None)
        if found_one is not None:
            yield found_one


def found(room: Room, stand: Float64[np.ndarray, "3"], row: int) -> bool:
    """Whether an object is near, and in the middle half of the photo."""
    if room.distance_m(stand[None], row)[0] > _NEAR_M:
        return False
    shown = room.object_ids(stand) == row
    if shown.mean() < _MIN_SHARE:
        return False
    return bool(abs((np.nonzero(shown)[1].mean() + 0.5) / shown.shape[1] - 0.5) <= _MIDDLE)


def _episode(goal: Goal, seed: int, attempt: int, id: str) -> Episode | None:
    room, rng = Room.of(seed), np.random.default_rng([seed, attempt])
    ways = Ways.of(room, _random_stand(room, rng))
    far = np.flatnonzero(ways.steps >= _FEWEST)
    if goal == "photo":
        rows = iter(rng.permutation(far)[:10].tolist())
        end, name = next((row for row in rows if _shows_much(room, ways.stands[row])), None), ""
    else:
        names = [each.name for each in room.scene.objects]
        large = [max(each.size_m) >= _LARGE_M for each in room.scene.objects]
        single = [row for row, each in enumerate(names) if names.count(each) == 1 and large[row]]
        target = int(rng.choice(single))
        end, name = _first_view(room, ways, target), names[target]
    if end is None:
        return None
    start, stand = (_three(ways.stands[row]) for row in (0, end))
    return Episode(
        id=id, seed=seed, start=start, goal=stand if goal == "photo" else None, object=name, plan=ways.plan(end)
    )


def _first_view(room: Room, ways: "Ways", target: int) -> int | None:
    """The first place from which an object counts as found, unless that is near the start."""
    middle = room.corners_m(target).mean(axis=0)[:2]
    to = middle - ways.stands[:, :2]
    turned = np.radians(TURN_DEG * ways.stands[:, 2]) - np.arctan2(-to[:, 0], to[:, 1])
    near = room.distance_m(ways.stands, target) <= _NEAR_M
    likely = np.flatnonzero(near & (np.abs(np.angle(np.exp(1j * turned))) < np.radians(30)))
    first = next((row for row in likely[:40].tolist() if found(room, ways.stands[row], target)), None)
    return first if first is not None and ways.steps[first] >= _FEWEST else None


def _shows_much(room: Room, stand: Float64[np.ndarray, "3"]) -> bool:
    ids = room.object_ids(stand)
    return bool((ids >= 0).mean() >= _LEAST_SHOWN and len(np.unique(ids)) > _LEAST_OBJECTS)


def _random_stand(room: Room, rng: np.random.Generator) -> Float64[np.ndarray, "3"]:
    """Anywhere on the free floor."""
    places = rng.uniform(0, 1, (500, 2)) * room.scene.room.size_m[:2]
    place = places[room.free(places)][0]
    return np.array([*place.round(3), rng.integers(HEADINGS)])


@dataclass(frozen=True, kw_only=True)
class Ways:
    """Shortest ways from one place to all others, by breadth-first search."""

    stands: Stands
    """The first is the start; in the order of their steps."""
    steps: Int64[np.ndarray, "n"]
    before: Int64[np.ndarray, "n"]
    """Row of the place before, -1 for the start, ..."""
    move: Int64[np.ndarray, "n"]
    """... and row in `MOVES` of the step from there."""

    @classmethod
    def of(cls, room: Room, start: Float64[np.ndarray, "3"]) -> "Ways":
        """At most `_MOST` steps far."""
        layers, firsts = [start[None]], [0]
        known = np.zeros(
            (*np.ceil(np.array(room.scene.room.size_m[:2]) / _CELL_M).astype(int) + 2, HEADINGS), dtype=bool
        )
        known[_cell(start[None])] = True
        before, moves = [np.array([-1])], [np.array([-1])]
        for _ in range(_MOST):
            last = layers[-1]
            row, move = (each.ravel() for each in np.indices((len(last), len(MOVES))))
            there, free = room.moved(last[row], move)
            new = np.flatnonzero(free & ~known[_cell(there)])
            if not len(new):
                break
            cell = np.ravel_multi_index(_cell(there[new]), known.shape)
            new = new[np.sort(np.unique(cell, return_index=True)[1])]
            known[_cell(there[new])] = True
            layers.append(there[new])
            before.append(firsts[-1] + row[new])
            moves.append(move[new])
            firsts.append(firsts[-1] + len(last))
        steps = np.repeat(np.arange(len(layers)), [len(layer) for layer in layers])
        joined = [np.concatenate(each) for each in (layers, before, moves)]
        return cls(stands=joined[0], steps=steps, before=joined[1], move=joined[2])

    def plan(self, row: int) -> tuple[str, ...]:
        """Moves from the start to a place."""
        found: list[str] = []
        while self.before[row] >= 0:
            found.append(MOVES[self.move[row]])
            row = int(self.before[row])
        return tuple(reversed(found))


def _cell(stands: Stands) -> tuple[Int64[np.ndarray, "n"], ...]:
    """Column, row and heading. The rooms begin at 0, 0."""
    return (*np.floor(stands[:, :2] / _CELL_M).astype(np.int64).T, stands[:, 2].astype(np.int64))


def _turns_between(a: float, b: float) -> float:
    return float(abs((a - b + HEADINGS / 2) % HEADINGS - HEADINGS / 2))


def _three(stand: Float64[np.ndarray, "3"]) -> tuple[float, float, float]:
    x, y, heading = stand.tolist()
    return x, y, heading
