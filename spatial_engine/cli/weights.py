"""`spatial-engine weights`: what the models need, where it lies, and whether it is what it must be."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import AllowNoncommercial, WeightsDir

weights_app = typer.Typer(help="Weight files of experts with models.", no_args_is_help=True, rich_markup_mode=None)

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Weights, or experts as --experts takes them.")]
SomeNames = Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="By default all that are here.")]
Pin = Annotated[bool, typer.Option("--pin", help="Take files that nobody vouches for as they are, from now on.")]


@weights_app.command("list")
def show(weights_dir: WeightsDir = None) -> None:
    """List all weights: licence, size, and whether they are here."""
    from experts.checkpoints.weights import folder_of
    from spatial_engine.annotation import weights
    from spatial_engine.cli import summary
    from spatial_engine.progress import console

    folder = _text(weights_dir)
    summary.show_weights(weights.standings(folder), console())
    print(f"folder: {folder_of('', folder)}")


@weights_app.command()
def fetch(names: Names, weights_dir: WeightsDir = None, allow_noncommercial: AllowNoncommercial = False) -> None:
    """Download what is missing or damaged of weights, from where it stopped."""
    from spatial_engine.annotation import weights

    for row in weights.named(names):
        weights.fetch(row, _text(weights_dir), allow_noncommercial=allow_noncommercial)


@weights_app.command()
def verify(names: SomeNames = None, weights_dir: WeightsDir = None, pin: Pin = False) -> None:
    """Read every byte of weights and hold it against what was published, or against the first fetch."""
    from experts.checkpoints.weights import folder_of
    from spatial_engine.annotation import weights

    folder = _text(weights_dir)
    rows = weights.named(names) if names else weights.present(folder)
    if not rows:
        print(f"nothing to verify in {folder_of('', folder)}")
    for row in rows:
        weights.verify(row, folder, pin=pin)
        print(f"{row.name}: whole")


def _text(folder: Path | None) -> str | None:
    return None if folder is None else str(folder)
