"""Tests of upstream code from checkouts of the caller, with random weights on the CPU.

SPATIAL_ENGINE_UPSTREAM names the folder of the checkouts: GeoCalib/, Orient-Anything/, Orient-Anything-V2/, co-tracker/
and tapnet/."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experts.runtime.model_expert import import_torchvision


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Adds one checkout to the path during a test, as their top-level modules have the same names (`utils`)."""
    used: list[Path] = []

    def at(name: str) -> Path:
        named = os.environ.get("SPATIAL_ENGINE_UPSTREAM")
        if not named:
            pytest.skip("SPATIAL_ENGINE_UPSTREAM names no folder of checkouts: make accept-upstream UPSTREAM=DIR")
        folder = Path(named).resolve() / name
        if not folder.is_dir():
            pytest.skip(f"no checkout {name} in SPATIAL_ENGINE_UPSTREAM")
        import_torchvision()
        monkeypatch.syspath_prepend(str(folder))
        used.append(folder)
        return folder

    yield at
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and any(folder in Path(file).parents for folder in used):
            del sys.modules[name]
