"""Experts with a model: no import before `load`, verified weights, provenance, and what is missing."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from experts.checkpoints.weights import RANDOM, WEIGHTS, identity
from experts.expert import SetupProblem
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package, lacking, missing_package
from tests.spatial_engine.fake_adapters import Elsewhere, FakeAdapter, Unpacked


@pytest.fixture(autouse=True)
def no_torch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Uses an empty weights folder and no torch."""
    monkeypatch.setenv("SPATIAL_ENGINE_WEIGHTS", str(tmp_path))
    monkeypatch.setattr("experts.runtime.model_expert.place", lambda device, dtype: Placement(device="cpu"))
    monkeypatch.setattr("experts.runtime.model_expert._seed_torch", lambda: None)


def test_random_weights_need_no_file() -> None:
    expert = FakeAdapter()
    expert.load(RANDOM)
    assert expert.model == "None on cpu"
    made_by = expert.provenance()
    assert (made_by.weights_sha256, made_by.weights_licence, made_by.sigma) == (RANDOM, "none: random", "raw")


def test_missing_weights_are_reported_before_the_model_is_built() -> None:
    expert = FakeAdapter()
    with pytest.raises(SetupProblem, match="weights da3-base are not here") as caught:
        expert.load()
    assert caught.value.remedy == "spatial-engine weights fetch da3-base"
    assert expert.model is None


def test_the_fetch_command_of_noncommercial_weights_has_the_flag() -> None:
    with pytest.raises(SetupProblem) as caught:
        FakeAdapter("bound").load()
    assert caught.value.remedy == "spatial-engine weights fetch da3-giant-1.1 --allow-noncommercial"


def test_verified_folders_reach_the_adapter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("experts.runtime.model_expert.located", lambda name, weights: Path(weights) / name)
    expert = FakeAdapter()
    expert.load(str(tmp_path))
    assert str(tmp_path / "da3-base") in expert.model
    made_by = expert.provenance(sigma_is_raw=False)
    assert made_by.weights_sha256 == identity(("da3-base",), None) == expert.weights_identity(None)
    assert (made_by.weights_licence, made_by.commercial_ok, made_by.sigma) == ("Apache-2.0", True, "measured")


def test_weights_change_the_identity() -> None:
    assert FakeAdapter().weights_identity(None) != FakeAdapter("bound").weights_identity(None)
    assert FakeAdapter().weights_identity(RANDOM) == RANDOM


def test_models_are_built_offline() -> None:
    class Curious(FakeAdapter):
        name: ClassVar[str] = "curious"

        def build(self, files: Mapping[str, Path] | None, placement: Placement) -> Any:
            return os.environ["HF_HUB_OFFLINE"]

    expert = Curious()
    expert.load(RANDOM)
    assert expert.model == "1"


def test_closing_drops_the_model() -> None:
    expert = FakeAdapter()
    expert.load(RANDOM)
    expert.close()
    assert expert.model is None


def test_a_missing_package_comes_with_its_command() -> None:
    with pytest.raises(SetupProblem, match="is not installed") as caught:
        Unpacked().load(RANDOM)
    assert caught.value.remedy == "pip install no-such-package"
    assert missing_package((Package(module="numpy", install="", licence="BSD-3-Clause"),)) is None


def test_everything_that_is_missing_is_listed() -> None:
    causes = [problem.cause for problem in lacking(Unpacked())]
    assert causes[0] == "no_such_package.part: not installed"
    assert "weights da3-base are not here" in causes[1]
    assert lacking(FakeAdapter(), RANDOM) == []
    assert "environment of its own" in lacking(Elsewhere(), RANDOM)[0].cause


def test_commands_are_joined_where_they_can_be() -> None:
    commands = (
        "pip install a",
        "pip install --no-deps c",
        "pip install a b==1",
        'pip install "d @ git+https://x.org/d"',
    )

    class Needy(FakeAdapter):
        name: ClassVar[str] = "needy"
        packages: ClassVar[tuple[Package, ...]] = tuple(
            Package(module=f"no_such_{i}", install=command, licence="MIT") for i, command in enumerate(commands)
        )

    [problem] = lacking(Needy(), RANDOM)
    assert problem.cause == "no_such_0, no_such_1, no_such_2, no_such_3: not installed"
    assert problem.remedy == f"pip install a b==1 && {commands[1]} && {commands[3]}"


def test_registered_experts_name_their_weights_and_packages() -> None:
    """The weights of every variant are in the table, and no heavy package is imported to know them."""
    from experts.registry import EXPERTS

    before = set(sys.modules)
    for name in EXPERTS.targets():
        make = EXPERTS.load(name)
        for expert in [make(), *(make(variant=variant) for variant in getattr(make, "variants", ()))]:
            if isinstance(expert, ModelExpert):
                assert set(expert.weight_names) <= WEIGHTS.keys(), name
                assert expert.commercial_ok or expert.permissive_substitute, name
                assert all(package.install and package.licence for package in expert.packages), name
    assert not {"torch", "transformers", "depth_anything_3", "geocalib"} & (set(sys.modules) - before)
