import math

from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.espire import Task, Trial, espire


def task(
    localized: str, moved: str, *, kind: str = "pick", goal: bool = True, normal: bool = True, px: float = 3.0
) -> Task:
    """Trials by letters: y succeeded, n failed."""
    trials = [Trial(kind="localize", success=c == "y", distance_px=px) for c in localized]
    trials += [Trial(kind="move", success=c == "y") for c in moved]
    return Task(kind=kind, trials=tuple(trials), finish_goal=goal, stopped_normally=normal)  # type: ignore[arg-type]


def test_any_success_among_retries_counts_as_published() -> None:
    tasks = [task("nny", "y"), task("y", "nn"), task("n", "y", goal=False), task("", "")]
    found = espire(tasks, "pick")
    assert (found.localization, found.acceptance, found.combined, found.goal) == (0.5, 0.5, 0.25, 0.25)
    assert (found.localize_trials, found.move_trials) == (2, 1)
    strict = espire(tasks, "pick", variant="strict")
    assert (strict.localization, strict.acceptance, strict.combined, strict.goal) == (0.25, 0.5, 0, 0)


def test_disorder_leaves_the_denominator_as_published_only() -> None:
    tasks = [task("y", "y"), task("y", "y", normal=False), task("y", "y", px=math.nan)]
    assert espire(tasks, "pick").combined == 1 and espire(tasks, "pick").left_out == 2
    strict = espire(tasks, "pick", variant="strict")
    assert strict.combined == 1 / 3 and strict.left_out == 0 and strict.count == 3


def test_kinds_are_apart_and_nothing_is_none() -> None:
    tasks = [task("y", "n", kind="place")]
    assert espire(tasks, "place").localization == 1
    empty = espire(tasks, "pick")
    assert empty.count == 0 and empty.localization is empty.goal is empty.localize_trials is None


outcomes = st.text(alphabet="yn", max_size=3)


@settings(max_examples=40)
@given(st.lists(st.tuples(outcomes, outcomes, st.booleans(), st.booleans()), max_size=6))
def test_goal_needs_both_and_both_need_each(rows: list[tuple[str, str, bool, bool]]) -> None:
    tasks = [task(localized, moved, goal=goal, normal=normal) for localized, moved, goal, normal in rows]
    for variant in ("repository", "strict"):
        found = espire(tasks, "pick", variant=variant)  # type: ignore[arg-type]
        if found.goal is not None and found.combined is not None:
            assert found.localization is not None and found.acceptance is not None
            assert 0 <= found.goal <= found.combined <= min(found.localization, found.acceptance) <= 1
