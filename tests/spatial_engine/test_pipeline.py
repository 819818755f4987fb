"""`annotate`: what runs, what is kept, what a fault costs."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experts.signals import Gravity, NoEstimate
from spatial_engine.dataset.writing import CRASHED
from spatial_engine.errors import Interrupted, SpatialEngineError, StoreError, UsageError
from spatial_engine.pipeline import annotate, generate
from spatial_engine.progress import Silent
from spatial_engine.store.ledger import Ledger
from spatial_engine.store.signal_file import artefact_hash
from spatial_engine.store.store import Store, create_store
from tests.spatial_engine.fake_experts import FakeExpert, FakeSettings, chain
from tests.spatial_engine.fake_footage import write_folders, write_images
from tests.spatial_engine.measured_store import measured_store


class Heard(Silent):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def step(self, name: str, outcome: str) -> None:
        self.lines.append(f"{name}: {outcome}")


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "videos", 2)


@pytest.fixture
def fakes(tmp_path: Path) -> dict[str, FakeExpert]:
    return chain(tmp_path / "log")


def calls(fakes: dict[str, FakeExpert]) -> dict[str, int]:
    return {name: fake.ran() for name, fake in fakes.items()}


def test_second_run_does_nothing_and_says_so(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert calls(fakes) == {"area": 2, "tracks": 2, "up": 2}
    assert len(store.clip_ids()) == 2
    heard = Heard()
    annotate(videos, tmp_path / "store", experts=list(fakes.values()), progress=heard)
    assert calls(fakes) == {"area": 2, "tracks": 2, "up": 2}
    assert any("2 clips: 2 complete before this run; " in line for line in heard.lines)


def test_a_changed_setting_recomputes_what_rests_on_it(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    before = {clip_id: store.record(clip_id).signals for clip_id in store.clip_ids()}
    fakes["tracks"].settings = FakeSettings(level=2.0)
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert calls(fakes) == {"area": 2, "tracks": 4, "up": 2}
    fakes["area"].version = "2"
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert calls(fakes) == {"area": 4, "tracks": 6, "up": 2}
    fakes["area"].version, fakes["tracks"].settings = "1", FakeSettings()
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert calls(fakes) == {"area": 4, "tracks": 6, "up": 2}, "going back is free"
    assert before == {clip_id: store.record(clip_id).signals for clip_id in store.clip_ids()}


def test_an_option_concerns_only_who_declares_it(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()), upright=True, licence="CC0-1.0")
    assert calls(fakes) == {"area": 2, "tracks": 2, "up": 4}
    for clip_id in store.clip_ids():
        gravity = store.signals(clip_id)["gravity"]
        assert isinstance(gravity, Gravity)
        assert gravity.decided_by == "--upright"
        assert store.record(clip_id).clip["licence"] == "CC0-1.0"
    annotate(videos, tmp_path / "store", experts=list(fakes.values()), max_side=40)
    assert calls(fakes) == {"area": 4, "tracks": 4, "up": 4}, "tracks read the area"


def test_a_licence_that_a_later_run_does_not_state_is_named(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    said = []
    for licence in ("unknown", "CC-BY-4.0", "CC-BY-4.0", "unknown"):
        heard = Heard()
        annotate(videos, tmp_path / "store", experts=[fakes["area"]], licence=licence, progress=heard)
        said.append([line for line in heard.lines if "licence" in line])
    now = ": its licence was CC-BY-4.0, and is unknown now: --licence states it"
    assert [sorted(lines) for lines in said] == [[], [], [], [f"clip 0{now}", f"clip 1{now}"]]


def test_generate_says_that_clips_are_being_annotated(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    store = annotate(videos, tmp_path / "store", experts=[fakes["area"]])
    heard = Heard()
    with ThreadPoolExecutor(1) as other, store.one_writer("b" * 16):
        other.submit(generate, store, tmp_path / "data", allow_empty=True, progress=heard).result()
    assert heard.lines[0] == "1 clip being annotated: what is not measured yet is not asked about"


def test_a_shard_says_how_much_footage_is_its_own(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    own = []
    for number in range(1, 8):
        heard = Heard()
        annotate(videos, tmp_path / "store", experts=[fakes["area"]], shard=f"{number}/7", progress=heard)
        (line,) = (line for line in heard.lines if line.startswith(f"shard {number}/7: "))
        assert line.endswith(" of 2 pieces of footage")
        own.append(int(line.split()[2]))
    assert sum(own) == 2 and 0 in own


def test_an_expert_sees_only_declared_options(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["up"].options = frozenset()
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]], upright=True)
    assert {store.signals(c)["gravity"].decided_by for c in store.clip_ids()} == {"up"}  # type: ignore[union-attr]


def test_an_undeclared_name_is_a_fault_of_the_expert(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    fakes["up"].options = frozenset({"upride"})
    with pytest.raises(UsageError, match=r"upride"):
        annotate(videos, tmp_path / "store", experts=[fakes["up"]])


def test_a_failed_expert_costs_its_dependents_only(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["area"].does, fakes["area"].only_clip = "raise", "clip 1"
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert calls(fakes) == {"area": 2, "tracks": 1, "up": 2}
    failed = next(c for c in store.clip_ids() if store.record(c).clip["name"] == "clip 1")
    signals = store.signals(failed)
    assert isinstance(signals["gravity"], Gravity)
    assert signals["image_tracks"] == NoEstimate(reason="needs valid_area, which failed", remedy="--retry-failed")
    [failure] = store.present_failures(failed)
    noted = failure.error
    assert noted.startswith("plug-in area (tests/") and noted.endswith("): RuntimeError: no luck")
    assert signals["valid_area"] == NoEstimate(reason="area failed", detail=noted, remedy="--retry-failed")
    [failure] = store.present_failures(failed)
    assert "fake_experts.py" in failure.traceback
    states = {(entry.signal, entry.state) for entry in Ledger.open(store).entries() if entry.clip == failed}
    assert states == {("valid_area", "failed"), ("image_tracks", "no_estimate"), ("gravity", "done")}


def test_retry_failed(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["area"].does = "raise"
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    fakes["area"].does = "measure"
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert calls(fakes) == {"area": 2, "tracks": 0, "up": 2}
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()), retry_failed=True)
    assert calls(fakes) == {"area": 4, "tracks": 2, "up": 2}
    assert not any(store.present_failures(clip_id) for clip_id in store.clip_ids())
    assert not any((store.path / "clips").rglob("failed.json"))


def test_what_is_not_provided_is_a_failure(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["up"].does = "cheat"
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    assert "returned [] and provides ['gravity']" in store.present_failures(store.clip_ids()[0])[0].error


def test_frames_that_the_clip_lacks_are_a_failure(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["up"].does = "late"
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    assert "not rising numbers of the clip's" in store.present_failures(store.clip_ids()[0])[0].error


@pytest.mark.parametrize("workers", [0, 1])
def test_an_expert_that_exits_costs_its_clip(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert], workers: int
) -> None:
    fakes["area"].does = "exit"
    store = annotate(videos, tmp_path / "store", experts=[fakes["area"], fakes["up"]], workers=workers)
    for clip in store.clip_ids():
        [failure] = store.present_failures(clip)
        assert failure.error.endswith("): SystemExit: upstream gives up")
        assert isinstance(store.signals(clip)["gravity"], Gravity)


@pytest.mark.long(sample=True)
def test_workers_give_the_same_store(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    stores = [annotate(videos, tmp_path / f"store {n}", experts=list(fakes.values()), workers=n) for n in (0, 2)]
    hashes = [
        {(c, name): artefact_hash(value) for c in store.clip_ids() for name, value in store.signals(c).items()}
        for store in stores
    ]
    assert len(hashes[0]) == 6
    assert hashes[0] == hashes[1]


def test_experts_load_once_per_process(tmp_path: Path, fakes: dict[str, FakeExpert]) -> None:
    videos = write_folders(tmp_path / "three", 3)
    annotate(videos, tmp_path / "store", experts=[fakes["up"]], workers=1)
    assert fakes["up"].log.read_text().splitlines().count("up load") == 1


@pytest.mark.long(sample=True)
def test_a_killed_worker_costs_one_expert_of_one_clip(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    fakes["tracks"].does, fakes["tracks"].only_clip = "die", "clip 1"
    heard = Heard()
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()), workers=2, progress=heard)
    failures = {store.record(c).clip["name"]: store.present_failures(c) for c in store.clip_ids()}
    assert [failure.expert for failure in failures["clip 1"]] == ["tracks"]
    assert failures["clip 0"] == []
    assert all(isinstance(store.signals(clip_id)["gravity"], Gravity) for clip_id in store.clip_ids())
    assert any("tracks failed: the worker process died" in line for line in heard.lines)
    create_store(store.path)
    assert not list(store.path.rglob("*.tmp-*")), "what dead workers left is swept when the store is opened again"


@pytest.mark.long(sample=True)
def test_a_worker_killed_once_costs_nothing(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["tracks"].does, fakes["tracks"].only_clip = "die once", "clip 1"
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()), workers=1)
    assert [store.present_failures(clip_id) for clip_id in store.clip_ids()] == [[], []]


def test_equal_contents_are_one_clip(tmp_path: Path, fakes: dict[str, FakeExpert]) -> None:
    write_images(tmp_path / "videos" / "a", 7)
    write_images(tmp_path / "videos" / "b [red]", 7)
    heard = Heard()
    store = annotate(tmp_path / "videos", tmp_path / "store", experts=[fakes["up"]], progress=heard)
    assert len(store.clip_ids()) == 1
    assert fakes["up"].ran() == 1
    assert "b [red]: the same contents as a" in heard.lines


def test_clips_of_removed_footage_no_longer_count(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    (videos / "clip 1").rename(tmp_path / "elsewhere")
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    assert [store.record(c).clip["name"] for c in store.clip_ids()] == ["clip 0"]
    annotate(tmp_path / "elsewhere", tmp_path / "store", experts=[fakes["up"]])
    assert len(store.clip_ids()) == 2, "footage from several places adds up"
    assert fakes["up"].ran() == 2


def test_what_we_wrote_is_no_footage(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, videos / "out" / "store", experts=[fakes["up"]])
    generate(store, videos / "out" / "dataset")
    write_images(videos / "out" / "dataset" / "media" / "photos", 8)
    write_images(videos / "out" / "report" / "media", 9)
    again = annotate(videos, videos / "out" / "store", experts=[fakes["up"]])
    assert [again.record(c).clip["name"] for c in again.clip_ids()] == ["clip 1", "clip 0"]


def test_unreadable_footage_is_recorded_and_the_rest_goes_on(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    (videos / "junk.mp4").write_bytes(b"no video" * 100)
    (videos / "empty.mp4").touch()
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    assert len(store.clip_ids()) == 2
    assert {record.name for record in store.footage() if record.error} == {"junk.mp4", "empty.mp4"}


def test_nothing_to_open(tmp_path: Path, fakes: dict[str, FakeExpert]) -> None:
    (tmp_path / "videos").mkdir()
    with pytest.raises(UsageError, match="it is empty"):
        annotate(tmp_path / "videos", tmp_path / "store", experts=[fakes["up"]])
    assert not (tmp_path / "store").exists()
    (tmp_path / "videos" / "junk.mp4").write_bytes(b"no video")
    with pytest.raises(SpatialEngineError) as caught:
        annotate(tmp_path / "videos", tmp_path / "store", experts=[fakes["up"]])
    assert caught.value.exit_code == 1


def test_a_folder_of_something_else_is_no_store(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    with pytest.raises(StoreError, match="holds other files"):
        annotate(videos, videos, experts=[fakes["up"]])


def test_ledger_knows_seconds(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    seconds = Ledger.open(Store(tmp_path / "store")).seconds_per_clip()
    assert set(seconds) == {"area", "tracks", "up"}
    annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert Ledger.open(Store(tmp_path / "store")).seconds_per_clip() == seconds


def test_ctrl_c_keeps_what_is_done(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    fakes["tracks"].does, fakes["tracks"].only_clip = "interrupt", "clip 1"
    with pytest.raises(Interrupted) as caught:
        annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert "run the same command again" in caught.value.remedy
    fakes["tracks"].does = "measure"
    before = fakes["area"].ran()
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    assert len(store.clip_ids()) == 2
    assert (before, fakes["area"].ran(), fakes["tracks"].ran("clip 1")) == (before, 2, 2)


def test_generate_is_the_same_for_any_number_of_workers(
    tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]
) -> None:
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    one, two = (generate(store, tmp_path / f"set {workers}", workers=workers) for workers in (0, 2))
    assert (one.path / "questions.jsonl").read_bytes() == (two.path / "questions.jsonl").read_bytes()
    assert one.audit == two.audit
    assert one.audit["clips"] == 2


@pytest.mark.long(sample=True)
def test_abstention_changes_nothing_where_nothing_can_be_left_open(tmp_path: Path) -> None:
    store = measured_store(tmp_path)
    plain, open_too = (generate(store, tmp_path / f"set {flag}", unanswerable=flag) for flag in (False, True))
    assert (plain.path / "questions.jsonl").read_bytes() == (open_too.path / "questions.jsonl").read_bytes()
    assert [made.audit["settings"]["unanswerable"] for made in (plain, open_too)] == [False, True]
    assert len(list(plain.questions)) > 0


def test_a_damaged_signal_costs_its_clip(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, tmp_path / "store", experts=list(fakes.values()))
    damaged = next((store.path / "clips" / store.clip_ids()[0]).glob("gravity.*"))
    damaged.write_bytes(b"")
    audit = generate(store, tmp_path / "set").audit
    assert audit["clips"] == 2
    [reason] = audit["refused"][""]
    assert reason.startswith(CRASHED)
    assert str(store.path) not in reason


def test_unknown_ability_lists_those_there_are(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    with pytest.raises(UsageError, match="L1/Orientation/Gravity"):
        generate(store, tmp_path / "set", abilities="L9")


def test_the_remedy_of_a_failed_clip_is_said(tmp_path: Path, videos: Path, fakes: dict[str, FakeExpert]) -> None:
    store = annotate(videos, tmp_path / "store", experts=[fakes["up"]])
    broken = store.record(store.clip_ids()[0])
    heard = Heard()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spatial_engine.dataset.asking.ask_clip", _refuse)
        audit = generate(store, tmp_path / "set", progress=heard).audit
    assert f"{broken.clip['name']}: failed: a file is damaged" in heard.lines
    assert heard.lines.count("  try: delete it") == 2
    assert "delete it" not in str(audit), "remedies may name places on this disk"


def _refuse(*_: object) -> None:
    raise StoreError("a file is damaged", "delete it")
