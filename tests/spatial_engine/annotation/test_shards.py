"""`annotate --shard`: several machines do all of the footage, each piece once."""

from pathlib import Path

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.options import Shard
from spatial_engine.pipeline import annotate, plan
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import write_folders

CLIPS = 6


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "videos", CLIPS)


def contents(store: Store) -> dict[str, object]:
    """All that a store says, without durations."""
    clips = {
        clip_id: (store.record(clip_id), {n: artefact_hash(s) for n, s in store.signals(clip_id).items()})
        for clip_id in store.clip_ids()
    }
    entries = [{**vars(entry), "seconds": None} for entry in Ledger.open(store).entries()]
    return {"clips": clips, "footage": store.footage(), "ledger": entries}


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/0", "-1/2", "a/b", "", "1/2/3"])
def test_a_shard_is_a_number_of_a_count(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        Shard.of(text)
    assert f"--shard {text}" in caught.value.cause and "2/8" in caught.value.remedy


def test_every_name_is_in_one_shard() -> None:
    shards = [Shard.of(f"{number}/7") for number in range(1, 8)]
    names = [f"clip {number}" for number in range(500)] + ["", "\udce9"]
    assert all(sum(shard.holds(name) for shard in shards) == 1 for name in names)
    assert all(40 < sum(map(shard.holds, names)) < 110 for shard in shards)
    assert all(map(Shard.of(None).holds, names))


def test_shards_in_one_store_do_what_one_machine_does(tmp_path: Path, videos: Path) -> None:
    fakes = list(chain(tmp_path / "log").values())
    one = annotate(videos, tmp_path / "one", experts=fakes)
    ran = [fake.ran() for fake in fakes]
    for number in (3, 1, 2):
        store = annotate(videos, tmp_path / "shared", experts=fakes, shard=f"{number}/3")
    assert [fake.ran() for fake in fakes] == [2 * count for count in ran]
    assert contents(store) == contents(one)
    annotate(videos, tmp_path / "shared", experts=fakes)
    assert [fake.ran() for fake in fakes] == [2 * count for count in ran], "nothing is left for a run without shard"


def test_a_shard_forgets_footage_that_is_gone_and_no_other(tmp_path: Path, videos: Path) -> None:
    fake = chain(tmp_path / "log")["area"]
    store = annotate(videos, tmp_path / "store", experts=[fake])
    gone = videos / "clip 0"
    gone.rename(tmp_path / "elsewhere")
    annotate(videos, tmp_path / "store", experts=[fake], shard="1/2")
    assert [Path(record.path).parent for record in store.footage()] == [videos / f"clip {n}" for n in range(1, CLIPS)]


def test_a_shard_may_be_empty(tmp_path: Path) -> None:
    videos, fake = write_folders(tmp_path / "videos", 1), chain(tmp_path / "log")["area"]
    counts = [
        len(annotate(videos, tmp_path / f"s{n}", experts=[fake], shard=f"{n}/4").clip_ids()) for n in (1, 2, 3, 4)
    ]
    assert sorted(counts) == [0, 0, 0, 1]


def test_the_plan_is_that_of_the_shard(tmp_path: Path, videos: Path) -> None:
    plans = [plan(videos, tmp_path / "store", experts="valid_area", shard=f"{number}/2") for number in (1, 2)]
    names = [each.name for plan in plans for each in plan.footage]
    assert sorted(names) == [f"clip {number}" for number in range(CLIPS)]
    assert all(plan.footage for plan in plans)
