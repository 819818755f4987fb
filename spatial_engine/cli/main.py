"""The command line: each command reads its options, calls one function of `spatial_engine.pipeline`, and prints."""

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

import spatial_engine
from spatial_engine.cli import adjudicate as cli_adjudicate
from spatial_engine.cli import calibrate as cli_calibrate
from spatial_engine.cli import evaluation as cli_evaluation
from spatial_engine.cli import export as cli_export
from spatial_engine.cli import leaks as cli_leaks
from spatial_engine.cli import options as o
from spatial_engine.cli import rephrase as cli_rephrase
from spatial_engine.cli import trust as cli_trust
from spatial_engine.cli import view as cli_view
from spatial_engine.cli.options import fed
from spatial_engine.cli.store import store_app
from spatial_engine.cli.weights import weights_app
from spatial_engine.errors import UsageError
from spatial_engine.options import AnnotateOptions, GenerateOptions, RunOptions, Shard

app = typer.Typer(
    epilog="Exit codes: 0 done; 1 done, but a clip could not be read, an expert failed, or something is damaged or "
    "missing; 2 usage, or another process writes there; 3 cannot start or continue here; "
    "130 stopped (Ctrl-C, SIGTERM).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help starts twice as fast
    pretty_exceptions_enable=False,
)
app.add_typer(weights_app, name="weights")
app.add_typer(store_app, name="store")


