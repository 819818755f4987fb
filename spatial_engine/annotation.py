"""Annotating one clip: each expert runs once per key, and what one expert breaks costs only what rests on it."""

import hashlib
import json
import time
import traceback
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from experts.clip import Clip, OpeningOptions
from experts.expert import Expert, may_use, weights_identity
from experts.setup_problem import SetupProblem
from experts.signals import SIGNAL_TYPES, Abstained, Signal
from spatial_engine.errors import UsageError
from spatial_engine.executor import one_line
from spatial_engine.ledger import Entry, entries_on_file
from spatial_engine.loading import Loading
from spatial_engine.signal_file import to_json
from spatial_engine.sources import clip_to_json
from spatial_engine.store import ClipRecord, Failure, Store

CLOCK = "times_s"
"""Stands in `Expert.options` where an expert reads the clip's time stamps."""


@dataclass(frozen=True, kw_only=True)
class AnnotatedClip:
    """What a run did for one clip."""

    entries: tuple[Entry, ...]
    """One per signal."""
    computed: int
    """Experts that had to run; 0: everything was on file."""

    @property
    def outcome(self) -> str:
        """For people: "already done", "done", or which experts failed."""
        failed = sorted({f"{entry.expert} failed: {entry.reason}" for entry in self.entries if entry.state == "failed"})
        return "; ".join(failed) or ("done" if self.computed else "already done")


@dataclass(kw_only=True)
class AnnotateClip:
    """The task of a worker: brings a clip's signals up to date in a store. Experts load once per process."""

    store_path: Path
    experts: Sequence[Expert]
    """Needs first."""
    loading: Loading = field(default_factory=Loading)
    """Which weights, where."""
    _loaded: set[str] = field(default_factory=set, init=False)
    _broken: dict[str, SetupProblem] = field(default_factory=dict, init=False)
    """Experts that cannot be loaded here: not tried again for each clip."""

    def __call__(self, clip: Clip) -> AnnotatedClip:
        """Runs what is missing, files it, and makes it the clip's present signals."""
        store = Store(self.store_path)
        failures = store.failures(clip.id)
        keys: dict[str, str] = {}
        seconds: dict[str, float] = {}
        for expert in self.experts:
            key = self._add_key(clip, expert, keys, failures)
            if _is_done(store, clip, expert, key, failures):
                continue
            started = time.perf_counter()
            if failure := self._run(store, clip, expert, keys, failures):
                failures[key] = failure
                store.write_failures(clip.id, failures)
            seconds[expert.name] = time.perf_counter() - started
        store.write_record(clip.id, ClipRecord(clip=clip_to_json(clip), signals=keys))
        store.write_failures(clip.id, {key: failure for key, failure in failures.items() if key in keys.values()})
        provider = {name: expert.name for expert in self.experts for name in expert.provides}
        entries = tuple(
            replace(entry, expert=provider[entry.signal], seconds=seconds.get(provider[entry.signal]))
            for entry in entries_on_file(store, clip.id)
        )
        return AnnotatedClip(entries=entries, computed=len(seconds))

    def is_done(self, clip: Clip) -> bool:
        """Whether nothing has to run."""
        return self._first_missing(clip) is None

    def blame(self, clip: Clip, error: str) -> bool:
        """Records that a process died in the first expert that is not done; False if all are."""
        missing = self._first_missing(clip)
        if missing is None:
            return False
        expert, key = missing
        failure = Failure(expert=expert.name, signals=tuple(sorted(expert.provides)), error=error)
        store = Store(self.store_path)
        store.write_failures(clip.id, store.failures(clip.id) | {key: failure})
        return True

    def _first_missing(self, clip: Clip) -> tuple[Expert, str] | None:
        """The first expert that has to run, and its key."""
        store = Store(self.store_path)
        failures = store.failures(clip.id)
        keys: dict[str, str] = {}
        for expert in self.experts:
            key = self._add_key(clip, expert, keys, failures)
            if not _is_done(store, clip, expert, key, failures):
                return expert, key
        return None

    def _add_key(self, clip: Clip, expert: Expert, keys: dict[str, str], failures: Mapping[str, Failure]) -> str:
        """The expert's key, added to `keys` under each signal that it provides."""
        needs = {name: keys[name] for name in _read_by(expert, keys)}
        failed = {name for name in needs if needs[name] in failures}
        key = run_key(clip, expert, needs, failed=failed, weights=weights_identity(expert, self.loading.weights))
        keys.update(dict.fromkeys(expert.provides, key))
        return key

    def _run(
        self, store: Store, clip: Clip, expert: Expert, keys: Mapping[str, str], failures: Mapping[str, Failure]
    ) -> Failure | None:
        """Files what the expert provides, or returns how it failed."""
        try:
            if broken := sorted(name for name in expert.needs if keys[name] in failures):
                refusal = Abstained(reason=f"needs {broken[0]}, which failed", remedy="--retry-failed")
                results: Mapping[str, Signal | Abstained] = dict.fromkeys(expert.provides, refusal)
            else:
                self._load(expert)
                signals = {name: store.read(clip.id, name, keys[name]) for name in _read_by(expert, keys)}
                results = _checked(expert, expert(declared_view(clip, expert), signals))
            for name in sorted(results):
                store.write(clip.id, name, keys[name], results[name])
        except SetupProblem as problem:  # concerns this machine: the next run tries again
            return Failure(
                expert=expert.name,
                signals=tuple(sorted(expert.provides)),
                error=problem.cause,
                remedy=problem.remedy,
                setup=True,
            )
        except Exception as error:  # a fault of one expert on one clip is recorded, never the run's
            return Failure(
                expert=expert.name,
                signals=tuple(sorted(expert.provides)),
                error=one_line(error),
                traceback=traceback.format_exc(),
            )
        return None

    def _load(self, expert: Expert) -> None:
        if expert.name in self._broken:
            raise self._broken[expert.name]
        if expert.name not in self._loaded:
            try:
                expert.load(self.loading.weights, self.loading.device, self.loading.dtype)
            except SetupProblem as problem:
                self._broken[expert.name] = problem
                raise
            self._loaded.add(expert.name)


