"""Time left follows from what remains: frames, experts, and what finished ones took."""

import time
from pathlib import Path

import pytest

from experts.clip import Clip
from experts.signals import NoEstimate, Signals
from spatial_engine.annotation.forecast import GUESSED_FRAMES, Forecast
from spatial_engine.annotation.plan import SECONDS_PER_CLIP, named_expert
from spatial_engine.annotation.stages import Stage, Stages
from spatial_engine.pipeline import annotate
from spatial_engine.progress import Silent
from tests.spatial_engine.fake_experts import FakeExpert
from tests.spatial_engine.fake_footage import write_images

KLT = named_expert("klt")


class Told(Silent):
    """Keeps stages and forecasts."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, str, int, int]] = []
        self.seconds: list[float] = []

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        self.stages.append((name, doing, done, total))

    def left(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_guesses_give_way_to_what_was_measured() -> None:
    forecast = Forecast()
    assert forecast.seconds("klt", GUESSED_FRAMES) == SECONDS_PER_CLIP["klt"]
    forecast.learn("klt", 30.0, 100)
    assert forecast.seconds("klt", 200) == pytest.approx(60.0)
    assert not forecast.knows("mine") and forecast.seconds("mine", 10) > 0


def test_a_few_photos_take_colmap_more_than_their_share_of_a_long_clip() -> None:
    forecast = Forecast()
    assert forecast.seconds("colmap", GUESSED_FRAMES) == SECONDS_PER_CLIP["colmap"]
    assert 0.5 < forecast.seconds("colmap", 20) / SECONDS_PER_CLIP["colmap"] < 0.6
    forecast.learn("colmap", 16.0, 20)
    assert 25 < forecast.seconds("colmap", GUESSED_FRAMES) < 32, "not fifteen times as long"


def test_nine_long_clips_take_longer_than_one_short_one_did() -> None:
    """One clip of 30 frames took 3 s; nine of 900 are left: 810 s on one worker, not 27 s."""
    forecast = Forecast([("klt", 3.0, 30)])
    due, frames = {str(clip): [KLT] for clip in range(9)}, {str(clip): 900 for clip in range(9)}
    assert forecast.total_s(due, frames, 1) == pytest.approx(810)
    assert forecast.total_s(due, frames, 3) == pytest.approx(270)
    assert forecast.total_s({"0": [KLT]}, frames, 8) == pytest.approx(90), "one clip cannot be shared"


class Reads(FakeExpert):
    """Reads every frame."""

    def __call__(self, clip: Clip, signals: Signals) -> dict[str, NoEstimate]:
        assert len(list(clip.read())) == len(clip.frames)
        return {name: NoEstimate(reason="it only reads") for name in self.provides}


def test_stage_and_frames_are_reported_and_no_time_remains_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spatial_engine.annotation.watching._EVERY_S", 0.0)
    write_images(tmp_path / "videos", 0, count=5)
    told = Told()
    expert = Reads(name="reads", provides=frozenset({"gravity"}), log=tmp_path / "log")
    annotate(tmp_path / "videos", tmp_path / "store", experts=[expert], progress=told)
    assert told.stages == [("videos", "reads", frame, 5) for frame in range(6)]
    assert told.seconds[0] > 0 == told.seconds[-1]


class WaitsUntilTold(Reads):
    """Reads every frame, then waits until its stage was told: the test does not depend on the load of the machine."""

    def __call__(self, clip: Clip, signals: Signals) -> dict[str, NoEstimate]:
        result = super().__call__(clip, signals)
        until_s = time.monotonic() + 60
        while not told_of(self.log, clip.name).exists() and time.monotonic() < until_s:
            time.sleep(0.01)
        return result


class TellsBack(Told):
    """Leaves a file for every clip whose last frame was told."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        super().stage(name, doing, done, total)
        if done == total:
            told_of(self.log, name).touch()


def told_of(log: Path, clip: str) -> Path:
    return log.with_name(f"told of {clip}")


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_tell_their_stage_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    monkeypatch.setattr("spatial_engine.annotation.executor.WATCH_S", 0.01)
    monkeypatch.setattr("spatial_engine.annotation.watching._EVERY_S", 0.0)
    for clip in range(2):
        write_images(tmp_path / "videos" / f"clip {clip}", clip, count=5)
    expert = WaitsUntilTold(name="waits", provides=frozenset({"gravity"}), log=tmp_path / "log")
    told = TellsBack(expert.log)
    annotate(tmp_path / "videos", tmp_path / "store", experts=[expert], workers=workers, progress=told)
    assert {("clip 0", "waits", 5, 5), ("clip 1", "waits", 5, 5)} <= set(told.stages)
    assert {(name, doing, total) for name, doing, _, total in told.stages} == {
        ("clip 0", "waits", 5), ("clip 1", "waits", 5)
    }  # fmt: skip


def test_a_stage_is_where_its_worker_left_it() -> None:
    stages = Stages()
    assert stages.now() == []
    stages.begin("00000000000000ff", 2)
    stages.read_one(0xFF, 3)
    assert stages.now() == [Stage("00000000000000ff", 2, 1)]
    stages.end()
    assert stages.now() == []
