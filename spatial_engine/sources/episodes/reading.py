"""All episodes of a folder: those that can be used, and how many cannot, by reason."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spatial_engine.errors import UsageError
from spatial_engine.sources.episodes.hands import read_hands
from spatial_engine.sources.episodes.lerobot import read_lerobot
from spatial_engine.sources.episodes.stated import Episodes, Layout
from spatial_engine.sources.episodes.table import EpisodeTable, why_unusable
from spatial_engine.sources.episodes.tabular import read_bridge, read_tables

_READERS: Mapping[Layout, Callable[[Path, Episodes, str], Iterator[EpisodeTable]]] = {
    "lerobot": read_lerobot,
    "table": read_tables,
    "bridge": read_bridge,
    "egodex": read_hands,
}


@dataclass(frozen=True, kw_only=True)
class FoundEpisodes:
    """What was read."""

    taken: tuple[EpisodeTable, ...]
    skipped: Mapping[str, int]
    """Number of episodes by the reason why they are left out."""


def read_episodes(folder: Path, stated: Episodes, pictures: str) -> FoundEpisodes:
    """The episodes below a folder. Raises `UsageError` where the layout is another one, and `SetupError`."""
    try:
        tables = [*_READERS[stated.layout](folder, stated, pictures)]
    except (KeyError, IndexError, TypeError, ValueError, OSError) as error:
        raise UsageError(f"{folder} is not as {stated.layout} has it ({error!r})", "see docs/sequences.md") from error
    if not tables:
        raise UsageError(f"{folder} has no episodes", "correct episodes.layout or episodes.files")
    whys = [why_unusable(table) or ("" if table.pictures else "no video or images") for table in tables]
    return FoundEpisodes(
        taken=tuple(table for table, why in zip(tables, whys, strict=True) if not why),
        skipped=Counter(why for why in whys if why),
    )
