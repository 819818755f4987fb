"""A run that is killed at any moment leaves whole files, and the next run goes on."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from experts.expert import Expert
from experts.signals import SIGNAL_TYPES
from spatial_engine.atomic_file import read_json
from spatial_engine.pipeline import annotate
from spatial_engine.store.signal_file import artefact_hash, read_signal
from spatial_engine.store.store import Store
from tests.spatial_engine.fake_footage import write_folders
from tests.spatial_engine.fake_models import FakeModel, FakePerImage


def experts(log: Path) -> Sequence[Expert]:
    """They take a moment each, and write a few MB."""
    return (
        FakeModel(name="first", provides=frozenset({"image_tracks"}), log=log, seconds=0.02, tracks=100_000),
        FakePerImage(name="looks", needs=frozenset({"image_tracks"}), log=log, seconds=0.02),
    )


def work(videos: str, store: str, workers: int) -> None:
    """What the process does that is killed."""
    annotate(videos, store, experts=experts(Path(store).with_name("log")), workers=workers)


def check_whole(store: Path) -> None:
    """Every file that has its name can be read, and what `clip.json` promises is there."""
    for path in store.rglob("*.json"):
        read_json(path)
    for path in store.rglob("*.zarr.zip"):
        read_signal(path, SIGNAL_TYPES[path.name.partition(".")[0]])
    opened = Store(store)
    for clip_id in opened.clip_ids():
        for name, key in opened.record(clip_id).signals.items():
            assert opened.has(clip_id, name, key)


def wait_until_gone(group: int) -> None:
    """The workers as well: until then what they were writing is taken for theirs."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("killed processes live on")


@pytest.mark.long(sample=True)
@pytest.mark.parametrize(("workers", "times"), [(0, 3), (2, 2)])
def test_killed_at_any_moment(tmp_path: Path, workers: int, times: int) -> None:
    videos = write_folders(tmp_path / "videos", 12)
    store = tmp_path / "store"
    program = (
        f"if __name__ == '__main__':\n from {__name__} import work\n work({str(videos)!r}, {str(store)!r}, {workers})"
    )
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    rng = random.Random(workers)
    cut_short = 0
    for _ in range(times):
        before = len(list(store.rglob("*.zarr.zip")))
        with subprocess.Popen(
            [sys.executable, str(tmp_path / "program.py")], env=environment, start_new_session=True
        ) as process:
            while process.poll() is None and len(list(store.rglob("*.zarr.zip"))) == before:
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.3))
            cut_short += process.poll() is None
            with suppress(ProcessLookupError):  # it was done before
                os.killpg(process.pid, signal.SIGKILL)
        wait_until_gone(process.pid)
        check_whole(store)
    assert cut_short
    finished = annotate(videos, store, experts=experts(tmp_path / "log"))
    check_whole(store)
    assert not list(store.rglob("*.tmp-*"))
    never_killed = annotate(videos, tmp_path / "other", experts=experts(tmp_path / "log"), clips_at_once=1)
    assert contents(finished) == contents(never_killed)
    assert len(contents(finished)) == 24


def contents(store: Store) -> dict[tuple[str, str], str]:
    return {
        (clip, name): artefact_hash(value) for clip in store.clip_ids() for name, value in store.signals(clip).items()
    }
