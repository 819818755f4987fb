"""Finding the way in rendered rooms: rooms, tasks, replies, and whole runs against a server that knows the way."""

import json
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spatial_engine as se
from spatial_engine.closed_loop.episodes import Episode, Goal, Ways, episodes
from spatial_engine.closed_loop.navigate import baselines
from spatial_engine.closed_loop.room import MOVES, Room
from spatial_engine.closed_loop.trial import MAX_REPLIES, STOP, Trial, walked
from spatial_engine.errors import SpatialEngineError
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving

BACK = {0: 1, 1: 0, 2: 3, 3: 2, 4: 5, 5: 4}


@pytest.fixture(
    scope="module", autouse=True, params=[4, pytest.param(1, marks=pytest.mark.long)], ids=["small", "full"]
)
def smaller(request: pytest.FixtureRequest) -> Iterator[None]:
    """Photos of a quarter of the width; all long tests see them in full."""
    width, height = Room.size_px
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Room, "size_px", (width // request.param, height // request.param))
        yield
    tasks.cache_clear()
    ways.cache_clear()


@cache
def tasks(goal: Goal, count: int = 2) -> tuple[Episode, ...]:
    return tuple(episodes(goal, count, 0))


@cache
def ways() -> tuple[Room, Ways]:
    task = tasks("photo")[0]
    return task.room, Ways.of(task.room, np.array(task.start))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 5))
def test_the_opposite_step_leads_back_and_a_blocked_one_nowhere(number: int, move: int) -> None:
    room, known = ways()
    stand = known.stands[[number % len(known.stands)]]
    there, free = room.moved(stand, np.array([move]))
    if not free[0]:
        assert (there == stand).all()
        return
    back, _ = room.moved(there, np.array([BACK[move]]))
    assert np.allclose(back, stand) and not np.allclose(there, stand)


def test_every_place_keeps_away_from_what_stands_there() -> None:
    room, known = ways()
    places = known.stands[:: len(known.stands) // 50]
    depths = [room._seen_from(place).depth(0) for place in places]
    assert min(float(depth.min()) for depth in depths) > 0.12, "nothing is nearer than the camera's own radius"


def test_plans_lead_to_where_they_are_said_to() -> None:
    room, known = ways()
    for row in np.linspace(0, len(known.stands) - 1, 12).astype(int).tolist():
        stand = known.stands[:1]
        for name in known.plan(row):
            stand, free = room.moved(stand, np.array([MOVES.index(name)]))
            assert free[0]
        assert np.array_equal(stand[0], known.stands[row]) and len(known.plan(row)) == known.steps[row]


@pytest.mark.parametrize("goal", ["photo", "object"])
def test_the_known_way_succeeds_staying_never_and_chance_rarely(goal: Goal) -> None:
    found = baselines(tasks(goal))
    assert (found["oracle"]["success"], found["oracle"]["spl"], found["no-op"]["success"]) == (1.0, 1.0, 0.0)
    assert found["random"]["success"] <= 0.05  # type: ignore[operator]


def test_a_detour_counts_less_and_a_stop_beside_the_goal_nothing() -> None:
    task = tasks("photo")[0]
    detour = walked(task, ["Pan Left", "Pan Right", *task.plan])
    assert detour.success and detour.spl == len(task.plan) / (len(task.plan) + 2)
    assert not walked(task, task.plan[:4]).success


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "no plan was read"),
        ("I cannot see anything.", "no plan was read"),
        ('{"actions": ["Pedestal Up"], "step_nums": [1]}', "there is no 'Pedestal Up': nothing was moved"),
        (
            '{"actions": ["Pan Left"], "step_nums": [11]}',
            "more than 10 steps, or no whole numbers: nothing was moved",
        ),
        (
            '{"actions": ["Pan Left"], "step_nums": [-2]}',
            "more than 10 steps, or no whole numbers: nothing was moved",
        ),
    ],
)
def test_replies_without_a_plan_move_nothing_and_the_next_prompt_says_so(reply: str | None, said: str) -> None:
    trial = Trial(episode=tasks("photo")[0])
    trial.take(reply)
    assert trial.moves == [] and trial.outcome().unreadable == 1 and f"Plan 1: {said}\n" in trial.prompt()[2]


