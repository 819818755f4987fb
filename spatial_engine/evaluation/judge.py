"""The third step of extraction: a language model says what an answer meant, where tags and rules found nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from spatial_engine.evaluation import judge_prompt
from spatial_engine.evaluation.asking import ask_all, replay_all
from spatial_engine.evaluation.cache import Cache
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.request import Outcome, Reply, Request, TimedOut
from spatial_engine.evaluation.responses import Response, ResponseFile
from spatial_engine.evaluation.server import Server
from spatial_engine.progress import Progress
from spatial_engine.scoring import own
from spatial_engine.scoring.reading import Unreadable
from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Judge:
    """A language model that finds answers in replies. It sees the question's words and the reply, not what is right."""

    model: str
    server: Server

    @property
    def record(self) -> dict[str, Json]:
        """For `run.json`."""
        return {"model": self.model, "base_url": self.server.base_url}


def judge_unread(
    file: ResponseFile,
    asked: Iterable[Presentation],
    judge: Judge,
    *,
    cache: Cache | None,
    replay: bool,
    progress: Progress,
) -> int:
    """Asks about every answer that rules could not read (refusals are none), and appends to the file what was found:
    "" where the judge finds no answer either.

    Returns how many of the judge's replies came to nothing (failed, or not to be made out): asked again next time.
    """
    responses = file.read()
    unread = [
        (presentation, response)
        for presentation in asked
        if (response := responses.get(presentation.key)) and _needs_judge(presentation, response)
    ]
    jobs = [((shown, response), _request(judge, shown, response)) for shown, response in unread]
    lost = 0
    progress.begin("judging", len(jobs))
    with file.appending() as lines:

        def done(job: tuple[Presentation, Response], outcome: Outcome) -> None:
            nonlocal lost
            shown, response = job
            found, trouble = _found(shown, response, outcome)
            if found is None:
                lost += 1
            else:
                lines.append(replace(response, judged=found))
            progress.step(response.id, trouble or "done")

        if replay and cache is not None:
            replay_all(jobs, done, cache)
        else:
            ask_all(jobs, judge.server, done, cache)
    return lost


def _found(shown: Presentation, response: Response, outcome: Outcome) -> tuple[str | None, str]:
    """The answer that the judge found, or None and why there is none."""
    match outcome:
        case Reply():
            found = judge_prompt.read_judge(shown.shown, response.text or "", outcome.text)
            return found, "" if found is not None else "the judge's reply cannot be made out"
        case TimedOut():
            return None, "the judge gave no reply in time"
    return None, str(outcome)


def _needs_judge(presentation: Presentation, response: Response) -> bool:
    if response.outcome != "answered" or response.judged is not None:
        return False
    reading = own.read(presentation.shown, response.text or "")
    return isinstance(reading, Unreadable) and reading.reason in ("ambiguous", "nothing found")


def _request(judge: Judge, presentation: Presentation, response: Response) -> Request:
    text = judge_prompt.prompt(presentation.shown, response.text or "")
    return Request(model=judge.model, parts=(text,), parameters={"temperature": 0.0})
