"""Answers depend on no signal that their template does not declare: provenance and licence name what is declared."""

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.end_to_end import exact_clip
from experts.provenance import Provenance
from experts.signals import NoEstimate, Signal
from experts.tracking.fitted_path import FittedPathExpert
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
    """Signals, and which were looked for, there or not."""

    def __init__(self, signals: Mapping[str, Signal]) -> None:
        self._signals = signals
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Signal:
        if _for_an_answer():
            self.seen.add(name)
        return self._signals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def __contains__(self, name: object) -> bool:
        return name in self._signals


def _for_an_answer() -> bool:
    """Whether an answer may depend on what is looked at now. A check of types looks at the first of some signals, and
    how hard a fact is may be measured with any."""
    files, frame = [], inspect.currentframe()
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    who_looks = next(file for file in files if file != __file__ and "collections" not in file)
    return not who_looks.startswith("<@beartype(") and difficulty.__file__ not in files


def undeclared(name: str, scenes: tuple[Scene, ...]) -> set[str]:
    """Signals that the answers of a template depend on without its saying so. They are measured in scenes that nothing
    has looked at yet."""
    template = TEMPLATES[name]
    if template.lacks(scenes[0]) or not isinstance(scenes[0], template.world):
        return set()
    facts = template.propose(scenes[0], np.random.default_rng(0), 60)
    fresh = tuple(map(watched, scenes))
    signals = [each.signals for first in fresh for each in (first, first.second) if each is not None]
    ask_about(template, facts.rounded().distinct(), fresh, AskSettings(), 0, Counter())
    return {name for each in signals for name in each.seen} - template.reads - ALWAYS  # type: ignore[attr-defined]


def watched(scene: Scene) -> Scene:
    """The same scene, in which nothing is computed yet."""
    second = None if scene.second is None else watched(scene.second)
    return replace(scene, signals=Watched(scene.signals), second=second)


@NAMES
def test_made_up_signals(name: str) -> None:
    assert undeclared(name, (scene(name),)) == set()


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("without", [(), ("depth",), ("depth", "tracks"), ("objects",)], ids="-".join)
def test_a_furnished_room(without: tuple[str, ...]) -> None:
    clip, signals = exact_clip(furnished_room(np.random.default_rng(1), frames=24, movers=1))
    scenes = scenes_of(clip, {name: signal for name, signal in signals.items() if name not in without})
    assert {name: found for name in TEMPLATES if (found := undeclared(name, scenes))} == {}


@pytest.mark.long(sample=True)
def test_a_furnished_room_with_a_models_depth() -> None:
    """Depth that tracks and a second reconstruction, of another expert, confirm."""
    clip, exact = exact_clip(furnished_room(np.random.default_rng(1), frames=24, movers=1))
    other = Provenance(expert="another", version="1")
    signals: dict[str, Signal | NoEstimate] = {
        **exact,
        "depth": replace(exact["depth"], outlier_probability=0.05),
        "camera_path_check": replace(exact["camera_path"], provenance=other),
        "depth_check": replace(exact["depth"], provenance=other),
    }
    scenes = scenes_of(clip, signals | FittedPathExpert()(clip, signals))
    assert scenes[0].fitted_path is not None and scenes[0].second is not None
    assert {name: found for name in TEMPLATES if (found := undeclared(name, scenes))} == {}


def test_a_signal_that_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEMPLATES, "range_ratio", RangeRatio(reads=frozenset({"camera_path"})))
    assert undeclared("range_ratio", (scene("range_ratio"),)) & SURFACE
