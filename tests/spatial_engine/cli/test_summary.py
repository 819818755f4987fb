"""What commands print after their work."""

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from spatial_engine.cli.summary import show_dataset, show_store
from spatial_engine.options import Shard
from spatial_engine.pipeline import annotate
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import write_folders

LEAF = "L1/Orientation/Gravity"


def heard() -> Console:
    return Console(file=io.StringIO(), width=160, color_system=None)


def words(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def data_set(refused: dict[str, Any], dropped: dict[str, Any]) -> Any:
    counts = {LEAF: {"questions": 2, "facts": 2}}
    return SimpleNamespace(
        audit={"questions": 2, "facts": 2, "abilities": counts, "refused": refused, "dropped": dropped}
    )


def test_why_not_more_is_the_most_frequent_reason_of_all() -> None:
    console = heard()
    assert show_dataset(data_set({LEAF: {"no camera path": 2}}, {LEAF: {"dropped to balance yes and no": 6}}), console)
    assert "dropped to balance yes and no (6)" in words(console) and "no camera path" not in words(console)


def test_where_most_facts_were_one_too_many_the_next_reason_is_said_too() -> None:
    console, data = heard(), data_set({LEAF: {"no camera path": 2}}, {LEAF: {"dropped to balance yes and no": 6}})
    data.audit["surplus"] = {LEAF: 35}
    assert show_dataset(data, console)
    assert "more facts than asked about (35); dropped to balance yes and no (6)" in words(console)


def test_a_fault_of_a_template_is_a_failure() -> None:
    console = heard()
    assert not show_dataset(data_set({LEAF: {"the template x failed: TypeError": 3}}, {}), console)
    assert "failed 3 clips: the template x failed: TypeError" in words(console)


def test_a_question_whose_template_fails_is_a_failure() -> None:
    console = heard()
    assert not show_dataset(data_set({}, {LEAF: {"the template x of the package p failed: KeyError": 1}}), console)
    assert "failed 1 question: the template x of the package p failed: KeyError" in words(console)


def test_only_signals_of_this_run_are_counted(tmp_path: Path) -> None:
    fakes = chain(tmp_path / "log")
    videos = write_folders(tmp_path / "videos", 1)
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    store = annotate(videos, tmp_path / "store", experts=[fakes["area"]])
    console = heard()
    assert show_store(store, console)
    assert "valid_area" in words(console) and "gravity" not in words(console)


def test_a_shard_counts_its_own_clips(tmp_path: Path) -> None:
    videos, fake, found = write_folders(tmp_path / "videos", 6), chain(tmp_path / "log")["area"], []
    (videos / "junk.mp4").write_bytes(b"no video" * 100)
    annotate(videos, tmp_path / "store", experts=[fake])
    for shard in ("1/2", "2/2"):
        store, console = annotate(videos, tmp_path / "store", experts=[fake], shard=shard), heard()
        found.append((show_store(store, console, Shard.of(shard)), words(console)))
    (first_well, first), (second_well, second) = found
    assert "clips of shard 1/2: 5" in first and "clips of shard 2/2: 1" in second
    assert "junk.mp4" in first and not first_well and "junk.mp4" not in second and second_well
