"""Answers depend on no signal that their template does not declare: provenance and licence name what is declared."""

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.end_to_end import exact_clip
from experts.signals import Signal
from spatial_engine.rendering.furnished import furnished_room
from templates import difficulty
from templates.generate import ask_about
from templates.perception.geometry import RangeRatio
from templates.scene.scene import SURFACE, Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from tests.templates.test_every_template import NAMES, TEMPLATES, scene

ALWAYS = frozenset({"agreement"})
"""Provenance names it in any case."""


class Watched(Mapping[str, Signal]):
    """Signals, and which of them were looked at. How hard a fact is may be measured with any: no answer depends on
    it."""

    def __init__(self, signals: Mapping[str, Signal]) -> None:
        self._signals = signals
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Signal:
        signal = self._signals[name]
        frame = inspect.currentframe()
        while frame is not None and frame.f_code.co_filename != difficulty.__file__:
            frame = frame.f_back
        if frame is None:
            self.seen.add(name)
        return signal

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def __contains__(self, name: object) -> bool:
        return name in self._signals


def undeclared(name: str, scenes: tuple[Scene, ...]) -> set[str]:
    """Signals that the answers of a template depend on without its saying so. They are measured in scenes that nothing
    has looked at yet."""
    template = TEMPLATES[name]
    if template.lacks(scenes[0]) or not isinstance(scenes[0], template.world):
        return set()
    facts = template.propose(scenes[0], np.random.default_rng(0), 60)
    watched = [Watched(each.signals) for each in scenes]
    worlds = tuple(replace(each, signals=signals) for each, signals in zip(scenes, watched, strict=True))
    for signals in watched:
        signals.seen.clear()  # the check of types has looked at one
    ask_about(template, facts.rounded().distinct(), worlds, AskSettings(), 0, Counter())
    return set().union(*(signals.seen for signals in watched)) - template.reads - ALWAYS


@NAMES
def test_made_up_signals(name: str) -> None:
    assert undeclared(name, (scene(name),)) == set()


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("without", [(), ("depth",), ("depth", "tracks"), ("objects",)], ids="-".join)
def test_a_furnished_room(without: tuple[str, ...]) -> None:
    clip, signals = exact_clip(furnished_room(np.random.default_rng(1), frames=24, movers=1))
    scenes = scenes_of(clip, {name: signal for name, signal in signals.items() if name not in without})
    assert {name: found for name in TEMPLATES if (found := undeclared(name, scenes))} == {}


def test_a_signal_that_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEMPLATES, "range_ratio", RangeRatio(reads=frozenset({"camera_path"})))
    assert undeclared("range_ratio", (scene("range_ratio"),)) & SURFACE
