"""Names, targets, and plug-ins that cannot be imported."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from experts.expert import Expert, needs_weights
from experts.registry import EXPERTS, Registry, UnknownNameError
from experts.signals import SIGNAL_TYPES


def with_plugins(monkeypatch: pytest.MonkeyPatch, **targets: str) -> Registry:
    points = [EntryPoint(name=name, value=value, group="some.group") for name, value in targets.items()]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points if group == "some.group" else [])
    return Registry("some.group", {"counter": "collections:Counter"})


def test_loads_on_demand() -> None:
    from collections import Counter

    registry = Registry("some.group", {"counter": "collections:Counter", "ghost": "no_such_module:Ghost"})
    assert registry.load("counter") is Counter


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"'colnap'.*klt, colmap"):
        EXPERTS.load("colnap")


def test_plugins_come_after_builtins(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = with_plugins(monkeypatch, deque="collections:deque")
    assert list(registry.load_all()) == ["counter", "deque"]


def test_a_broken_plugin_warns_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = with_plugins(monkeypatch, broken="no_such_module:X", hollow="collections:no_such_class")
    with pytest.warns(UserWarning) as warned:
        assert list(registry.load_all()) == ["counter"]
    said = [str(w.message) for w in warned]
    assert said[0].startswith(
        "some.group: plug-in 'broken' of the package no_such_module (no_such_module:X) is left out"
    )
    assert "'hollow' of the package collections (collections:no_such_class)" in said[1] and len(said) == 2


def test_a_plugin_cannot_replace_a_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = with_plugins(monkeypatch, counter="collections:deque")
    with pytest.warns(UserWarning, match="counter"):
        assert registry.targets() == {"counter": "collections:Counter"}
    assert registry.load("counter").__name__ == "Counter"


@pytest.mark.parametrize("name", EXPERTS.builtin)
def test_builtin_experts_keep_the_protocol(name: str) -> None:
    expert: Any = EXPERTS.load(name)()
    assert isinstance(expert, Expert)
    assert expert.name == name
    assert expert.provides <= set(SIGNAL_TYPES)
    assert expert.needs <= set(SIGNAL_TYPES)
    assert expert.settings.__dataclass_params__.frozen
    if not needs_weights(expert):  # the others are loaded in tests/upstream
        expert.load()
    expert.close()
