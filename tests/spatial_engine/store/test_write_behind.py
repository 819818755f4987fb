"""Signals on their way into a store."""

import threading
from pathlib import Path

import numpy as np
import pytest

from experts.provenance import Provenance
from experts.signals import Gravity, NoEstimate, Signal
from spatial_engine.store.signal_file import artefact_hash, as_filed, read_signal, write_signal
from spatial_engine.store.store import Store, create_store
from spatial_engine.store.write_behind import WriteBehind


class SlowStore(Store):
    """Writes when it may, or after a long time, and refuses key "bad"."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.may_write = threading.Event()
        self.may_write.set()

    def write(self, clip_id: str, name: str, key: str, value: Signal | NoEstimate) -> None:
        self.may_write.wait(20)
        if key == "bad":
            raise OSError(28, "No space left on device")
        super().write(clip_id, name, key, value)


@pytest.fixture
def store(tmp_path: Path) -> SlowStore:
    return SlowStore(create_store(tmp_path / "store").path)


def gravity(value: float = 1.0, n: int = 3) -> Gravity:
    up = np.asfortranarray(np.tile([0.0, -1.0, value], (n, 1)))
    settings = {"pair": (1, 2), "tiny": np.float64(1e-9), "none": None}
    own = Provenance(expert="fake", version="1", settings=settings)
    return Gravity(frames=np.arange(n), up_cam=up, sigma_rad=np.full(n, 0.1), decided_by="fake", provenance=own)


def test_memory_gives_what_the_file_gives(tmp_path: Path) -> None:
    for value in (gravity(), NoEstimate(reason="too dark", detail="0 lx")):
        path = tmp_path / ("a.json" if isinstance(value, NoEstimate) else "a.zarr.zip")
        write_signal(path, value)
        read, filed = read_signal(path, Gravity), as_filed(value)
        assert artefact_hash(read) == artefact_hash(filed) == artefact_hash(value)
        if isinstance(read, Gravity) and isinstance(filed, Gravity):
            assert filed.provenance == read.provenance
            assert filed.up_cam.flags.c_contiguous and read.up_cam.flags.c_contiguous
            with pytest.raises(ValueError, match="read-only"):
                filed.up_cam[0] = 0.0


def test_the_next_reads_from_memory_at_once(store: SlowStore) -> None:
    store.may_write.clear()
    with WriteBehind(store) as files:
        files.write("c", "gravity", "k", gravity(2.0))
        assert isinstance(files.read("c", "gravity", "k"), Gravity)
        assert not store.has("c", "gravity", "k")
        store.may_write.set()
        assert files.settle() == []
        assert store.has("c", "gravity", "k")


def test_its_end_waits_even_after_an_error(store: SlowStore) -> None:
    with pytest.raises(KeyError), WriteBehind(store) as files:
        files.write("c", "gravity", "k", gravity())
        raise KeyError
    assert store.has("c", "gravity", "k")
    assert "write-behind" not in {thread.name for thread in threading.enumerate()}


def test_few_wait(store: SlowStore) -> None:
    store.may_write.clear()
    with WriteBehind(store, waiting=2) as files:
        for number in range(3):
            files.write("c", "gravity", f"k{number}", gravity())
        assert not store.has("c", "gravity", "k0")
        fourth = threading.Thread(target=files.write, args=("c", "gravity", "k3", gravity()))
        fourth.start()
        fourth.join(0.1)
        assert fourth.is_alive()
        store.may_write.set()
        fourth.join()
    assert all(store.has("c", "gravity", f"k{number}") for number in range(4))


def test_what_is_too_much_is_read_again(store: SlowStore) -> None:
    one = sum(array.nbytes for array in (gravity().frames, gravity().up_cam, gravity().sigma_rad))
    with WriteBehind(store, kept_bytes=2 * one) as files:
        for number in range(4):
            files.write("c", "gravity", f"k{number}", gravity(float(number)))
        assert len(files._kept) == 2
        first = files.read("c", "gravity", "k0")
        assert isinstance(first, Gravity)
        assert first.up_cam[0, 2] == 0.0
    with WriteBehind(store, kept_bytes=0) as files:
        files.write("c", "gravity", "big", gravity())
        assert len(files._kept) == 1, "the newest always"


def test_what_could_not_be_written_is_told_once(store: SlowStore) -> None:
    with WriteBehind(store) as files:
        files.write("c", "gravity", "bad", gravity())
        files.write("c", "gravity", "good", gravity())
        (lost,) = files.settle()
        assert (lost.clip_id, lost.key, str(lost.error)) == ("c", "bad", "[Errno 28] No space left on device")
        assert files.settle() == []
        assert store.has("c", "gravity", "good")
