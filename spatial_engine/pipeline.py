"""The whole path: footage into signals, signals into a data set, a data set into pictures and other formats."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

from experts.checkpoints.weights import RANDOM
from experts.clip import Clip
from experts.expert import Expert, needs_weights
from experts.runtime.per_image import PerImageExpert
from experts.sigma_calibration import SigmaCalibration, packaged_calibration, read_calibration, with_sigma_calibration
from spatial_engine.annotation.annotation import AnnotateClips, AnnotatedClip
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executor import run as run_tasks
from spatial_engine.annotation.model_options import ModelOptions, check_licences
from spatial_engine.annotation.opening import OpenFootage, check_times, find, open_all
from spatial_engine.annotation.plan import Step, choose_experts, registered_experts, steps
from spatial_engine.annotation.workbench import check_able, check_sendable, obstacles
from spatial_engine.atomic_file import one_writer
from spatial_engine.dataset.dataset import Dataset, check_target
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.errors import Interrupted, SpatialEngineError, UsageError
from spatial_engine.progress import Progress, Silent, counted
from spatial_engine.sources import OpenOptions, clip_from_json
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.store import Store, create_store, open_store
from templates.draft import ClipQuestions, Refusal
from templates.generate import ask_clip
from templates.registry import UnknownAbilityError, create_templates
from templates.settings import AskSettings
from templates.template import Template

CRASHED = "the program failed on this clip"
"""Refusal reason of a clip whose questions could not be made because of a fault in a template."""


def annotate(
    footage: str | Path,
    store: str | Path,
    *,
    options: OpenOptions | None = None,
    images: str | None = None,
    experts: Sequence[str | Expert] | None = None,
    model_options: ModelOptions | None = None,
    workers: int = 0,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> Store:
    """Brings the signals of all footage at a path up to date. Does only what is missing.

    Args:
        footage: a video, a folder of images, or a folder of such, searched to the bottom.
        store: the folder to write, made if there is none.
        options: how clips are opened (sizes, intrinsics, rate, upright, licence).
        images: glob of the files that count as frames in folders of images.
        experts: names ("name" or "name:variant"), or experts with other settings; None: all without weights. Of two
            for one signal the first provides it and the second is held against it.
        model_options: weights, device and licences of experts with models.
        workers: processes; 0 works in this one. With more, a script needs `if __name__ == "__main__":`. Each loads
            models of its own: on one GPU a second worker costs its memory again and gains little, since decoding and
            writing go on beside the model anyway. Several GPUs are taken in turn.
        retry_failed: whether experts that failed under the present settings run again.
        progress: who is told; None: nobody.

    Raises:
        UsageError: there is no footage, an expert is unknown, or a need is not met.
        SetupError: this machine can run none of the experts.
        StoreError: `store` is something else, or of another version.
        Interrupted: Ctrl-C; what was done is kept.
    """
    progress = progress or Silent()
    model_options = model_options or ModelOptions()
    task = AnnotateClips(store_path=Path(store), experts=choose_experts(experts), model_options=model_options)
    check_licences(task.experts, model_options)
    if workers:
        check_sendable(task.experts)
    for name, problem in obstacles(task.experts, model_options).items():
        progress.say(f"{name} cannot run here: {problem.cause}")
        progress.say(f"  try: {problem.remedy}")
    if model_options.weights == RANDOM and any(needs_weights(expert) for expert in task.experts):
        progress.say("weights are drawn by chance: what models say here means nothing")
    options = options or OpenOptions()
    found = find(Path(footage), images, progress)
    check_times(found, options)
    target = create_store(store)
    with _interruptible():
        opening = OpenFootage(store_path=target.path, options=options)
        clips = open_all(found, Path(footage), opening, target, workers, progress)
        if retry_failed:
            for clip in clips:
                target.write_failures(clip.id, {})
        try:
            _annotate(clips, task, target, workers, progress)
        finally:
            task.close()
    return target


def generate(
    store: str | Path | Store,
    dataset: str | Path,
    *,
    abilities: Sequence[str] | str | None = None,
    seed: int = 0,
    workers: int = 0,
    min_confidence: float = 0.99,
    unanswerable: bool = False,
    sigma_calibration: str | Path | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Asks what the signals of a store decide, and writes a data set. The same for any number of workers.

    Args:
        store: a store or its folder.
        dataset: the folder to write; a data set of ours there is replaced.
        abilities: paths of the tree ("L1", "L1/Motion"); None: all.
        seed: of everything that is drawn by chance.
        workers: as for `annotate`.
        min_confidence: least probability of being right of anything that is asked.
        unanswerable: whether to ask also what the photos shown cannot tell (docs/unanswerable.md).
        sigma_calibration: a file of `calibrate` with a factor for each σ; None: the one that comes with the software.
        progress: who is told; None: nobody.

    Raises:
        UsageError: an ability is unknown, `sigma_calibration` holds none, or `dataset` holds something else.
        BusyError: another process writes to `dataset`.
        StoreError: `store` is none, or of another version.
        Interrupted: Ctrl-C.
    """
    progress = progress or Silent()
    source = store if isinstance(store, Store) else open_store(store)
    settings, maps = AskSettings(min_confidence=min_confidence), _chosen_maps(sigma_calibration)
    check_target(dataset)
    templates = _templates(abilities, unanswerable)
    task = AskClip(store_path=source.path, templates=templates, settings=settings, seed=seed, maps=maps)
    asked: list[ClipQuestions] = []
    with one_writer(Path(dataset)), _interruptible():
        clip_ids = source.clip_ids()
        progress.begin("asking", len(clip_ids))
        for clip_id, result in run_tasks(task, clip_ids, workers):
            asked.append(_crashed(clip_id, result) if isinstance(result, Crashed) else result)
            outcome = f"failed: {result.error}" if isinstance(result, Crashed) else "done"
            progress.step(source.record(clip_id).clip["name"], outcome)
            if isinstance(result, Crashed) and result.remedy:
                progress.say(f"  try: {result.remedy}")
        return write_dataset(
            dataset,
            asked,
            lambda clip_id: clip_from_json(source.record(clip_id).clip),
            seed=seed,
            settings={
                "ask": asdict(settings),
                "unanswerable": unanswerable,
                "templates": [template.name for template in templates],
                "sigma_calibration": replace(maps, not_calibrated=()).to_json() | {"digest": maps.digest},
            },
            scenes=source.scenes(),
        )


