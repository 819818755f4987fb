"""Experts with models: clips taken together, loaded once, and what a fault costs."""

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from experts.runtime.model_expert import ModelExpert, Package
from experts.signals import Gravity, NoEstimate, Signal
from spatial_engine.annotation.annotate_all import on_every_gpu
from spatial_engine.annotation.workbench import Workbench
from spatial_engine.cli.summary import show_store
from spatial_engine.errors import SetupError, UsageError
from spatial_engine.options import AnnotateOptions, ModelOptions
from spatial_engine.pipeline import annotate
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store
from tests.spatial_engine.fake_footage import write_folders, write_images
from tests.spatial_engine.fake_models import FakeModel, FakePerImage, FakePerWindow
from tests.spatial_engine.test_pipeline import Heard


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "videos", 5)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def chain(log: Path) -> tuple[FakeModel, FakePerImage, FakeModel]:
    """A model clip by clip, one picture by picture that reads it, and one that reads that."""
    return (
        FakeModel(name="first", provides=frozenset({"valid_area"}), log=log),
        FakePerImage(name="looks", provides=frozenset({"gravity"}), needs=frozenset({"valid_area"}), log=log),
        FakeModel(name="last", provides=frozenset({"image_tracks"}), needs=frozenset({"gravity"}), log=log),
    )


def hashes(store: Store) -> dict[tuple[str, str], str]:
    return {
        (clip, name): artefact_hash(value) for clip in store.clip_ids() for name, value in store.signals(clip).items()
    }


def by_name(store: Store, signal: str) -> dict[str, Signal | NoEstimate]:
    return {store.record(clip).clip["name"]: store.signals(clip)[signal] for clip in store.clip_ids()}


def failed(store: Store) -> dict[str, list[tuple[str, str]]]:
    """(expert, error without the place in the plug-in) by name of clip."""
    present = {store.record(clip).clip["name"]: store.present_failures(clip) for clip in store.clip_ids()}
    return {
        name: sorted((f.expert, f.error.rpartition("): ")[2]) for f in failures)
        for name, failures in present.items()
        if failures
    }


def summary(store: Store) -> tuple[bool, str]:
    console = Console(width=200, record=True, highlight=False)
    return show_store(store, console), console.export_text()


# together


LONG = pytest.mark.long(sample=True)


@pytest.mark.parametrize(
    ("workers", "clips_at_once"), [(0, 4), (0, 3), pytest.param(1, 5, marks=LONG), pytest.param(2, 2, marks=LONG)]
)
def test_same_bytes_however_clips_are_taken(
    tmp_path: Path, videos: Path, log: Path, workers: int, clips_at_once: int
) -> None:
    write_images(videos / "longer", 9, count=6)
    alone = annotate(videos, tmp_path / "alone", experts=chain(tmp_path / "other log"), clips_at_once=1)
    together = annotate(
        videos,
        tmp_path / "together",
        experts=chain(log),
        clips_at_once=clips_at_once,
        workers=workers,
    )
    assert len(hashes(alone)) == 18
    assert hashes(alone) == hashes(together)


@pytest.mark.parametrize("clips_at_once", [1, 5])
def test_provenance_names_all_experts_behind_a_signal(
    tmp_path: Path, videos: Path, log: Path, clips_at_once: int
) -> None:
    store = annotate(videos, tmp_path / "store", experts=chain(log)[:2], clips_at_once=clips_at_once)
    annotate(videos, store.path, experts=chain(log), clips_at_once=clips_at_once)  # reads the first two from files
    for clip in store.clip_ids():
        behind = {
            name: [each["expert"] for each in signal.provenance.made_from]  # type: ignore[union-attr]
            for name, signal in store.signals(clip).items()
        }
        assert behind == {"valid_area": [], "gravity": ["first"], "image_tracks": ["first", "looks"]}


def test_pictures_of_several_clips_share_batches(tmp_path: Path, videos: Path, log: Path) -> None:
    looks = chain(log)[1]
    annotate(videos, tmp_path / "store", experts=chain(log), clips_at_once=5)
    batches = [note for note in looks.notes() if note.startswith("batch")]
    assert batches == [*["batch of 4, 4 different"] * 3, "batch of 4, 3 different"], "5 clips of 3 pictures"
    assert [note for note in looks.notes() if note.startswith("load")] == ["load on auto"]


