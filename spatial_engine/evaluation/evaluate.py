"""Asks a model the questions of a dataset, and scores its answers. Resumable, with a cache of replies."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import UsageError
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.arranging import arrange
from spatial_engine.evaluation.benchmarks.prepare import ITEMS, prepare
from spatial_engine.evaluation.benchmarks.table import write_table
from spatial_engine.evaluation.item import check_unchanged, dataset_digest, item_hashes
from spatial_engine.evaluation.judge import Judge
from spatial_engine.evaluation.protocol import Presentation, asked
from spatial_engine.evaluation.responses import Key, Response
from spatial_engine.evaluation.run_scores import finish, judge_answers, write_baselines
from spatial_engine.evaluation.runs import RunFolder, check_place, open_run, run_name
from spatial_engine.language.chat.asking import Cache, ask_all, opened_cache, replay_all
from spatial_engine.language.chat.estimate import Estimate, estimate
from spatial_engine.language.chat.request import Outcome, Reply, Request, TimedOut
from spatial_engine.monitoring.monitor import monitored
from spatial_engine.options import BenchmarkOptions, MonitoringOptions, Prices, RequestOptions, Server, Shard
from spatial_engine.progress import Progress, Silent
from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True)
class Work:
    """The requests of one run on a dataset."""

    dataset: Dataset
    options: RequestOptions
    shard: Shard

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Item hashes of the whole dataset, by question id. Reads every picture once."""
        return item_hashes(self.dataset)

    def presentations(self) -> Iterator[Presentation]:
        """All presentations of the run, in the order of the dataset."""
        chosen = self.options
        ids = list(self.hashes)
        return asked(self.dataset.questions, ids, circular=chosen.circular, limit=chosen.limit, seed=chosen.seed)

    def of_shard(self) -> Iterator[Presentation]:
        """Those of the shard."""
        return (shown for shown in self.presentations() if self.shard.holds(shown.question.id))

    def prompt(self, presentation: Presentation) -> protocol.Prompt:
        """Text and pictures, in order. Raises `UsageError` for unknown hints."""
        return protocol.prompt(
            presentation.question,
            rotation=presentation.rotation,
            hints=self.options.hints,
            hint_pictures=self.options.hint_pictures,
            blind=self.options.blind,
            system_prompt=self.options.system_prompt,
            system_text=self.system_text,
            others=self._of_clip.get(presentation.question.clip, ()),
        )

    def request(self, presentation: Presentation) -> Request:
        """The request for a presentation."""
        shown = self.prompt(presentation)
        parts = (part if isinstance(part, str) else self.dataset.path / part["path"] for part in shown.parts)
        return Request(
            model=self.options.model, system=shown.system, parts=tuple(parts), parameters=self.options.parameters
        )

    @cached_property
    def system_text(self) -> str:
        """The words of the user's system message; "" for none. Raises `UsageError`."""
        file = self.options.system_prompt_file
        if file is None:
            return ""
        try:
            found = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--system-prompt-file {file}: {error}", "give a text file in UTF-8") from error
        if not found:
            raise UsageError(f"--system-prompt-file {file} is empty", "give a file with the words of the message")
        return found

    @cached_property
    def _of_clip(self) -> dict[str, list[Question]]:
        """All questions by clip, as sources of hints."""
        found: dict[str, list[Question]] = {}
        for question in self.dataset.questions if self.options.hints else ():
            found.setdefault(question.clip, []).append(question)
        return found

    def _given(self, wanted: Sequence[str], kinds: Callable[[protocol.Prompt], Sequence[str]]) -> dict[str, int]:
        """Number of presentations with each kind of hint; the others would state the answer, or nothing is known."""
        given = (kind for shown in self.presentations() for kind in kinds(self.prompt(shown))) if wanted else ()
        return dict.fromkeys(wanted, 0) | Counter(given)

    def record(self, name: str) -> dict[str, Json]:
        """`run.json`."""
        options = self.options
        return {
            "name": name,
            "model": options.model,
            "baseline": False,
            "dataset": str(self.dataset.path.resolve()),
            "dataset_digest": dataset_digest(self.hashes),
            "circular": options.circular,
            "blind": options.blind,
            "system_prompt": options.system_prompt,
            "system_text": self.system_text,
            "hints": list(options.hints),
            "hints_given": self._given(options.hints, lambda shown: shown.hints_given),
            "hint_pictures": list(options.hint_pictures),
            "hint_pictures_given": self._given(options.hint_pictures, lambda shown: shown.hint_pictures_given),
            "limit": options.limit,
            "seed": options.seed,
            "settings": options.parameters,
        }


