"""Wrong options keep their distances, and depend on no other row."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from templates.chance import Chance
from templates.distractors import all_apart, point_distractors, shape_distractors

SIZE = (640, 480)
TOLERANCE = 16.0


def chance(count: int) -> Chance:
    return Chance.of([f"{k * 0x9E3779B97F4A7C15 % 2**64:016x}" for k in range(count)], 0)


def drawn_points(count: int, size: tuple[int, int] = SIZE, tolerance_px: float = TOLERANCE) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    right, a = rng.uniform([40, 30], [600, 450], (2, count, 2)) * np.divide(size, SIZE)
    sizes, tolerance = np.tile(size, (count, 1)), np.full(count, tolerance_px)
    return right, a, point_distractors(right, tolerance, a, sizes, chance(count), 3)[0]


def test_wrong_points_are_apart_from_the_right_one_and_each_other_and_inside() -> None:
    right, _, wrong = drawn_points(400)
    every = np.concatenate([right[:, None], wrong], axis=1)
    apart = np.linalg.norm(every[:, :, None] - every[:, None], axis=3)[:, ~np.eye(4, dtype=bool)]
    assert np.isfinite(wrong).all() and apart.min() >= 3 * TOLERANCE
    assert (wrong >= 0.06 * np.array(SIZE)).all() and (wrong <= 0.94 * np.array(SIZE)).all()


def test_mistakes_come_before_chance() -> None:
    """The same pixel, the displacement reversed, mirrored: of those that fit, three are taken."""
    right, a, wrong = drawn_points(400)
    mirrored = np.stack([right * [-1, 1] + [639, 0], right * [1, -1] + [0, 479]])
    mistakes = np.concatenate([np.stack([a, 2 * a - right]), mirrored]).swapaxes(0, 1)
    border = 0.06 * np.array(SIZE)
    fit = ((mistakes >= border) & (mistakes <= SIZE - border)).all(axis=2)
    fit &= np.linalg.norm(mistakes - right[:, None], axis=2) >= 3 * TOLERANCE
    is_mistake = (np.abs(wrong[:, :, None] - mistakes[:, None]).max(axis=3) < 1e-9).any(axis=2).sum(axis=1)
    clear = fit.sum(axis=1) == 4
    apart = np.linalg.norm(mistakes[:, :, None] - mistakes[:, None], axis=3)[:, ~np.eye(4, dtype=bool)].min(axis=1)
    free = clear & (apart >= 3 * TOLERANCE)
    assert free.sum() > 20 and (is_mistake[free] == 3).all() and is_mistake.mean() > 1.5


def test_each_wrong_point_is_named_after_its_mistake() -> None:
    right, a, _ = drawn_points(400)
    wrong, names = point_distractors(right, np.full(400, TOLERANCE), a, np.tile(SIZE, (400, 1)), chance(400), 3)
    for name, point in {
        "same pixel": a,
        "displaced the other way": 2 * a - right,
        "mirrored left to right": right * [-1, 1] + [639, 0],
        "mirrored top to bottom": right * [1, -1] + [0, 479],
    }.items():
        rows, columns = np.nonzero(names == name)
        assert len(rows) > 50
        np.testing.assert_allclose(wrong[rows, columns], point[rows])


def test_without_room_there_is_no_point() -> None:
    _, _, wrong = drawn_points(20, tolerance_px=400.0)
    assert np.isnan(wrong).all()


def wandering(count: int, places: int = 8) -> np.ndarray:
    """Random paths from the origin, of largest radius 1; some end early."""
    rng = np.random.default_rng(1)
    steps = np.cumsum(rng.normal(loc=[0.0, 0.5], size=(count, places, 2)), axis=1)
    paths = steps - steps[:, :1]
    paths[::3, places - 2 :] = np.nan
    return np.asarray(paths / np.nanmax(np.linalg.norm(paths, axis=2), axis=1)[:, None, None])


def rms(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(np.sum((a - b) ** 2, axis=-1))))


def test_wrong_maps_differ_from_the_right_one_and_each_other_and_fill_the_map() -> None:
    paths = wandering(90)
    wrong, found, _ = shape_distractors(paths, 0.3, chance(90), 3)
    assert (found >= 3).mean() > 0.5
    for path, others, count in zip(paths, wrong, found.tolist(), strict=True):
        every = [path, *others[: min(count, 3)]]
        for i, one in enumerate(every):
            assert np.isnan(one).tolist() == np.isnan(path).tolist()
            assert np.isclose(np.nanmax(np.linalg.norm(one, axis=1)), 1.0)
            assert all(rms(one, other) >= 0.3 - 1e-9 for other in every[:i])


def test_each_wrong_map_is_named_after_its_mistake() -> None:
    paths = wandering(90)
    wrong, found, names = shape_distractors(paths, 0.3, chance(90), 3)
    known = np.arange(3) < found[:, None]
    changes = {"mirrored left to right": [-1, 1], "mirrored front to back": [1, -1], "turned around": [-1, -1]}
    for name, change in changes.items():
        rows, columns = np.nonzero((names == name) & known)
        assert len(rows) > 5
        np.testing.assert_allclose(wrong[rows, columns], paths[rows] * change)


def test_a_straight_path_has_no_four_different_maps_and_a_tiny_difference_suffices_for_all() -> None:
    straight = np.column_stack([np.zeros(8), np.linspace(0, 1, 8)])[None]
    _, few, _ = shape_distractors(straight, 0.3, chance(1), 3)
    _, many, _ = shape_distractors(wandering(1), 1e-6, chance(1), 3)
    assert few[0] <= 3 and many[0] >= 7


@settings(max_examples=20)
@given(st.lists(st.integers(0, 29), max_size=5))
def test_options_of_a_row_do_not_depend_on_the_others(rows: list[int]) -> None:
    chosen, paths, every = np.array(rows, dtype=int), wandering(30), chance(30)
    some = Chance(ids=every.ids[chosen], seed=0)
    wrong, found, _ = shape_distractors(paths, 0.3, every, 3)
    few, count, _ = shape_distractors(paths[chosen], 0.3, some, 3)
    assert count.tolist() == found[chosen].tolist()
    for k, row in enumerate(rows):
        np.testing.assert_allclose(few[k, : min(3, found[row])], wrong[row, : min(3, found[row])], atol=1e-12)
    right, a, points = drawn_points(30)
    sizes, tolerance = np.tile(SIZE, (len(rows), 1)), np.full(len(rows), TOLERANCE)
    np.testing.assert_array_equal(
        point_distractors(right[chosen], tolerance, a[chosen], sizes, some, 3)[0], points[chosen]
    )


def test_candidates_are_tried_in_order_until_enough_are_apart() -> None:
    near = ~np.eye(4, dtype=bool)[None] | np.eye(4, dtype=bool)
    near[0, 0, 2] = near[0, 2, 0] = near[0, 3, 3] = False  # 2 is like 0; 3 cannot be drawn
    order = np.array([[0, 2, 3, 1]])
    assert all_apart(near, order, 2).tolist() == [[0, 1]]
    assert all_apart(near, order, 3).tolist() == [[-1, -1, -1]]
