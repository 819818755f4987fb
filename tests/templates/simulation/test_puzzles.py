"""Puzzles, solved again by other means: corners of squares are moved in space, cubes are looked at along rays."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, product

import cv2
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from templates.ability import LEAVES
from templates.asked import Draft
from templates.columns import Json
from templates.generate import ask_puzzles
from templates.media import XY, Sheet
from templates.registry import create_templates
from templates.simulation.puzzles import cube_net, paper_fold, stacks
from templates.simulation.puzzles.puzzle import Puzzle
from templates.simulation.puzzles.solid import projected

PUZZLES = {name: t for name, t in create_templates().items() if isinstance(t, Puzzle)}
NAMES = pytest.mark.parametrize("name", PUZZLES)
pytestmark = pytest.mark.xdist_group("puzzles")  # in one process each is made once
COUNT = 40
TURNS = Rotation.create_group("O").as_matrix().round()


@cache
def drafts(name: str, count: int = COUNT, seed: int = 0) -> list[Draft]:
    found = ask_puzzles([PUZZLES[name]], count, seed)
    return [draft for asked in found.asked for draft in asked.drafts()]


def judged(name: str) -> Iterator[tuple[dict[str, Json], str, bool]]:
    """Each option of each puzzle, and whether it is given as the right one."""
    for draft in drafts(name):
        right = draft.answer.to_json().answer
        for option in draft.options:
            yield draft.fact, str(option.value), option.value == right


@NAMES
def test_one_option_is_right_and_all_differ(name):
    for draft in drafts(name):
        shown = [str(option.shown) for option in draft.options]
        assert len(set(shown)) == len(shown)
        assert not shown or [option.value for option in draft.options].count(draft.answer.to_json().answer) == 1


@NAMES
def test_no_puzzle_comes_twice(name):
    facts = [str(draft.fact) for draft in drafts(name) if draft.format == PUZZLES[name].formats[0]]
    assert len(set(facts)) == len(facts) == COUNT


@NAMES
@pytest.mark.parametrize("count", [5, pytest.param(COUNT, marks=pytest.mark.long)])
def test_a_seed_gives_the_same_puzzles(name, count):
    facts, again, others = (
        [draft.fact for draft in made(name, count, seed)]
        for made, seed in ((drafts, 0), (drafts.__wrapped__, 0), (drafts, 1))
    )
    assert again == facts != others


def test_the_leaf_of_puzzles_is_asked_in_two_formats():
    leaf = next(leaf for leaf in LEAVES if leaf.endswith("Geometry Puzzles"))
    asking = [template for template in create_templates().values() if template.ability == leaf]
    assert len(asking) >= 3 and len({format for template in asking for format in template.formats}) >= 2


def unfolded(fact: dict[str, Json]) -> set[tuple[int, int]]:
    """Holes found by opening the folds one by one, the last one first."""
    size, found = fact["size"], {tuple(hole) for hole in fact["holes"]}
    kept = [paper_fold.places(size, [tuple(fold) for fold in fact["folds"][:k]]) for k in range(len(fact["folds"]))]
    for (axis, line, side), before in zip(reversed(fact["folds"]), reversed(kept), strict=True):
        for hole in list(found):
            opened = list(hole)
            opened[axis] = 2 * line - 1 - opened[axis]
            if tuple(opened) in before.values() and (opened[axis] >= line) == bool(side):
                found.add(tuple(opened))
    return found


def test_folded_paper():
    for fact, value, is_right in judged("paper_fold"):
        holes = {(x, y) for y, row in enumerate(value.split("/")) for x, cell in enumerate(row) if cell == "o"}
        assert (holes == unfolded(fact)) == is_right


def test_the_working_ends_where_all_folds_are_undone():
    for draft in drafts("paper_fold"):
        stages = draft.evidence["working"].split("; then ")
        last = {tuple(map(int, pair.split(", "))) for pair in re.findall(r"\[(\d+, \d+)\]", stages[-1])}
        assert len(stages) == len(draft.fact["folds"]) and last == unfolded(draft.fact)


@pytest.mark.parametrize(
    ("size", "folds", "holes", "different"),
    [(3, 2, 1, 7), (4, 1, 1, 6), (4, 2, 1, 31), pytest.param(4, 2, 2, 102, marks=pytest.mark.long)],
)
def test_there_are_so_many_different_papers(size, folds, holes, different):
    """As many as all ways to fold and punch give, of which none is another one turned or flipped."""
    assert len({as_pictures(size, *paper) for paper in all_papers(size, folds, holes)}) == different
    template = paper_fold.PaperFold(sizes=(size,), folds=(folds,), holes=(holes,))
    found = ask_puzzles([template], 2 * different, 0)
    facts = [fact for asked in found.asked for fact in asked.facts.to_json()]
    keys = {as_pictures(size, fact["folds"], fact["holes"]) for fact in facts}
    assert len(keys) == len(facts) == different


def all_papers(size, folds, holes):
    for chosen in product(product((0, 1), range(1, size), (0, 1)), repeat=folds):
        layers: np.ndarray | None = np.ones((size, size), dtype=int)
        for fold in chosen:
            layers = None if layers is None else folded_over(layers, *fold)
        if layers is None:
            continue
        for cells in combinations(np.argwhere(layers).tolist(), holes):
            if sum(layers[tuple(cell)] for cell in cells) > holes and holes < (layers > 0).sum():
                yield chosen, cells


def folded_over(layers: np.ndarray, axis: int, line: int, side: int) -> np.ndarray | None:
    """Numbers of layers after a fold; None where it moves nothing, or more than stays."""
    first = np.moveaxis(layers, axis, 0).copy()
    size = len(first)
    moved, stays = (range(line, size), range(line)) if side else (range(line), range(line, size))
    used = [k for k in range(size) if first[k].any()]
    moved, stays = [k for k in moved if k in used], [k for k in stays if k in used]
    if not moved or len(moved) > len(stays):
        return None
    for k in moved:
        first[2 * line - 1 - k] += first[k]
        first[k] = 0
    return np.moveaxis(first, 0, axis)


def as_pictures(size, folds, holes) -> tuple:
    """What the drawings show after each fold, as numbers of layers, and the holes: of all eight ways to turn and flip
    the paper the first one."""
    steps = [np.ones((size, size), dtype=int)]
    for axis, line, side in folds:
        steps.append(folded_over(steps[-1], axis, line, side))
    punched = np.zeros((size, size), dtype=int)
    punched[tuple(np.transpose(holes))] = 1
    stack = np.array([*steps, punched])
    ways = [np.rot90(way, k, axes=(1, 2)) for way in (stack, stack[:, ::-1]) for k in range(4)]
    return min(tuple(way.ravel().tolist()) for way in ways)


def hinged(net: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Centre, right and up of each square of a net, when every square is folded by 90 degrees along its shared edge."""
    squares = cube_net.cells(net)
    placed = {squares[0]: (np.zeros(3), np.eye(3))}  # columns: right, up, outward normal
    while len(placed) < len(squares):
        for square, (centre, axes) in list(placed.items()):
            for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                beside = (square[0] + step[0], square[1] + step[1])
                if beside not in squares or beside in placed:
                    continue
                out = axes[:, :2] @ step
                hinge = np.cross(axes[:, 2], out)
                fold = Rotation.from_rotvec(hinge * np.pi / 2).as_matrix()  # turns the outward direction inwards
                edge = centre + 0.5 * out
                placed[beside] = edge + fold @ (0.5 * out), fold @ axes
    middle = placed[squares[0]][0] - 0.5 * placed[squares[0]][1][:, 2]
    return [(placed[s][0] - middle, placed[s][1][:, 0], placed[s][1][:, 1]) for s in squares]


