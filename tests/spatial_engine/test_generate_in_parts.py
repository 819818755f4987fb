"""A dataset that is asked in shards, stopped, or killed at any moment has the bytes of one that was not."""

import io
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experts.clip import Clip
from spatial_engine.atomic_file import one_writer
from spatial_engine.cli.main import main
from spatial_engine.cli.summary import show_dataset
from spatial_engine.dataset import finishing, writing
from spatial_engine.dataset.asking import AskClip
from spatial_engine.dataset.balance import Balanced
from spatial_engine.dataset.cost import COST
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.drafts import Drafts, drafts_folder
from spatial_engine.dataset.writing import UNFINISHED, balanced_drafts
from spatial_engine.errors import BusyError, Interrupted, UsageError
from spatial_engine.output_folder import place_file
from spatial_engine.pipeline import generate
from spatial_engine.progress import Silent
from spatial_engine.store.store import FootageRecord, Store
from tests.spatial_engine.rendered_store import rendered_store, short_demo
from tests.spatial_engine.test_killed import wait_until_gone
from tests.spatial_engine.test_pipeline import Heard

OPTIONS = {"abilities": "L1/Orientation/Gravity,Geometry Puzzles", "puzzles": 2}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Of four clips: one that is rendered, under four ids."""
    store, known = rendered_store(tmp_path_factory.mktemp("store"), short_demo(12))
    record, ids = store.record(known), [known, *(f"{k:016x}" for k in range(1, 4))]
    for id in ids[1:]:
        store.write_record(id, replace(record, clip=record.clip | {"id": id}))
        for file in (store.path / "clips" / known).glob("*.zarr.zip"):
            place_file(file, store.path / "clips" / id / file.name)
    store.write_footage(FootageRecord(path="room", name="room", clips=tuple(ids)))
    return store


@pytest.fixture(scope="module")
def whole(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return generate(store, tmp_path_factory.mktemp("whole") / "set", **OPTIONS)


_RATE = re.compile(rb"took [\d,]+ CPU seconds: [\de.+]+ questions")


def contents(dataset: Dataset) -> dict[str, bytes]:
    """Of every file, without the seconds that making it took; the card names its folder, which is called alike."""
    files = [path for path in dataset.path.rglob("*") if path.is_file() and path.name != COST]
    return {str(path.relative_to(dataset.path)): _RATE.sub(b"", path.read_bytes()) for path in files}


def test_shards_write_what_one_process_does(tmp_path: Path, store: Store, whole: Dataset) -> None:
    for number in (2, 1):
        generate(store, tmp_path / "set", shard=f"{number}/2", **OPTIONS)
        assert [entry.name for entry in tmp_path.iterdir()] == [".set.drafts"]
    parts = tmp_path / ".set.drafts" / "words"
    assert len(list(parts.parent.glob("*.keys"))) == len(store.clip_ids()) + 1
    assert 0 < len(list(parts.glob("*.jsonl"))) < len(store.clip_ids()) + 1  # those of the last shard
    generate(store, tmp_path / "set", shard="2/2", **OPTIONS)
    assert len(list(parts.glob("*.jsonl"))) == len(store.clip_ids()) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AskClip, "__call__", None)  # nothing is asked or drawn again
        patch.setattr(finishing.FinishClip, "draw", None)
        made = generate(store, tmp_path / "set", **OPTIONS)
    assert len(list(made.questions)) > 10 and contents(made) == contents(whole)
    assert [entry.name for entry in tmp_path.iterdir()] == ["set"]


def test_one_shard_balances_for_all(tmp_path: Path, store: Store, whole: Dataset) -> None:
    balanced: list[int] = []

    def counted(drafts: Drafts, keys: Mapping[str, str], *settings: Any, **more: Any) -> Balanced:
        balanced.append(len(keys))
        return balanced_drafts(drafts, keys, *settings, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spatial_engine.dataset.generate_shard.balanced_drafts", counted)
        for number in (1, 2, 3, 1, 2):
            generate(store, tmp_path / "set", shard=f"{number}/3", **OPTIONS)
        assert balanced == [len(store.clip_ids()) + 1], "of all clips, and puzzles"
        (chosen,) = (tmp_path / ".set.drafts").glob("selected for 2 of 3.*")
        chosen.write_bytes(chosen.read_bytes()[:-9])
        generate(store, tmp_path / "set", shard="2/3", **OPTIONS)
        assert len(balanced) == 2, "a damaged file is made again"
    assert contents(generate(store, tmp_path / "set", **OPTIONS)) == contents(whole)


def test_what_shards_left_out_is_asked(tmp_path: Path, store: Store, whole: Dataset) -> None:
    generate(store, tmp_path / "set", shard="2/3", **OPTIONS)
    assert contents(generate(store, tmp_path / "set", **OPTIONS)) == contents(whole)


def test_drafts_of_other_settings_are_not_used(tmp_path: Path, store: Store, whole: Dataset) -> None:
    generate(store, tmp_path / "set", shard="1/2", seed=5, **OPTIONS)
    assert contents(generate(store, tmp_path / "set", **OPTIONS)) == contents(whole)


def test_nobody_writes_while_a_shard_is_asked(tmp_path: Path, store: Store) -> None:
    with one_writer(drafts_folder(tmp_path / "set") / "shard 2 of 3"), ThreadPoolExecutor() as another:
        for shard in (None, "2/3"):
            with pytest.raises(BusyError, match="shard 2 of 3 is being written by process"):
                another.submit(generate, store, tmp_path / "set", shard=shard).result()


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b"])
def test_a_shard_that_there_is_not(tmp_path: Path, store: Store, shard: str) -> None:
    with pytest.raises(UsageError, match="--shard"):
        generate(store, tmp_path / "set", shard=shard)


class Stops(Silent):
    """Ctrl-C after some steps of one kind of work."""

    def __init__(self, what: str, after: int) -> None:
        self._what, self._after, self._now = what, after, ""

    def begin(self, what: str, total: int) -> None:
        self._now = what

    def step(self, name: str, outcome: str) -> None:
        if self._now == self._what:
            self._after -= 1
            if not self._after:
                raise KeyboardInterrupt


@pytest.mark.parametrize("what", ["asking", "writing"])
def test_what_was_done_before_ctrl_c_is_not_done_again(tmp_path: Path, store: Store, whole: Dataset, what: str) -> None:
    with pytest.raises(Interrupted):
        generate(store, tmp_path / "set", progress=Stops(what, 2), **OPTIONS)
    assert not (tmp_path / "set").exists()
    asked, drawn = [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AskClip, "__call__", _counted(AskClip.__call__, asked))
        patch.setattr(finishing.FinishClip, "draw", _counted(finishing.FinishClip.draw, drawn))
        made = generate(store, tmp_path / "set", **OPTIONS)
    items = len(store.clip_ids()) + 1
    assert (len(asked), len(drawn)) == ((items - 2, items) if what == "asking" else (0, items - 2))
    assert contents(made) == contents(whole)


def _counted(method, calls: list[object]):
    def call(self, *given):
        calls.append(given)
        return method(self, *given)

    return call


def test_a_clip_that_crashes_while_it_is_drawn_costs_itself(tmp_path: Path, store: Store) -> None:
    lost = store.clip_ids()[1]

    def draw(self: finishing.FinishClip, clip: Clip | None, shown: object) -> None:
        if clip is not None and clip.id == lost:
            raise RuntimeError("out of luck")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finishing.FinishClip, "draw", draw)
        patch.setattr(writing, "place_file", lambda *_: None)
        made = generate(store, tmp_path / "set", abilities="L1/Orientation/Gravity")
    assert lost not in {question.clip for question in made.questions} and made.audit["questions"] > 0
    assert made.audit["refused"][""] == {f"{writing.CRASHED}: RuntimeError: out of luck": 1}


def moments(target: Path) -> Iterator[bool]:
    """Whether each pass has begun: asking, writing, joining."""
    work = drafts_folder(target)
    yield any(work.glob("*.keys"))
    yield any(work.glob("words/*.jsonl"))
    yield any(target.parent.glob(f".{target.name}.new-*/questions.jsonl"))


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("moment", range(3))
def test_killed_in_each_pass(tmp_path: Path, store: Store, whole: Dataset, workers: int, moment: int) -> None:
    target = tmp_path / "set"
    call = f"generate({str(store.path)!r}, {str(target)!r}, workers={workers}, **{OPTIONS!r})"
    (tmp_path / "program.py").write_text(
        f"from spatial_engine.pipeline import generate\nif __name__ == '__main__':\n    {call}\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")], env=environment, start_new_session=True
    ) as process:
        while process.poll() is None and not [*moments(target)][moment]:
            time.sleep(0.005)
        time.sleep(random.Random(moment).uniform(0, 0.05))
        with suppress(ProcessLookupError):  # it was done before
            os.killpg(process.pid, signal.SIGKILL)
    wait_until_gone(process.pid)
    assert contents(generate(store, target, **OPTIONS)) == contents(whole)
    assert not drafts_folder(target).exists() and not list(tmp_path.glob(".set.new-*"))


def test_clips_that_are_not_annotated_to_the_end_are_counted_and_named_a_failure(tmp_path: Path, store: Store) -> None:
    """Else a stopped `annotate` would lead to a small dataset without a word."""
    cut = Store(tmp_path / "store")
    shutil.copytree(store.path, cut.path)
    lost, *_ = cut.clip_ids()
    (cut.path / "clips" / lost / "clip.json").unlink()
    assert cut.unfinished() == [lost] and lost not in cut.clip_ids()
    told = Heard()
    made = generate(cut, tmp_path / "set", progress=told, **OPTIONS)
    assert made.audit["refused"][""] == {UNFINISHED: 1} and lost in made.audit["scenes"]
    assert any(UNFINISHED in line and "run annotate again" in line for line in told.lines)
    assert not show_dataset(made, Console(file=io.StringIO()))
    shares = [generate(cut, tmp_path / "parts", shard=f"{number}/2", **OPTIONS) for number in (1, 2)]
    assert sorted(share.failed for share in shares) == [(), (f"clip {lost}: {UNFINISHED}",)]
    generate(cut, tmp_path / "parts", shard="1/2", **OPTIONS)
    again = generate(cut, tmp_path / "parts", **OPTIONS)
    assert contents(again)["audit.json"] == contents(made)["audit.json"]


def test_a_shard_says_whom_it_waits_for(tmp_path: Path, store: Store) -> None:
    told = Heard()
    generate(store, tmp_path / "set", shard="1/3", progress=told, **OPTIONS)
    assert any("not asked yet: 2/3, 3/3" in line for line in told.lines)
    told.lines.clear()
    generate(store, tmp_path / "set", shard="2/2", progress=told, **OPTIONS)
    assert any("not asked yet: 1/2" in line for line in told.lines)
    assert any("of another number" in line for line in told.lines)


def test_a_shard_says_that_a_clip_failed(tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    broken, told = Store(tmp_path / "store"), Heard()
    shutil.copytree(store.path, broken.path)
    for file in broken.clip_folder(broken.clip_ids()[0]).glob("*.zarr.zip"):
        file.write_bytes(b"half")
    for number in (1, 2):
        generate(broken, tmp_path / "set", shard=f"{number}/2", progress=told, **OPTIONS)
    assert told.lines.count("1 clip failed: generate without --shard tries again") == 1
    codes = []
    for number in (1, 2):
        options = ("--abilities", OPTIONS["abilities"], "--puzzles", "2", "--shard", f"{number}/2")
        with pytest.raises(SystemExit) as left:
            main(["generate", str(broken.path), "-o", str(tmp_path / "set"), *options])
        codes.append(left.value.code)
    assert sorted(codes) == [0, 1] and capsys.readouterr().out.count("failed room: ") == 1
    assert sum(generate(broken, tmp_path / "set", **OPTIONS).audit["refused"][""].values()) == 1
