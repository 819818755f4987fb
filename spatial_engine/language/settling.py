"""Asks for rewordings and reads them a second time, within a budget."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spatial_engine.language.chat.asking import Cache, ask_all, replay_all
from spatial_engine.language.chat.estimate import estimate
from spatial_engine.language.chat.request import Outcome, Reply, Request, TimedOut
from spatial_engine.language.held import reworded
from spatial_engine.language.rewording import Wish, reading_request, reads_the_same, rewording_request
from spatial_engine.options import RephraseOptions, Server, Spending
from spatial_engine.progress import Progress

OTHER_READING = "a second reading finds another question"
_FIRST, _BATCH = 8, 64
"""Prompts that are asked about together. The first batch measures how long replies are."""


@dataclass(frozen=True, kw_only=True)
class Rewording:
    """What became of a wish."""

    text: str = ""
    """The rewording; "" if there is none."""
    fault: str | None = None
    """Why it is not used; None if it is."""
    failed: bool = False
    """Whether there was no reply: the next run asks again."""


class Settling:
    """Settles wishes. Counts what the requests of this run cost; replies from the cache cost nothing."""

    def __init__(
        self, options: RephraseOptions, server: Server, cache: Cache, spending: Spending, *, replay: bool = False
    ) -> None:
        self._options, self._server, self._cache, self._replay = options, server, cache, replay
        self._spending = spending
        self.requests = self.input_tokens = self.output_tokens = 0
        self._estimated = 0.0

    @property
    def amount(self) -> float | None:
        """What the requests cost; None without prices."""
        return self._spending.amount(self.input_tokens, self.output_tokens)

    def settle(self, wishes: Sequence[Wish], progress: Progress) -> dict[Wish, Rewording]:
        """Those that the budget allows, in the order given."""
        settled: dict[Wish, Rewording] = {}
        progress.begin("rewording", len(wishes))
        while batch := self._affordable(wishes[len(settled) :][: _BATCH if settled else _FIRST]):
            for wish, found in self._settled(batch).items():
                settled[wish] = found
                progress.step(wish.prompt, found.fault if found.failed and found.fault else "done")
        return settled

    def remaining(self, wishes: Iterable[Wish]) -> Iterator[Request]:
        """Requests that the cache does not answer. A rewording that is not known yet is taken to need a second
        reading."""
        for wish in wishes:
            request = rewording_request(wish, self._options)
            if (reply := self._cached(request)) is None:
                yield request
                yield reading_request(wish, wish.prompt, self._options)
                continue
            text, fault = reworded(wish, reply.text)
            reading = reading_request(wish, text, self._options) if fault is None else None
            if reading is not None and self._cached(reading) is None:
                yield reading

    def _affordable(self, wishes: Sequence[Wish]) -> Sequence[Wish]:
        """The first of them, as many as the rest of the budget pays for: estimated, and corrected by what earlier
        requests did cost."""
        if self._spending.budget is None:
            return wishes
        spent = self.amount or 0.0
        left, correction = self._spending.budget - spent, max(1.0, spent / self._estimated if self._estimated else 0.0)
        for count, wish in enumerate(wishes):
            left -= correction * self._price(self.remaining([wish]))
            if left < 0:
                return wishes[:count]
        return wishes

    def _price(self, requests: Iterable[Request]) -> float:
        found = estimate(requests)
        return self._spending.amount(found.input_tokens, found.output_tokens) or 0.0

    def _settled(self, wishes: Sequence[Wish]) -> dict[Wish, Rewording]:
        replies = self._ask({wish: rewording_request(wish, self._options) for wish in wishes})
        found = {wish: _rewording(wish, replies[wish]) for wish in wishes if wish in replies}
        unread = {wish: one.text for wish, one in found.items() if one.fault is None}
        readings = self._ask({wish: reading_request(wish, text, self._options) for wish, text in unread.items()})
        return found | {wish: _read(wish, text, readings[wish]) for wish, text in unread.items()}

    def _ask(self, requests: Mapping[Wish, Request]) -> dict[Wish, Outcome]:
        """The outcome of every request; equal ones are sent once."""
        different = {request.key: request for request in requests.values()}
        paid = {key for key, request in different.items() if self._cached(request) is None}
        outcomes: dict[str, Outcome] = {}

        def done(key: str, outcome: Outcome) -> None:
            outcomes[key] = outcome
            if key in paid and isinstance(outcome, Reply):
                self._count(different[key], outcome)

        if self._replay:
            replay_all(different.items(), done, self._cache)
        elif different:
            ask_all(different.items(), self._server, done, self._cache)
        return {wish: outcomes[request.key] for wish, request in requests.items() if request.key in outcomes}

    def _count(self, request: Request, reply: Reply) -> None:
        guess = estimate([request])
        self.requests += 1
        self.input_tokens += reply.tokens("prompt_tokens") or guess.input_tokens
        self.output_tokens += reply.tokens("completion_tokens") or guess.output_tokens
        self._estimated += self._spending.amount(guess.input_tokens, guess.output_tokens) or 0.0

    def _cached(self, request: Request) -> Reply | None:
        found = self._cache.get(request.key)
        return None if found is None else Reply(body=found[0], seconds=found[1])


def _rewording(wish: Wish, outcome: Outcome) -> Rewording:
    if not isinstance(outcome, Reply):
        return _failure(outcome)
    text, fault = reworded(wish, outcome.text)
    return Rewording(text=text, fault=fault)


def _read(wish: Wish, text: str, outcome: Outcome) -> Rewording:
    if not isinstance(outcome, Reply):
        return _failure(outcome)
    same = reads_the_same(wish, text, outcome.text)
    return Rewording(text=text, fault=None if same else OTHER_READING)


def _failure(outcome: Outcome) -> Rewording:
    late = isinstance(outcome, TimedOut)
    return Rewording(fault="no reply in time" if late else f"the request failed: {outcome}", failed=True)
