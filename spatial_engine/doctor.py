"""What works on this machine, what is missing, and the exact command that adds it."""

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

_PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "jaxtyping": "jaxtyping",
    "cv2": "opencv-python-headless",
    "pycolmap": "pycolmap",
    "av": "av",
    "PIL": "pillow",
    "zarr": "zarr",
    "typer": "typer",
    "rich": "rich",
    "jinja2": "jinja2",
}
"""Distribution by import name, of all that the default path needs."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PYTHON = (3, 11)
_LITTLE_DISK_GB = 2.0  # a store of a few hours of video at default settings


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: Literal["works", "optional", "missing"]
    """optional: not there, and only something that can be done without depends on it."""
    detail: str
    remedy: str = ""
    """The command that adds it."""


def examine(folder: Path) -> list[Finding]:
    """Looks at this machine; `folder` is where results would be written."""
    return [_python(), *_packages(), *_experts(), _cores(), _disk(folder), _browser()]


def _python() -> Finding:
    fits = sys.version_info >= _PYTHON
    wanted = ".".join(map(str, _PYTHON))
    return Finding(
        what="Python",
        state="works" if fits else "missing",
        detail=platform.python_version(),
        remedy="" if fits else f"install Python {wanted} or newer, then: python3 -m venv .venv",
    )


def _packages() -> Iterator[Finding]:
    for module, distribution in _PACKAGES.items():
        if find_spec(module) is None:
            command = f"{sys.executable} -m pip install {distribution}"
            yield Finding(what=distribution, state="missing", detail="not installed", remedy=command)
        else:
            yield Finding(what=distribution, state="works", detail=_version(distribution))


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "version unknown"


def _experts() -> Iterator[Finding]:
    from experts.registry import EXPERTS

    for name in EXPERTS.targets():
        try:
            expert = EXPERTS.load(name)()
        except Exception as error:  # a plug-in may raise anything
            yield Finding(what=f"expert {name}", state="missing", detail=f"{type(error).__name__}: {error}")
        else:
            yield Finding(what=f"expert {name}", state="works", detail=f"provides {', '.join(sorted(expert.provides))}")


def _cores() -> Finding:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Finding(what="processor cores", state="works", detail=f"{cores}: use --workers {cores}")


def _disk(folder: Path) -> Finding:
    place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    free_gb = shutil.disk_usage(place).free / 1e9
    little = free_gb < _LITTLE_DISK_GB
    return Finding(
        what="disk",
        state="missing" if little else "works",
        detail=f"{free_gb:.1f} GB free at {place}",
        remedy=f"free some, or write elsewhere with -o: {_LITTLE_DISK_GB:.0f} GB are good to have" if little else "",
    )


def _browser() -> Finding:
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if found:
        return Finding(what="Chromium", state="works", detail=found)
    return Finding(
        what="Chromium",
        state="optional",
        detail="not found; only the tests of the report use it",
        remedy="sudo apt-get install chromium",
    )
