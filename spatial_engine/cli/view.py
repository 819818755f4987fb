"""`spatial-engine view`: the signals of a clip in 3-D."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli.options import fed
from spatial_engine.options import ViewOptions

StoreIn = Annotated[Path, typer.Argument(metavar="STORE", help="A store that annotate wrote.")]
ClipName = Annotated[
    str | None,
    typer.Argument(metavar="[CLIP]", help="Id of the clip, its start, or its name; needed if there are several."),
]
FileOut = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE.rrd", help="File to write; by default CLIP_ID.rrd here.")
]
Open = Annotated[
    bool | None, typer.Option("--open/--no-open", help="Open the viewer; by default where there is a screen.")
]


@fed
def view(store: StoreIn, options: ViewOptions, clip: ClipName = None, out: FileOut = None, open: Open = None) -> None:
    """Show the signals of a clip in 3-D. Writes a file for the Rerun viewer."""
    from spatial_engine.view import viewing

    file = viewing.view(store, clip, options, out=out, open=open)
    size_mb = file.stat().st_size / 1e6
    print(f"written: {file} ({size_mb:.1f} MB)")
    if open is False or not viewing.has_screen():
        print(f"look at it: rerun {file}   (on a machine with a screen: pip install rerun-sdk)")


def register(app: typer.Typer) -> None:
    """Adds the command to the app."""
    app.command()(view)