def seen_on_cube(fact: dict[str, Json], value: str) -> bool:
    """Whether some rotation of the folded net shows these colours and arrows on top, right and front."""
    shown = []
    for normal, face in zip(np.array([(0, 0, 1), (1, 0, 0), (0, -1, 0)]), value.split(" "), strict=True):
        up = np.array((0, 1, 0) if normal[2] else (0, 0, 1))
        turn = Rotation.from_rotvec(-normal * np.pi / 2 * int(face[1])).as_matrix()
        shown.append((face[0], 0.5 * normal, turn @ up))
    net = []
    for (centre, right, up), colour, arrow in zip(hinged(fact["net"]), fact["colours"], fact["arrows"], strict=True):
        net.append(("BOGPWK"[colour], centre, (up, right, -up, -right)[arrow]))
    return any(
        all(
            any(a == b and np.allclose(turn @ p, q) and np.allclose(turn @ u, v) for a, p, u in net)
            for b, q, v in shown
        )
        for turn in TURNS
    )


def test_cubes_of_nets():
    for fact, value, is_right in judged("cube_net"):
        assert seen_on_cube(fact, value) == is_right


@pytest.mark.parametrize("net", range(11))
def test_a_net_folds_to_six_faces(net):
    centres = {tuple(np.round(2 * centre).astype(int)) for centre, _, _ in hinged(net)}
    assert len(centres) == 6


