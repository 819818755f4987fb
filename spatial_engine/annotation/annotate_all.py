"""Annotates all clips: finds missing signals, shares the work among processes, and survives crashes of them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from experts.clip import Clip
from experts.expert import Expert, needs_weights
from spatial_engine.annotation.annotation import ALREADY_DONE, AnnotateClips, AnnotatedClip, shares_batches
from spatial_engine.annotation.executor import Crashed, Executor, run
from spatial_engine.annotation.executors import executor_of
from spatial_engine.annotation.forecast import Forecast
from spatial_engine.annotation.licences import check_licences
from spatial_engine.annotation.plan import choose_experts, left_out
from spatial_engine.annotation.watching import Watcher
from spatial_engine.annotation.workbench import check_able, check_sendable, gpu_count, obstacles
from spatial_engine.errors import BusyError, SpatialEngineError, StoreError
from spatial_engine.options import AnnotateOptions, ExpertOptions, ModelOptions, StrPath, chosen
from spatial_engine.progress import Progress, counted
from spatial_engine.store.finished import FinishedClip
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.store import Store

_Annotated = tuple[tuple[Clip, ...], tuple[AnnotatedClip, ...] | Crashed]


def prepared(store: StrPath, options: ExpertOptions, progress: Progress) -> AnnotateClips:
    """The task that the options describe. Reports experts that cannot run on this machine. Raises `UsageError`."""
    models = chosen(ModelOptions, options)
    task = AnnotateClips(store_path=Path(store), experts=choose_experts(options.experts), model_options=models)
    check_licences(task.experts, models)
    if options.workers:
        check_sendable(task.experts)
    for line in left_out(options.experts, task.experts):
        progress.say(line)
    for name, problem in obstacles(task.experts, models).items():
        progress.say(f"{name} cannot run here: {problem.cause}")
        progress.say(f"  try: {problem.remedy}")
    if models.random_weights and any(needs_weights(expert) for expert in task.experts):
        progress.say("weights are drawn at random: what models say here means nothing")
    return task


def on_every_gpu(options: AnnotateOptions, experts: Sequence[Expert], progress: Progress) -> AnnotateOptions:
    """The options with a worker for each of several GPUs, where models run and the user chose neither workers nor a
    single device. Raises `UsageError` for an expert that no worker can get."""
    if options.workers or options.executor != "processes" or not any(needs_weights(expert) for expert in experts):
        return options
    gpus = gpu_count(options.device)
    if gpus < 2:
        return options
    check_sendable(experts)
    progress.say(f"{gpus} GPUs: one worker each (--device cuda:0 takes one GPU, and no worker)")
    return replace(options, workers=gpus)


def annotate_all(
    clips: Sequence[Clip],
    task: AnnotateClips,
    store: Store,
    options: AnnotateOptions,
    progress: Progress,
    unchanged: Sequence[FinishedClip] = (),
) -> dict[str, FinishedClip]:
    """Computes the missing signals of all clips, and frees loaded models. Returns those whose signals are now on file,
    by id. `unchanged`: other clips, of which nothing is missing. Raises `SetupError` if no expert can run."""
    if options.retry_failed:
        for clip in clips:
            with suppress(BusyError), store.one_writer(clip.id):  # another process already works on a busy clip
                store.write_failures(clip.id, {})
    _say_other_licences(clips, store, progress)
    try:
        models = options.device != "cpu" and any(needs_weights(expert) for expert in task.experts)
        return _annotate(clips, unchanged, task, store, executor_of(options, models=models), options.workers, progress)
    finally:
        task.close()


def _say_other_licences(clips: Sequence[Clip], store: Store, progress: Progress) -> None:
    """A run that states no licence replaces the one that an earlier run stated."""
    held = {*store.clip_ids()}
    for clip in (clip for clip in clips if clip.id in held):
        with suppress(StoreError):  # damaged
            before = store.record(clip.id).clip["licence"]
            if before not in (clip.licence, "unknown"):
                progress.say(f"{clip.name}: its licence was {before}, and is {clip.licence} now: --licence states it")


def _annotate(
    clips: Sequence[Clip],
    unchanged: Sequence[FinishedClip],
    task: AnnotateClips,
    store: Store,
    execute: Executor,
    workers: int,
    progress: Progress,
) -> dict[str, FinishedClip]:
    """Computes missing signals. If a process crashes, only the expert at work fails; the other experts of the clip go
    on. Clips that another process writes come last, so two processes can share the work on one store."""
    task.wait = False
    progress.begin("annotating", len(clips) + len(unchanged))
    for known in unchanged:
        progress.step(known.name, ALREADY_DONE)
    ledger = Ledger.open(store)
    on_file = {clip.id: done for clip in clips if (done := task.on_file(clip))}
    ledger.write(entry for done in on_file.values() for entry in done.entries)
    finished: dict[str, FinishedClip] = {}
    for clip in (clip for clip in clips if clip.id in on_file):
        progress.step(clip.name, on_file[clip.id].outcome)
        finished |= _finished(clip, on_file[clip.id])
    clips = [clip for clip in clips if clip.id not in on_file]
    due = {clip.id: experts for clip in clips if (experts := task.due(clip))}
    missing = [clip for clip in clips if clip.id in due]
    if missing:
        check_able(task.experts, task.model_options)
    forecast = Forecast(measured_calls(store, ledger) if missing else ())
    watcher = Watcher(missing, due, task.experts, forecast, workers, progress)
    task.stages = watcher.stages
    present: list[tuple[Clip, ...]] = [(clip,) for clip in clips if clip.id not in due]
    complete, waiting = len(on_file) + len(unchanged), _groups(missing, task, workers)
    kept = total = sum(len(done.entries) for done in on_file.values()) + sum(known.signals for known in unchanged)
    # no process needs to start for those that are present
    results: Iterable[_Annotated] = chain(run(task, present, 0), execute(task, waiting, workers, watcher))
    while True:
        suspects: list[tuple[Clip, str]] = []
        busy: list[Clip] = []
        for group, result in results:
            if isinstance(result, Crashed):
                suspects += [(clip, result.error) for clip in group]
                continue
            for clip, done in zip(group, result, strict=True):
                if done.busy:
                    progress.say(f"{clip.name}: {done.busy}; this run waits for it at its end")
                    busy.append(clip)
                    continue
                ledger.write(done.entries)
                complete += not done.computed
                kept += sum(entry.seconds is None for entry in done.entries)
                total += len(done.entries)
                finished |= _finished(clip, done)
                watcher.finish(clip, done)
                for entry in {entry.expert: entry for entry in done.entries if entry.seconds is not None}.values():
                    progress.part(clip.name, entry.expert, f"{entry.state} {entry.reason}".strip(), entry.seconds or 0)
                progress.step(clip.name, done.outcome)
        if not suspects and not busy:
            break
        for clip, error in suspects if task.careful else ():
            if not task.blame(clip, error):
                raise SpatialEngineError(f"{clip.name}: {error}", "is the disk full, or the store read-only?")
        task.careful |= bool(suspects)
        task.wait |= bool(busy)
        waiting = [(clip,) for clip in [*(clip for clip, _ in suspects), *busy]]  # from now on clip by clip
        results = execute(task, waiting, workers, watcher)
    every = counted(len(clips) + len(on_file) + len(unchanged), "clip")
    progress.say(f"{every}: {complete} complete before this run; {kept} of {total} signals kept from earlier runs")
    return finished


def _finished(clip: Clip, done: AnnotatedClip) -> dict[str, FinishedClip]:
    """What the next run may know of a clip, by its id; nothing where something is to be done again."""
    if not done.is_finished:
        return {}
    return {clip.id: FinishedClip(name=clip.name, signals=len(done.entries), files=done.files)}


def measured_calls(store: Store, ledger: Ledger) -> list[tuple[str, float, int]]:
    """Expert, seconds and frames of every timed call in this store."""
    frames = {clip: len(record.clip.get("frames", ())) for clip, record in store.readable_records().items()}
    calls = {(entry.clip, entry.expert): entry.seconds for entry in ledger.entries() if entry.state == "done"}
    return [(expert, s, frames[clip]) for (clip, expert), s in calls.items() if s is not None and clip in frames]


def _groups(clips: Sequence[Clip], task: AnnotateClips, workers: int) -> list[tuple[Clip, ...]]:
    """Groups of clips for one worker: several clips per group if experts have models, but at least a group per
    worker."""
    several = any(needs_weights(expert) or shares_batches(expert) for expert in task.experts)
    size = min(task.model_options.clips_at_once, -(-len(clips) // max(1, workers))) if several else 1
    return [tuple(clips[first : first + size]) for first in range(0, len(clips), max(1, size))]
