"""Compares labels made from pixels alone with ground truth, clip by clip, and writes docs/trust.md.

    SPATIAL_ENGINE_DATA=... python -m benchmarks.trust OUT [--rooms N] [--seed N] [--date DAY] [--quick]

OUT keeps footage, signals, labels and verdicts (not for committing). A stopped run resumes: verdicts are made again
only if the code changed. `--quick` audits six clips, tests the audit itself, and writes no table.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.trust.clips import REAL, AnyClip, RealClip, RoomClip
from benchmarks.trust.instrument import check
from benchmarks.trust.table import table
from benchmarks.trust.verdicts import ROOT, ClipVerdicts, Judge, digest, read
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executor import run as run_tasks

ROOMS = 90
"""Number of rooms: ten of each path."""
WORKERS = 2
_QUICK_ROOMS, _QUICK_REAL = 4, ("hololens_indoor", "kitti_odom_a")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every clip has its verdicts and, with `--quick`, the audit passes its own test."""
    given = _parser().parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    clips = _clips(given)
    judge = Judge(out=given.out.resolve(), code=digest(), seed=given.seed)
    failed = make(clips, judge)
    if failed:
        print(f"{failed} of {len(clips)} clips failed: no table")
        return 1
    kept = [found for clip in clips if (found := _kept(clip, judge)) is not None]
    text = table(kept, seed=given.seed, rooms=_rooms(given), date=given.date, code=judge.code)
    if given.quick:
        return check(clips, judge, text)
    given.table.write_text(text, encoding="utf-8")
    print(f"wrote {given.table}")
    return 0


def make(clips: Sequence[AnyClip], judge: Judge) -> int:
    """Makes the missing verdicts, two clips at a time; returns the number of clips that failed."""
    missing = [clip for clip in clips if _kept(clip, judge) is None]
    print(f"{len(clips)} clips, {len(clips) - len(missing)} have their verdicts", flush=True)
    begun, failed = time.monotonic(), 0
    for number, (clip, found) in enumerate(run_tasks(judge, missing, WORKERS), start=1):
        outcome = f"failed: {found.error}\n{found.traceback}" if isinstance(found, Crashed) else str(found)
        failed += isinstance(found, Crashed)
        print(f"{number}/{len(missing)} {time.monotonic() - begun:5.0f} s  {clip.name:18} {outcome}", flush=True)
    return failed


def _kept(clip: AnyClip, judge: Judge) -> ClipVerdicts | None:
    return read(judge.out / clip.name, judge.code, judge.seed)


def _clips(given: argparse.Namespace) -> list[AnyClip]:
    """Real sets come first, because they take longest."""
    names = _QUICK_REAL if given.quick else REAL
    real = [RealClip(data=given.data, set=name) for name in names if given.data and (given.data / name).is_dir()]
    if len(real) < len(names):
        print(f"{len(names) - len(real)} real sets are missing: set SPATIAL_ENGINE_DATA to the folder that holds them")
    first = given.seed * 1_000_000
    return [*real, *(RoomClip(seed=first + k) for k in range(_rooms(given)))]


def _rooms(given: argparse.Namespace) -> int:
    return _QUICK_ROOMS if given.quick else given.rooms


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trust", description=__doc__.split("\n")[0])
    data = os.environ.get("SPATIAL_ENGINE_DATA")
    parser.add_argument("out", type=Path)
    parser.add_argument("--rooms", type=int, default=ROOMS, help="rendered rooms (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of rooms and of everything else")
    parser.add_argument("--date", default="", help="the day that the table states")
    parser.add_argument("--table", type=Path, default=ROOT / "docs/trust.md")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None, help="folder of the real sets")
    parser.add_argument("--quick", action="store_true", help="six clips, no table")
    return parser


if __name__ == "__main__":
    sys.exit(main())
