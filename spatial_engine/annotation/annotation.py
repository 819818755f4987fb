"""Annotates clips: each expert runs once per key, and a failed expert affects only signals that depend on it.

Results depend only on clip, options, experts and weights: not on the number of workers, the grouping of clips, or
interruptions.
"""

import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from experts.clip import Clip
from experts.expert import Expert, SetupProblem
from experts.provenance import makers
from experts.runtime import per_image, per_window
from experts.runtime.device import forget_cached, is_lost, is_out_of_memory
from experts.runtime.per_image import PerImageExpert
from experts.runtime.per_window import PerWindowExpert
from experts.signals import NoEstimate, Signals
from spatial_engine.annotation.clip_work import ClipWork, Results, check_results
from spatial_engine.annotation.executor import leave_worker
from spatial_engine.annotation.plugin_errors import expert_error
from spatial_engine.annotation.stages import Stages
from spatial_engine.annotation.workbench import Workbench
from spatial_engine.errors import BusyError, disk_error
from spatial_engine.options import ModelOptions
from spatial_engine.sources import clip_to_json
from spatial_engine.store.finished import state_of_clip
from spatial_engine.store.ledger import Entry, entries_on_file
from spatial_engine.store.run_key import declared_view
from spatial_engine.store.store import ClipRecord, Failure, Store
from spatial_engine.store.write_behind import WriteBehind

ALREADY_DONE = "already done"
"""The outcome of a clip whose signals existed."""
_TOO_BIG = "take a smaller --max-side, or --dtype float16"


@dataclass(frozen=True, kw_only=True)
class AnnotatedClip:
    """The result for one clip."""

    entries: tuple[Entry, ...]
    """One entry per signal."""
    computed: int
    """Number of experts that ran; 0: all signals existed."""
    lacking: tuple[str, ...] = ()
    """Experts that this machine cannot run."""
    busy: str = ""
    """The other process that writes this clip, if the clip was skipped for that; else ""."""
    files: str = ""
    """State of the clip's files in the store; empty if it was skipped."""

    @property
    def outcome(self) -> str:
        """In words: "already done", "done", "done without ...", or the experts that failed."""
        failed = {(e.expert, e.reason) for e in self.entries if e.state == "failed" and e.expert not in self.lacking}
        if failed:
            return "; ".join(f"{expert} failed: {reason}" for expert, reason in sorted(failed))
        if self.lacking:
            return f"done without {', '.join(self.lacking)}"
        return "done" if self.computed else ALREADY_DONE

    @property
    def is_finished(self) -> bool:
        """Whether all signals are on file, and no expert failed."""
        return bool(self.files) and all(entry.state != "failed" for entry in self.entries)


