"""No result depends on the clock, and no lock on the number of a process."""

import os
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from spatial_engine.atomic_file import one_writer
from spatial_engine.errors import BusyError
from spatial_engine.pipeline import annotate
from spatial_engine.store.garbage import gc_store
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import write_folders

YEAR_S = 365 * 86_400
HOLD = """
import sys, time
from pathlib import Path
from spatial_engine.atomic_file import one_writer
with one_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""
APART = ["unshare", "--pid", "--fork", "--kill-child"]


@pytest.mark.parametrize("jump_s", [-YEAR_S, YEAR_S])
def test_a_clock_that_was_set_costs_no_signal(tmp_path: Path, jump_s: float) -> None:
    videos, log = write_folders(tmp_path / "videos", 2), tmp_path / "log"
    fakes = chain(log)
    store = annotate(videos, tmp_path / "store", experts=[fakes["area"]])
    measured = log.read_text().count(": ")
    for file in store.path.rglob("*"):
        os.utime(file, (time.time() + jump_s,) * 2)
    again = annotate(videos, tmp_path / "store", experts=[chain(log)["area"]])
    assert log.read_text().count(": ") == measured, "nothing is measured again"
    gc_store(store.path)
    assert all(len(again.signals(clip_id)) for clip_id in again.clip_ids())


def test_a_clock_that_runs_backwards_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    videos, back = write_folders(tmp_path / "videos", 2), count(time.time(), -3600.0)
    monkeypatch.setattr(time, "time", lambda: next(back))
    store = annotate(videos, tmp_path / "store", experts=[chain(tmp_path / "log")["area"]], status=tmp_path / "status")
    assert [set(store.signals(clip_id)) for clip_id in store.clip_ids()] == [{"valid_area"}] * 2


def test_locks_hold_across_pid_namespaces(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run([*APART, "true"], capture_output=True).returncode:
        pytest.skip("this machine permits no pid namespaces")
    place = tmp_path / "store"
    line = [*APART, sys.executable, "-c", HOLD, str(place)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match="process 1 on "), one_writer(place):
            pass
        other.kill()
    with one_writer(place, wait=True):
        pass
