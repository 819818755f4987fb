"""`store check`, `repair`, `gc` and `stats`: what is damaged is found and made again, what is needed stays."""

import os
import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

import spatial_engine as se
from spatial_engine.cli.main import app
from spatial_engine.errors import StoreError
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store
from tests.spatial_engine.fake_footage import write_folders
from tests.spatial_engine.fake_models import FakeModel, FakePerImage


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Footage and its store."""
    root = tmp_path_factory.mktemp("made")
    write_folders(root / "videos", 3)
    annotate(root)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A copy, whose footage is the same files."""
    shutil.copytree(made / "store", tmp_path / "store")
    (tmp_path / "videos").symlink_to(made / "videos")
    return tmp_path


def annotate(root: Path, version: str = "1") -> Store:
    experts = [
        FakeModel(name="first", provides=frozenset({"image_tracks"}), log=root / "log", version=version),
        FakePerImage(name="looks", needs=frozenset({"image_tracks"}), log=root / "log"),
    ]
    return se.annotate((root / "videos").resolve(), root / "store", experts=experts)


def contents(store: Store) -> dict[tuple[str, str], str]:
    return {
        (clip, name): artefact_hash(value) for clip in store.clip_ids() for name, value in store.signals(clip).items()
    }


def one_of(root: Path, pattern: str) -> Path:
    return sorted((root / "store").rglob(pattern))[0]


def flip(file: Path, at: int) -> None:
    """Changes one byte and neither size nor time."""
    before, content = file.stat(), bytearray(file.read_bytes())
    content[at % len(content)] ^= 0xFF
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_whole_store(root: Path) -> None:
    checked = se.check_store(root / "store")
    assert checked.damage == () and checked.busy == () and checked.files >= 3 * 4
    done = se.repair_store(root / "store")
    assert (done.removed, done.restored, done.ledger) == ((), (), 0)


