"""`spatial-engine weights`: what the models need, where it lies, and whether it is what it must be."""

from typing import Annotated

import typer

from spatial_engine.cli.options import fed
from spatial_engine.options import FetchOptions, WeightsFolder

weights_app = typer.Typer(help="Weight files of experts with models.", no_args_is_help=True, rich_markup_mode=None)

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Weights, or experts as --experts takes them.")]
SomeNames = Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="By default all that are here.")]
Pin = Annotated[bool, typer.Option("--pin", help="Accept files that have no published hash, and record their hash.")]


@weights_app.command("list")
@fed
def show(options: WeightsFolder) -> None:
    """List all weights: licence, size, and whether they are here."""
    from experts.checkpoints.weights import folder_of
    from spatial_engine.annotation import weights
    from spatial_engine.cli import summary
    from spatial_engine.progress import console

    summary.show_weights(weights.checked(options.folder), console())
    print(f"folder: {folder_of('', options.folder)}")


@weights_app.command()
@fed
def fetch(names: Names, options: FetchOptions) -> None:
    """Download what is missing or damaged of weights, from where it stopped."""
    from spatial_engine.annotation import weights

    for row in weights.named(names):
        weights.fetch(row, options.folder, allow_noncommercial=options.allow_noncommercial)


@weights_app.command()
@fed
def verify(options: WeightsFolder, names: SomeNames = None, pin: Pin = False) -> None:
    """Read every byte of weights and hold it against what was published, or against the first fetch."""
    from experts.checkpoints.weights import folder_of
    from spatial_engine.annotation import weights

    rows = weights.named(names) if names else weights.present(options.folder)
    if not rows:
        print(f"nothing to verify in {folder_of('', options.folder)}")
    for row in rows:
        weights.verify(row, options.folder, pin=pin)
        print(f"{row.name}: whole")
