"""`spatial-engine evaluate`, `score`, `navigate`, `serve-fake-model`: asking models, and what they know."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from spatial_engine.cli import options as o
from spatial_engine.cli.options import Data, fed
from spatial_engine.options import (
    BenchmarkOptions,
    JudgeOptions,
    MonitoringOptions,
    NavigationOptions,
    Prices,
    RequestOptions,
    Server,
    Shard,
)

RunsOut = Annotated[Path, typer.Option("-o", "--out", help="Folder of runs on this dataset; report draws it.")]
Name = Annotated[str | None, typer.Option(metavar="RUN", help="Name of the run; by default the model's.")]
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
    Path, typer.Argument(metavar="DATASET|ITEMS", help="A dataset that generate wrote; with --as, a file of items.")
]
Asked = Annotated[
    Path,
    typer.Argument(metavar="DATASET", help="A dataset that generate wrote; with --benchmark, a local copy of it."),
]
Behaviour = Literal[
    "oracle", "wrong", "random", "first-option", "no-op", "flaky", "slow", "rephraser", "liar", "babbler"
]


@fed
def evaluate(
    dataset: Asked,
    out: RunsOut,
    options: RequestOptions,
    server: Server,
    judging: JudgeOptions,
    prices: Prices,
    published: BenchmarkOptions,
    monitoring: MonitoringOptions,
    name: Name = None,
    cache: CacheDir = None,
    replay: Replay = False,
    dry_run: DryRun = False,
    shard: o.Shard = None,
) -> None:
    """Ask a model every question of a dataset, and score it. Stopped? Run it again: no answer is paid for twice."""
    from spatial_engine.evaluation import evaluate as asking_models
    from spatial_engine.evaluation.judge import Judge
    from spatial_engine.evaluation.summary import show_plan, show_run, show_share
    from spatial_engine.progress import for_thousands

    benchmark = published if published.benchmark else None
    with for_thousands() as progress:
        if dry_run:
            show_plan(
                asking_models.plan(
                    dataset,
                    out,
                    options,
                    server,
                    name=name,
                    cache=cache,
                    shard=shard,
                    benchmark=benchmark,
                    progress=progress,
                ),
                prices,
            )
            return
        run = asking_models.evaluate(
            dataset, out, options, server, name=name, judge=Judge.of(judging, server), cache=cache, replay=replay,
            prices=prices, shard=shard, benchmark=benchmark, monitoring=monitoring, progress=progress,
        )  # fmt: skip
    well = show_run(run) if shard is None else show_share(run, Shard.of(shard))
    if benchmark is not None and shard is None:
        print(f"\n{(out / 'benchmarks.md').read_text(encoding='utf-8')}")
    raise typer.Exit(0 if well else 1)


def merge_runs(
    dataset: Data,
    runs: Annotated[list[Path], typer.Argument(metavar="OUT...", help="Folders that evaluate --shard wrote.")],
    out: RunsOut,
) -> None:
    """Merge the runs of several machines, and score them. No server is needed. Exit code 1 if answers are missing."""
    from spatial_engine.atomic_file import read_json
    from spatial_engine.evaluation import merging
    from spatial_engine.evaluation.runs import RESULT
    from spatial_engine.evaluation.summary import show_run
    from spatial_engine.progress import for_thousands

    with for_thousands() as progress:
        merged = merging.merge_runs(dataset, runs, out, progress=progress)
    well = [show_run(run) and not read_json(run / RESULT)["statuses"].get("missing") for run in merged]
    raise typer.Exit(0 if all(well) else 1)


@fed
def score(
    dataset: Items,
    responses: Annotated[Path, typer.Argument(help='Lines such as {"id": "...", "text": "..."}.')],
    out: RunsOut,
    judging: JudgeOptions,
    scorer: ScorerName = None,
    name: Name = None,
    cache: CacheDir = None,
    replay: Replay = False,
    skip_bad_lines: Skip = False,
) -> None:
    """Score answers that were made elsewhere. They answer a dataset or, with --as, a published benchmark."""
    from spatial_engine.evaluation.judge import Judge
    from spatial_engine.evaluation.published import show_published
    from spatial_engine.evaluation.score import score as score_answers
    from spatial_engine.evaluation.summary import show_run
    from spatial_engine.progress import for_thousands

    with for_thousands() as progress:
        run = score_answers(
            dataset, responses, out, scorer=scorer, name=name, judge=Judge.of(judging, replay=replay), cache=cache,
            replay=replay, skip_bad_lines=skip_bad_lines, progress=progress,
        )  # fmt: skip
    if scorer is not None:
        show_published(run)
        return
    raise typer.Exit(0 if show_run(run) else 1)


@fed
def navigate(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of runs in these rooms.")],
    options: NavigationOptions,
    server: Server,
    name: Name = None,
    cache: CacheDir = None,
    replay: Replay = False,
) -> None:
    """Let a model find its way in rendered rooms. Stopped? Run it again: it goes on."""
    from spatial_engine.closed_loop import navigate as rooms
    from spatial_engine.closed_loop.summary import show_navigation
    from spatial_engine.progress import for_thousands

    with for_thousands() as progress:
        run = rooms.navigate(out, options, server, name=name, cache=cache, replay=replay, progress=progress)
    raise typer.Exit(0 if show_navigation(run) else 1)


def serve_fake_model(
    dataset: Data,
    behaviour: Annotated[Behaviour, typer.Option(help="How it answers.")] = "oracle",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8765,
    seed: Annotated[int, typer.Option(help="Of what it draws by chance.")] = 0,
    delay: Annotated[float, typer.Option(min=0, help="Of slow: seconds before each reply.")] = 2.0,
) -> None:
    """Serve a fake model, to try an evaluation without a key. It knows the answers, or does not. Ends on Ctrl-C."""
    from spatial_engine.evaluation.fake_server import serve

    serve(dataset, behaviour, port=port, seed=seed, delay_s=delay)


def register(app: typer.Typer) -> None:
    """Adds the commands to the app."""
    app.command()(evaluate)
    app.command("merge-runs")(merge_runs)
    app.command()(score)
    app.command()(navigate)
    app.command("serve-fake-model")(serve_fake_model)