def test_windows_of_several_clips_share_calls(tmp_path: Path, videos: Path, log: Path) -> None:
    model = FakePerWindow(log=log, needs=frozenset({"valid_area"}))
    experts = [chain(log)[0], model]
    together = annotate(videos, tmp_path / "store", experts=experts, clips_at_once=5)
    assert [note for note in model.notes() if note.startswith("call")] == [
        "call with 2, 2 different", "call with 2, 2 different", "call with 2, 1 different",
    ], "5 clips of 3 frames, 6 frames a call"  # fmt: skip
    assert [note for note in model.notes() if note.startswith("load")] == ["load on auto"]
    alone = annotate(videos, tmp_path / "alone", experts=experts, clips_at_once=1)
    assert len(hashes(alone)) == 10 and hashes(alone) == hashes(together)


def mean_of(clip: Path) -> float:
    return float(np.mean([np.asarray(Image.open(path)) for path in sorted(clip.iterdir())]))


@pytest.mark.parametrize("fault", ["raise", "run out of memory"])
def test_a_window_that_fails_costs_its_clip(tmp_path: Path, videos: Path, log: Path, fault: Any) -> None:
    model = FakePerWindow(log=log, fault=fault, fault_clip="clip 2")
    model.poison = mean_of(videos / "clip 2")
    store = annotate(videos, tmp_path / "store", experts=[model])
    error = "RuntimeError: an odd picture" if fault == "raise" else "OutOfMemoryError: CUDA out of memory"
    assert failed(store) == {"clip 2": [("model", error)]}
    calls = [note for note in model.notes() if note.startswith("clip clip")]
    assert sorted(calls) == sorted([f"clip clip {n}" for n in range(5)] + ["clip clip 2"]), "it alone is tried again"


@pytest.mark.long(sample=True)
def test_a_gpu_that_a_window_loses_costs_its_clip(tmp_path: Path, videos: Path, log: Path) -> None:
    model = FakePerWindow(log=log, fault="lose the GPU", fault_clip="clip 2")
    model.poison = mean_of(videos / "clip 2")
    store = annotate(videos, tmp_path / "store", experts=[model], workers=1)
    assert failed(store) == {"clip 2": [("model", "RuntimeError: CUDA error: device-side assert triggered")]}


@pytest.mark.long(sample=True)
def test_no_worker_goes_idle_for_it(tmp_path: Path, videos: Path, log: Path) -> None:
    annotate(videos, tmp_path / "store", experts=chain(log), clips_at_once=8, workers=2)
    different = [note.split()[3] for note in chain(log)[1].notes() if note.startswith("batch of 4")]
    assert sorted(different) == ["1", "2", "4", "4", "4"], "one worker has 3 clips of 3 pictures and the other 2"


def test_a_resumed_run_gives_the_same(tmp_path: Path, videos: Path, log: Path) -> None:
    whole = annotate(videos, tmp_path / "whole", experts=chain(log))
    (videos / "clip 3").rename(tmp_path / "clip 3")
    annotate(videos, tmp_path / "parts", experts=chain(log))
    (tmp_path / "clip 3").rename(videos / "clip 3")
    parts = annotate(videos, tmp_path / "parts", experts=chain(log))
    assert hashes(whole) == hashes(parts)


def test_a_clip_without_pictures(tmp_path: Path, videos: Path, log: Path) -> None:
    first, looks, last = chain(log)
    looks.no_pictures_of = "clip 2"
    gravity = by_name(annotate(videos, tmp_path / "store", experts=[first, looks, last]), "gravity")
    assert gravity["clip 2"] == NoEstimate(reason="no pictures")
    assert sum(isinstance(value, Gravity) for value in gravity.values()) == 4


