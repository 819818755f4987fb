"""Runs a model in rooms: it sees a photo, plans some steps, sees the next photo, until it stops or may not go on."""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from jaxtyping import Float64

from spatial_engine import __version__
from spatial_engine.atomic_file import atomic_file, write_json
from spatial_engine.closed_loop.episodes import Episode, episodes
from spatial_engine.closed_loop.room import MOVES, Room
from spatial_engine.closed_loop.trial import Outcome, Trial, walked
from spatial_engine.evaluation.responses import Appender, Response
from spatial_engine.evaluation.runs import RESULT, RunFolder, check_place, open_run, run_name
from spatial_engine.language.chat.asking import Cache, ask_all, opened_cache, replay_all
from spatial_engine.language.chat.request import Outcome as Answer
from spatial_engine.language.chat.request import Reply, Request, TimedOut
from spatial_engine.options import NavigationOptions, Server
from spatial_engine.progress import Progress, Silent, counted

EPISODES = "episodes.jsonl"
_PHOTOS = "photos"
_WALKS = 20
"""Random walks in each room, for the baseline."""


def navigate(
    out: str | Path,
    options: NavigationOptions,
    server: Server,
    *,
    name: str | None = None,
    cache: str | Path | None = None,
    replay: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Lets a model find its way in rendered rooms, and scores it: success, success weighted by path length, steps.

    Writes OUT/<run>/{run.json, responses.jsonl, episodes.jsonl, result.json, photos/}; returns that folder. Every reply
    is written at once: a stopped run goes on where it stopped, and no reply is paid for twice. Failed requests are
    repeated by the next run; a time-out counts as a reply that moves nothing. `cache`: a folder of replies; with
    `replay` all replies come from it. Raises `UsageError`; `SetupError` if the server accepts no request.
    """
    progress = progress or Silent()
    if not replay:
        server.check_address()
    name = name or run_name(options.model, ())
    check_place(out, name)
    run = open_run(out, _record(name, options, server))
    progress.say(f"building {counted(options.episodes, 'room')}")
    trials = [Trial(episode=each) for each in episodes(options.goal, options.episodes, options.seed)]
    with opened_cache(cache, replay) as replies:
        _run(trials, run, options, server, replies, replay, progress)
    _write(run, trials)
    return run.path


def _run(
    trials: Sequence[Trial],
    run: RunFolder,
    options: NavigationOptions,
    server: Server,
    cache: Cache | None,
    replay: bool,
    progress: Progress,
) -> None:
    """Asks in rounds: every task that has not ended gets one reply a round."""
    with run.responses.appending() as lines:
        found = run.responses.read()
        for trial in trials:
            while not trial.ended and (before := found.get((_id(trial), 0))) and before.outcome != "failed":
                trial.take(before.text)
        active = [trial for trial in trials if not trial.ended]
        progress.begin("navigating", len(active))
        while active:
            taken = _round(active, run, options, server, lines, cache, replay)
            for trial in taken:
                if trial.ended:
                    progress.step(trial.episode.id, "reached" if trial.outcome().success else "missed")
            active = [trial for trial in taken if not trial.ended]


def _round(
    trials: Sequence[Trial],
    run: RunFolder,
    options: NavigationOptions,
    server: Server,
    lines: Appender,
    cache: Cache | None,
    replay: bool,
) -> list[Trial]:
    """One reply each. Returns the trials that got one."""
    taken = []

    def done(trial: Trial, answer: Answer) -> None:
        response = _response(_id(trial), answer, server.timeout_s)
        lines.append(response)
        if response.outcome != "failed":
            trial.take(response.text)
            taken.append(trial)

    jobs = ((trial, _request(trial, run, options)) for trial in trials)
    if replay and cache is not None:
        replay_all(jobs, done, cache)
    else:
        ask_all(jobs, server, done, cache)
    return taken


def _request(trial: Trial, run: RunFolder, options: NavigationOptions) -> Request:
    """Photo, goal and rules."""
    episode, photos = trial.episode, run.path / _PHOTOS
    now, goal, rest = trial.prompt()
    parts: list[str | Path] = [now, _photo(photos / f"{_id(trial)}.png", episode.room, trial.stand), goal]
    if episode.goal is not None:
        parts.append(_photo(photos / episode.id / "goal.png", episode.room, np.array(episode.goal)))
    return Request(model=options.model, parts=(*parts, rest), parameters=options.parameters)


def _photo(file: Path, room: Room, stand: Float64[np.ndarray, "3"]) -> Path:
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        picture = cv2.imencode(".png", room.photo(stand)[:, :, ::-1])[1].tobytes()
        with atomic_file(file) as temporary:
            temporary.write_bytes(picture)
    return file


def _id(trial: Trial) -> str:
    """Of the next reply."""
    return f"{trial.episode.id}/{len(trial.said)}"


def _response(id: str, answer: Answer, timeout_s: float) -> Response:
    if isinstance(answer, Reply):
        tokens = {f"{each}_tokens": answer.tokens(f"{word}_tokens") for each, word in _TOKENS}  # type: ignore[arg-type]
        return Response(id=id, text=answer.text, seconds=round(answer.seconds, 3), **tokens)  # type: ignore[arg-type]
    if isinstance(answer, TimedOut):
        error = f"no reply within {timeout_s:g} s"
        return Response(id=id, text=None, outcome="timed_out", error=error, seconds=timeout_s)
    return Response(id=id, text=None, outcome="failed", error=str(answer))


_TOKENS = (("input", "prompt"), ("output", "completion"))


def _record(name: str, options: NavigationOptions, server: Server) -> dict[str, Any]:
    """`run.json`."""
    tasks = {"goal": options.goal, "episodes": options.episodes, "seed": options.seed}
    digest = sha256(json.dumps(tasks | {"version": __version__}).encode()).hexdigest()
    return {
        "name": name,
        "model": options.model,
        "baseline": False,
        "dataset_digest": digest,
        "source": "navigate",
        **tasks,
        "settings": options.parameters,
        "base_url": server.base_url,
        "timeout_s": server.timeout_s,
    }


def _write(run: RunFolder, trials: Sequence[Trial]) -> None:
    """`episodes.jsonl` and `result.json`; tasks whose requests failed are in neither."""
    ended = [trial for trial in trials if trial.ended]
    with atomic_file(run.path / EPISODES) as temporary:
        temporary.write_text("".join(json.dumps(trial.record()) + "\n" for trial in ended), encoding="utf-8")
    tasks = [trial.episode for trial in trials]
    found = {"model": _summary([trial.outcome() for trial in ended]), "unfinished": len(trials) - len(ended)}
    write_json(run.path / RESULT, found | {"baselines": baselines(tasks)})


def baselines(tasks: Sequence[Episode]) -> dict[str, dict[str, float | None]]:
    """What the known way reaches, what staying reaches, and what random steps reach, as many as are needed."""
    random = (walked(each, walk) for number, each in enumerate(tasks) for walk in _random_walks(each, number))
    return {
        "oracle": _summary([walked(each, each.plan) for each in tasks]),
        "no-op": _summary([walked(each, ()) for each in tasks]),
        "random": _summary([*random]),
    }


def _random_walks(task: Episode, number: int) -> Iterator[list[str]]:
    rng = np.random.default_rng(number)
    for _ in range(_WALKS):
        yield rng.choice(MOVES, len(task.plan)).tolist()


def _summary(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    """Means; None without a task."""
    names = ("success", "spl", "steps", "blocked", "replies", "unreadable")
    return {
        "tasks": len(outcomes),
        **{each: float(np.mean([getattr(one, each) for one in outcomes])) if outcomes else None for each in names},
    }
