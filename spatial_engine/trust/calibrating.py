"""Fits the σ calibration on sequences with ground truth: annotates their pictures, measures errors, fits factors
leave-one-set-out."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Clip
from experts.sigma_calibration import HeldOut, NotCalibrated, SigmaCalibration, SigmaFactor
from experts.sigma_calibration.fitting import ErrorSample, FitSettings, fit
from spatial_engine.annotation.annotate_all import prepared
from spatial_engine.annotation.annotation import AnnotateClips
from spatial_engine.annotation.executor import Crashed, attempt
from spatial_engine.annotation.executor import run as run_tasks
from spatial_engine.annotation.workbench import check_able
from spatial_engine.errors import SpatialEngineError, UsageError, explained
from spatial_engine.options import ExpertOptions, chosen
from spatial_engine.progress import Progress, Silent
from spatial_engine.sequences.opening import open_sequence
from spatial_engine.sequences.sequence import Sequence as OpenedSequence
from spatial_engine.store.store import Store, create_store
from spatial_engine.trust.signal_errors import signal_errors
from spatial_engine.trust.signal_errors_record import SignalErrors

Skipped = tuple[str, str, str]
"""(name, cause, remedy) of a sequence or clip without measured errors."""


@dataclass(frozen=True, kw_only=True)
class CalibrationResult:
    """The result of `calibrate`."""

    maps: SigmaCalibration
    errors: Mapping[str, tuple[SignalErrors, ...]]
    """By set, sorted: the errors of all its clips."""
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, kw_only=True)
class SetErrors:
    """The measured errors of one set."""

    name: str
    errors: Mapping[str, Sequence[SignalErrors]]
    """By clip id."""
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, kw_only=True)
class MeasureSetTask:
    """The task of a worker: compares the signals of a set's pictures with its truth."""

    annotating: AnnotateClips

    def __call__(self, given: str) -> SetErrors:
        """Opens, annotates and compares a set clip by clip; names what fails."""
        name, errors, skipped = _set_name(given), {}, []
        try:
            for sequence in open_sequence(Path(given)):
                result = attempt(self._errors, sequence)
                if isinstance(result, Crashed):
                    skipped.append((f"{name} ({sequence.clip.name})", result.error, result.remedy))
                else:
                    errors[sequence.clip.id] = result
        except Exception as error:
            if (known := explained(error)) is None:
                raise
            skipped.append((given, known.cause, known.remedy))
        return SetErrors(name=name, errors=errors, skipped=tuple(skipped))

    def _errors(self, sequence: OpenedSequence) -> list[SignalErrors]:
        """Experts get the pictures and their time stamps, but no camera and no pose."""
        if sequence.manifest.truth == "agreement":
            raise SpatialEngineError(
                "computed from the images themselves: agreement, no truth", "give a set with truth"
            )
        if len(sequence.unsound) == len(sequence.clip.frames):
            what = "; ".join(finding.what for finding in sequence.findings if finding.severe)
            raise SpatialEngineError(f"its truth is unsound in every frame: {what}", "see: spatial-engine sequence")
        clip = sequence.clip.with_options(intrinsics=None)
        store = Store(self.annotating.store_path)
        record = store.record(clip.id) if clip.id in store.clip_ids() else None
        try:
            return self._measured(clip, store, sequence)
        finally:
            if record is not None:  # a store of the user's own keeps the clip as its footage was opened
                store.write_record(clip.id, record)

    def _measured(self, clip: Clip, store: Store, sequence: OpenedSequence) -> list[SignalErrors]:
        store.write_failures(clip.id, {})  # what failed is tried again
        (annotated,) = self.annotating([clip])
        if annotated.lacking or any(entry.state == "failed" for entry in annotated.entries):
            raise SpatialEngineError(
                annotated.outcome, "run spatial-engine doctor, then repeat the command: it resumes"
            )
        return signal_errors(clip, store.signals(clip.id), sequence)


def calibrate(
    sequences: Sequence[str | Path],
    store: str | Path,
    options: ExpertOptions | None = None,
    *,
    progress: Progress | None = None,
    **fields: Any,
) -> CalibrationResult:
    """Fits the σ calibration of experts. Signals that the store has are not computed again.

    Args:
        sequences: folders, manifests, or FOLDER=SEQUENCE.yaml; each is a set, named by its folder. A set is
            skipped, and named, if it cannot be read, if its truth is unsound, or if it was computed from the images
            themselves (`truth: agreement`).
        store: the folder that keeps signals; created if it does not exist.
        options: which experts run, and where; None: the defaults.
        progress: receives what is done.
        fields: single fields of `ExpertOptions`, as in `calibrate(sequences, "store/", experts="klt", workers=2)`.

    Raises:
        UsageError: an expert is unknown, or no set gives an error to fit on.
        SetupError: this machine can run none of the experts.
        StoreError: `store` is no store, or one of another version.
    """
    progress, options = progress or Silent(), chosen(ExpertOptions, options, fields)
    annotating = prepared(store, options, progress)
    check_able(annotating.experts, annotating.model_options)
    create_store(store)
    task, given = MeasureSetTask(annotating=annotating), list(dict.fromkeys(map(str, sequences)))
    done: dict[str, SetErrors] = {}
    progress.begin("measuring", len(given))
    for each, result in run_tasks(task, given, options.workers):
        if isinstance(result, Crashed):
            lost = (each, result.error, result.remedy)
            result = SetErrors(name=_set_name(each), errors={}, skipped=(lost,))
        done[each] = result
        progress.step(result.name, f"failed: {result.skipped[0][1]}" if result.skipped else "done")
    errors = _by_set([done[each] for each in given])
    skipped = tuple(part for each in given for part in done[each].skipped)
    if not any(errors.values()):
        causes = (
            "; ".join(f"{name}: {cause}" for name, cause, _ in skipped) or "no signal has a counterpart in the truth"
        )
        raise UsageError(f"nothing to fit on ({causes})", "give sequences with poses or depth: docs/sequences.md")
    return CalibrationResult(maps=fit_calibration(errors), errors=errors, skipped=skipped)


