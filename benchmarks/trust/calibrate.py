"""Fits the packaged σ calibration on the real sets with ground truth.

    SPATIAL_ENGINE_DATA=... python -m benchmarks.trust.calibrate STORE

Writes experts/sigma_calibration/sigma_calibration.json and the table in docs/sigma_calibration.md.
STORE keeps signals between runs.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.trust.clips import REAL
from benchmarks.trust.layouts import laid_out
from benchmarks.trust.verdicts import ROOT
from experts.sigma_calibration.sigma_calibration import PACKAGED
from spatial_engine.atomic_file import write_json
from spatial_engine.progress import for_terminal
from spatial_engine.trust.calibrating import calibrate, sigma_table

WORKERS = 2
PAGE = ROOT / "docs/sigma_calibration.md"
MARK = "<!-- written by make calibrate -->\n"
"""The line before and after the table."""
_UNFIT = ("fox_ngp", "co3d_apple", "toy_kitchen_phone", "apc_shelf", "kitti_tracking_a", "scannet_pairs")
"""Sets whose poses come from the same images, do not fit them, are not known, or are not confirmed by them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0 if every set was measured."""
    (store,) = sys.argv[1:] if arguments is None else arguments
    if not (data := os.environ.get("SPATIAL_ENGINE_DATA")):
        print("set SPATIAL_ENGINE_DATA to the folder that holds the real sets")
        return 2
    with for_terminal() as progress, tempfile.TemporaryDirectory() as folder:
        laid = [laid_out(Path(data), name, Path(folder)) for name in REAL if name not in _UNFIT]
        sets = [str(place) for places in laid for place in places]
        found = calibrate(sets, store, workers=WORKERS, progress=progress)
    for name, cause, remedy in found.skipped:
        print(f"skipped: {name}: {cause}\n  try: {remedy}")
    if found.skipped:
        print("nothing written: the packaged calibration needs all sets")
        return 1
    write_json(PACKAGED, found.maps.to_json())
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), sigma_table(found.maps)), encoding="utf-8")
    print(sigma_table(found.maps))
    return 0


def with_table(page: str, table: str) -> str:
    """The page with the table between its marks replaced."""
    before, _, after = page.split(MARK)
    return f"{before}{MARK}\n{table}\n\n{MARK}{after}"


if __name__ == "__main__":
    sys.exit(main())
