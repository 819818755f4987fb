"""What a store holds, in numbers: clips, signals, bytes, and the seconds that experts took."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from spatial_engine.options import StrPath
from spatial_engine.store.damage import clip_folders, signal_files
from spatial_engine.store.ledger import Ledger, State
from spatial_engine.store.store import Store, open_store


@dataclass(frozen=True, kw_only=True)
class OfSignal:
    """One kind of signal over all clips."""

    states: Mapping[State, int]
    """Number of clips by what came of it under the present settings."""
    bytes: int
    """Size of the present files."""


@dataclass(frozen=True, kw_only=True)
class StoreStats:
    """The numbers of a store."""

    footage: int
    """Files and folders of footage that gave clips."""
    unopened: int
    """Those that could not be opened."""
    clips: int
    signals: Mapping[str, OfSignal]
    """By name."""
    calls: Mapping[str, tuple[int, float]]
    """Measured calls of each expert, and their seconds in all."""
    bytes: int
    """Size of the whole store."""
    former_bytes: int
    """Size of signals of former settings, and of clips whose footage is gone: see `gc_store`."""


def store_stats(store: StrPath | Store) -> StoreStats:
    """Counts what a store holds. Reads no signal. Raises `StoreError` if `store` is none."""
    store = store if isinstance(store, Store) else open_store(store)
    present = {clip_id: set(record.signals.items()) for clip_id, record in store.readable_records().items()}
    ledger, footage = Ledger.open(store), store.footage()
    states: dict[str, Counter[State]] = defaultdict(Counter)
    for entry in ledger.entries():
        if (entry.signal, entry.key) in present.get(entry.clip, ()):
            states[entry.signal][entry.state] += 1
    sizes: Counter[str] = Counter()
    former = 0
    for folder in clip_folders(store):
        for file, signal in signal_files(folder).items():
            size = file.stat().st_size
            if signal in present.get(folder.name, ()):
                sizes[signal[0]] += size
            else:
                former += size
    return StoreStats(
        footage=sum(not record.error for record in footage),
        unopened=sum(bool(record.error) for record in footage),
        clips=len(present),
        signals={name: OfSignal(states=counts, bytes=sizes[name]) for name, counts in sorted(states.items())},
        calls=ledger.calls(),
        bytes=sum(file.stat().st_size for file in store.path.rglob("*") if file.is_file()),
        former_bytes=former,
    )
