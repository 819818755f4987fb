"""What is written down about environments is what the adapters say: pins, commits, licences."""

import re
import tomllib
from pathlib import Path

import pytest

from experts.checkpoints.weights import WEIGHTS
from experts.registry import EXPERTS
from experts.runtime.model_expert import ModelExpert

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def adapters() -> list[type[ModelExpert]]:
    loaded = [EXPERTS.load(name) for name in EXPERTS.targets()]
    return [expert for expert in loaded if isinstance(expert, type) and issubclass(expert, ModelExpert)]


def commands() -> str:
    """All that adapters tell users to type."""
    return "\n".join(package.install for adapter in adapters() for package in adapter.packages)


def test_pinned_requirements_are_those_of_the_adapters() -> None:
    lines = [line.lstrip("# ") for line in text("requirements-experts.txt").splitlines()]
    pinned = [line for line in lines if "==" in line or "@ git+" in line]
    assert len(pinned) >= 3
    assert [line for line in pinned if line not in commands()] == []


def test_checkouts_are_those_of_the_adapters() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "experts").rglob("*.py"))
    sources += text("docs/experts.md")
    for line in re.findall(r"git checkout ([0-9a-f]{40})", text("tests/accept/README.md")):
        assert line in sources or line.startswith("d4ede77a"), "Orient Anything V1's code is not run by the adapter"
    (tracker,) = re.findall(r"checkout ([0-9a-f]{40})", text("environment-spatialtracker.yml"))
    assert tracker in text("experts/tracking/spatial_tracker.py")


def test_every_extra_is_pinned() -> None:
    extra = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]["experts"]
    names = {re.split(r"[<>=]", requirement)[0].lower() for requirement in extra}
    pins = {line.split("==")[0].lower() for line in text("constraints-experts.txt").splitlines() if "==" in line}
    core = {line.split("==")[0].lower() for line in text("constraints.txt").splitlines() if "==" in line}
    assert names <= pins | core
    assert pins & core == set(), "each package is pinned once"


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_checkpoint_is_described(name: str) -> None:
    row = next(line for line in text("docs/experts.md").splitlines() if line.startswith("|") and f"`{name}`" in line)
    assert WEIGHTS[name].licence.split(";")[0] in row
    assert ("| no: use" in row) == (not WEIGHTS[name].commercial_ok)


def test_every_expert_with_a_model_is_described() -> None:
    page = text("docs/experts.md")
    for adapter in adapters():
        assert f"`{adapter.name}" in page
        for variant in getattr(adapter, "variants", ()):
            assert f":{variant}`" in page, f"{adapter.name}:{variant}"
