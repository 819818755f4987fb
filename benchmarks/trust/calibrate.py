"""Fits the packaged σ calibration on the real sets with ground truth and on rendered rooms.

    SPATIAL_ENGINE_DATA=... python -m benchmarks.trust.calibrate OUT

Writes experts/sigma_calibration/sigma_calibration.json and the table in docs/sigma_calibration.md. OUT keeps footage
and signals between runs; in the folder of `benchmarks.trust` the signals of the real sets are there already. The rooms
are others than those of docs/trust.md, so that its labels test the factors.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.trust.clips import RealClip, RoomClip, real_clips
from benchmarks.trust.rooms import Style
from benchmarks.trust.verdicts import ROOT, made_in
from experts.sigma_calibration.sigma_calibration import PACKAGED
from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executor import run as run_tasks
from spatial_engine.atomic_file import write_json
from spatial_engine.trust.calibrating import fit_calibration, sigma_table
from spatial_engine.trust.signal_errors import signal_errors
from spatial_engine.trust.signal_errors_record import SignalErrors

WORKERS = 2
PAGE = ROOT / "docs/sigma_calibration.md"
MARK = "<!-- written by make calibrate -->\n"
"""The line before and after the table."""
_UNFIT = ("fox_ngp", "co3d_apple", "toy_kitchen_phone", "apc_shelf", "kitti_tracking_a", "scannet_pairs")
"""Sets whose poses come from the same images, do not fit them, are not known, or are not confirmed by them."""
_FIRST_ROOM = 900
_ROOMS: dict[Style, int] = {"room": 9, "furnished": 8}
"""Rendered rooms by style; their seeds begin with `_FIRST_ROOM`."""


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
    (out,) = sys.argv[1:] if arguments is None else arguments
    if not (data := os.environ.get("SPATIAL_ENGINE_DATA")):
        print("set SPATIAL_ENGINE_DATA to the folder that holds the real sets")
        return 2
    filmed = [clip for clip in real_clips(Path(data)) if clip.part == (0, 1) and clip.set not in _UNFIT]
    rooms = [RoomClip(seed=_FIRST_ROOM + k, style=style) for style, count in _ROOMS.items() for k in range(count)]
    clips: list[RealClip | RoomClip] = [*filmed, *rooms]
    errors: dict[str, list[SignalErrors]] = {}
    for clip, found in run_tasks(MeasureClip(out=Path(out).resolve()), clips, WORKERS):
        if isinstance(found, Crashed):
            print(f"{clip.name} failed: {found.error}\n{found.traceback}")
        else:
            errors[clip.name] = found
        print(f"{len(errors)}/{len(clips)} {clip.name}", flush=True)
    if len(errors) < len(clips):
        print("nothing written: the packaged calibration needs all clips")
        return 1
    maps = fit_calibration(errors, rendered={room.name for room in rooms})
    write_json(PACKAGED, maps.to_json())
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), sigma_table(maps)), encoding="utf-8")
    print(sigma_table(maps))
    return 0


def with_table(page: str, table: str) -> str:
    """The page with the table between its marks replaced."""
    before, _, after = page.split(MARK)
    return f"{before}{MARK}\n{table}\n\n{MARK}{after}"


if __name__ == "__main__":
    sys.exit(main())
