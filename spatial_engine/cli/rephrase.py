"""`spatial-engine rephrase`: the words of many people."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import Data, Out, fed
from spatial_engine.options import RephraseOptions, Server, Spending

CacheDir = Annotated[
    Path | None, typer.Option("--cache", metavar="DIR", help="Keep replies here; by default in OUT.replies.")
]
Replay = Annotated[bool, typer.Option("--replay", help="Take replies from --cache alone; no server needed.")]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Print requests, tokens and cost; ask nothing.")]


@fed
def rephrase(
    dataset: Data,
    out: Out,
    options: RephraseOptions,
    server: Server,
    spending: Spending,
    cache: CacheDir = None,
    replay: Replay = False,
    plan: PlanOnly = False,
) -> None:
    """Reword the prompts of a dataset. Stopped? Run it again: no reply is paid for twice."""
    from spatial_engine.cli.rephrase_shown import show_rephrase_plan, show_rephrased
    from spatial_engine.dataset import rephrase as rewording
    from spatial_engine.progress import for_thousands

    if plan:
        show_rephrase_plan(rewording.plan(dataset, out, options, cache=cache), spending)
        return
    with for_thousands() as progress:
        done = rewording.rephrase(
            dataset, out, options, server, cache=cache, replay=replay, spending=spending, progress=progress
        )
    raise typer.Exit(0 if show_rephrased(done) else 1)


def register(app: typer.Typer) -> None:
    """Adds the command to the app."""
    app.command()(rephrase)
