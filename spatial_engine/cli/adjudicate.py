"""`spatial-engine adjudicate`: people judge recorded answers."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import Data, fed
from spatial_engine.options import AdjudicateOptions, words

Summary = Annotated[bool, typer.Option("--summary", help="Print counts and agreement; serve nothing.")]
ToLabelStudio = Annotated[Path | None, typer.Option(metavar="FILE", help="Write Label Studio's tasks and config.")]
FromLabelStudio = Annotated[Path | None, typer.Option(metavar="FILE", help="Take verdicts from its JSON export.")]

ToDataset = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Write a dataset with what people corrected or wrote and agree on."),
]


@fed
def adjudicate(
    dataset: Data,
    options: AdjudicateOptions,
    summary: Summary = False,
    to_label_studio: ToLabelStudio = None,
    from_label_studio: FromLabelStudio = None,
    to_dataset: ToDataset = None,
) -> None:
    """Judge, correct and write questions, on a local page. Stopped? Run it again: it goes on."""
    from rich.console import Console

    from spatial_engine import adjudication
    from spatial_engine.adjudication import summary as printing
    from spatial_engine.dataset.dataset import Dataset
    from spatial_engine.progress import printable

    listed = options.disagreements and options.annotator is None
    serve = not (summary or to_label_studio or from_label_studio or to_dataset or listed)
    if serve:
        adjudication.adjudicate(dataset, options)
    verdicts, to = adjudication.Verdicts(Dataset.open(dataset)), Console(highlight=False)
    if from_label_studio is not None:
        printing.show_import(adjudication.from_label_studio(verdicts, from_label_studio), to)
    if to_label_studio is not None:
        chosen = verdicts.chosen(leaf=words(options.leaf), sample=options.sample, seed=options.seed)
        config = adjudication.to_label_studio(verdicts, chosen, to_label_studio)
        print(f"written: {printable(str(to_label_studio))}, and its configuration {printable(str(config))}")
    if to_dataset is not None:
        printing.show_dataset(to_dataset, adjudication.to_dataset(verdicts, to_dataset))
    if summary or serve or from_label_studio is not None:
        printing.show_summary(verdicts, adjudication.fold_in(verdicts.dataset), to)
    if options.disagreements and not serve:
        printing.show_disagreements(verdicts, to)


def register(app: typer.Typer) -> None:
    """Adds the command to the app."""
    app.command()(adjudicate)
