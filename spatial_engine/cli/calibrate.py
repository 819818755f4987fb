"""`spatial-engine calibrate`: fits the σ calibration on sequences with ground truth."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import fed
from spatial_engine.options import ExpertOptions

Given = Annotated[
    list[str],
    typer.Argument(
        metavar="SEQUENCE...",
        help="Folders of a known layout or with a sequence.yaml, such files, or FOLDER=SEQUENCE.yaml; each is one set.",
    ),
]
MapsOut = Annotated[Path, typer.Option("-o", "--out", help="File to write.")]
Signals = Annotated[
    Path | None, typer.Option("--store", help="Where signals are kept between runs; by default OUT.store.")
]


@fed
def calibrate(
    sequences: Given,
    options: ExpertOptions,
    out: MapsOut = Path("sigma_calibration.json"),
    store: Signals = None,
) -> None:
    """Fit the sigma of experts on sequences with ground truth. For generate --sigma-calibration."""
    from spatial_engine.atomic_file import write_json
    from spatial_engine.errors import UsageError
    from spatial_engine.progress import counted, for_terminal
    from spatial_engine.trust.calibrating import calibrate, sigma_table

    if out.is_dir():
        raise UsageError(f"{out} is a folder", "name the file to write, as in -o sigma_calibration.json")
    with for_terminal() as progress:
        found = calibrate(sequences, store or out.with_suffix(".store"), options, progress=progress)
    write_json(out, found.maps.to_json())
    print(sigma_table(found.maps))
    for name, cause, remedy in found.skipped:
        print(f"skipped: {name}: {cause}" + (f"\n  try: {remedy}" if remedy else ""))
    sets = sum(bool(errors) for errors in found.errors.values())
    print(f"wrote {out}: {counted(len(found.maps.factors), 'factor')}, {counted(sets, 'set')} with errors to count")
    raise typer.Exit(1 if found.skipped else 0)


def register(app: typer.Typer) -> None:
    """Adds the command to the app."""
    app.command()(calibrate)