def _is_done(store: Store, clip: Clip, expert: Expert, key: str, failures: Mapping[str, Failure]) -> bool:
    if key in failures:
        return not failures[key].setup
    return all(store.has(clip.id, name, key) for name in expert.provides)


def _read_by(expert: Expert, provided: Mapping[str, str]) -> list[str]:
    """Signals that the expert reads: what it needs, and what it may use and somebody provides."""
    return sorted(expert.needs | (may_use(expert) & provided.keys()))


def run_key(
    clip: Clip,
    expert: Expert,
    needs: Mapping[str, str],
    failed: AbstractSet[str] = frozenset(),
    weights: str | None = None,
) -> str:
    """Names what an expert makes of a clip: 16 hex digits over everything that it can read.

    `needs` are keys of signals by name, `failed` those of them whose expert failed, `weights` what names its weights.
    """
    view = declared_view(clip, expert)
    parts = {
        "clip": clip.id,
        "options": {name: to_json(getattr(view.options, name)) for name in expert.options - {CLOCK}},
        "clock": view.times_s.tolist() if view.times_s is not None else None,
        "expert": [expert.name, expert.version, to_json(expert.settings), weights],
        "needs": {name: ("failed:" if name in failed else "") + key for name, key in needs.items()},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def declared_view(clip: Clip, expert: Expert) -> Clip:
    """The clip as the expert may see it: options that it does not declare have their defaults, so that its key
    can miss none of what it reads. Raises `UsageError` for a declared name that is no option."""
    known = {field.name for field in fields(OpeningOptions)}
    if unknown := expert.options - known - {CLOCK}:
        allowed = ", ".join(sorted(known | {CLOCK}))
        raise UsageError(f"expert {expert.name} declares options {sorted(unknown)}", f"there are: {allowed}")
    options = OpeningOptions(**{name: getattr(clip.options, name) for name in expert.options & known})
    return replace(clip, options=options, times_s=clip.times_s if CLOCK in expert.options else None)


def _checked(expert: Expert, results: Mapping[str, Signal | Abstained]) -> Mapping[str, Signal | Abstained]:
    if set(results) != set(expert.provides):
        raise TypeError(f"{expert.name} returned {sorted(results)} and provides {sorted(expert.provides)}")
    for name, value in results.items():
        if not isinstance(value, SIGNAL_TYPES[name] | Abstained):
            raise TypeError(f"{expert.name} returned {type(value).__name__} as {name!r}: not a {SIGNAL_TYPES[name]}")
    return results
