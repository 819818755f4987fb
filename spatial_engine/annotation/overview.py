"""The plan of a run: footage, options, expected time and disk space."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Clip
from spatial_engine.annotation.annotate_all import measured_calls, on_every_gpu
from spatial_engine.annotation.forecast import GUESSED_FRAMES, Forecast
from spatial_engine.annotation.opening import find, scene_name
from spatial_engine.annotation.plan import Step, choose_experts, left_out, steps
from spatial_engine.annotation.users_detections import find_detections, with_expert
from spatial_engine.options import AnnotateOptions, OpenOptions, Shard, chosen
from spatial_engine.progress import Progress
from spatial_engine.sequences import truth_at
from spatial_engine.sources import Footage
from spatial_engine.sources.clip_options import clip_options
from spatial_engine.sources.extent import Extent, extent
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.store import open_store
from templates.unlocked import Unlocked, unlocked

BYTES_PER_FRAME = 15_000
"""Bytes of a store per frame, for the default experts on frames of 640x480: 12 to 15 kB in the demo, HoloLens and KITTI
clips."""


@dataclass(frozen=True, kw_only=True)
class PlannedFootage:
    """One file or folder of footage."""

    name: str
    extent: Extent
    own_options: Mapping[str, Any]
    """What clips.yaml says of it."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The plan of `annotate`."""

    footage: tuple[PlannedFootage, ...]
    clip_file: Path | None
    """The clips.yaml in use; None without one."""
    steps: tuple[Step, ...]
    """Experts in the order of running; seconds are those of a clip of mean length of this footage."""
    seconds: float
    """Expected time for all clips with this number of workers, including clips that are done already."""
    workers: int
    bytes: int
    """Expected size of the store, for the default experts."""
    free_bytes: int
    """Free space on the disk of the store."""
    store: Path

    @property
    def clips(self) -> int:
        """Least number of clips."""
        return sum(each.extent.clips for each in self.footage)

    @property
    def frames(self) -> int:
        """Number of frames, as far as the headers of files state it."""
        return sum(each.extent.frames for each in self.footage)

    @property
    def unlocked(self) -> Unlocked:
        """What the experts that can run here make askable."""
        return unlocked({signal for step in self.steps if not step.obstacles for signal in step.expert.provides})


def overview(footage: Path, store: Path, options: AnnotateOptions, shard: Shard, progress: Progress) -> Plan:
    """The plan of a run on a shard of the footage. Decodes no frames and writes nothing. Raises `UsageError` as the run
    would."""
    if options.truth:
        sequences, options = truth_at(footage, options)
        planned, clip_file = [_planned(one.clip) for one in sequences if shard.holds(scene_name(one))], None
        detections = find_detections([one.clip for one in sequences], options)
    else:
        taken = find(footage, options, progress).taken
        planned, clip_file = _found(footage, [each for each in taken if shard.holds(each.name)], options)
        detections = find_detections(taken, options)
    options = with_expert(detections, options, progress)
    known = open_store(store) if (store / "store.json").is_file() else None
    ledger = Ledger.open(known) if known else None
    forecast = Forecast(measured_calls(known, ledger) if known and ledger else ())
    experts = choose_experts(options.experts)
    for line in left_out(options.experts, experts):
        progress.say(line)
    options = on_every_gpu(options, experts, progress)
    planned_steps = steps(experts, ledger.seconds_per_clip() if ledger else {}, options)
    for step in planned_steps:
        if step.seconds is not None and not forecast.knows(step.expert.name):
            forecast.learn(step.expert.name, step.seconds, GUESSED_FRAMES)
    parts = [round(each.extent.frames / each.extent.clips) for each in planned for _ in range(each.extent.clips)]
    frames = {str(number): part for number, part in enumerate(parts)}
    mean_frames = round(sum(parts) / max(1, len(parts)))
    place = next(parent for parent in (store.absolute(), *store.absolute().parents) if parent.exists())
    return Plan(
        footage=tuple(planned),
        clip_file=clip_file,
        steps=tuple(
            replace(step, seconds=None if step.seconds is None else forecast.seconds(step.expert.name, mean_frames))
            for step in planned_steps
        ),
        seconds=forecast.total_s(dict.fromkeys(frames, experts), frames, options.workers),
        workers=options.workers,
        bytes=BYTES_PER_FRAME * sum(parts),
        free_bytes=shutil.disk_usage(place).free,
        store=store,
    )


def _planned(clip: Clip) -> PlannedFootage:
    length = Extent(frames=len(clip.frames), seconds=None if clip.times_s is None else float(np.ptp(clip.times_s)))
    return PlannedFootage(name=clip.name, extent=length, own_options={})


def _found(
    footage: Path, taken: Sequence[Footage], options: AnnotateOptions
) -> tuple[list[PlannedFootage], Path | None]:
    """What will be opened at a path, and the file with options of its clips."""
    opening, planned = chosen(OpenOptions, options), []
    of_clips = clip_options(footage, opening)
    for each in taken:
        named, its_options = of_clips.apply(each, opening)
        planned.append(PlannedFootage(name=named.name, extent=extent(each, its_options), own_options=of_clips.of(each)))
    return planned, of_clips.path
