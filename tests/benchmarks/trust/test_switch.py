from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.trust.asked import Setup
from benchmarks.trust.gates import Gate
from benchmarks.trust.switch import concerned, same, signals_without
from experts.provenance import Provenance
from experts.signals import ImageTracks, NoEstimate
from spatial_engine.rendering import as_clip, demo_scene
from tests.templates import worlds

CLIP = as_clip(demo_scene(64, 48))
WAY = replace(worlds.signals()["camera_path"], direction_sigma_rad=0.05)


@dataclass(frozen=True)
class Limit:
    """Settings of a fake expert."""

    least: float = 1.0


@dataclass
class Fake:
    """Says how many it lets pass of what it reads; counts its calls."""

    settings: Limit = field(default_factory=Limit)
    name: str = "first"
    version: str = "1"
    provides: frozenset[str] = frozenset({"image_tracks"})
    needs: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    calls: list[float] = field(default_factory=list)

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None: ...

    def close(self) -> None: ...

    def __call__(self, clip: Any, signals: Any) -> dict[str, ImageTracks]:
        self.calls.append(self.settings.least)
        if self.settings.least < 0:
            raise RuntimeError("cannot bear it")
        count = sum(len(s.xy_px) for s in signals.values()) + (self.settings.least < 0.5)
        return {name: tracks(count) for name in self.provides}


def tracks(count: int, expert: str = "fake") -> ImageTracks:
    xy_px = np.full((count, 2, 2), np.nan, dtype=np.float32)
    return ImageTracks(frames=np.arange(2), xy_px=xy_px, provenance=Provenance(expert=expert, version="1"))


def chain() -> tuple[list[Any], dict[str, Any]]:
    second = Fake(name="second", provides=frozenset({"tracks"}), needs=frozenset({"image_tracks"}))
    apart = Fake(name="apart", provides=frozenset({"matches"}))
    return [Fake(), apart, second], {"image_tracks": tracks(0), "matches": tracks(0), "tracks": tracks(0)}


def test_experts_that_do_not_depend_on_the_gate_do_not_run_again() -> None:
    experts, base = chain()
    signals, changed, _ = signals_without(Gate(name="", guards="", off={"first.least": 0.0}), CLIP, base, experts)
    assert changed == {"image_tracks", "tracks"} and len(signals["tracks"].xy_px) == 1
    assert [len(expert.calls) for expert in experts] == [0, 0, 1]  # the first ran as another, with other settings
    assert signals["matches"] is base["matches"]


def test_nothing_runs_again_where_the_gate_changed_no_signal() -> None:
    experts, base = chain()
    signals, changed, errors = signals_without(Gate(name="", guards="", off={"first.least": 0.7}), CLIP, base, experts)
    assert not changed and not errors and signals == base and not experts[2].calls
    assert concerned(Setup(), Gate(name="", guards="", off={"first.least": 0.7}), changed) == []


def test_an_expert_that_fails_without_its_gate_gives_no_estimate_and_is_named() -> None:
    experts, base = chain()
    experts[2].needs = frozenset()
    signals, _, errors = signals_without(Gate(name="", guards="", off={"first.least": -1.0}), CLIP, base, experts)
    assert signals["image_tracks"] == NoEstimate(reason="first failed", detail="RuntimeError: cannot bear it")
    assert errors == {"first": "RuntimeError: cannot bear it"}


def test_templates_that_read_what_changed_are_asked_again() -> None:
    gate = Gate(name="", guards="")
    assert concerned(Setup(), gate, {"matches"}) == [
        "same_point",
        "same_point_on_grid",
        "point_pairs",
        "photo_of_point",
        "which_photo",
    ]
    assert "camera_travel" in concerned(Setup(), gate, {"camera_path_check"})
    border = Gate(name="", guards="", off={"templates.which_moves.inside_px": 0.0})
    assert concerned(Setup(), border, ()) == ["which_moves"]
    everything = Gate(name="", guards="", off={"ask.min_confidence": 0.5})
    assert concerned(Setup(), everything, ()) == list(Setup().templates)


def test_signals_are_equal_whatever_their_provenance() -> None:
    one = tracks(2)
    assert same(one, tracks(2, "another")) and not same(one, tracks(3))
    assert not same(one, replace(one, xy_px=np.zeros_like(one.xy_px)))
    assert same(replace(WAY, direction_sigma_rad=np.float64(0.05)), WAY) and not same(WAY, one)  # as a store reads it
    assert same(NoEstimate(reason="a"), NoEstimate(reason="b")) and not same(one, NoEstimate(reason="a"))
