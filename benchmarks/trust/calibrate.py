"""Fits the packaged σ calibration on the real sets with ground truth and on rendered rooms: first the factors of
signals, then those of answers, which are asked and compared with ground truth under the new factors of signals.

    SPATIAL_ENGINE_DATA=... python -m benchmarks.trust.calibrate OUT

Writes experts/sigma_calibration/sigma_calibration.json and the table in docs/sigma_calibration.md. OUT keeps footage,
signals and verdicts between runs; in the folder of `benchmarks.trust` the signals of the real sets are there already.
The rooms are others than those of docs/trust.md, so that its labels test the factors.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.trust.clips import RealClip, RoomClip, real_clips
from benchmarks.trust.code_hash import ROOT, digest
from benchmarks.trust.rooms import Style
from benchmarks.trust.verdicts import CODE, Judge, made_in
from experts.registry import EXPERTS
from experts.sigma_calibration.fitting import ErrorSample, fit_answers
from experts.sigma_calibration.sigma_calibration import PACKAGED, AnswerFactor
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executor import run as run_tasks
from spatial_engine.atomic_file import write_json
from spatial_engine.trust.calibrating import fit_calibration, sigma_table
from spatial_engine.trust.metrics import errors_in_sigmas
from spatial_engine.trust.signal_errors import signal_errors
from spatial_engine.trust.signal_errors_record import SignalErrors
from spatial_engine.trust.verdict import Verdict
from templates.registry import create_templates

WORKERS = 2
PAGE = ROOT / "docs/sigma_calibration.md"
MARK = "<!-- written by make calibrate -->\n"
"""The line before and after the table."""
_UNFIT = ("fox_ngp", "co3d_apple", "toy_kitchen_phone", "apc_shelf", "kitti_tracking_a", "scannet_pairs")
"""Sets whose poses come from the same images, do not fit them, are not known, or are not confirmed by them."""
_FIRST_ROOM = 900
_ROOMS: dict[Style, int] = {"room": 14, "furnished": 12, "visited": 8}
"""Rendered rooms by style; their seeds begin with `_FIRST_ROOM`."""
_CODE = tuple(pattern for pattern in CODE if not pattern.endswith(".json"))
"""Code that the verdicts depend on, without the packaged factors."""
_VERDICTS = "verdicts_without_answer_factors.jsonl"


@dataclass(frozen=True, kw_only=True)
class MeasureClip:
    """The task of a worker: compares the signals of a clip with its truth."""

    out: Path

    def __call__(self, clip: RealClip | RoomClip) -> list[SignalErrors]:
        """Signals that are there are not made again."""
        signalled = clip.signals(made_in(self.out / clip.name))
        truths = clip.truths([each for each, _ in signalled])
        return [part for each, signals in signalled for part in signal_errors(each, signals, truths[each.id])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every clip was measured."""
    (given,) = sys.argv[1:] if arguments is None else arguments
    if not (data := os.environ.get("SPATIAL_ENGINE_DATA")):
        print("set SPATIAL_ENGINE_DATA to the folder that holds the real sets")
        return 2
    out = Path(given).resolve()
    filmed = [clip for clip in real_clips(Path(data)) if clip.part == (0, 1) and clip.set not in _UNFIT]
    rooms = [RoomClip(seed=_FIRST_ROOM + k, style=style) for style, count in _ROOMS.items() for k in range(count)]
    clips: list[RealClip | RoomClip] = [*filmed, *rooms]
    errors: dict[str, list[SignalErrors]] = _of_each(MeasureClip(out=out), clips)
    if len(errors) < len(clips):
        return 1
    rendered = {room.name for room in rooms}
    factors = fit_calibration(errors, rendered=rendered)
    judge = Judge(out=out, code=f"{digest(_CODE)} {factors.digest}", seed=0, calibration=factors, file=_VERDICTS)
    missing = [clip for clip in clips if judge.kept(clip) is None]
    if len(_of_each(judge, missing)) < len(missing):
        return 1
    verdicts = {clip.name: kept.verdicts for clip in clips if (kept := judge.kept(clip))}
    maps = replace(factors, answers=answer_factors(verdicts, rendered))
    write_json(PACKAGED, maps.to_json())
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), sigma_table(maps)), encoding="utf-8")
    print(sigma_table(maps))
    return 0


def _of_each(task: Callable[[Any], Any], clips: Sequence[RealClip | RoomClip]) -> dict[str, Any]:
    """Results by name of the clip; says what failed."""
    found: dict[str, Any] = {}
    for clip, result in run_tasks(task, clips, WORKERS):
        if isinstance(result, Crashed):
            print(f"{clip.name} failed: {result.error}\n{result.traceback}")
        else:
            found[clip.name] = result
        print(f"{len(found)}/{len(clips)} {clip.name}", flush=True)
    if len(found) < len(clips):
        print("nothing written: the packaged calibration needs all clips")
    return found


def answer_factors(verdicts: Mapping[str, Sequence[Verdict]], rendered: Collection[str]) -> tuple[AnswerFactor, ...]:
    """The factors for σ of answers, by template, from verdicts by clip; a renderer made the `rendered` ones."""
    errors: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    experts: dict[str, set[str]] = defaultdict(set)
    for clip, own in verdicts.items():
        for (template, *_), z in errors_in_sigmas(own).items():
            errors[template][clip].append(z)
        for verdict in own:
            experts[verdict.template] |= set(verdict.experts.split("+"))
    known = create_templates()
    found = (
        fit_answers(
            name,
            known[name].version,
            {expert: EXPERTS.load(expert).version for expert in experts[name]},
            {clip: _sample(z, clip in rendered) for clip, z in by_clip.items()},
        )
        for name, by_clip in sorted(errors.items())
    )
    return tuple(each for each in found if each is not None)


def _sample(errors: Sequence[float], rendered: bool) -> ErrorSample:
    return ErrorSample(error=np.array(errors), other=np.zeros(len(errors)), rendered=rendered)


def with_table(page: str, table: str) -> str:
    """The page with the table between its marks replaced."""
    before, _, after = page.split(MARK)
    return f"{before}{MARK}\n{table}\n\n{MARK}{after}"


if __name__ == "__main__":
    sys.exit(main())