def same_solid(a: np.ndarray, b: np.ndarray, turns: np.ndarray) -> bool:
    moved = [np.unique((a @ turn.T - (a @ turn.T).min(axis=0)).round().astype(int), axis=0) for turn in turns]
    b = np.unique(b - b.min(axis=0), axis=0)
    return any(m.shape == b.shape and (m == b).all() for m in moved)


@pytest.mark.parametrize("name", ["turned_shape", "turned_solid"])
def test_turned_shapes(name):
    turns = TURNS if name == "turned_solid" else TURNS[TURNS[:, 2, 2] == 1]
    for fact, value, is_right in judged(name):
        cells = np.array([cell.split(",") for cell in value.split(" @")[0].split(" ")], dtype=int)
        assert same_solid(np.array(fact["cells"]), cells, turns) == is_right


def looked_at(heights: np.ndarray, side: str) -> str:
    """Heights of the first cubes that level rays meet, for each column from the left."""
    filled = np.array([[[z < height for z in range(5)] for height in row] for row in heights])  # y, x, z
    away = {"front": (filled, 0), "back": (filled[:, ::-1], 0), "right": (filled, 1), "left": (filled[::-1], 1)}
    cubes, axis = away[side]
    return "".join(map(str, cubes.any(axis=axis).sum(axis=1)))


def test_views_of_stacks():
    for fact, value, is_right in judged("stack_view"):
        assert (value == looked_at(np.array(fact["heights"]), fact["side"])) == is_right


def test_counts_of_stacks():
    for draft in drafts("stack_count"):
        assert int(draft.answer.to_json().answer) == np.sum(draft.fact["heights"])


def painted(sheet: Sheet) -> np.ndarray:
    picture = np.full((300, 300), -1, dtype=np.int32)
    for number, polygon in enumerate(sheet.polygons):
        corners = np.array(polygon.corners) * 40 + (100, 100)
        cv2.fillPoly(picture, [corners.round().astype(np.int32)], number)
    return picture


@pytest.mark.parametrize("seed", range(20))
def test_what_can_be_read_is_visible_on_the_drawing(seed):
    heights = np.random.default_rng(seed).integers(0, 4, (3, 3))
    sheet = stacks.stack_sheet(tuple(map(tuple, heights.tolist())))
    picture, shares = painted(sheet), []
    for (y, x), height in np.ndenumerate(heights):
        corners = {projected([np.array((x + a, y + b, height))])[0] for a, b in product((0, 1), repeat=2)}
        number = next(k for k, shape in enumerate(sheet.polygons) if near(corners, shape.corners))
        shares.append((picture == number).sum() / (painted(Sheet(polygons=(sheet.polygons[number],))) == 0).sum())
    can_be_read = stacks.can_be_read(tuple(map(tuple, heights.tolist())))
    assert min(shares) > 0.1 if can_be_read else min(shares) < 0.3


def near(some: Iterable[XY], others: Iterable[XY]) -> bool:
    return np.allclose(sorted(np.round(list(some), 6).tolist()), sorted(np.round(list(others), 6).tolist()))


def test_every_height_of_a_stack_can_be_told():
    for fact, _, _ in judged("stack_view"):
        own = painted(stacks.stack_sheet(tuple(map(tuple, fact["heights"]))))
        for (y, x), change in product(np.ndindex(3, 3), (1, -1)):
            other = np.array(fact["heights"])
            other[y, x] += change
            if 0 <= other[y, x] <= 4:
                assert (painted(stacks.stack_sheet(tuple(map(tuple, other.tolist())))) != own).any()


def test_pairs_of_solids_are_not_alike():
    found = [draft.fact["cells"] for draft in drafts("turned_solid", 30)]
    for a, b in combinations(found, 2):
        assert len(a) != len(b) or not same_solid(np.array(a), np.array(b), TURNS)
