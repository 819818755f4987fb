"""Rows in files of a limited size, named as the Hub and `datasets` name them: NAME-00002-of-00008.ENDING."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

Row = TypeVar("Row")

SHARD_MB = 500
"""Default size of a shard: what the Hub recommends at most for parquet and WebDataset files."""


def write_shards(
    folder: Path,
    name: str,
    ending: str,
    rows: Iterable[Row],
    *,
    size: Callable[[Row], int],
    shard_mb: int,
    write: Callable[[Path, Iterable[Row]], int],
) -> int:
    """Writes the rows in their order into one file or several, and returns their number.

    `size`: bytes of a row; a shard ends before the row that would exceed `shard_mb`, but has one row at least. `write`:
    writes one file and returns its number of rows; it reads them all.
    """
    count = 0
    parts: list[Path] = []
    for shard in _divided(rows, size, shard_mb * 1_000_000):
        part = folder / f"{name}-{len(parts):05}"
        count += write(part, shard)
        parts.append(part)
    for part in parts:
        part.rename(part.with_name(f"{part.name}-of-{len(parts):05}.{ending}"))
    return count


def _divided(rows: Iterable[Row], size: Callable[[Row], int], limit: int) -> Iterator[Iterator[Row]]:
    """Runs of rows of at most `limit` bytes. Each must be read before the next; one row at a time is in memory."""
    coming = iter(rows)
    waiting = next(coming, None)

    def shard() -> Iterator[Row]:
        nonlocal waiting
        room = limit
        while waiting is not None and (room == limit or size(waiting) <= room):
            yield waiting
            room -= size(waiting)
            waiting = next(coming, None)

    while waiting is not None:
        yield shard()