def test_signals_come_from_memory(tmp_path: Path, videos: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_file(path: Path, kind: type) -> Signal:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr("spatial_engine.store.store.read_signal", no_file)
    assert failed(annotate(videos, tmp_path / "store", experts=chain(log))) == {}


# memory


@pytest.mark.long(sample=True)
def test_batches_halve_when_memory_runs_out(tmp_path: Path, videos: Path, log: Path) -> None:
    stores = []
    for clips_at_once in (1, 5):
        first, looks, last = chain(log)
        looks.room = 2
        name = f"store {clips_at_once}"
        stores.append(
            annotate(
                videos,
                tmp_path / name,
                experts=[first, looks, last],
                clips_at_once=clips_at_once,
            )
        )
    assert failed(stores[0]) == {}
    assert hashes(stores[0]) == hashes(stores[1])


def test_too_little_memory_for_one_costs_one_clip(tmp_path: Path, videos: Path, log: Path) -> None:
    first, looks, last = chain(log)
    last.fault, last.fault_clip = "run out of memory", "clip 1"
    store = annotate(videos, tmp_path / "store", experts=[first, looks, last])
    assert failed(store) == {"clip 1": [("last", "OutOfMemoryError: CUDA out of memory")]}
    well, text = summary(store)
    assert not well
    assert "try: take a smaller --max-side, or --dtype float16" in text


# faults


def poison(videos: Path, expert: FakePerImage, name: str) -> None:
    """The expert's fault comes with a picture of this clip, in whatever batch that is."""
    picture = sorted((videos / name).iterdir())[1]
    expert.poison, expert.fault_clip = float(np.asarray(Image.open(picture)).mean()), name


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("workers", [0, 1])
def test_an_odd_picture_costs_its_clip(tmp_path: Path, videos: Path, log: Path, workers: int) -> None:
    experts = chain(log)
    experts[1].fault = "raise"
    poison(videos, experts[1], "clip 2")
    store = annotate(videos, tmp_path / "store", experts=experts, workers=workers)
    assert failed(store) == {"clip 2": [("looks", "RuntimeError: an odd picture")]}
    assert by_name(store, "image_tracks")["clip 2"] == NoEstimate(
        reason="needs gravity, which failed", remedy="--retry-failed"
    )
    good = annotate(videos, tmp_path / "good", experts=chain(log))
    assert sum(hashes(good)[at] == value for at, value in hashes(store).items()) == 13


@pytest.mark.long(sample=True)
def test_a_picture_that_kills_costs_its_clip(tmp_path: Path, videos: Path, log: Path) -> None:
    experts = chain(log)
    experts[1].fault = "die"
    poison(videos, experts[1], "clip 2")
    store = annotate(videos, tmp_path / "store", experts=experts, workers=2)
    ((name, [(expert, error)]),) = failed(store).items()
    assert (name, expert) == ("clip 2", "looks")
    assert "the worker process died" in error
    assert sum(isinstance(value, Gravity) for value in by_name(store, "gravity").values()) == 4
    assert experts[1].notes().count("load on auto") > 2, "a fresh process loads its own"


@pytest.mark.long(sample=True)
def test_the_right_expert_is_blamed(tmp_path: Path, videos: Path, log: Path) -> None:
    """Signals of the experts before may not be on file yet when a process dies."""
    first, looks, last = chain(log)
    last.fault, last.fault_clip = "die", "clip 4"
    free = FakeModel(name="free", provides=frozenset({"calibration"}), lacks="no such package", log=log)
    store = annotate(videos, tmp_path / "store", experts=[free, first, looks, last], workers=1)
    assert [expert for expert, _ in failed(store)["clip 4"]] == ["free", "last"]
    assert [expert for expert, _ in failed(store)["clip 0"]] == ["free"]


@pytest.mark.long(sample=True)
def test_a_kill_costs_no_result(tmp_path: Path, videos: Path, log: Path) -> None:
    first, looks, last = chain(log)
    last.fault, last.fault_clip = "die once", "clip 4"
    assert failed(annotate(videos, tmp_path / "store", experts=[first, looks, last], workers=1)) == {}


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("which", [1, 2])
def test_a_lost_gpu_costs_one_clip(tmp_path: Path, videos: Path, log: Path, which: int) -> None:
    """After such an error a process cannot use the GPU again: a fresh one goes on."""
    experts = chain(log)
    experts[which].fault, experts[which].fault_clip = "lose the GPU", "clip 1"
    if which == 1:
        poison(videos, experts[1], "clip 1")
    store = annotate(videos, tmp_path / "store", experts=experts, workers=1)
    error = "RuntimeError: CUDA error: device-side assert triggered"
    assert failed(store) == {"clip 1": [(experts[which].name, error)]}


def test_a_lost_gpu_in_the_users_process(tmp_path: Path, videos: Path, log: Path) -> None:
    model = FakeModel(name="model", log=log, weight_names=("none",), fault="lose the GPU", fault_clip="clip 1")
    plain = FakeModel(name="plain", provides=frozenset({"valid_area"}), log=log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spatial_engine.annotation.workbench.place", lambda device, dtype: None)
        patch.setattr("experts.runtime.model_expert.located", lambda name, weights: None)
        store = annotate(videos, tmp_path / "store", experts=[model, plain])
        errors = [error for errors in failed(store).values() for _, error in errors]
        assert all(not isinstance(value, NoEstimate) for value in by_name(store, "valid_area").values())
        assert any("device-side assert" in error for error in errors)
        assert any("the GPU failed on an earlier clip" in error for error in errors)
        model.fault = ""
        again = annotate(videos, tmp_path / "store", experts=[model, plain])
    assert len(failed(again)) == 1, "only the clip itself waits for --retry-failed"


# what the machine lacks


def test_a_missing_package_is_tried_and_reported_once(tmp_path: Path, videos: Path, log: Path) -> None:
    first, looks, last = chain(log)
    looks.lacks = "a package is not installed"
    heard = Heard()
    store = annotate(videos, tmp_path / "store", experts=[first, looks, last], progress=heard)
    assert looks.notes() == ["load on auto"]
    assert set(failed(store)) == {f"clip {n}" for n in range(5)}
    assert not any(isinstance(value, NoEstimate) for value in by_name(store, "valid_area").values())
    refused = NoEstimate(reason="needs gravity, which failed", remedy="pip install looks")
    assert set(by_name(store, "image_tracks").values()) == {refused}
    assert "clip 3: done without looks" in heard.lines
    well, text = summary(store)
    assert not well
    assert text.count("a package is not installed") == 2, "in the table, and as the one trouble"
    assert "failed 5 clips: looks cannot run here: a package is not installed\n  try: pip install looks" in text
    looks.lacks = ""
    again = annotate(videos, tmp_path / "store", experts=[first, looks, last])
    assert failed(again) == {}
    assert hashes(again) == hashes(annotate(videos, tmp_path / "other", experts=chain(log)))
    assert summary(again)[0]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [(MemoryError("no room"), "--device cpu"), (ValueError("odd file"), "see: spatial-engine doctor")],
)
def test_trouble_in_loading_concerns_the_machine(
    tmp_path: Path, videos: Path, log: Path, error: Exception, remedy: str
) -> None:
    first, looks, last = chain(log)
    first.load_error = error
    _, text = summary(annotate(videos, tmp_path / "store", experts=[first, looks, last]))
    assert first.notes() == ["load on auto"]
    assert "5 clips: first cannot run here: first cannot be loaded: plug-in first (tests/" in text
    assert f"): {type(error).__name__}: {error}\n" in text
    assert f"  try: {remedy}" in text


def test_weights_that_cannot_be_named_yet(tmp_path: Path, videos: Path, log: Path) -> None:
    class Unfetched(FakeModel):
        def weights_identity(self, weights: str | None) -> str | None:
            from experts.expert import SetupProblem

            raise SetupProblem("no lock file", "spatial-engine weights fetch it")

    model = Unfetched(log=log, lacks="no lock file")
    store = annotate(videos, tmp_path / "store", experts=[model])
    assert len(failed(store)) == 5


def test_if_no_expert_can_run_the_error_comes_before_the_work(tmp_path: Path, videos: Path, log: Path) -> None:
    package = Package(module="no_such_module", install="pip install no-such-module", licence="MIT")
    model = FakeModel(log=log, packages=(package,))
    heard = Heard()
    with pytest.raises(SetupError, match="none of the experts can run here: no_such_module") as caught:
        annotate(videos, tmp_path / "store", experts=[model], progress=heard)
    assert caught.value.remedy == "pip install no-such-module"
    said, remedy = heard.lines[:2]
    assert said.startswith("model cannot run here: no_such_module")
    assert remedy == "  try: pip install no-such-module"
    assert model.notes() == []
    plain = FakeModel(name="plain", provides=frozenset({"valid_area"}), log=log, lacks="")
    model.lacks = "no_such_module is not installed"
    store = annotate(videos, tmp_path / "store", experts=[model, plain])
    assert len(failed(store)) == 5
    model.packages, model.lacks = (), ""
    annotate(videos, tmp_path / "store", experts=[model, plain])
    model.packages = (package,)
    annotate(videos, tmp_path / "store", experts=[model])  # what is on file needs no model


# writing


def test_what_cannot_be_written_is_its_experts_failure(
    tmp_path: Path, videos: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = annotate(videos, tmp_path / "good", experts=chain(log))
    broken = next(clip for clip in good.clip_ids() if good.record(clip).clip["name"] == "clip 2")
    real = Store.write

    def write(store: Store, clip_id: str, name: str, key: str, value: Signal | NoEstimate) -> None:
        if (clip_id, name) == (broken, "gravity"):
            raise OSError(5, "Input/output error")
        real(store, clip_id, name, key, value)

    monkeypatch.setattr(Store, "write", write)
    store = annotate(videos, tmp_path / "store", experts=chain(log))
    assert failed(store) == {"clip 2": [("looks", "OSError: [Errno 5] Input/output error")]}
    refused = NoEstimate(reason="needs gravity, which failed", remedy="--retry-failed")
    assert by_name(store, "image_tracks")["clip 2"] == refused
    monkeypatch.setattr(Store, "write", real)
    again = annotate(videos, tmp_path / "store", experts=chain(log), retry_failed=True)
    assert hashes(again) == hashes(good)


# processes and devices


def test_an_unpicklable_result_is_reported(tmp_path: Path, videos: Path, log: Path) -> None:
    model = FakeModel(log=log)
    model.model = lambda: None
    with pytest.raises(UsageError, match="expert model cannot be sent to a worker process") as caught:
        annotate(videos, tmp_path / "store", experts=[model], workers=1)
    assert "workers=0" in caught.value.remedy
    assert annotate(videos, tmp_path / "store", experts=[model]).clip_ids()


def test_a_loaded_expert_is_sent_without_its_model(log: Path) -> None:
    class Real(ModelExpert):
        name, version = "real", "1"
        settings = None

    expert = Real()
    assert pickle.loads(pickle.dumps(FakeModel(log=log))).model is None
    expert.model = lambda: None
    assert expert.__getstate__()["model"] is None
    assert expert.model is not None


def test_what_was_loaded_is_closed(tmp_path: Path, videos: Path, log: Path) -> None:
    first, looks, last = chain(log)
    annotate(videos, tmp_path / "store", experts=[first, looks, last])
    assert [expert.notes()[-1] for expert in (first, looks, last)] == ["close"] * 3
    assert looks.model is None


def test_workers_load_on_gpus_in_turn(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, 2)
    for number in range(3):
        monkeypatch.setattr("spatial_engine.annotation.workbench.worker_number", lambda number=number: number)
        Workbench(model_options=ModelOptions()).load(FakeModel(log=log, weight_names=("none",)))
        Workbench(model_options=ModelOptions(device="cuda:1")).load(FakeModel(log=log, weight_names=("none",)))
        Workbench(model_options=ModelOptions()).load(FakeModel(name="plain", log=log))
    model = FakeModel(log=log)
    assert model.notes() == [f"load on cuda:{n}" for n in (0, 1, 1, 1, 0, 1)]
    assert set(FakeModel(name="plain", log=log).notes()) == {"load on auto"}


def with_gpus(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    cuda = SimpleNamespace(device_count=lambda: count)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))


@pytest.mark.parametrize(
    ("gpus", "weights", "given", "workers"),
    [
        (4, ("none",), {}, 4),
        (4, ("none",), {"device": "cuda"}, 4),
        (4, ("none",), {"device": "cuda:2"}, 0),
        (4, ("none",), {"device": "cpu"}, 0),
        (4, ("none",), {"workers": 2}, 2),
        (4, (), {}, 0),
        (1, ("none",), {}, 0),
        (0, ("none",), {}, 0),
    ],
)
def test_models_run_on_every_gpu_unless_told_otherwise(
    log: Path,
    monkeypatch: pytest.MonkeyPatch,
    gpus: int,
    weights: tuple[str, ...],
    given: dict[str, Any],
    workers: int,
) -> None:
    with_gpus(monkeypatch, gpus)
    progress, models = Heard(), [FakeModel(log=log, weight_names=weights), FakeModel(name="plain", log=log)]
    options = AnnotateOptions(**given)
    assert on_every_gpu(options, models, progress).workers == workers
    assert bool(progress.lines) == (workers == 4)


def test_an_expert_that_no_worker_can_get_names_the_reason(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, 2)
    model = FakeModel(log=log, weight_names=("none",), placement=lambda: None)  # type: ignore[arg-type]  # cannot be pickled
    with pytest.raises(UsageError, match="cannot be sent to a worker"):
        on_every_gpu(AnnotateOptions(), [model], Heard())


@pytest.mark.long(sample=True)
def test_each_gpu_loads_a_model_once(tmp_path: Path, videos: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spatial_engine.annotation.annotate_all.gpu_count", lambda device: 2)
    monkeypatch.setattr("spatial_engine.annotation.annotate_all.needs_weights", lambda expert: True)
    annotate(videos, tmp_path / "store", experts=[FakeModel(log=log, seconds=0.5)], clips_at_once=1)
    loads = [note for note in FakeModel(log=log).notes() if note.startswith("load")]
    assert len(loads) == 2, "two processes; which GPU each takes: test_workers_load_on_gpus_in_turn"
