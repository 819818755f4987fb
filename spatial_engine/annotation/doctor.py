"""What works on this machine, what is missing, and the exact command that adds it."""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from experts.expert import Expert

_PACKAGES = {
    "numpy": "numpy",
    "scipy": "scipy",
    "jaxtyping": "jaxtyping",
    "cv2": "opencv-python-headless",
    "pyceres": "pyceres",
    "pycolmap": "pycolmap",
    "av": "av",
    "PIL": "pillow",
    "zarr": "zarr",
    "numcodecs": "numcodecs",
    "typer": "typer",
    "annotated_doc": "annotated-doc",
    "rich": "rich",
    "jinja2": "jinja2",
    "openai": "openai",
    "pydantic": "pydantic",
    "yaml": "pyyaml",
    "threadpoolctl": "threadpoolctl",
    "sklearn": "scikit-learn",
    "json_repair": "json-repair",
    "filelock": "filelock",
    "matplotlib": "matplotlib",
}
"""Distribution by import name, of all that the default path needs."""
_KEPT_OUT = {
    "depth_anything_3": "evo (GPL-3.0), xformers, open3d, moviepy, gsplat, which the package asks for",
    "geocalib": "opencv-python, which the package asks for: it would overwrite opencv-python-headless",
    "tapir": "jax, haiku, opencv-python, which the package asks for",
}
"""By expert: what its packages would install or import if they were let."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_PYTHON = (3, 11)
_LITTLE_DISK_GB = 2.0  # a store of a few hours of video at default settings


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One check."""

    what: str
    state: Literal["works", "optional", "missing"]
    """optional: missing, but only optional features need it."""
    detail: str
    remedy: str = ""
    """The command that adds it."""
    notes: tuple[str, ...] = ()
    """Details, one per line."""


def examine(folder: Path) -> list[Finding]:
    """Checks this machine; `folder` is where results would be written."""
    packages = list(_packages())
    here = all(package.state == "works" for package in packages)  # nothing below can be imported without them
    plugged = (*_models(), *_templates()) if here else ()
    return [_python(), *packages, *plugged, _cores(), _disk(folder), _browser(), _viewer()]


def show(findings: Iterable[Finding]) -> bool:
    """Prints them; returns whether nothing is missing."""
    missing = False
    for finding in findings:
        print(f"{finding.state:8}  {finding.what}: {finding.detail}")
        for note in finding.notes:
            print(f"{'':10}{note}")
        if finding.remedy:
            print(f"{'':10}-> {finding.remedy}")
        missing = missing or finding.state == "missing"
    return not missing


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


def _models() -> Iterator[Finding]:
    from experts.registry import EXPERTS
    from spatial_engine.annotation.plan import check_signals
    from spatial_engine.errors import UsageError

    yield from _gpu()
    for name in EXPERTS.targets():
        try:
            expert = EXPERTS.load(name)()
            check_signals(expert)
            yield _expert(name, expert)
        except UsageError as error:
            yield Finding(what=f"expert {name}", state="missing", detail=error.cause, remedy=error.remedy)
        except Exception as error:  # a plug-in may raise anything
            yield Finding(what=f"expert {name}", state="missing", detail=f"{type(error).__name__}: {error}")


def _templates() -> Iterator[Finding]:
    """The templates, with the leaf that each asks about; plug-ins with their package."""
    from templates.registry import TEMPLATES, created

    for name, target in TEMPLATES.targets().items():
        package = TEMPLATES.package(name)
        what = f"template {name}{f' of the package {package}' if package else ''}"
        try:
            yield Finding(what=what, state="works", detail=created(TEMPLATES.load(name)).ability)
        except Exception as error:  # a plug-in may raise anything
            yield Finding(what=what, state="missing", detail=f"{type(error).__name__}: {error} ({target})")


def _gpu() -> Iterator[Finding]:
    """The devices for models."""
    if find_spec("torch") is None:
        seen = ", though there seems to be a GPU" if shutil.which("nvidia-smi") else ""
        command = _of_this_python('pip install -e ".[experts]"')
        yield Finding(what="GPU", state="optional", detail=f"torch is not installed{seen}", remedy=command)
        return
    import torch

    if not torch.cuda.is_available():
        detail = f"torch {torch.__version__} can use none: models run on the CPU, slowly"
        yield Finding(what="GPU", state="optional", detail=detail, remedy="conda env create -f environment.yml")
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        name = torch.cuda.get_device_name(number)
        detail = f"{name}, {free / 1e9:.1f} of {total / 1e9:.1f} GB free; torch {torch.__version__}"
        yield Finding(what=f"GPU cuda:{number}", state="works", detail=detail)


def _expert(name: str, expert: "Expert") -> Finding:
    """The check of one expert; a missing package is optional, because no other expert needs it."""
    from experts.expert import needs_weights
    from experts.runtime.model_expert import lacking
    from spatial_engine.annotation.licences import licence_of
    from templates.unlocked import unlocked_by

    provides = f"provides {', '.join(sorted(expert.provides))}"
    leaves = unlocked_by(expert.provides)
    unlocks = f"needed for {', '.join(leaves)}" if leaves else ""
    packages = getattr(expert, "packages", ())
    if not packages and not needs_weights(expert):
        return Finding(what=f"expert {name}", state="works", detail=provides, notes=(unlocks,) if unlocks else ())
    problems = lacking(expert)
    variants = ", ".join(f"{name}:{variant}" for variant in getattr(expert, "variants", ()))
    notes = [
        unlocks,
        f"licence: {licence_of(expert)}",
        "" if getattr(expert, "commercial_ok", True) else "runs only with --allow-noncommercial",
        f"imports: {', '.join(f'{p.module} ({p.licence})' for p in packages)}" if packages else "",
        f"kept out: {_KEPT_OUT[name]}" if name in _KEPT_OUT else "",
        _device(),
        f"variants: {variants}" if variants else "",
        *(f"unproven: {what}" for what in (*getattr(expert, "unproven", ()), *_unpinned(expert))),
        *(f"missing: {problem.cause}" for problem in problems),
    ]
    return Finding(
        what=f"expert {name}",
        state="optional" if problems else "works",
        detail=provides,
        remedy=" && ".join(_of_this_python(problem.remedy) for problem in problems),
        notes=tuple(note for note in notes if note),
    )


def _unpinned(expert: "Expert") -> Iterator[str]:
    """Weights of any variant without a hash that two public records agree on."""
    from experts.checkpoints.weights import WEIGHTS

    makes: Any = type(expert)
    each = [expert, *(makes(variant=variant) for variant in getattr(expert, "variants", ()))]
    for name in sorted({name for one in each for name in getattr(one, "weight_names", ()) if name in WEIGHTS}):
        if files := [file.name for file in WEIGHTS[name].files if file.sha256 is None]:
            yield f"sha256 of {', '.join(files)} of {name}: the first fetch pins what it receives"


def _device() -> str:
    """The default device of models; empty if there is none."""
    from experts.runtime.device import place

    if find_spec("torch") is None:
        return ""
    placement = place()
    return f"runs on: {placement.device}, {placement.dtype}"


def _of_this_python(command: str) -> str:
    """Another pip may be first on the path."""
    return " && ".join(re.sub(r"^pip ", f"{sys.executable} -m pip ", part) for part in command.split(" && "))


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


def _viewer() -> Finding:
    if find_spec("rerun") is not None:
        return Finding(what="rerun-sdk", state="works", detail=_version("rerun-sdk"))
    return Finding(
        what="rerun-sdk",
        state="optional",
        detail="not installed; only view uses it",
        remedy="pip install -e '.[view]'",
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
