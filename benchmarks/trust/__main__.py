"""Compares labels with ground truth, clip by clip, and writes docs/trust.md.

    SPATIAL_ENGINE_DATA=... python -m benchmarks.trust OUT [--rooms N] [--only PATTERN] [--date DAY] [--quick]

OUT keeps footage, signals and verdicts (not for committing). A stopped run resumes: verdicts are made again only if the
code changed. `--only` makes the verdicts of clips whose name matches, and writes no table. `--quick` audits four clips,
tests the audit itself, and writes no table.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TypeVar

from benchmarks.trust.clips import REAL, AnyClip, HardClip, RoomClip, plain_clips, real_clips
from benchmarks.trust.code_hash import ROOT, digest
from benchmarks.trust.hard_rooms import KINDS
from benchmarks.trust.instrument import Instrument, check
from benchmarks.trust.rooms import Style
from benchmarks.trust.sources import TRUE_SETS, DetectedClip, RenderedSignals, TrueSet
from benchmarks.trust.stated_cameras import NOT_UPRIGHT, StatedCamera
from benchmarks.trust.table import table
from benchmarks.trust.verdicts import CODE, Judge
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executor import run as run_tasks

ROOMS: dict[Style, int] = {"room": 81, "furnished": 45, "visited": 24}
"""Rendered rooms by style."""
OTHERS = 9
"""Rooms of each other source of signals, and rooms of which a user says something false."""
WORKERS = 2
_QUICK_ROOMS, _QUICK_REAL = (0, 3), ("hololens_indoor", "kitti_odom_a")
Task = AnyClip | StatedCamera
Result = TypeVar("Result")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every clip has its verdicts and, with `--quick`, the audit passes its own test."""
    given = _parser().parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    clips = [clip for clip in _clips(given) if fnmatch(clip.name, given.only)]
    judge = Judge(out=given.out.resolve(), code=digest(CODE), seed=given.seed)
    missing = [clip for clip in clips if judge.kept(clip) is None]
    print(f"{len(clips)} clips, {len(clips) - len(missing)} have their verdicts", flush=True)
    task, todo = (Instrument(judge=judge), clips) if given.quick else (judge, missing)
    done = made(task, todo)
    if failed := len(todo) - len(done):
        print(f"{failed} of {len(clips)} clips failed: no table")
        return 1
    kept = [found for clip in clips if (found := judge.kept(clip)) is not None]
    text = table(kept, seed=given.seed, date=given.date, code=judge.code)
    if given.quick:
        return check(done, judge, text)
    if given.only != "*":
        print("\n".join(text.split("\n")[:45]))
        return 0
    given.table.write_text(text, encoding="utf-8")
    print(f"wrote {given.table}")
    return 0


def made(task: Callable[[Task], Result], clips: Sequence[Task]) -> dict[Task, Result]:
    """What the task returns of each clip, two clips at a time; clips that fail are left out."""
    begun, done = time.monotonic(), {}
    for number, (clip, found) in enumerate(run_tasks(task, clips, WORKERS), start=1):
        if not isinstance(found, Crashed):
            done[clip] = found
        outcome = f"failed: {found.error}\n{found.traceback}" if isinstance(found, Crashed) else str(found)
        print(f"{number}/{len(clips)} {time.monotonic() - begun:5.0f} s  {clip.name:18} {outcome}", flush=True)
    return done


def _clips(given: argparse.Namespace) -> list[Task]:
    """Real sets come first, because they take longest."""
    real = real_clips(given.data, _QUICK_REAL if given.quick else REAL) if given.data else []
    if not given.data:
        print("no real sets: set SPATIAL_ENGINE_DATA to the folder that holds them")
    first = given.seed * 1_000_000
    if given.quick:
        whole = [clip for clip in real if clip.part == (0, 1)]
        return [*whole, *(RoomClip(seed=first + k) for k in _QUICK_ROOMS)]
    counts = ROOMS if given.rooms is None else dict.fromkeys(ROOMS, given.rooms)
    others = OTHERS if given.rooms is None else given.rooms
    rooms = [RoomClip(seed=first + k, style=style) for style, count in counts.items() for k in range(count)]
    furnished = [room for room in rooms if room.style == "furnished"][:others]
    hard = [kind for kind in KINDS if kind in NOT_UPRIGHT]
    return [
        *real,
        *(plain_clips(given.data) if given.data else ()),
        *rooms,
        *(RenderedSignals(of=room, source=source) for source in ("truth", "imitated") for room in furnished),
        *(DetectedClip(seed=room.seed, style=room.style) for room in furnished),
        *(TrueSet(data=given.data, set=name) for name in TRUE_SETS if given.data and (given.data / name).is_dir()),
        *(StatedCamera(of=clip) for clip in real if clip.part == (0, 1)),
        *(StatedCamera(of=HardClip(kind=hard[k % len(hard)], seed=first + k)) for k in range(others)),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__.split("\n")[0])
    data = os.environ.get("SPATIAL_ENGINE_DATA")
    parser.add_argument("out", type=Path)
    parser.add_argument("--rooms", type=int, help="rendered rooms of each style and source; default: as in the table")
    parser.add_argument("--only", default="*", help="names of clips (room_*, kitti_*); then no table is written")
    parser.add_argument("--seed", type=int, default=0, help="of rooms and of everything else")
    parser.add_argument("--date", default="", help="the day that the table states")
    parser.add_argument("--table", type=Path, default=ROOT / "docs/trust.md")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None, help="folder of the real sets")
    parser.add_argument("--quick", action="store_true", help="four clips, no table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
