"""A dataset, and annotators who press keys."""

import json
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

from spatial_engine.adjudication.session import Clock, Session
from spatial_engine.adjudication.steps import History, holding
from spatial_engine.adjudication.verdicts import Verdicts
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.writing import write_dataset
from templates.asked import ClipQuestions
from tests.spatial_engine.drafts import clip, clip_questions, closer, route, tables, walk

CLIPS = ("c" * 16, "d" * 16)


def make_dataset(path: Path, *, seed: int = 0) -> Dataset:
    """Some of everything from two clips."""
    clips = [clip_questions(CLIPS[0], 4), clip_questions(CLIPS[1], 2)]
    asked = tables(*clips[0].asked, walk(3), route(1), closer(20, xy=(90.0, 40.0)))
    more = ClipQuestions(clip_id=CLIPS[0], asked=asked, refusals=())
    return write_dataset(path, [more, clips[1]], clip, seed=seed)


def clock() -> Clock:
    """A second passes at every look."""
    ticks, now = count(), count()
    return Clock(now=lambda: f"2026-01-01T{next(now):08d}Z", seconds=lambda: float(next(ticks)))


class Kept:
    """Steps in memory."""

    def __init__(self) -> None:
        self.steps = []

    def append(self, step) -> None:
        self.steps.append(step)


def session(dataset: Dataset, *, steps=(), file=None, third: bool = False, **chosen) -> Session:
    verdicts = Verdicts(dataset)
    questions = verdicts.chosen(**{"leaf": None, "sample": None, "seed": 0, **chosen})
    history = History(verdicts.contents, {id: q.fact_id for id, q in verdicts.questions.items()})
    return Session(questions, history.extend(steps), file or Kept(), clock(), third=third)


def judge(dataset: Dataset, annotator: str, words, *, third: bool = False) -> None:
    """Says the words of some questions (id → word) as an annotator, through a session and its file."""
    verdicts = Verdicts(dataset)
    questions = [verdicts.questions[id] for id in words]
    with holding(verdicts.file(annotator)) as file:
        at_work = Session(questions, verdicts.history(annotator), file, clock(), third=third)
        while item := at_work.screen()["item"]:
            at_work.answer(item["id"], None)
            at_work.judge(item["id"], words[item["id"]], f"so says {annotator}")


def ask(server, method: str, place: str, body=None, **headers):
    """(status, headers, content) of one request to the server, token included."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {} if data is None else {"Content-Type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    path = place if place.startswith("/") else f"/{server.token}/{place}"
    connection.request(method, path, body=data, headers=given)
    reply = connection.getresponse()
    content = reply.read()
    connection.close()
    return reply.status, reply.headers, content