@dataclass(kw_only=True)
class AnnotateClips:
    """The task of a worker: computes the missing signals of a few clips in a store. Experts load once per process.

    Signals are written while the next expert runs. Experts for single pictures or windows get those of all clips.
    """

    store_path: Path
    experts: Sequence[Expert]
    """In an order in which needs come first."""
    model_options: ModelOptions = field(default_factory=ModelOptions)
    """Weights and device of models."""
    careful: bool = False
    """Whether all signals are written before the next expert starts: then the first missing expert is the one that
    crashed the process (`blame`)."""
    wait: bool = True
    """Whether to wait for a clip that another process writes; else it is skipped, and the result says so."""
    stages: Stages = field(default_factory=Stages)
    """Receives the current stage."""
    bench: Workbench = field(init=False)
    """The loaded experts."""

    def __post_init__(self) -> None:
        self.bench = Workbench(model_options=self.model_options)

    def __call__(self, clips: Sequence[Clip]) -> tuple[AnnotatedClip, ...]:
        """Computes and writes missing signals, and makes them the current signals of the clips. One result per clip."""
        store = Store(self.store_path)
        with ExitStack() as held:
            busy = self._hold(store, clips, held)
            work = [
                ClipWork(clip=clip, failures=self._former_failures(store, clip))
                for clip in clips
                if clip.id not in busy
            ]
            with WriteBehind(store) as files:
                while self._pass(files, work):
                    pass  # a signal could not be written: once more, for what rests on it
            done = {one.clip.id: self._concluded(store, one) for one in work}
        self.stages.end()
        return tuple(done.get(clip.id) or AnnotatedClip(entries=(), computed=0, busy=busy[clip.id]) for clip in clips)

    def on_file(self, clip: Clip) -> AnnotatedClip | None:
        """The result for a clip whose present signals are all on file; None where something is to be done."""
        store = Store(self.store_path)
        files = state_of_clip(store, clip.id)  # before they are compared with their checksums
        one = ClipWork(clip=clip, failures=store.failures(clip.id))
        if any(failure.setup for failure in one.failures.values()):
            return None
        if any(self._key_if_due(store, one, expert) for expert in self.experts):
            return None
        if not store.has_record(clip.id, ClipRecord(clip=clip_to_json(clip), signals=one.keys)):
            return None
        return AnnotatedClip(entries=self._entries(store, one), computed=0, files=files)

    def due(self, clip: Clip) -> list[Expert]:
        """The experts that must run, including those that could not run on this machine before."""
        store = Store(self.store_path)
        failures = {key: failure for key, failure in store.failures(clip.id).items() if not failure.setup}
        one = ClipWork(clip=clip, failures=failures)
        return [expert for expert in self.experts if self._key_if_due(store, one, expert) is not None]

    def blame(self, clip: Clip, error: str) -> bool:
        """Records a crash of the first unfinished expert; False if all are finished."""
        store = Store(self.store_path)
        with store.one_writer(clip.id, wait=True):
            failures = store.failures(clip.id)
            missing = self._first_missing(clip, failures)
            if missing is None:
                return False
            expert, key = missing
            store.write_failures(clip.id, failures | {key: _failure(expert, error)})
        return True

    def close(self) -> None:
        """Frees the models loaded in this process."""
        self.bench.close()

    def _hold(self, store: Store, clips: Sequence[Clip], held: ExitStack) -> dict[str, str]:
        """Locks the clips until `held` ends; returns the writers of the clips that others have locked, by clip id."""
        busy = {}
        for clip_id in sorted(clip.id for clip in clips):  # in one order: two processes never wait for each other
            try:
                held.enter_context(store.one_writer(clip_id, wait=self.wait))
            except BusyError as error:
                busy[clip_id] = error.cause
        return busy

    def _former_failures(self, store: Store, clip: Clip) -> dict[str, Failure]:
        """Failures that are not tried again; in a careful pass, which repeats a run, all of them."""
        failures = store.failures(clip.id)
        kept = {key: failure for key, failure in failures.items() if self.careful or not failure.setup}
        if len(kept) < len(failures):
            store.write_failures(clip.id, kept)
        return kept

    def _first_missing(self, clip: Clip, failures: dict[str, Failure]) -> tuple[Expert, str] | None:
        """The first expert that must run, and its key."""
        store, one = Store(self.store_path), ClipWork(clip=clip, failures=failures)
        due = ((expert, self._key_if_due(store, one, expert)) for expert in self.experts)
        return next(((expert, key) for expert, key in due if key is not None), None)

    def _key_if_due(self, store: Store, one: ClipWork, expert: Expert) -> str | None:
        """The key of the expert if it must run; else None."""
        key = one.add_key(expert, self.bench.weights_identity(expert))
        done = key in one.failures or all(store.has(one.clip.id, name, key) for name in expert.provides)
        return None if done else key

    def _pass(self, files: WriteBehind, work: Sequence[ClipWork]) -> bool:
        """Runs every expert that must run; returns whether a signal could not be written."""
        for one in work:
            one.keys.clear()
        for together, experts in groupby(self.experts, key=shares_batches):
            stage = list(experts)
            for group in [work] if together else [[one] for one in work]:
                for expert in stage:
                    self._run(files, group, expert)
        return self._settle(files, work)

    def _run(self, files: WriteBehind, group: Sequence[ClipWork], expert: Expert) -> None:
        """Runs an expert on the clips of a group that need it."""
        due = [one for one in group if self._key_if_due(files.store, one, expert) is not None]
        able = [one for one in due if one.refusal(expert) is None]
        finished = self._run_together(files, able, expert) if len(able) > 1 and shares_batches(expert) else []
        for one in due:
            if not any(one is other for other in finished):
                self._run_alone(files, one, expert)
        if self.careful:
            self._settle(files, group)

    def _run_together(self, files: WriteBehind, group: Sequence[ClipWork], expert: Expert) -> list[ClipWork]:
        """Writes the results of an expert on the clips; returns those that are finished."""
        finished, started = list[ClipWork](), time.perf_counter()
        try:
            self.bench.load(expert)
            calls = ((self._view(one, expert), _inputs(files, one, expert)) for one in group)
            for one, results in zip(group, _called(expert, calls), strict=True):
                if isinstance(results, BaseException):
                    if is_lost(results):
                        raise results
                    continue  # its error is recorded when it is tried alone
                _file(files, one, expert, results)
                one.seconds[expert.name] = time.perf_counter() - started
                started = time.perf_counter()
                finished.append(one)
        except (Exception, SystemExit) as error:  # which clip it concerns is seen when each is tried alone
            if is_lost(error):
                self._lose_gpu(files, error)
        return finished

    def _run_alone(self, files: WriteBehind, one: ClipWork, expert: Expert) -> None:
        """Writes the result of an expert on a clip, or its failure."""
        started = time.perf_counter()
        failure: Failure | None = None
        lost: BaseException | None = None
        try:
            results = one.refusal(expert)
            if results is None:
                self.bench.load(expert)
                results = expert(self._view(one, expert), _inputs(files, one, expert))
            _file(files, one, expert, results)
        except (Exception, SystemExit) as error:  # a fault of one expert on one clip is recorded, never the run's
            failure, lost = _failure(expert, error), error if is_lost(error) else None
        one.seconds[expert.name] = time.perf_counter() - started
        if failure is not None:
            _record(files.store, one, one.keys[min(expert.provides)], failure)
        if failure is not None and failure.remedy == _TOO_BIG:
            forget_cached()
        if lost is not None:
            self._lose_gpu(files, lost)

    def _view(self, one: ClipWork, expert: Expert) -> Clip:
        """The view of the clip that the expert declares; counts the frames that are read."""
        number = next(number for number, other in enumerate(self.experts) if other is expert)
        self.stages.begin(one.clip.id, number)
        return self.stages.counted(declared_view(one.clip, expert), number)

    def _lose_gpu(self, files: WriteBehind, error: BaseException) -> None:
        """Ends this worker after a GPU error; a fresh process takes over."""
        files.settle()
        leave_worker()
        self.bench.lose_gpu(error)  # in the user's own process

    def _settle(self, files: WriteBehind, work: Sequence[ClipWork]) -> bool:
        """Waits until all signals are written. A signal that cannot be written is a failure of its expert; returns
        whether there was one. Raises `SetupError` where the disk is at fault."""
        unwritten = files.settle()
        for lost in unwritten:
            if full := disk_error(lost.error):
                raise full from lost.error
            one = next(one for one in work if one.clip.id == lost.clip_id)
            expert = next(e for e in self.experts if any(one.keys.get(name) == lost.key for name in e.provides))
            _record(files.store, one, lost.key, _failure(expert, lost.error))
        return bool(unwritten)

    def _concluded(self, store: Store, one: ClipWork) -> AnnotatedClip:
        """Makes the written signals the current ones of the clip."""
        clip_id = one.clip.id
        store.write_record(clip_id, ClipRecord(clip=clip_to_json(one.clip), signals=one.keys))
        present = {key: failure for key, failure in one.failures.items() if key in one.keys.values()}
        store.write_failures(clip_id, present)
        lacking = sorted({failure.expert for failure in present.values() if failure.setup})
        return AnnotatedClip(
            entries=self._entries(store, one),
            computed=len(one.seconds),
            lacking=tuple(lacking),
            files=state_of_clip(store, clip_id),
        )

    def _entries(self, store: Store, one: ClipWork) -> tuple[Entry, ...]:
        """The rows of a clip's current signals, with the seconds of this run."""
        provider = {name: expert.name for expert in self.experts for name in expert.provides}
        return tuple(
            replace(entry, expert=provider[entry.signal], seconds=one.seconds.get(provider[entry.signal]))
            for entry in entries_on_file(store, one.clip.id)
        )


