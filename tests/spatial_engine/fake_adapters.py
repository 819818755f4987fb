"""Adapters of models that are none: their packages, weights and environments can be made to be missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from experts.clip import Clip
from experts.expert import SetupProblem
from experts.runtime.device import Placement
from experts.runtime.model_expert import ModelExpert, Package
from experts.signals import Gravity, NoEstimate, Signal, Signals
from tests.spatial_engine.fake_experts import FakeSettings


class FakeAdapter(ModelExpert):
    """Provides gravity; its model is the words that it was built from."""

    name: ClassVar[str] = "fake_adapter"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"gravity"})
    needs: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[frozenset[str]] = frozenset()
    variants: ClassVar[tuple[str, ...]] = ("free", "bound")
    packages: ClassVar[tuple[Package, ...]] = ()

    def __init__(self, variant: str = "free") -> None:
        self.weight_names = ("da3-base",) if variant == "free" else ("da3-giant-1.1",)
        self.settings = FakeSettings()

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> Any:
        return f"{files and dict(files)} on {placement.device}"

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        n = len(clip.frames)
        up_cam = np.tile([0.0, -1.0, 0.0], (n, 1))
        gravity = Gravity(
            frames=clip.frames, up_cam=up_cam, sigma_rad=np.full(n, 0.1), decided_by=self.name,
            provenance=self.provenance(),
        )  # fmt: skip
        return {"gravity": gravity}


class BoundCode(FakeAdapter):
    """The code itself forbids commercial use."""

    name: ClassVar[str] = "bound_code"
    code_licence: ClassVar[str] = "CC-BY-NC-4.0"
    code_commercial_ok: ClassVar[bool] = False


class Unpacked(FakeAdapter):
    """Imports what is not there."""

    name: ClassVar[str] = "unpacked"
    packages: ClassVar[tuple[Package, ...]] = (
        Package(module="no_such_package.part", install="pip install no-such-package", licence="MIT"),
    )


class Elsewhere(FakeAdapter):
    """Runs in an environment of its own that is not there."""

    name: ClassVar[str] = "elsewhere"

    def environment(self) -> None:
        raise SetupProblem("elsewhere runs in an environment of its own", "export SPATIAL_ENGINE_PYTHON_ELSEWHERE=...")