def test_a_blocked_step_ends_the_plan_and_replies_are_limited() -> None:
    trial = Trial(episode=tasks("photo")[0])
    while not trial.ended:
        trial.take('{"actions": ["Dolly In", "Pan Left"], "step_nums": [9, 1]}')
    outcome = trial.outcome()
    assert outcome.blocked > 0 and not outcome.success and (outcome.replies <= MAX_REPLIES)
    assert any(words.endswith(", then blocked") for words in trial.said)


def guide(task: Episode) -> list[str]:
    """Replies that follow the known way: up to ten equal steps each, and then a stop."""
    runs = [(name, len([*same])) for name, same in groupby(task.plan)]
    plans = [(name, min(10, count - done)) for name, count in runs for done in range(0, count, 10)]
    return [json.dumps({"actions": [name], "step_nums": [count]}) for name, count in [*plans, (STOP, 1)]]


def goals_of(run: Path) -> dict[str, Episode]:
    """Tasks by the bytes of their goal photos."""
    return {
        b64encode((run / "photos" / task.id / "goal.png").read_bytes()).decode(): task
        for task in tasks("photo")
        if (run / "photos" / task.id / "goal.png").is_file()
    }


def guided(run: Path, fails_after: int | None = None) -> Any:
    """A server that knows the way. It looks up in the prompt how many plans were made."""

    def says(number: int, request: dict[str, Any]) -> Does:
        if fails_after is not None and number >= fails_after:
            return Does(status=400, error="no more")
        content = request["messages"][-1]["content"]
        goal = content[3]["image_url"]["url"].rpartition(",")[2]
        return Does(text=guide(goals_of(run)[goal])[content[4]["text"].count("\nPlan ")])

    return says


def test_a_model_that_knows_the_way_gets_everything_and_is_asked_once_for_each_reply(tmp_path: Path) -> None:
    options = se.NavigationOptions(model="guide", episodes=1)
    run, needed = tmp_path / "out" / "guide", len(guide(tasks("photo")[0]))
    refuses = serving(guided(run, fails_after=5))
    with quick_retries(), refuses as (url, _), pytest.raises(SpatialEngineError, match="no more"):
        se.navigate(tmp_path / "out", options, patient(url), cache=tmp_path / "cache")
    with serving(guided(run)) as (url, asked):
        se.navigate(tmp_path / "out", options, patient(url), cache=tmp_path / "cache")
        assert len(asked) == needed - 5
        se.navigate(tmp_path / "out", options, patient(url), cache=tmp_path / "cache")
        assert len(asked) == needed - 5, "a finished run asks nothing"
    result = json.loads((run / "result.json").read_text())
    assert result["model"]["success"] == result["model"]["spl"] == 1.0 and result["unfinished"] == 0
    again = se.navigate(
        tmp_path / "again", options, name="guide", cache=tmp_path / "cache", replay=True, server=se.Server()
    )
    for file in ("result.json", "episodes.jsonl"):
        assert (again / file).read_bytes() == (run / file).read_bytes()


def test_other_rooms_or_settings_do_not_go_into_the_same_run(tmp_path: Path) -> None:
    stops = Does(text=f'{{"actions": ["{STOP}"], "step_nums": [1]}}')
    with serving(lambda number, request: stops) as (url, _):
        se.navigate(tmp_path, se.NavigationOptions(model="m", episodes=1), patient(url))
        for changed in ({"seed": 1}, {"goal": "object"}, {"temperature": 0.5}):
            with pytest.raises(SpatialEngineError):
                se.navigate(tmp_path, se.NavigationOptions(model="m", episodes=1, **changed), patient(url))
    assert json.loads((tmp_path / "m" / "result.json").read_text())["model"]["success"] == 0.0
