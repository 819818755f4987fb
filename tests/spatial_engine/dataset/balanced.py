"""The balance of tables that stand in memory, and what it keeps."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spatial_engine.dataset.balance import DEFAULTS, Balanced, BalanceSettings
from spatial_engine.dataset.balance import balance as balance_keys
from spatial_engine.dataset.clip_keys import ClipKeys
from spatial_engine.dataset.keys import Keys
from templates.asked import Asked, Choose, Draft


@dataclass(frozen=True)
class Arranged:
    """A question that is kept: its table and row, and its options at each letter."""

    asked: Asked
    row: int
    order: tuple[int, ...]
    prompt: int

    @property
    def clip_id(self) -> str:
        return self.asked.clip_id

    def draft(self, choose: Choose | None = None) -> Draft:
        return self.asked.draft(self.row, choose)


@dataclass(frozen=True)
class Kept:
    """All that are kept, and the numbers of dropped ones by reason."""

    arranged: tuple[Arranged, ...]
    dropped: dict[str, int]


def balance(
    tables: Iterable[Asked], diagonals_px: Mapping[str, float], seed: int, settings: BalanceSettings = DEFAULTS
) -> Kept:
    """As `spatial_engine.dataset.balance.balance`, of tables in any order."""
    by_clip: dict[str, list[Asked]] = defaultdict(list)
    for one in tables:
        by_clip[one.clip_id].append(one)
    clips = (ClipKeys.of(id, by_clip[id], diagonals_px[id], settings.near) for id in sorted(by_clip))
    made = balance_keys(Keys.of(clips, seed), seed, settings)
    dropped = Counter[str]()
    for (_, reason), count in made.dropped.items():
        dropped[reason] += count
    return Kept(tuple(_arranged(made, by_clip)), dropped)


def _arranged(made: Balanced, by_clip: Mapping[str, list[Asked]]) -> Iterable[Arranged]:
    for part in made.selections():
        for table, row, order, prompt in part.rows():
            yield Arranged(by_clip[part.clip_id][table], row, order, prompt)
