"""Episodes of a dataset as sequences: their pictures as clips, the effector and the task as ground truth."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import EffectorPath, Scale, Task
from spatial_engine.errors import UsageError
from spatial_engine.options import OpenOptions
from spatial_engine.sequences.manifest import Manifest
from spatial_engine.sequences.sequence import Sequence
from spatial_engine.sequences.truth import Truth
from spatial_engine.sources import ImageFolder, open_clips
from spatial_engine.sources.episodes.reading import read_episodes
from spatial_engine.sources.episodes.stated import Episodes
from spatial_engine.sources.episodes.table import EpisodeTable
from spatial_engine.sources.footage import ClipError, Footage, VideoFile
from spatial_engine.sources.image_groups import read_header

_LATE = 0.5
"""Largest difference between the times of a row and of its picture, as a share of the time between pictures."""


def opened_episodes(folder: Path, manifest: Manifest, stated: Episodes) -> Iterator[Sequence]:
    """The clips of all episodes that can be used; the manifest of each says how many others were left out, and why.
    Raises `UsageError` if there is none."""
    if not isinstance(manifest.images, str):
        raise UsageError(f"{manifest.name}: images is a list", "with episodes: a video's key, or a pattern")
    found = read_episodes(folder, stated, manifest.images)
    skipped, opened = Counter(found.skipped), []
    for table in found.taken:
        clips = _clips(table, manifest)
        why = clips if isinstance(clips, str) else _why_not(table, clips)
        skipped.update([why] if why else [])
        opened += [] if why or isinstance(clips, str) else [(table, clips)]
    if not opened:
        raise UsageError(f"{manifest.name}: no episode can be used: {_said(skipped)}", "see docs/sequences.md")
    note = (f"episodes left out: {_said(skipped)}",) if skipped else ()
    noted = replace(manifest, notes=(*manifest.notes, *note))
    for table, clips in opened:
        truth = _truth(table, clips[0], noted, stated)
        for clip in clips:
            yield Sequence(clip=clip, truth=truth, manifest=noted)


def _said(skipped: Mapping[str, int]) -> str:
    return ", ".join(f"{why} ({count})" for why, count in sorted(skipped.items()))


def _clips(table: EpisodeTable, manifest: Manifest) -> list[Clip] | str:
    """The clips of one episode; or why there are none."""
    name = f"{manifest.name}/{table.name}"
    footage: Footage = VideoFile(path=table.pictures[0], name=name)
    options = OpenOptions(upright=manifest.upright, licence=manifest.licence)
    if len(table.pictures) > 1:
        first = read_header(table.pictures[0])
        footage = ImageFolder(paths=table.pictures, name=name, width_px=first.width_px, height_px=first.height_px)
        fps = None if manifest.times is None else manifest.times.fps
        options = replace(options, fps=fps)
    if table.part_s is not None:
        early = 0.5 * _period(table)  # the pictures' times are not exactly those of the table
        options = replace(options, start=max(table.part_s[0] - early, 0.0), end=table.part_s[1] - early)
    try:
        return open_clips(footage, options)
    except ClipError as error:
        return f"no clip: {error.cause}"


def _why_not(table: EpisodeTable, clips: list[Clip]) -> str:
    """Why pictures and table do not belong together; "" where they do."""
    shown = np.concatenate([clip.frames for clip in clips])
    rows = len(table.opening)
    if shown.max() - shown.min() + 1 < rows:
        return "the video is shorter than the table"
    times = [clip.times_s for clip in clips if clip.times_s is not None]
    if table.times_s is None or len(times) < len(clips):
        return ""
    pictures_s, row = np.concatenate(times), shown - shown.min()
    known = row < rows
    pictures_s, rows_s = pictures_s[known] - pictures_s[0], table.times_s[row[known]] - table.times_s[row[0]]
    late = np.abs(pictures_s - rows_s).max()
    return "the clocks of video and table disagree" if late > _LATE * _period(table) else ""


def _period(table: EpisodeTable) -> float:
    return float(np.median(np.diff(table.times_s))) if table.times_s is not None else 0.0


def _truth(table: EpisodeTable, clip: Clip, manifest: Manifest, stated: Episodes) -> Truth:
    """Of all frames of the episode, whose first one is that of the clip."""
    truth = Truth(manifest=manifest, camera=None, world_from_cam=None, depth=None)
    first, rows = int(clip.frames[0]), len(table.opening)
    return replace(
        truth,
        effector=_path(table, first + np.arange(rows), stated, truth.scale, truth.provenance),
        task=Task(
            instruction=table.instruction,
            step_texts=table.step_texts,
            step_frames=first + table.step_rows,
            success=table.success,
            provenance=truth.provenance,
        ),
    )


def _path(
    table: EpisodeTable, frames: np.ndarray, stated: Episodes, scale: Scale, provenance: Provenance
) -> EffectorPath:
    return EffectorPath(
        frames=frames,
        base_from_view=table.base_from_view,
        opening=table.opening,
        rotation_sigma_rad=np.full(len(frames), np.radians(stated.rotation_sigma_deg)),
        position_sigma=np.full(len(frames), stated.position_sigma),
        effector=stated.kind,
        scale=scale,
        provenance=provenance,
    )
