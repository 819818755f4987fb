"""`spatial-engine adjudicate`: people judge recorded answers."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import Data
from spatial_engine.options import words

Annotator = Annotated[str | None, typer.Option(metavar="NAME", help='Whose verdicts; by default "me".')]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Of this machine alone; 0: any that is free.")]
Sample = Annotated[int | None, typer.Option(min=1, metavar="N", help="Judge this many, drawn by chance.")]
Seed = Annotated[int, typer.Option(help="Of the draw and of the order; give all annotators the same.")]
Leaf = Annotated[str | None, typer.Option(metavar="L1/...", help="Levels, branches or leaves to judge.")]
Summary = Annotated[bool, typer.Option("--summary", help="Print counts and agreement; serve nothing.")]
Disagreements = Annotated[
    bool, typer.Option("--disagreements", help="List what people disagree on; with --annotator, serve that.")
]
ToLabelStudio = Annotated[Path | None, typer.Option(metavar="FILE", help="Write Label Studio's tasks and config.")]
FromLabelStudio = Annotated[Path | None, typer.Option(metavar="FILE", help="Take verdicts from its JSON export.")]


def adjudicate(
    dataset: Data,
    annotator: Annotator = None,
    port: Port = 8766,
    sample: Sample = None,
    seed: Seed = 0,
    leaf: Leaf = None,
    summary: Summary = False,
    disagreements: Disagreements = False,
    to_label_studio: ToLabelStudio = None,
    from_label_studio: FromLabelStudio = None,
) -> None:
    """Judge recorded answers by eye, on a page of this machine. Stopped? Run it again: it goes on."""
    from rich.console import Console

    from spatial_engine import adjudication
    from spatial_engine.adjudication import summary as printing
    from spatial_engine.dataset.dataset import Dataset
    from spatial_engine.progress import printable

    serve = not (summary or to_label_studio or from_label_studio or (disagreements and annotator is None))
    if serve:
        adjudication.adjudicate(
            dataset, annotator=annotator or "me", port=port, sample=sample, seed=seed, leaf=words(leaf),
            disagreements=disagreements,
        )  # fmt: skip
    verdicts, to = adjudication.Verdicts(Dataset.open(dataset)), Console(highlight=False)
    if from_label_studio is not None:
        printing.show_import(adjudication.from_label_studio(verdicts, from_label_studio), to)
    if to_label_studio is not None:
        chosen = verdicts.chosen(leaf=words(leaf), sample=sample, seed=seed)
        config = adjudication.to_label_studio(verdicts, chosen, to_label_studio)
        print(f"written: {printable(str(to_label_studio))}, and its configuration {printable(str(config))}")
    if summary or serve or from_label_studio is not None:
        printing.show_summary(verdicts, adjudication.fold_in(verdicts.dataset), to)
    if disagreements and not serve:
        printing.show_disagreements(verdicts, to)


def register(app: typer.Typer) -> None:
    """Adds the command to the app."""
    app.command()(adjudicate)
