"""`spatial-engine store`: stores as a whole."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli import options as o

store_app = typer.Typer(help="Stores as a whole.", no_args_is_help=True, rich_markup_mode=None)

Stores = Annotated[list[Path], typer.Argument(metavar="STORE...", help="Stores that annotate wrote; only read.")]


@store_app.command()
def merge(stores: Stores, out: o.MergedStore) -> None:
    """Merge the stores of several machines into one. Stopped? Run it again: it goes on."""
    from spatial_engine.progress import counted, for_thousands, printable
    from spatial_engine.store.merging import merge_stores

    with for_thousands() as progress:
        merged = merge_stores(stores, out, progress=progress)
    clips = counted(len(merged.store.clip_ids()), "clip")
    print(f"{printable(str(out))}: {clips}, {counted(merged.added, 'signal')} added")
    for file in merged.damaged:
        print(f"damaged, and left out: {printable(file)}")
    for name in merged.contradicting:
        print(f"measured with different settings, of which the first count: {printable(name)}")
    if merged.damaged or merged.contradicting:
        print("  try: annotate the footage into this store: it computes what is missing, with one set of options")
        raise typer.Exit(1)