def fit_calibration(
    errors: Mapping[str, Sequence[SignalErrors]], settings: FitSettings | None = None, rendered: Collection[str] = ()
) -> SigmaCalibration:
    """The calibration of all quantities in errors by set, of which a renderer made those in `rendered`. Independent of
    their order."""
    samples: dict[tuple[str, str, str, str, str], dict[str, list[ErrorSample]]] = defaultdict(lambda: defaultdict(list))
    for name in sorted(errors):
        for each in errors[name]:
            key = (each.expert, each.signal, each.quantity, each.version, each.weights_sha256 or "")
            samples[key][name].append(each.sample)
    made = [
        fit(expert, version, weights or None, signal, quantity,
            {name: _joined(parts, name in rendered) for name, parts in by_set.items()}, settings)
        for (expert, signal, quantity, version, weights), by_set in sorted(samples.items())
    ]  # fmt: skip
    return SigmaCalibration(
        factors=tuple(each for each in made if isinstance(each, SigmaFactor)),
        not_calibrated=tuple(each for each in made if isinstance(each, NotCalibrated)),
    )


def _joined(parts: Sequence[ErrorSample], rendered: bool) -> ErrorSample:
    """Of the clips of one set."""
    ordered = sorted(parts, key=lambda part: (len(part.error), part.error.tolist()))
    return ErrorSample(
        error=np.concatenate([part.error for part in ordered]),
        other=np.concatenate([part.other for part in ordered]),
        rendered=rendered,
    )


def _by_set(measured: Sequence[SetErrors]) -> dict[str, tuple[SignalErrors, ...]]:
    """Errors by set, sorted. A clip in two sets counts in the first only: the held-out set must be unseen."""
    seen: set[str] = set()
    found: dict[str, list[SignalErrors]] = defaultdict(list)
    for each in measured:
        for clip in sorted(each.errors.keys() - seen):
            found[each.name] += each.errors[clip]
        seen |= each.errors.keys()
    return {name: tuple(found[name]) for name in sorted(found)}


def _set_name(given: str) -> str:
    """The name of the folder: clips of one folder are one set."""
    path = Path(given if Path(given).exists() or "=" not in given else given.rpartition("=")[0])
    return (path.parent if path.is_file() else path).resolve().name


_WITHIN = ("within 1 σ (%)", "within 2 σ (%)")
_HEAD = ("σ of", "factor", "left-out sequence", "samples", "factor fitted on the others", *_WITHIN)
_HEAD_ANSWERS = ("σ of answers of", "factor", "left-out sequences", "samples", "largest of their fits", *_WITHIN)
_HEAD_WITHOUT = ("σ of", "samples", "factor would be", *_WITHIN, "sequences", "not calibrated because")


def sigma_table(calibration: SigmaCalibration) -> str:
    """The fitted factors with their held-out sets; then what was measured but not fitted; then those of answers."""
    tables = [_markdown(_HEAD, list(_fitted(calibration)))] if calibration.factors else []
    tables += [_markdown(_HEAD_WITHOUT, list(_not_fitted(calibration)))] if calibration.not_calibrated else []
    tables += [_markdown(_HEAD_ANSWERS, list(_of_answers(calibration)))] if calibration.answers else []
    return "\n\n".join(tables)


def _fitted(calibration: SigmaCalibration) -> Iterator[Sequence[str]]:
    """One row per filmed set; one for all rendered ones, with the average of their coverage."""
    for each in calibration.factors:
        of, factor = f"{each.expert} {each.version}: {each.signal}, {each.quantity}", f"{each.factor:.2f}"
        rendered = [one for one in each.held_out if one.rendered]
        for one in each.held_out:
            if not one.rendered:
                yield (of, factor, one.set, *_left_out([one]))
                of = factor = ""
        if rendered:
            yield (of, factor, f"each of {len(rendered)} rendered", *_left_out(rendered))


def _of_answers(calibration: SigmaCalibration) -> Iterator[Sequence[str]]:
    """Two rows per template: all filmed sets, with the average of their coverage, and all rendered ones."""
    for each in calibration.answers:
        of, factor = each.template, f"{each.factor:.2f}"
        for kind, made in (("filmed", False), ("rendered", True)):
            if own := [one for one in each.held_out if one.rendered == made]:
                yield (of, factor, f"each of {len(own)} {kind}", *_left_out(own))
                of = factor = ""


def _left_out(sets: Sequence[HeldOut]) -> Sequence[str]:
    """Samples, largest factor fitted on the others, and coverage."""
    within = (float(np.mean([getattr(one, name) for one in sets])) for name in ("within_1", "within_2"))
    fitted = max(one.fitted for one in sets)
    return str(sum(one.samples for one in sets)), f"{fitted:.2f}", *(_percent(share) for share in within)


def _not_fitted(calibration: SigmaCalibration) -> Iterator[Sequence[str]]:
    for each in calibration.not_calibrated:
        of = f"{each.expert} {each.version}: {each.signal}, {each.quantity}"
        numbers = (f"{each.fitted:.2f}", _percent(each.within_1), _percent(each.within_2))
        yield of, str(each.samples), *(numbers if each.samples else ("–", "–", "–")), ", ".join(each.sets), each.why


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
