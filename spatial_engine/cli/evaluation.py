"""`spatial-engine evaluate`, `score`, `serve-fake-model`: asking models, and what their answers are worth."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from spatial_engine.cli.options import fed
from spatial_engine.options import words

if TYPE_CHECKING:
    from spatial_engine.evaluation.cost import Prices
    from spatial_engine.evaluation.evaluate import RequestOptions
    from spatial_engine.evaluation.judge import Judge
    from spatial_engine.evaluation.request import Server

Data = Annotated[Path, typer.Argument(metavar="DATASET", help="A data set that generate wrote.")]
RunsOut = Annotated[Path, typer.Option("-o", "--out", help="Folder of runs on this data set; report draws it.")]
Name = Annotated[str | None, typer.Option(metavar="RUN", help="Name of the run; by default the model's.")]
Model = Annotated[str, typer.Option("--model", help="Name of the model, as the server knows it.")]
BaseUrl = Annotated[str, typer.Option(help="Server of OpenAI's protocol: http://127.0.0.1:8000/v1", show_default=False)]
KeyEnv = Annotated[str, typer.Option(metavar="VAR", help="Environment variable that holds the server's key.")]
Concurrency = Annotated[int, typer.Option(min=1, help="Requests under way at once.")]
PerMinute = Annotated[float | None, typer.Option("--requests-per-minute", help="At most so many, retries included.")]
Timeout = Annotated[float, typer.Option(help="Seconds for one reply. What takes longer is wrong, and shown apart.")]
Retries = Annotated[int, typer.Option(min=0, help="After 429, 5xx and cut connections, with growing pauses.")]
Temperature = Annotated[str, typer.Option(metavar="T|default", help="default: the server's own.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Of a reply; by default the server's limit.")]
Circular = Annotated[bool, typer.Option("--circular", help="Show a choice once for each rotation of its options.")]
Blind = Annotated[bool, typer.Option("--blind", help="Show no pictures: a baseline of the words alone.")]
Hints = Annotated[str | None, typer.Option(metavar="A,B", help="Cues to add: correspondence, depth, size.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Ask this many questions, drawn by chance.")]
LimitSeed = Annotated[int, typer.Option("--seed", help="Of the draw of --limit.")]
PriceIn = Annotated[float | None, typer.Option(min=0, help="Of a million input tokens.")]
PriceOut = Annotated[float | None, typer.Option(min=0, help="Of a million output tokens.")]
JudgeModel = Annotated[str | None, typer.Option(help="Language model that reads what rules cannot.")]
JudgeUrl = Annotated[str | None, typer.Option("--judge-base-url", help="Its server; by default the model's.")]
JudgeKeyEnv = Annotated[str, typer.Option(metavar="VAR", help="Environment variable that holds its key.")]
CacheDir = Annotated[Path | None, typer.Option("--cache", metavar="DIR", help="Keep replies here; never pay twice.")]
Replay = Annotated[bool, typer.Option("--replay", help="Take replies from --cache alone; no server needed.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print requests, pictures, tokens and cost; ask nothing.")]
Skip = Annotated[bool, typer.Option("--skip-bad-lines", help="Leave out lines that cannot be used, and count them.")]
ScorerName = Annotated[
    str | None,
    typer.Option(
        "--as",
        "--scorer",
        metavar="NAME",
        help="Score a benchmark's own items: vsi_bench, ... (docs/scoring.md).",
    ),
]
Items = Annotated[
    Path, typer.Argument(metavar="DATASET|ITEMS", help="A data set that generate wrote; with --as, a file of items.")
]
Behaviour = Literal["oracle", "wrong", "random", "first-option", "no-op", "flaky", "slow"]


@dataclass(frozen=True)
class Settings:
    """What an answer depends on."""

    temperature: Temperature = "0"
    max_tokens: MaxTokens = None
    circular: Circular = False
    blind: Blind = False
    hints: Hints = None
    limit: Limit = None
    seed: LimitSeed = 0

    def options(self, model: str) -> "RequestOptions":
        """The same for `evaluate`. Raises `UsageError`."""
        from spatial_engine.evaluation.evaluate import RequestOptions

        return RequestOptions(
            model=model, temperature=_temperature(self.temperature), max_tokens=self.max_tokens,
            circular=self.circular, blind=self.blind, hints=tuple(words(self.hints) or ()), limit=self.limit,
            seed=self.seed,
        )  # fmt: skip


@dataclass(frozen=True)
class Access:
    """Where a model is asked, and how patiently."""

    api_key_env: KeyEnv = "OPENAI_API_KEY"
    concurrency: Concurrency = 8
    requests_per_minute: PerMinute = None
    timeout: Timeout = 120.0
    max_retries: Retries = 6

    def server(self, base_url: str) -> "Server":
        """The same for `evaluate`. Raises `UsageError`."""
        from spatial_engine.evaluation.request import Server

        return Server(
            base_url=base_url, api_key_env=self.api_key_env, concurrency=self.concurrency,
            requests_per_minute=self.requests_per_minute, timeout_s=self.timeout, max_retries=self.max_retries,
        )  # fmt: skip


@dataclass(frozen=True)
class Judging:
    """The third step of extraction."""

    judge_model: JudgeModel = None
    judge_base_url: JudgeUrl = None
    judge_api_key_env: JudgeKeyEnv = "OPENAI_API_KEY"

    def judge(self, server: "Server | None" = None, *, replay: bool = False) -> "Judge | None":
        """None if there is none. `server`: where it is asked by default; none is needed to `replay`. Raises
        `UsageError`."""
        from dataclasses import replace

        from spatial_engine.errors import UsageError
        from spatial_engine.evaluation.judge import Judge
        from spatial_engine.evaluation.request import Server

        if self.judge_model is None:
            if self.judge_base_url is not None:
                raise UsageError("--judge-base-url without a judge", "name the model too: --judge-model NAME")
            return None
        if self.judge_base_url is None:
            if server is None and not replay:
                raise UsageError("--judge-model without a server", "say where it is asked: --judge-base-url URL")
            return Judge(model=self.judge_model, server=server or Server())
        access = Server(base_url=self.judge_base_url) if server is None else server
        return Judge(
            model=self.judge_model,
            server=replace(access, base_url=self.judge_base_url, api_key_env=self.judge_api_key_env),
        )


@fed
def evaluate(
    *,
    dataset: Data,
    out: RunsOut,
    model: Model,
    base_url: BaseUrl = "",
    settings: Settings,
    access: Access,
    judging: Judging,
    name: Name = None,
    cache: CacheDir = None,
    replay: Replay = False,
    dry_run: DryRun = False,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
) -> None:
    """Ask a model every question of a data set, and score it. Stopped? Run it again: no answer is paid for twice."""
    from spatial_engine.evaluation import evaluate as asking_models
    from spatial_engine.evaluation.summary import show_plan, show_run
    from spatial_engine.progress import for_thousands

    options, server, prices = settings.options(model), access.server(base_url), _prices(price_in, price_out)
    if dry_run:
        plan = asking_models.plan(dataset, out, options, server, name=name, cache=cache)
        show_plan(plan, prices)
        return
    with for_thousands() as progress:
        run = asking_models.evaluate(
            dataset, out, options, server, name=name, judge=judging.judge(server), cache=cache, replay=replay,
            prices=prices, progress=progress,
        )  # fmt: skip
    raise typer.Exit(0 if show_run(run) else 1)


@fed
def score(
    dataset: Items,
    responses: Annotated[Path, typer.Argument(help='Lines such as {"id": "...", "text": "..."}.')],
    out: RunsOut,
    judging: Judging,
    scorer: ScorerName = None,
    name: Name = None,
    cache: CacheDir = None,
    replay: Replay = False,
    skip_bad_lines: Skip = False,
) -> None:
    """Score answers that were made elsewhere: to a data set, or with --as to a published benchmark."""
    from spatial_engine.evaluation.published import show_published
    from spatial_engine.evaluation.score import score as score_answers
    from spatial_engine.evaluation.summary import show_run
    from spatial_engine.progress import for_thousands

    with for_thousands() as progress:
        run = score_answers(
            dataset, responses, out, scorer=scorer, name=name, judge=judging.judge(replay=replay), cache=cache,
            replay=replay, skip_bad_lines=skip_bad_lines, progress=progress,
        )  # fmt: skip
    if scorer is not None:
        show_published(run)
        return
    raise typer.Exit(0 if show_run(run) else 1)


def serve_fake_model(
    dataset: Data,
    behaviour: Annotated[Behaviour, typer.Option(help="How it answers.")] = "oracle",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765,
    seed: Annotated[int, typer.Option(help="Of what it draws by chance.")] = 0,
    delay: Annotated[float, typer.Option(min=0, help="Of slow: seconds before each reply.")] = 2.0,
) -> None:
    """Serve a model that knows the answers (or does not), to try the whole way without a key. Ends on Ctrl-C."""
    from spatial_engine.evaluation.fake_server import serve

    serve(dataset, behaviour, port=port, seed=seed, delay_s=delay)


def register(app: typer.Typer) -> None:
    """Adds the commands to the app."""
    app.command()(evaluate)
    app.command()(score)
    app.command("serve-fake-model")(serve_fake_model)


def _temperature(text: str) -> float | None:
    from spatial_engine.errors import UsageError

    if text == "default":
        return None
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(f"--temperature {text}", "give a number, or default for the server's own") from error


def _prices(price_in: float | None, price_out: float | None) -> "Prices | None":
    from spatial_engine.errors import UsageError
    from spatial_engine.evaluation.cost import Prices

    if price_in is None and price_out is None:
        return None
    if price_in is None or price_out is None:
        given, lacking = ("--price-in", "--price-out") if price_out is None else ("--price-out", "--price-in")
        raise UsageError(f"{given} without {lacking}: half of the cost", f"give both; {lacking} 0 if it is free")
    return Prices(input=price_in, output=price_out)
