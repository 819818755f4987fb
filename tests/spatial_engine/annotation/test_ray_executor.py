"""The executor of Ray keeps the promises of the one of processes; on a cluster of several nodes, one of them lost."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.annotation.executor import Crashed
from spatial_engine.annotation.executors import executor_of
from spatial_engine.annotation.ray_executor import RayExecutor
from spatial_engine.errors import SetupError, UsageError
from spatial_engine.options import AnnotateOptions
from spatial_engine.pipeline import annotate
from spatial_engine.store.store import Store
from tests.spatial_engine.annotation.test_executor import work
from tests.spatial_engine.annotation.test_shards import contents
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import write_folders
from tests.spatial_engine.fake_models import FakeModel

CLIPS = 6
LONG = pytest.mark.long()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes on this machine: a head without workers, and two with one each."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install '.[ray]'")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    cluster.workers = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def execute(cluster: Any) -> RayExecutor:
    return RayExecutor(address=None, gpus=None)


@LONG
def test_results_errors_and_numbers(execute: RayExecutor) -> None:
    items = [("say", "a"), ("raise", "b"), ("say", "c"), ("number", "d"), ("number", "e")]
    results = dict(execute(work, items, 2))
    assert (results["say", "a"], results["say", "c"]) == ("A", "C")
    crash = results["raise", "b"]
    assert isinstance(crash, Crashed) and crash.error == "ValueError: b" and "in work" in crash.traceback
    assert {results["number", "d"], results["number", "e"]} <= {"0", "1"}
    assert list(execute(work, [], 2)) == []


@LONG
def test_deaths_cost_one_item(execute: RayExecutor, tmp_path: Path) -> None:
    items = [("die once", str(tmp_path / "died")), ("die", "x"), *(("say", str(n)) for n in range(4))]
    results = dict(execute(work, items, 2))
    assert set(results) == set(items)
    assert {item[0] for item, result in results.items() if isinstance(result, Crashed)} == {"die"}


@LONG
def test_twenty_kills_of_workers_lose_nothing(execute: RayExecutor, tmp_path: Path) -> None:
    items = [("die once", str(tmp_path / f"died-{number}")) for number in range(20)]
    results = list(execute(work, items, 2))
    assert len(list(tmp_path.iterdir())) == 20
    assert sorted(result for _, result in results) == sorted(detail.upper() for _, detail in items)


@LONG
def test_what_concerns_every_item_ends_the_run(execute: RayExecutor) -> None:
    with pytest.raises(UsageError, match="no") as caught:
        list(execute(work, [("refuse", "no")], 1))
    assert type(caught.value) is UsageError


@LONG
def test_workers_have_one_thread(execute: RayExecutor) -> None:
    ((_, said),) = execute(work, [("environment", "")], 1)
    assert isinstance(said, str) and "OMP_NUM_THREADS=1" in said


@LONG
def test_a_node_that_is_lost_costs_what_it_had_in_work(cluster: Any, tmp_path: Path) -> None:
    videos, log = write_folders(tmp_path / "videos", CLIPS), tmp_path / "log"
    slow = FakeModel(name="slow", provides=frozenset({"valid_area"}), log=log, seconds=1.0)

    def lose_a_node() -> None:
        while not log.exists() or "slow: clip" not in log.read_text():
            time.sleep(0.05)
        cluster.remove_node(cluster.workers.pop(), allow_graceful=False)

    losing = threading.Thread(target=lose_a_node)
    losing.start()
    store = annotate(videos, tmp_path / "store", experts=[slow], workers=2, executor="ray", clips_at_once=1)
    losing.join()
    cluster.workers.append(cluster.add_node(num_cpus=1))
    assert len(store.clip_ids()) == CLIPS and not any(map(store.present_failures, store.clip_ids()))
    measured = [line for line in log.read_text().splitlines() if line.startswith("slow: clip ")]
    assert set(measured) == {f"slow: clip clip {number}" for number in range(CLIPS)}
    assert len(measured) <= CLIPS + 1, "nothing twice but what was in work"
    loads = log.read_text().count("slow load")
    assert loads <= 3, "each worker loads it once"
    assert contents(store) == contents(alone(videos, tmp_path, slow))


def alone(videos: Path, folder: Path, expert: FakeModel) -> Store:
    """What one process makes of it."""
    expert.seconds = 0.0
    return annotate(videos, folder / "alone", experts=[expert])


@LONG
def test_an_expert_that_kills_its_worker_costs_its_signals(cluster: Any, tmp_path: Path) -> None:
    videos, fakes = write_folders(tmp_path / "videos", 3), chain(tmp_path / "log")
    fakes["tracks"].does, fakes["tracks"].only_clip = "die", "clip 1"
    store = annotate(videos, tmp_path / "ray", experts=list(fakes.values()), workers=2, executor="ray")
    failed = {store.record(clip).clip["name"]: store.present_failures(clip) for clip in store.clip_ids()}
    assert [failure.expert for failure in failed["clip 1"]] == ["tracks"]
    assert not failed["clip 0"] and not failed["clip 2"]


def test_options_of_ray() -> None:
    from spatial_engine.annotation.executor import run

    assert executor_of(AnnotateOptions()) is run
    ray = AnnotateOptions(executor="ray", workers=4, ray_address="auto", gpus_per_worker=0.5)
    assert executor_of(ray, models=True) == RayExecutor(address="auto", gpus=0.5)
    assert executor_of(ray) == RayExecutor(address="auto", gpus=0.0), "opening footage needs no GPU"
    assert executor_of(AnnotateOptions(executor="ray", workers=1), models=True) == RayExecutor(address=None, gpus=None)


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"executor": "ray"}, "--executor ray --workers 0"),
        ({"executor": "ray", "workers": 1, "gpus_per_worker": -1}, "--gpus-per-worker -1"),
        ({"executor": "ray", "workers": 1, "device": "cuda:1"}, "--device cuda:1 with --executor ray"),
        ({"ray_address": "auto"}, "options of Ray"),
    ],
)
def test_options_that_contradict_each_other(fields: dict[str, Any], cause: str) -> None:
    with pytest.raises(UsageError, match=cause):
        AnnotateOptions(**fields)


def test_without_ray_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    videos, fake = write_folders(tmp_path / "videos", 1), chain(tmp_path / "log")["area"]
    with pytest.raises(SetupError, match="Ray, which is not installed") as caught:
        annotate(videos, tmp_path / "store", experts=[fake], workers=1, executor="ray")
    assert "'.[ray]'" in caught.value.remedy