_SILENT = Silent()
_NOWHERE = Server()
_NOT_RECORDED = MonitoringOptions()
BENCHMARK_TIMEOUT_S = 900.0
"""The time-out of EASI's protocol, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What `evaluate` would ask."""

    answered: int
    """Presentations with an answer."""
    cached: int
    """Other presentations with a reply in the cache."""
    remaining: Estimate
    """Estimated cost of asking the server for the rest."""


def evaluate(
    dataset: Dataset | str | Path,
    out: str | Path,
    options: RequestOptions,
    server: Server = _NOWHERE,
    *,
    name: str | None = None,
    judge: Judge | None = None,
    cache: str | Path | None = None,
    replay: bool = False,
    prices: Prices | None = None,
    shard: str | None = None,
    benchmark: BenchmarkOptions | None = None,
    monitoring: MonitoringOptions = _NOT_RECORDED,
    progress: Progress = _SILENT,
) -> Path:
    """Asks a model every question of a dataset that it has not answered yet, and scores the answers.

    Writes OUT/<run>/{run.json, responses.jsonl, scores.jsonl, result.json}, and the baselines beside it; returns the
    run's folder. Every answer is written at once, so a stopped run can be resumed. Failed requests are repeated by the
    next run; time-outs are final, unless the time-out is longer now. `cache`: a folder of replies; with `replay` all
    replies come from it, and no server is needed. `shard`: the share of one of several machines, such as "2/8", whose
    answers get a file of their own and are not scored: the call without `shard`, or `merge_runs`, scores them all.
    `benchmark`: `dataset` is the local copy of a published benchmark; OUT/<benchmark>/ holds its runs,
    OUT/<benchmark>/items its items, and OUT/benchmarks.md the table of all.
    `monitoring`: where the run is recorded. Raises `UsageError`; `SetupError` if the
    server accepts no request.
    """
    if not replay:
        server.check_address()
    name = name or default_name(options)
    check_place(out, name)
    if benchmark is not None:
        dataset, out, server = _of_benchmark(dataset, out, server, benchmark, progress)
    work = Work(_opened(dataset), options, Shard.of(shard))
    before = RunFolder(Path(out) / name)
    check_unchanged(((one.id, one.item) for one in before.answers().values()), work.hashes, str(before.path))
    run = open_run(out, {**work.record(name), **_context(server, judge, prices)})
    with (
        monitored(progress, monitoring, "evaluate", run.path, work.shard) as progress,
        opened_cache(cache, replay) as replies,
    ):
        if work.shard.count > 1:
            _ask(work, run, server, replies, replay, progress)
            judge_answers(
                run.of_shard(work.shard), work.of_shard, judge, cache=replies, replay=replay, progress=progress
            )
            return run.path
        if run.of_shards:
            arrange(run, work.presentations())  # fails while a shard still asks: nothing is asked twice
        _ask(work, run, server, replies, replay, progress)
        finish(run, work.presentations, judge=judge, cache=replies, replay=replay, progress=progress)
    write_baselines(out, work.dataset, work.hashes, circular=options.circular)
    if benchmark is not None:
        write_table(Path(out).parent)
    return run.path


def plan(
    dataset: Dataset | str | Path,
    out: str | Path,
    options: RequestOptions,
    server: Server = _NOWHERE,
    *,
    name: str | None = None,
    cache: str | Path | None = None,
    shard: str | None = None,
    benchmark: BenchmarkOptions | None = None,
    progress: Progress = _SILENT,
) -> Plan:
    """What `evaluate` would ask, with an estimate of its cost. Writes nothing but the items of a benchmark."""
    name = name or default_name(options)
    check_place(out, name)
    if benchmark is not None:
        dataset, out, server = _of_benchmark(dataset, out, server, benchmark, progress)
    work = Work(_opened(dataset), options, Shard.of(shard))
    found = RunFolder(Path(out) / name).answers()
    total = sum(1 for _ in work.of_shard())
    remaining = sum(1 for _ in _remaining(work, found, server))
    with opened_cache(cache if cache and Path(cache).is_dir() else None, False) as replies:
        requests = (work.request(presentation) for presentation in _remaining(work, found, server))
        costs = estimate(request for request in requests if replies is None or replies.get(request.key) is None)
    return Plan(answered=total - remaining, cached=remaining - costs.requests, remaining=costs)


