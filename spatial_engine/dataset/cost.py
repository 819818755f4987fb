"""What asking cost: CPU seconds of all runs that worked on one dataset, shards and stopped runs included.

Seconds differ from run to run, so they stand in a file of their own and in the card. All other files of a dataset are
the same in each run.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from spatial_engine.atomic_file import read_json, write_json

COST = "cost.json"


class CpuClock:
    """CPU seconds of this process and its workers since the beginning, and of the earlier runs on a dataset."""

    def __init__(self, before_s: float) -> None:
        self._before_s, self._began_s = before_s, _cpu_s()

    @property
    def own_s(self) -> float:
        """Of this run."""
        return _cpu_s() - self._began_s

    @property
    def total_s(self) -> float:
        """Of all runs."""
        return self._before_s + self.own_s


@contextmanager
def cpu_clock(drafts: Path) -> Iterator[CpuClock]:
    """Times the block. If it leaves the folder of drafts behind, its seconds are noted there for the runs that follow;
    those of a run that is killed are not."""
    before = [float(read_json(path)["cpu_s"]) for path in drafts.glob("spent-*.json")]
    clock = CpuClock(sum(before))
    try:
        yield clock
    finally:
        if drafts.is_dir():
            write_json(drafts / f"spent-{token_hex(4)}.json", {"cpu_s": clock.own_s})


def write_cost(dataset: Path, cpu_s: float) -> None:
    """Writes the seconds into the folder of a dataset."""
    write_json(dataset / COST, {"cpu_s": round(cpu_s, 2)})


def read_cost(dataset: Path) -> float | None:
    """CPU seconds that a dataset cost; None if nobody measured them."""
    path = dataset / COST
    return float(read_json(path)["cpu_s"]) if path.is_file() else None


def _cpu_s() -> float:
    """Of this process and of the processes that it has waited for."""
    return sum(os.times()[:4])
