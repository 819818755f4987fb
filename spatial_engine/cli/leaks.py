"""`spatial-engine leaks` and `split`: what can be answered without the pictures, and splits that share no scene."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from spatial_engine.cli.options import Data

BlindRun = Annotated[
    Path | None, typer.Option("--blind-run", metavar="OUT/RUN", help="A run of evaluate --blind, as one more baseline.")
]
Pictures = Annotated[bool, typer.Option("--pictures/--no-pictures", help="Also look for near-duplicate pictures.")]
Share = Annotated[float, typer.Option(min=0, help="Share of the questions, about.")]
CommercialOk = Annotated[
    bool, typer.Option("--commercial-ok", help="Leave out what may not be used commercially, or of unknown licence.")
]


def leaks(dataset: Data, blind_run: BlindRun = None, pictures: Pictures = True) -> None:
    """Find questions answered without the pictures. Also finds what more than one split has. Written to audit.json."""
    from spatial_engine.cli.leaks_shown import show_leaks
    from spatial_engine.progress import console
    from spatial_engine.trust.audit_leaks import audit_leaks

    show_leaks(audit_leaks(dataset, blind_run=blind_run, pictures=pictures), console())


def split(
    dataset: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the parts, a dataset each.")],
    by: Annotated[Literal["scene"], typer.Option(help="What is never divided.")] = "scene",
    train: Share = 0.7,
    validation: Share = 0.1,
    test: Share = 0.2,
    seed: Annotated[int, typer.Option(help="Of the lots among groups of equal size.")] = 0,
    commercial_ok: CommercialOk = False,
) -> None:
    """Write train, validation and test datasets. They share no scene, fact or near-duplicate picture."""
    from spatial_engine.cli.leaks_shown import show_split
    from spatial_engine.dataset.split import split as divide
    from spatial_engine.progress import console

    shares = {"train": train, "validation": validation, "test": test}
    show_split(divide(dataset, out, shares=shares, seed=seed, commercial_ok=commercial_ok), console())


def register(app: typer.Typer) -> None:
    """Adds the commands to the app."""
    app.command()(leaks)
    app.command()(split)