def _of_benchmark(
    path: Dataset | str | Path, out: str | Path, server: Server, benchmark: BenchmarkOptions, progress: Progress
) -> tuple[Dataset, Path, Server]:
    """The items of a benchmark, the folder of its runs, and a server that is waited for as long as EASI does."""
    place = path.path if isinstance(path, Dataset) else Path(path)
    folder = Path(out) / benchmark.benchmark
    items = prepare(place, folder / ITEMS, benchmark, progress)
    return items, folder, server if server.timeout is not None else replace(server, timeout=BENCHMARK_TIMEOUT_S)


def default_name(options: RequestOptions) -> str:
    """The default name of a run."""
    chosen = {
        "circular": options.circular, "blind": options.blind, "system-prompt": options.system_prompt
    }  # fmt: skip
    more = [f"{kind}-pictures" for kind in options.hint_pictures]
    more += [options.reasoning_effort] if options.reasoning_effort else []
    more += [Path(options.system_prompt_file).stem] if options.system_prompt_file else []
    return run_name(options.model, [*(word for word, on in chosen.items() if on), *options.hints, *more])


def _ask(work: Work, run: RunFolder, server: Server, cache: Cache | None, replay: bool, progress: Progress) -> None:
    """Asks for every presentation of the shard without an answer, and appends the answers."""
    with run.of_shard(work.shard).appending() as lines:
        found = run.answers()
        total, count = (sum(1 for _ in shown) for shown in (work.of_shard(), _remaining(work, found, server)))
        if count < total:
            progress.say(f"{total - count} of {total} are answered already")
        progress.begin("asking", count)
        jobs = ((presentation, work.request(presentation)) for presentation in _remaining(work, found, server))

        def done(presentation: Presentation, outcome: Outcome) -> None:
            response = response_of(presentation, outcome, work.hashes[presentation.question.id], server.timeout_s)
            lines.append(response)
            progress.part(response.id, "replies", _word(response), response.seconds or 0.0)
            progress.step(response.id, _word(response))

        if replay and cache is not None:
            replay_all(jobs, done, cache)
        else:
            ask_all(jobs, server, done, cache)


def response_of(presentation: Presentation, outcome: Outcome, item: str, timeout_s: float) -> Response:
    """The response of one outcome. The seconds of a time-out are the time allowed."""
    id, rotation = presentation.key
    if isinstance(outcome, Reply):
        return Response(
            id=id,
            text=outcome.text,
            rotation=rotation,
            item=item,
            seconds=round(outcome.seconds, 3),
            input_tokens=outcome.tokens("prompt_tokens"),
            output_tokens=outcome.tokens("completion_tokens"),
        )
    if isinstance(outcome, TimedOut):
        error = f"no reply within {timeout_s:g} s"
        return Response(
            id=id, text=None, rotation=rotation, item=item, outcome="timed_out", error=error, seconds=timeout_s
        )
    return Response(id=id, text=None, rotation=rotation, item=item, outcome="failed", error=str(outcome))


def _remaining(work: Work, found: Mapping[Key, Response], server: Server) -> Iterator[Presentation]:
    return (shown for shown in work.of_shard() if not _settled(found.get(shown.key), server))


def _settled(response: Response | None, server: Server) -> bool:
    if response is None or response.outcome == "failed":
        return False
    return response.outcome == "answered" or (response.seconds or 0.0) >= server.timeout_s


def _word(response: Response) -> str:
    return "done" if response.outcome == "answered" else response.error


def _context(server: Server, judge: Judge | None, prices: Prices | None) -> dict[str, Json]:
    """Entries of `run.json` on which no answer depends."""
    return {
        "source": "evaluate",
        "base_url": server.base_url,
        "timeout_s": server.timeout_s,
        "judge": judge.record if judge else None,
        "prices": {"input": prices.price_in, "output": prices.price_out}
        if prices and prices.price_in is not None
        else None,
    }


def _opened(dataset: Dataset | str | Path) -> Dataset:
    return dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
