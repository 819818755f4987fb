"""The whole path: footage into signals, signals into a dataset, a dataset into pictures and other formats."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

from spatial_engine.annotation.annotate_all import annotate_all, on_every_gpu, prepared
from spatial_engine.annotation.fetching import is_url, local_footage
from spatial_engine.annotation.opening import find, forget_gone, keep_sequences, open_all, scene_name
from spatial_engine.annotation.overview import Plan, overview
from spatial_engine.annotation.unchanged import Unchanged, known_footage
from spatial_engine.annotation.users_detections import find_detections, with_expert
from spatial_engine.atomic_file import one_writer
from spatial_engine.dataset.asking import AskClip, ask_all
from spatial_engine.dataset.cost import cpu_clock
from spatial_engine.dataset.dataset import Dataset, check_target
from spatial_engine.dataset.drafts import drafts_folder
from spatial_engine.dataset.finishing import FinishClip
from spatial_engine.dataset.generate_shard import ShareOfDataset, check_idle, draw_shard, note_asked
from spatial_engine.dataset.hints import HintsFromSignals
from spatial_engine.dataset.parquet import check_pyarrow
from spatial_engine.dataset.question_files import write_question_files
from spatial_engine.dataset.target import Target
from spatial_engine.dataset.writing import UNFINISHED, balanced_drafts, write_drafts
from spatial_engine.errors import UsageError, interruptible
from spatial_engine.monitoring.monitor import monitored
from spatial_engine.options import AnnotateOptions, GenerateOptions, OpenOptions, RunOptions, Shard, StrPath, chosen
from spatial_engine.progress import Progress, Silent, counted
from spatial_engine.sequences import Sequence, truth_at
from spatial_engine.sources.clip_options import clip_options
from spatial_engine.store.finished import finished_footage
from spatial_engine.store.store import Store, create_store, open_store


def annotate(
    footage: StrPath,
    store: StrPath,
    options: AnnotateOptions | None = None,
    *,
    shard: str | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Store:
    """Brings the signals of all footage at a path up to date. Does only what is missing.

    Args:
        footage: a video, a folder of images, or a folder of such, searched to the bottom; or its URL (docs/cluster.md).
        store: the folder to write, made if there is none.
        options: how clips are opened, which experts run, and where; None: the defaults.
        shard: the share of one of several machines, such as "2/8"; None: all footage (docs/cluster.md).
        progress: who is told; None: nobody.
        fields: single fields of `AnnotateOptions`, as in `annotate("videos/", "store/", upright=True)`. A script that
            gives `workers` needs `if __name__ == "__main__":`, as processes start.

    Raises:
        UsageError: there is no footage, an expert is unknown, or a need is not met.
        SetupError: this machine can run none of the experts.
        StoreError: `store` is something else, or of another version.
        Interrupted: Ctrl-C; what was done is kept.
    """
    options, share = chosen(AnnotateOptions, options, fields), Shard.of(shard)
    with monitored(progress or Silent(), options, "annotate", Path(store), share) as progress:
        place = local_footage(footage, Path(f"{Path(store)}.downloads"), progress)
        sequences: tuple[Sequence, ...] = ()
        if options.truth:
            sequences, options = truth_at(place, options)
        former = finished_footage(Store(store))
        found = None if sequences else find(place, options, progress, known_footage(former))
        detections = find_detections(found.taken if found else [one.clip for one in sequences], options)
        options = with_expert(detections, options, progress)
        task = prepared(store, options, progress)
        options = on_every_gpu(options, task.experts, progress)
        target = create_store(store)
        with interruptible():
            if found is None:
                clips = keep_sequences([one for one in sequences if share.holds(scene_name(one))], place, target)
                annotate_all(detections.attached(clips, progress), task, target, options, progress)
            else:
                opening = chosen(OpenOptions, options)
                unchanged = Unchanged(
                    former=former,
                    task=task,
                    options=opening,
                    clip_options=clip_options(place, opening),
                    apart=detections.paths,
                )
                own = replace(found, taken=tuple(one for one in found.taken if share.holds(one.name)))
                if share.count > 1:
                    progress.say(f"shard {share}: {len(own.taken)} of {counted(len(found.taken), 'piece')} of footage")
                opened = open_all(own, place, target, options, progress, unchanged.among(own.taken))
                forget_gone(found, place, target)
                clips = detections.attached(opened.clips, progress)
                done = annotate_all(clips, task, target, options, progress, opened.unchanged)
                unchanged.note(opened.ids, done)
        return target


def generate(
    store: StrPath | Store | None,
    dataset: StrPath,
    options: GenerateOptions | None = None,
    *,
    shard: str | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Dataset:
    """Asks what the signals of a store decide, and writes a dataset. The same for any number of workers and shards.
    What was asked and drawn before it was stopped is not done again.

    Args:
        store: a store or its folder; None: puzzles alone, as in `generate(None, "dataset/", puzzles=100)`.
        dataset: the folder to write; a dataset of ours there is replaced.
        options: what is asked; None: the defaults.
        shard: the share of one of several machines, such as "2/8": its clips are asked about; once those of all
            shards are, its questions are put into words and drawn. No dataset is written yet: the call without it
            takes up what the shards did (docs/cluster.md). Returns a `ShareOfDataset`, which names what failed.
        progress: who is told; None: nobody.
        fields: single fields of `GenerateOptions`, as in `generate(store, "dataset/", abilities="L1", seed=0)`.

    Raises:
        UsageError: an ability is unknown, `sigma_calibration` holds none, or `dataset` holds something else.
        BusyError: another process writes to `dataset`, or asks for it.
        SetupError: `parquet` without pyarrow.
        StoreError: `store` is none, or of another version.
        SpatialEngineError: nothing can be asked, `dataset` holds questions, and `allow_empty` is False.
        Interrupted: Ctrl-C.
    """
    options, share, target = chosen(GenerateOptions, options, fields), Shard.of(shard), Path(dataset)
    source = store if store is None or isinstance(store, Store) else open_store(store)
    work = drafts_folder(target)
    task = AskClip.of(source, options, work)
    check_target(target)
    if options.parquet:
        check_pyarrow()
    with monitored(progress or Silent(), options, "generate", target, share) as progress:
        if source is not None and (busy := source.being_written()):
            progress.say(f"{counted(len(busy), 'clip')} being annotated: what is not measured yet is not asked about")
        unfinished = [] if source is None else [id for id in source.unfinished() if share.holds(id)]
        if unfinished:
            progress.say(f"{counted(len(unfinished), 'clip')}: {UNFINISHED}; run annotate again, then generate")
        if share.count > 1:
            return _generate_shard(task, share, options, target, unfinished, progress)
        with one_writer(target), interruptible(), cpu_clock(work) as cpu:
            check_idle(work)
            asked = ask_all(task, options.workers, progress, share)
            made = write_drafts(
                target,
                _finishing(task, asked.keys, options, work),
                asked.crashed,
                unfinished,
                seed=options.seed,
                settings=task.to_json()
                | {name: getattr(options, name) for name in ("unanswerable", "puzzles", "state_tolerance")}
                | ({"hints": list(options.hints)} if options.hints else {}),
                scenes=task.scenes_by_clip(),
                target=_target(task, options),
                allow_empty=options.allow_empty,
                workers=options.workers,
                cpu=cpu,
                beside=write_question_files if options.parquet else None,
                progress=progress,
            )
            rmtree(work)
            return made


def _generate_shard(
    task: AskClip, share: Shard, options: GenerateOptions, target: Path, unfinished: Collection[str], progress: Progress
) -> ShareOfDataset:
    """Asks about the clips of a shard; once all shards have asked, puts its questions into words and draws them."""
    work, failed = drafts_folder(target), [f"clip {clip_id}: {UNFINISHED}" for clip_id in unfinished]
    with one_writer(work / f"shard {share.number} of {share.count}"), interruptible(), cpu_clock(work):
        asked = ask_all(task, options.workers, progress, share)
        if asked.crashed:
            progress.say(f"{counted(len(asked.crashed), 'clip')} failed: generate without --shard tries again")
        faults = {clip_id: task.faults(clip_id, key) for clip_id, key in asked.keys.items()}
        failed += [f"{task.name(clip_id)}: {why}" for clip_id, why in (faults | {**asked.crashed}).items() if why]
        if note_asked(work, task.digest, share, progress):
            keys = {clip_id: task.key(clip_id) for clip_id in task.items()}
            failed += draw_shard(
                _finishing(task, keys, options, work),
                share,
                seed=options.seed,
                target=_target(task, options),
                workers=options.workers,
                progress=progress,
            )
    return ShareOfDataset(target, tuple(failed))


def plan_questions(
    store: StrPath | Store | None,
    dataset: StrPath,
    options: GenerateOptions | None = None,
    *,
    progress: Progress | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """What `generate` would draw: how many questions of which answers, difficulties and scenes, and what limits them
    (the entry `target` of audit.json). Every clip is asked about, and `generate` with the same options does not do it
    again; nothing is put into words or drawn. Arguments and errors as for `generate`."""
    progress, options = progress or Silent(), chosen(GenerateOptions, options, fields)
    source = store if store is None or isinstance(store, Store) else open_store(store)
    place, work = Path(dataset), drafts_folder(Path(dataset))
    task = AskClip.of(source, options, work)
    check_target(place)
    with one_writer(place), interruptible(), cpu_clock(work):
        check_idle(work)
        asked = ask_all(task, options.workers, progress, Shard())
        target = _target(task, options) or Target(scenes=task.scenes_by_clip())
        return dict(balanced_drafts(task.drafts, asked.keys, options.seed, target=target).target)


def _target(task: AskClip, options: GenerateOptions) -> Target | None:
    """What is to be drawn; None: all."""
    if not options.is_targeted:
        return None
    origins = {id: one.clip_id for id, one in task.reframed.items()}
    scenes = task.scenes_by_clip()
    per_clip = options.questions_per_clip(len(scenes) - len(origins))
    return Target(count=options.count, per_clip=per_clip, even=options.even, scenes=scenes, origins=origins)


def _finishing(task: AskClip, keys: Mapping[str, str], options: GenerateOptions, work: Path) -> FinishClip:
    hints = HintsFromSignals(scenes=task.scenes, kinds=options.hints, min_confidence=options.min_confidence)
    return FinishClip(
        drafts=task.drafts,
        keys=keys,
        open_clip=task.clip,
        folder=work,
        state_tolerance=options.state_tolerance,
        hints=hints if options.hints else None,
        said=f"{options.state_tolerance} {','.join(options.hints)}",
    )


def run(
    footage: StrPath,
    out: StrPath,
    options: RunOptions | None = None,
    *,
    progress: Progress | None = None,
    **fields: Any,
) -> Dataset:
    """`annotate` into OUT/store, `generate` into OUT/dataset, `report` into OUT/report. `fields`: single fields of
    `RunOptions`, as in `run("videos/", "out/", upright=True, abilities="L1")`."""
    from spatial_engine.report import check_report, report  # drawing needs what measuring does not

    options, place = chosen(RunOptions, options, fields), Path(out)
    AskClip.of(Store(place / "store"), options, place)  # a wrong name is reported before the work, not after
    check_target(place / "dataset")
    check_report(place / "report")
    with one_writer(place / "dataset"), monitored(progress or Silent(), options, "run", place) as progress:
        store = annotate(footage, place / "store", options, progress=progress)
        dataset = generate(store, place / "dataset", options, progress=progress)
        report(dataset, place / "report", store=store)
        return dataset


def plan(
    footage: StrPath,
    store: StrPath,
    options: AnnotateOptions | None = None,
    *,
    shard: str | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> Plan:
    """What `annotate` (or, with `RunOptions`, `run`) would do: footage, experts, time, disk, and what is missing. Runs
    and writes nothing. Raises `UsageError` for what the run would refuse. `shard` and `fields` as in `annotate`."""
    options = chosen(type(options or AnnotateOptions()), options, fields)
    if is_url(footage):
        raise UsageError(f"no plan of {footage}", "a plan reads local footage: fetch some of it first")
    if isinstance(options, RunOptions):
        AskClip.of(Store(store), options, Path(store))
    return overview(Path(footage), Path(store), options, Shard.of(shard), progress or Silent())