DAMAGE = {
    "a bit of a signal": ("*.zarr.zip", lambda file: flip(file, 200)),
    "the end of a signal": ("*.zarr.zip", lambda file: file.write_bytes(file.read_bytes()[:-50])),
    "an empty signal": ("*.zarr.zip", lambda file: file.write_bytes(b"")),
    "clip.json": ("clip.json", lambda file: file.write_text("{")),
    "clip.json without its clip": ("clip.json", lambda file: file.write_text('{"clip": {}, "signals": {}}')),
    "checksums.json": ("checksums.json", lambda file: file.write_text("[]")),
    "a record of footage": ("footage/*.json", lambda file: file.write_text("null")),
    "an entry of the cache": ("cache/*.json", lambda file: file.write_bytes(b"\x00")),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_found_removed_and_computed_again(made: Path, root: Path, what: str) -> None:
    pattern, harm = DAMAGE[what]
    file = one_of(root, pattern)
    harm(file)
    assert file in {damage.file for damage in se.check_store(root / "store").damage}
    assert file in {damage.file for damage in se.repair_store(root / "store").removed}
    assert se.check_store(root / "store").damage == ()
    assert contents(annotate(root)) == contents(Store(made / "store"))
    assert se.check_store(root / "store").damage == ()


@pytest.mark.parametrize("what", ["clip.json", "clip.json without its clip", "an entry of the cache", "checksums.json"])
def test_annotate_mends_what_costs_only_time(made: Path, root: Path, what: str) -> None:
    pattern, harm = DAMAGE[what]
    harm(one_of(root, pattern))
    assert contents(annotate(root)) == contents(Store(made / "store"))


def test_what_is_gone_is_missing(root: Path) -> None:
    store, whole = Store(root / "store"), contents(Store(root / "store"))
    lost, unfinished, _ = store.clip_ids()
    one_of(root, f"clips/{lost}/image_tracks.*").unlink()
    (root / "store" / "clips" / unfinished / "clip.json").unlink()
    found = se.check_store(store)
    assert found.missing == (
        f"clip {unfinished}: not annotated to the end", f"clip {lost}: its signal image_tracks"
    )  # fmt: skip
    shown = CliRunner().invoke(app, ["store", "check", str(root / "store")])
    assert shown.exit_code == 1 and "2 missing" in shown.output
    assert shown.output.count("incomplete") == 2 and shown.output.count("whole") == 1
    annotate(root)
    assert contents(store) == whole and se.check_store(store).missing == ()


def test_a_damaged_clip_costs_that_clip(root: Path) -> None:
    store = Store(root / "store")
    harmed, *whole = store.clip_ids()
    (store.path / "clips" / harmed / "clip.json").write_text("{")
    refused = se.generate(store, root / "dataset", abilities="Gravity").audit["refused"]
    (reason,) = refused[""]
    assert "clip.json is damaged" in reason
    assert {sum(reasons.values()) % len(whole) for leaf, reasons in refused.items() if leaf} == {0}, (
        "the others are asked"
    )


def test_lost_checksums_are_restored_from_whole_signals(root: Path) -> None:
    lost = one_of(root, "checksums.json")
    lost.unlink()
    signals = sorted(lost.parent.glob("*.zarr.zip"))
    flip(signals[0], 200)
    done = se.repair_store(root / "store")
    assert [damage.file for damage in done.removed] == signals[:1]
    assert sorted(done.restored) == signals[1:]
    assert se.check_store(root / "store").damage == ()


def test_the_ledger_is_completed(root: Path) -> None:
    ledger = Ledger.open(Store(root / "store"))
    entries = ledger.entries()
    with sqlite3.connect(ledger.path) as table:
        table.execute("DELETE FROM runs WHERE clip = ?", [entries[0].clip])
    assert se.repair_store(root / "store").ledger == 2
    assert {(entry.clip, entry.signal, entry.key) for entry in ledger.entries()} == {
        (entry.clip, entry.signal, entry.key) for entry in entries
    }
    ledger.path.write_bytes(b"no table")
    assert se.repair_store(root / "store").ledger == 0, "it was rebuilt when it was opened"
    assert len(Ledger.open(Store(root / "store")).entries()) == len(entries)


def test_a_clip_at_work_is_left_alone(root: Path) -> None:
    file = one_of(root, "*.zarr.zip")
    flip(file, 200)
    with Store(root / "store").one_writer(file.parent.name):
        assert in_another_thread(se.check_store, root / "store").busy == (file.parent.name,)
        assert in_another_thread(se.repair_store, root / "store").busy == (file.parent.name,)
        assert in_another_thread(se.gc_store, root / "store").busy == (file.parent.name,)
    assert file.is_file()


def in_another_thread(call, *arguments):  # type: ignore[no-untyped-def]
    """A thread may take its own lock again."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call, *arguments).result()


def test_signals_of_former_settings_go_and_present_ones_stay(root: Path) -> None:
    newer = contents(annotate(root, version="2"))
    former = se.gc_store(root / "store", dry_run=True).former
    assert len(former) == 6 and all(file.is_file() for file in former)
    leftover = root / "store" / "clips" / "a.json.tmp-0123abcd"
    leftover.write_bytes(b"left by a killed process")
    done = se.gc_store(root / "store")
    assert done.former == former and done.leftovers == (leftover,) and done.forgotten == ()
    assert not any(file.exists() for file in [*former, leftover]) and done.bytes > 1000
    assert contents(Store(root / "store")) == newer
    assert se.gc_store(root / "store").bytes == 0
    assert se.check_store(root / "store").damage == ()


def test_work_of_an_unfinished_run_stays(root: Path) -> None:
    record = one_of(root, "clip.json")
    young = record.with_name("gravity.0123456789abcdef.zarr.zip")
    young.write_bytes(b"of a run that was killed")
    os.utime(young, ns=(0, record.stat().st_mtime_ns + 1))
    assert se.gc_store(root / "store").former == ()
    record.unlink()
    assert se.gc_store(root / "store").former == () and young.is_file()


def test_forgotten_clips_go_only_when_asked(root: Path) -> None:
    store = Store(root / "store")
    gone = store.footage()[0]
    store.forget_footage(gone.path)
    assert se.gc_store(store).forgotten == ()
    assert [folder.name for folder in se.gc_store(store, forgotten=True).forgotten] == list(gone.clips)
    assert sorted(folder.name for folder in (store.path / "clips").iterdir()) == store.clip_ids()


def test_nothing_is_collected_while_it_is_unknown_which_clips_count(root: Path) -> None:
    one_of(root, "footage/*.json").write_text("{")
    before = sorted((root / "store" / "clips").rglob("*"))
    with pytest.raises(StoreError, match="damaged"):
        se.gc_store(root / "store", forgotten=True)
    assert sorted((root / "store" / "clips").rglob("*")) == before


def test_stats_count_what_is_there(root: Path) -> None:
    annotate(root, version="2")
    stats = se.store_stats(root / "store")
    assert (stats.clips, stats.footage, stats.unopened) == (3, 3, 0)
    assert {name: dict(one.states) for name, one in stats.signals.items()} == {
        "gravity": {"done": 3},
        "image_tracks": {"done": 3},
    }
    sizes = sum(file.stat().st_size for file in (root / "store").rglob("*.zarr.zip"))
    assert sum(one.bytes for one in stats.signals.values()) + stats.former_bytes == sizes
    assert stats.calls["first"][0] == 3 and stats.bytes > sizes


def test_commands(root: Path) -> None:
    run, store = CliRunner(), str(root / "store")
    assert run.invoke(app, ["store", "check", store]).exit_code == 0
    flip(one_of(root, "*.zarr.zip"), random.Random(0).randrange(100, 200))
    checked = run.invoke(app, ["store", "check", store])
    assert checked.exit_code == 1 and "store repair" in checked.output
    assert "removed: 1" in run.invoke(app, ["store", "repair", store]).output
    assert "would remove 0 bytes" in run.invoke(app, ["store", "gc", store, "--dry-run"]).output
    assert "clips: 3" in run.invoke(app, ["store", "stats", store]).output
