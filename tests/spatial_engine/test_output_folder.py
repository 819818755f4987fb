"""Folders that appear whole, with one writer at a time, whatever moment a process is killed at."""

import errno
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from spatial_engine import output_folder
from spatial_engine.atomic_file import one_writer
from spatial_engine.errors import BusyError, SetupError, UsageError
from spatial_engine.output_folder import atomic_folder, recover
from tests.spatial_engine import killed_swaps

ROOT = Path(__file__).parents[2]


def never(path: Path) -> None:
    raise PermissionError(path)


def always(path: Path) -> None:
    pass


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyError), atomic_folder(tmp_path / "a", (), never) as folder:
        (folder / "half").write_text("x")
        raise KeyError
    assert names(tmp_path) == []
    with atomic_folder(tmp_path / "deep" / "a", (), never) as folder:
        (folder / "whole").write_text("x")
    assert (tmp_path / "deep" / "a" / "whole").read_text() == "x"
    assert names(tmp_path / "deep") == ["a"]


@pytest.mark.parametrize("mode", ["exchange", "renames", "copies"])
def test_killed_at_any_step(tmp_path: Path, mode: str) -> None:
    """The old folder or the new one is there, whole, with all that is the user's; the next start leaves nothing."""
    command = [sys.executable, killed_swaps.__file__, str(tmp_path / "place"), mode]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    users = {"notes": "notes", "mine/deep": "deep", "mine/link": "deep"}
    old, new = (users | dict.fromkeys(("data", "media/1", "media/2"), text) for text in ("old", "new"))
    assert [step["killed"] for step in steps] == [True] * (len(steps) - 1) + [False]
    assert len(steps) > 30
    for step in steps:
        missing = mode != "exchange" and step["left"]["files"] == {}
        assert missing or step["left"]["files"] in (old, new), step
        assert step["after"]["files"] in (old, new), step
        assert step["after"]["beside"] == ["a"], step
    assert steps[0]["after"]["files"] == old
    assert steps[-1]["after"]["files"] == new
    assert any(step["left"]["files"] == {} for step in steps) == (mode != "exchange")


def write_forever(path: Path, started: "multiprocessing.synchronize.Event", text: str) -> None:
    with atomic_folder(path, ("data",), always) as folder:
        (folder / "data").write_text(text)
        started.set()
        threading.Event().wait()


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    started = spawn.Event()
    writer = spawn.Process(target=write_forever, args=(tmp_path / "a", started, "first"))
    writer.start()
    try:
        assert started.wait(30)
        says = rf"a is being written by process {writer.pid} on .+ since 20\d\d-"
        with pytest.raises(BusyError, match=says), atomic_folder(tmp_path / "a", ("data",), always):
            pass
    finally:
        writer.kill()
        writer.join()
    with atomic_folder(tmp_path / "a", ("data",), always) as folder:  # the lock went with its process
        (folder / "data").write_text("second")
    assert (tmp_path / "a" / "data").read_text() == "second"
    assert names(tmp_path) == ["a"]


def test_threads_exclude_each_other_and_one_thread_may_take_it_twice(tmp_path: Path) -> None:
    seen: list[str] = []

    def try_it() -> None:
        try:
            with one_writer(tmp_path / "a"):
                seen.append("taken")
        except BusyError:
            seen.append("busy")

    with one_writer(tmp_path / "a"):
        with one_writer(tmp_path / "a"):
            pass
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    try_it()
    assert seen == ["busy", "taken"]
    assert names(tmp_path) == []


def test_waiting_writers_have_it_one_after_the_other(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with one_writer(tmp_path / "a", wait=True):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def flock_that_raises(number: int) -> Callable[..., None]:
    def flock(file: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    return flock


def test_without_flock_a_lock_file_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lustre without its option answers ENOSYS."""
    monkeypatch.setattr("fcntl.flock", flock_that_raises(errno.ENOSYS))
    seen: list[str] = []

    def try_it() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with one_writer(tmp_path / "a"):
                    seen.append("taken")
            except BusyError:
                seen.append("busy")

    with pytest.warns(UserWarning, match="flock not supported"), one_writer(tmp_path / "a"):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    try_it()
    assert seen == ["busy", "taken"]
    assert names(tmp_path) == []


def test_a_file_system_without_locks_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fcntl.flock", flock_that_raises(errno.ENOLCK))
    with pytest.raises(SetupError, match="file system without locks"), one_writer(tmp_path / "a"):
        pass


def test_what_is_not_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("mine")
    with pytest.raises(PermissionError), atomic_folder(tmp_path / "folder", (), never):
        pass
    for place in (tmp_path / "folder" / "file", tmp_path / "folder" / "file" / "below"):
        with pytest.raises(UsageError, match="is a file"), atomic_folder(place, (), never):
            pass
    assert (tmp_path / "folder" / "file").read_text() == "mine"


def test_a_file_of_the_user_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "train").write_text("mine")
    with pytest.raises(UsageError, match="train is yours"), atomic_folder(tmp_path / "a", ("data",), always) as folder:
        (folder / "train").write_text("written")
    assert (tmp_path / "a" / "train").read_text() == "mine"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("at_once", [True, False])
def test_what_the_user_adds_during_the_exchange_stays(
    tmp_path: Path, at_once: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "mine").mkdir(parents=True)
    (tmp_path / "a" / "mine" / "first").write_text("before")
    exchange = output_folder._exchanged_at_once

    def add_and_exchange(a: bytes, b: bytes) -> bool:
        (tmp_path / "a" / "mine" / "late").write_text("late")
        (tmp_path / "a" / "mine" / "first").unlink()
        (tmp_path / "a" / "mine" / "first").write_text("changed")
        return at_once and exchange(a, b)

    monkeypatch.setattr(output_folder, "_exchanged_at_once", add_and_exchange)
    with atomic_folder(tmp_path / "a", ("data",), always) as folder:
        (folder / "data").write_text("new")
    kept = {name: (tmp_path / "a" / "mine" / name).read_text() for name in names(tmp_path / "a" / "mine")}
    assert kept == {"first": "changed", "late": "late"}
    assert (tmp_path / "a" / "data").read_text() == "new"


def test_a_mounted_disk_inside_is_never_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "disk").mkdir(parents=True)
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "disk")
    with pytest.raises(UsageError, match="mounted disk"), atomic_folder(tmp_path / "a", (), always):
        pass
    assert names(tmp_path / "a") == ["disk"]


def test_a_reader_finds_what_a_cut_left_under_another_name(tmp_path: Path) -> None:
    parked = tmp_path / ".a.old-01234567"
    parked.mkdir()
    recover(tmp_path / "a")
    assert names(tmp_path) == ["a"]
    recover(tmp_path / "nowhere" / "a")


def test_only_our_own_names_are_swept(tmp_path: Path) -> None:
    for name in (".a.new-0123abcd", ".a.new", ".a.new-0123abcde", ".ab.new-0123abcd", "a.new-0123abcd"):
        (tmp_path / name).mkdir()
    with atomic_folder(tmp_path / "a", (), always):
        pass
    assert names(tmp_path) == [".a.new", ".a.new-0123abcde", ".ab.new-0123abcd", "a", "a.new-0123abcd"]


def test_the_folder_of_the_shell_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="where you stand"), atomic_folder(Path(), (), never):
        pass


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "big disk").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "big disk")
    for text in ("before", "after"):
        with atomic_folder(tmp_path / "a", ("file",), always) as folder:
            (folder / "file").write_text(text)
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "big disk" / "file").read_text() == "after"
    assert names(tmp_path) == ["a", "big disk"]