def run(
    footage: str | Path,
    out: str | Path,
    *,
    options: OpenOptions | None = None,
    images: str | None = None,
    experts: Sequence[str | Expert] | None = None,
    model_options: ModelOptions | None = None,
    abilities: Sequence[str] | str | None = None,
    seed: int = 0,
    workers: int = 0,
    retry_failed: bool = False,
    min_confidence: float = 0.99,
    unanswerable: bool = False,
    sigma_calibration: str | Path | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """`annotate` into OUT/store, `generate` into OUT/dataset, `report` into OUT/report."""
    from spatial_engine.report import check_report, report  # drawing needs what measuring does not

    _templates(abilities)  # a wrong word is said before the work, not after
    _chosen_maps(sigma_calibration)
    check_target(Path(out) / "dataset")
    check_report(Path(out) / "report")
    with one_writer(Path(out) / "dataset"):
        store = annotate(
            footage,
            Path(out) / "store",
            options=options,
            images=images,
            experts=experts,
            model_options=model_options,
            workers=workers,
            retry_failed=retry_failed,
            progress=progress,
        )
        dataset = generate(
            store,
            Path(out) / "dataset",
            abilities=abilities,
            seed=seed,
            workers=workers,
            min_confidence=min_confidence,
            unanswerable=unanswerable,
            sigma_calibration=sigma_calibration,
            progress=progress,
        )
        report(dataset, Path(out) / "report", store=store)
        return dataset


def plan(
    experts: Sequence[str | Expert] | None,
    abilities: Sequence[str] | str | None,
    store: str | Path,
    model_options: ModelOptions | None = None,
) -> list[Step]:
    """What `annotate` would run for these abilities, with licences, expected cost and what is in the way; runs
    nothing."""
    wanted = None
    if abilities is not None:
        provided = {name for expert in registered_experts().values() for name in expert.provides}
        wanted = {name for template in _templates(abilities) for name in template.reads} & provided
    known = (Path(store) / "store.json").is_file()
    measured_s = Ledger.open(open_store(store)).seconds_per_clip() if known else {}
    return steps(choose_experts(experts, wanted), measured_s, model_options)


@dataclass(frozen=True, kw_only=True)
class AskClip:
    """The task of a worker: everything that can be asked about one clip."""

    store_path: Path
    templates: Sequence[Template]
    settings: AskSettings
    seed: int
    maps: SigmaCalibration

    def __call__(self, clip_id: str) -> ClipQuestions:
        """The drafts of questions of a clip by id."""
        store = Store(self.store_path)
        clip = clip_from_json(store.record(clip_id).clip)
        signals = with_sigma_calibration(store.signals(clip_id), self.maps)
        return ask_clip(clip, signals, self.templates, self.settings, self.seed)


def _chosen_maps(path: str | Path | None) -> SigmaCalibration:
    """The maps of a file that `calibrate` wrote; None: those that come with the software. Raises `UsageError`."""
    try:
        return packaged_calibration() if path is None else read_calibration(Path(path))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--sigma-calibration {path}: {error}", "give a file that spatial-engine calibrate wrote"
        ) from error