def shares_batches(expert: Expert) -> bool:
    """Whether the expert takes several clips at a time."""
    return isinstance(expert, PerImageExpert | PerWindowExpert)


def _called(expert: Expert, calls: Iterable[tuple[Clip, Signals]]) -> Iterator[Results | BaseException]:
    """The results of each clip, or its error. An error that concerns no single clip is raised."""
    if isinstance(expert, PerWindowExpert):
        return per_window.call_many(expert, calls)
    assert isinstance(expert, PerImageExpert)
    return per_image.call_many(expert, calls)


def _inputs(files: WriteBehind, one: ClipWork, expert: Expert) -> Signals:
    """The signals that an expert reads. Their experts are noted, for the provenance of its results."""
    found = {name: files.read(one.clip.id, name, one.keys[name]) for name in one.read_by(expert)}
    known = (signal.provenance for signal in found.values() if not isinstance(signal, NoEstimate))
    one.made_from[expert.name] = makers(known)
    return found


def _file(files: WriteBehind, one: ClipWork, expert: Expert, results: Results) -> None:
    """Passes the results of an expert to the writer. Raises if they are not what it provides."""
    check_results(expert, one.clip, results)
    for name in sorted(results):
        files.write(one.clip.id, name, one.keys[name], one.with_makers(results[name], expert))


def _record(store: Store, one: ClipWork, key: str, failure: Failure) -> None:
    one.failures[key] = failure
    store.write_failures(one.clip.id, one.failures)


def _failure(expert: Expert, error: BaseException | str) -> Failure:
    """The failure of an expert, for the store."""
    signals = tuple(sorted(expert.provides))
    if isinstance(error, str):
        return Failure(expert=expert.name, signals=signals, error=error)
    if full := disk_error(error):  # of an expert's temporary files
        return Failure(expert=expert.name, signals=signals, error=full.cause, remedy=full.remedy, setup=True)
    if isinstance(error, SetupProblem):
        return Failure(expert=expert.name, signals=signals, error=error.cause, remedy=error.remedy, setup=True)
    return Failure(
        expert=expert.name,
        signals=signals,
        error=expert_error(expert, error),
        remedy=_TOO_BIG if is_out_of_memory(error) else "",
        traceback="".join(traceback.format_exception(error)),
    )
