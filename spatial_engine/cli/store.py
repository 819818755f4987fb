"""`spatial-engine store`: stores as a whole: merged, checked, repaired, cleaned, counted."""

from pathlib import Path
from typing import Annotated

import typer

from spatial_engine.cli import options as o

store_app = typer.Typer(help="Stores as a whole.", no_args_is_help=True, rich_markup_mode=None)

StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="A store that annotate wrote.")]
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


@store_app.command()
def check(store: StorePath) -> None:
    """Read every byte and compare it with its checksum. Changes nothing; exit code 1 if something is damaged."""
    from spatial_engine.cli import store_shown
    from spatial_engine.progress import console, for_terminal
    from spatial_engine.store.damage import check_store

    with for_terminal() as progress:
        found = check_store(store, progress=progress)
    raise typer.Exit(0 if store_shown.show_checked(store, found, console()) else 1)


@store_app.command()
def repair(store: StorePath) -> None:
    """Remove what is damaged, so that annotate computes it again, and complete the ledger."""
    from spatial_engine.cli import store_shown
    from spatial_engine.progress import console, for_terminal
    from spatial_engine.store.damage import repair_store

    with for_terminal() as progress:
        done = repair_store(store, progress=progress)
    store_shown.show_repaired(store, done, console())


@store_app.command()
def gc(
    store: StorePath,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Also remove clips whose footage was removed or moved since.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
) -> None:
    """Remove signals of former settings, and temporary files of processes that ended."""
    from spatial_engine.cli import store_shown
    from spatial_engine.progress import console, for_terminal
    from spatial_engine.store.garbage import gc_store

    with for_terminal() as progress:
        found = gc_store(store, forgotten=forgotten, dry_run=dry_run, progress=progress)
    store_shown.show_garbage(found, console(), dry_run=dry_run)


@store_app.command()
def stats(store: StorePath) -> None:
    """Count clips, signals and bytes, and the seconds that each expert took."""
    from spatial_engine.cli import store_shown
    from spatial_engine.progress import console
    from spatial_engine.store.statistics import store_stats

    store_shown.show_stats(store_stats(store), console())