def _print_version(asked: bool) -> bool:
    if asked:
        print(f"spatial-engine {spatial_engine.__version__}")
        raise typer.Exit()
    return asked


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Turns folders of videos into spatial question-answer data that can be trusted."""


@app.command()
@fed
def run(videos: o.Videos, out: o.Out, options: RunOptions, plan: o.PlanOnly = False) -> None:
    """Annotate, generate and report, into one folder. Writes OUT/store, OUT/dataset and OUT/report."""
    if plan:
        _show_plan(videos, out / "store", options)
        return
    from spatial_engine import pipeline
    from spatial_engine.cli import summary
    from spatial_engine.progress import console, for_terminal
    from spatial_engine.store.store import open_store

    with for_terminal() as progress:
        dataset = pipeline.run(videos, out, options, progress=progress)
    well = summary.show_store(open_store(out / "store"), console())
    well = summary.show_dataset(dataset, console()) and well
    print(f"look at: {out / 'report' / 'index.html'}")
    raise typer.Exit(0 if well else 1)


@app.command()
@fed
def annotate(
    videos: o.Videos, store: o.StoreOut, options: AnnotateOptions, plan: o.PlanOnly = False, shard: o.Shard = None
) -> None:
    """Measure the signals of every clip, into a store. Stopped? Run it again: it goes on."""
    if plan:
        _show_plan(videos, store, options, shard)
        return
    from spatial_engine import pipeline
    from spatial_engine.cli import summary
    from spatial_engine.progress import console, for_terminal

    with for_terminal() as progress:
        done = pipeline.annotate(videos, store, options, shard=shard, progress=progress)
    raise typer.Exit(0 if summary.show_store(done, console(), Shard.of(shard)) else 1)


@app.command()
@fed
def generate(
    *,
    store: Annotated[
        Path | None,
        typer.Argument(metavar="[STORE]", help="A store that annotate wrote; with --puzzles, none is needed."),
    ] = None,
    dataset: Annotated[
        Path, typer.Option("-o", "--out", metavar="DATASET", help="Dataset to write; an earlier one is replaced.")
    ],
    options: GenerateOptions,
    plan: o.QuestionPlanOnly = False,
    shard: o.Shard = None,
) -> None:
    """Ask what the signals of a store decide, into a dataset. Stopped? Run it again: it goes on."""
    from spatial_engine import pipeline
    from spatial_engine.cli import summary, target_shown
    from spatial_engine.dataset.generate_shard import ShareOfDataset
    from spatial_engine.progress import console, for_terminal

    if plan:
        if shard is not None:
            raise UsageError("--plan with --shard", "give --plan without --shard: it is about the whole set")
        with for_terminal() as progress:
            wanted = pipeline.plan_questions(store, dataset, options, progress=progress)
        target_shown.show_plan(wanted, console())
        return
    with for_terminal() as progress:
        done = pipeline.generate(store, dataset, options, shard=shard, progress=progress)
    if isinstance(done, ShareOfDataset):
        well = summary.show_share(done, console())
        print(f"done: shard {shard}; after all shards, the same command without --shard writes {dataset}")
        raise typer.Exit(0 if well else 1)
    well = summary.show_dataset(done, console())
    target_shown.show_target(done.audit.get("target"), console())
    known = "" if store is None else f" --store {store}"
    print(f"written: {dataset}\nas pages: spatial-engine report {dataset}{known}")
    raise typer.Exit(0 if well else 1)


@app.command()
def report(
    path: Annotated[Path, typer.Argument(help="A dataset, or the OUT of run or evaluate.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder to write; by default PATH/report.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="STORE",
            help="The store that the dataset was made from: adds a page of what was measured for each clip.",
        ),
    ] = None,
) -> None:
    """Draw a dataset or an evaluation as pages. They open from disk."""
    print(f"look at: {spatial_engine.report(path, out, store=store)}")


@app.command()
def actions(
    path: o.PosePath = None, form: o.Format = "auto", poses: o.Direction = None, axes: o.Axes = None,
    scale: o.Scale = None, up: o.Up = None, fps: o.PoseRate = None, times: o.Times = None,
    drop_duplicates: o.DropDuplicates = False, min_duration: o.MinDuration = None, max_steps: o.MaxSteps = 10,
    cam_from_body: o.Mount = None, seed: o.UnitSeed = 0, json: o.Json = False, plot: o.Plot = None,
    replay: o.Replay = None,
) -> None:  # fmt: skip
    """Name the motion of a camera path in whole steps. With --replay: follow such a plan."""
    from spatial_engine.actions.command import show_actions, show_replay
    from spatial_engine.sources.trajectories import read_trajectory

    trajectory = None if path is None else read_trajectory(
        path, form=form, poses=poses, axes=axes, scale=scale, fps=fps, times=times, cam_from_body=cam_from_body,
        drop_duplicates=drop_duplicates,
    )  # fmt: skip
    if replay is not None:
        show_replay(replay, trajectory, max_steps=max_steps, as_json=json, plot=plot)
    else:
        show_actions(
            trajectory, up=up, min_duration_s=min_duration, max_steps=max_steps, seed=seed, as_json=json, plot=plot
        )


@app.command()
def doctor() -> None:
    """Say what works here, and how to add what does not."""
    from spatial_engine.annotation import doctor as examination

    raise typer.Exit(0 if examination.show(examination.examine(Path.cwd())) else 3)


cli_export.register(app)
cli_evaluation.register(app)
cli_trust.register(app)
cli_calibrate.register(app)
cli_adjudicate.register(app)
cli_leaks.register(app)
cli_rephrase.register(app)
cli_view.register(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """The console command. Turns errors into one line of cause, one of remedy, and an exit code."""
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    ignore = sys.unraisablehook
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _as_ctrl_c)
        sys.unraisablehook = partial(_repeat_ctrl_c, ignore)
    try:
        _command()(arguments)
    except Exception as error:
        _fail(error)
    finally:
        sys.unraisablehook = ignore


def _as_ctrl_c(*_: object) -> None:
    """A scheduler's SIGTERM goes to whoever handles Ctrl-C at the moment: asyncio has a handler of its own."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a shell runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _repeat_ctrl_c(ignore: Callable[[Any], object], ignored: Any) -> None:
    """Python ignores what is raised in a callback of a weak reference, as each import has one: there, Ctrl-C would stop
    nothing. It is repeated a moment later."""
    if not issubclass(ignored.exc_type, KeyboardInterrupt):
        ignore(ignored)
        return
    again = threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    again.daemon = True
    again.start()


@cache
def _command() -> Callable[[Sequence[str] | None], object]:
    """`app`, built: that takes as long as many a command."""
    return get_command(app)


def _fail(error: Exception) -> None:
    from spatial_engine.errors import explained
    from spatial_engine.progress import printable

    known = explained(error)
    if known is None:
        raise error
    print(f"error: {printable(known.cause)}", file=sys.stderr)
    if known.remedy:
        print(f"  try: {printable(known.remedy)}", file=sys.stderr)
    sys.exit(known.exit_code)


def _show_plan(videos: str, store: Path, options: AnnotateOptions, shard: str | None = None) -> None:
    from spatial_engine import pipeline
    from spatial_engine.cli import summary
    from spatial_engine.progress import Lines, console

    summary.show_plan(pipeline.plan(videos, store, options, shard=shard, progress=Lines()), console())
