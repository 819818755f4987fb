"""Checks types and array shapes of our geometry while tests run; long tests run when they are asked for."""

import gc
import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import jaxtyping
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

from tests.array_types import EVERY_CALL, checked, count_again

settings.register_profile("any load", settings.get_profile(settings.get_current_profile_name()), deadline=None)
settings.load_profile("any load")

os.fsync = lambda file: None  # waiting for the disk is a sixteenth of the time, and no test cuts the power

ROOT = Path(__file__).parents[1]


def modules_with_array_shapes() -> list[str]:
    """Names of our modules that annotate arrays; mypy checks the types of the others."""
    packages = ("experts", "action_mapping", "templates", "spatial_engine")
    paths = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    shaped = [path for path in paths if "from jaxtyping" in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in shaped]


# Not the command-line option: jaxtyping 0.3 cuts its list at the first comma once the checker takes arguments.
jaxtyping.jaxtyped = checked  # what the hook applies to each function and class
install_import_hook(modules_with_array_shapes(), None)

PASSED = "long/passed"
"""Key of pytest's cache: the long tests that passed, by id, with the hash of the sources that they passed on."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long", choices=("none", "sample", "all"), default="none",
        help="tests marked long: none, their fixed sample, or all but those that already passed on these sources",
    )  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported stays until the end: the garbage collector does not look at it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps the short tests, or of the long ones what `--long` names."""
    which, long = config.getoption("--long"), [item for item in items if item.get_closest_marker("long")]
    if which == "none":
        kept = [item for item in items if not item.get_closest_marker("long")]
    elif which == "sample":
        kept = [item for item in long if any(mark.kwargs.get("sample") for mark in item.iter_markers("long"))]
    else:
        passed, sources = config.cache.get(PASSED, {}) if hasattr(config, "cache") else {}, _sources()
        kept = [item for item in long if passed.get(item.nodeid) != sources]
    config.hook.pytest_deselected(items=list(set(items) - set(kept)))
    items[:] = kept
    for item in kept:
        if isinstance(item, pytest.Function) and _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(ROOT).as_posix()))


def _shares(item: pytest.Function) -> bool:
    """Whether a fixture of ours, or what a function of the file remembers (`functools.cache`), serves several tests of
    the file: in one process it is made once."""
    if item.get_closest_marker("xdist_group") is not None:
        return False
    used = [fixture for found in item._fixtureinfo.name2fixturedefs.values() for fixture in found if fixture.baseid]
    return any(fixture.scope in ("module", "session", "package") for fixture in used) or _remembers(item.module)


@cache
def _remembers(module: ModuleType) -> bool:
    return any(hasattr(own, "cache_info") and own.__module__ == module.__name__ for own in vars(module).values())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """In each file types are checked anew."""
    global _file
    if item.path != _file:
        _file = item.path
        count_again()


_file: Path | None = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> Iterator[None]:
    yield
    if _config is not None and report.when == "call" and report.passed and "long" in report.keywords:
        _config.cache.set(PASSED, _config.cache.get(PASSED, {}) | {report.nodeid: _sources()})


_config: pytest.Config | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that collects the reports remembers them, not each worker, and none without pytest's cache; a
    full run checks every call."""
    global _config
    if config.getoption("--long") == "all":
        EVERY_CALL.set()
    _config = config if hasattr(config, "cache") and not hasattr(config, "workerinput") else None


@cache
def _sources() -> str:
    """Hash of all code that a test of this run may rest on."""
    digest = hashlib.sha256()
    for folder in ("experts", "action_mapping", "templates", "spatial_engine", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