def _templates(abilities: Sequence[str] | str | None, unanswerable: bool = False) -> list[Template]:
    paths = [abilities] if isinstance(abilities, str) else list(abilities or ())
    try:
        return list(create_templates(paths, unanswerable=unanswerable).values())
    except UnknownAbilityError as error:
        raise UsageError(str(error), "name a level, a branch or a leaf, as in --abilities L1,L2/Memory") from error


_Annotated = tuple[tuple[Clip, ...], tuple[AnnotatedClip, ...] | Crashed]


def _annotate(clips: Sequence[Clip], task: AnnotateClips, store: Store, workers: int, progress: Progress) -> None:
    """Runs what is missing. A process that dies costs the expert that was at work; the clip's others go on."""
    progress.begin("annotating", len(clips))
    ledger = Ledger.open(store)
    missing = [clip for clip in clips if not task.is_done(clip)]
    if missing:
        check_able(task.experts, task.model_options)
    lacking = {clip.id for clip in missing}
    present: list[tuple[Clip, ...]] = [(clip,) for clip in clips if clip.id not in lacking]
    already, waiting = 0, _groups(missing, task, workers)
    # no process needs to start for those that are present
    results: Iterable[_Annotated] = chain(run_tasks(task, present, 0), run_tasks(task, waiting, workers))
    while True:
        suspects: list[tuple[Clip, str]] = []
        for group, result in results:
            if isinstance(result, Crashed):
                suspects += [(clip, result.error) for clip in group]
                continue
            for clip, done in zip(group, result, strict=True):
                ledger.write(done.entries)
                already += not done.computed
                progress.step(clip.name, done.outcome)
        if not suspects:
            break
        for clip, error in suspects if task.careful else ():
            if not task.blame(clip, error):
                raise SpatialEngineError(f"{clip.name}: {error}", "is the disk full, or the store read-only?")
        task.careful = True  # from now on clip by clip
        waiting = [(clip,) for clip, _ in suspects]
        results = run_tasks(task, waiting, workers)
    progress.say(f"{counted(len(clips), 'clip')}: {already} already done")


def _groups(clips: Sequence[Clip], task: AnnotateClips, workers: int) -> list[tuple[Clip, ...]]:
    """Clips that a worker takes together: several where experts have models, and no worker goes without for it."""
    several = any(needs_weights(expert) or isinstance(expert, PerImageExpert) for expert in task.experts)
    size = min(task.model_options.clips_at_once, -(-len(clips) // max(1, workers))) if several else 1
    return [tuple(clips[first : first + size]) for first in range(0, len(clips), max(1, size))]


def _crashed(clip_id: str, crash: Crashed) -> ClipQuestions:
    reason = f"{CRASHED}: {crash.error}"
    refusal = Refusal(clip_id=clip_id, template="", ability="", format=None, reason=reason, count=1)
    return ClipQuestions(clip_id=clip_id, drafts=(), refusals=(refusal,))


@contextmanager
def _interruptible() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted("stopped", "run the same command again: it goes on where it stopped") from error
