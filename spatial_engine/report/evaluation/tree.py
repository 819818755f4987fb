"""The ability tree as three columns of boxes: levels, branches, leaves; each coloured by a score."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from templates.ability import LEVELS, TREE

WIDTH, ROW, GAP = 1000, 26, 8
_COLUMNS = ((0, 190), (196, 300), (502, 498))
"""Left end and width of levels, branches, leaves."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node of the tree, in a drawing `WIDTH` wide with y down."""

    x: int
    y: int
    width: int
    height: int
    name: str
    note: str
    """What a level means."""
    path: str
    depth: int
    measure: Mapping[str, Any] | None
    """None where nothing was asked."""


def boxes(result: Mapping[str, Any]) -> tuple[list[Box], int]:
    """All nodes, and the height of the drawing."""
    found, y = [], 0
    for level, branches in TREE.items():
        top = y
        for branch, leaves in branches.items():
            start = y
            for leaf in leaves:
                path = f"{level}/{branch}/{leaf}"
                found.append(_box(2, y, 1, leaf, path, result["leaves"]))
                y += ROW
            found.append(_box(1, start, len(leaves), branch, f"{level}/{branch}", result["branches"]))
        count = sum(map(len, branches.values()))
        found.append(_box(0, top, count, level, level, result["levels"], LEVELS[level]))
        y += GAP
    return found, y - GAP


def _box(depth: int, y: int, rows: int, name: str, path: str, measures: Mapping[str, Any], note: str = "") -> Box:
    x, width = _COLUMNS[depth]
    return Box(
        x=x, y=y, width=width, height=rows * ROW - 2, name=name, note=note, path=path, depth=depth,
        measure=measures.get(path),
    )  # fmt: skip
