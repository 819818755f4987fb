"""Base of experts with a trained model: packages, weights, placement, provenance, and what is missing on this
machine."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from experts.checkpoints.weights import RANDOM, WEIGHTS, identity, located, offline
from experts.expert import Expert, SetupProblem, original
from experts.provenance import Provenance
from experts.runtime.device import Placement, forget_cached, place

_TORCHVISION_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


@cache
def import_torchvision() -> Any:
    """Imports torchvision if it is installed, once per process, also beside a torch without CUDA.

    The compiled part of a packaged torchvision needs CUDA libraries. Without them two operators are missing that
    torchvision describes at import. Declaring them without a body suffices, as nothing here calls them. The result must
    be kept: the declaration lives as long.
    """
    if find_spec("torchvision") is None:
        return None
    try:
        import torchvision  # noqa: F401 - whoever imports it next finds it whole
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        return _with_declared_operators()
    return None


def _with_declared_operators() -> Any:
    import torch

    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "DEF")
    for operator in _TORCHVISION_OPERATORS:
        library.define(operator)
    import torchvision  # noqa: F401

    return library


_SEED = 0


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package that an expert imports when it loads."""

    module: str
    """Name to import."""
    install: str
    """The command that installs it."""
    licence: str
    """SPDX name of its licence."""


class ModelExpert:
    """Base class. A subclass sets the class attributes of `Expert` and those below, and defines `build` and `__call__`.
    Nothing is imported, read or downloaded before `load`."""

    name: ClassVar[str]
    version: ClassVar[str]
    packages: ClassVar[tuple[Package, ...]] = ()
    """Packages that `load` imports beyond the core dependencies."""
    code_licence: ClassVar[str] = "Apache-2.0"
    """Licence of the upstream code that runs."""
    code_commercial_ok: ClassVar[bool] = True
    unproven: ClassVar[tuple[str, ...]] = ("accuracy: no published weights have run yet",)
    """What no run has shown, for `doctor`."""
    weight_names: tuple[str, ...]
    """Names in `experts.checkpoints.weights.WEIGHTS` that `load` reads; may depend on the variant."""
    settings: Any

    model: Any = None
    """Result of `build`; None before `load`."""
    placement: Placement = Placement()
    loaded_identity: str | None = None
    """Identity of the weights in `model`; part of the provenance."""

    def build(self, files: Mapping[str, Path] | None, placement: Placement) -> Any:
        """Imports the upstream package and builds its model, in evaluation mode on the device.

        `files` maps each of `weight_names` to its verified folder; None: random weights.
        """
        raise NotImplementedError

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """See `Expert.load`."""
        if problem := missing_package(self.packages):
            raise problem
        self.placement = place(device, dtype)
        files = None if weights == RANDOM else {name: located(name, weights) for name in self.weight_names}
        import_torchvision()
        _seed_torch()
        with offline():
            self.model = self.build(files, self.placement)
        self.loaded_identity = self.weights_identity(weights)

    def close(self) -> None:
        """Drops the model and frees its memory."""
        self.model = None
        forget_cached()

    def __getstate__(self) -> dict[str, Any]:
        """Without the model: each process loads its own."""
        return vars(self) | {"model": None}

    def weights_identity(self, weights: str | None) -> str | None:
        """See `experts.expert.weights_identity`."""
        return RANDOM if weights == RANDOM else identity(self.weight_names, weights)

    @property
    def weights_licence(self) -> str | None:
        """Licences of all its weights, as text."""
        return ", ".join(sorted({WEIGHTS[name].licence for name in self.weight_names})) or None

    @property
    def commercial_ok(self) -> bool:
        """Whether code and weights allow commercial use."""
        return self.code_commercial_ok and all(WEIGHTS[name].commercial_ok for name in self.weight_names)

    @property
    def permissive_substitute(self) -> str:
        """The expert to use instead where commercial use must be allowed."""
        return next((WEIGHTS[n].instead for n in self.weight_names if not WEIGHTS[n].commercial_ok), "")

    def provenance(self, *, sigma_is_raw: bool = True) -> Provenance:
        """Provenance of this expert's signals, with the loaded weights."""
        return Provenance(
            expert=self.name,
            version=self.version,
            settings=asdict(self.settings),
            seed=_SEED,
            code_licence=self.code_licence,
            weights_sha256=self.loaded_identity,
            weights_licence=self.weights_licence if self.loaded_identity != RANDOM else "none: random",
            commercial_ok=self.commercial_ok,
            sigma="raw" if sigma_is_raw else "measured",
        )


def missing_package(packages: tuple[Package, ...]) -> SetupProblem | None:
    """The first package that is not installed, with the command that installs it. Imports nothing."""
    for package in packages:
        if find_spec(package.module.partition(".")[0]) is None:
            return SetupProblem(f"{package.module} is not installed", package.install)
    return None


def _seed_torch() -> None:
    """Makes random weights and random draws of a network reproducible."""
    import torch

    torch.manual_seed(_SEED)


_SIMPLE = re.compile(r"pip install ((?:\w[\w.\[\]=-]* ?)+)")
"""An install command without options or quotes; several of them can be merged into one."""


def lacking(expert: Expert, weights: str | None = None) -> list[SetupProblem]:
    """Missing packages, environments and weight files, each with the command that adds it.

    `weights` as for `Expert.load`. Imports no package. Reads weight files once and caches their hashes.
    """
    return list(_lacking(original(expert), weights))


def hindrance(expert: Expert, weights: str | None = None) -> SetupProblem | None:
    """Everything that is missing as one problem with one command; None if nothing is."""
    found = lacking(expert, weights)
    if not found:
        return None
    remedies = dict.fromkeys(problem.remedy for problem in found)
    return SetupProblem("; ".join(problem.cause for problem in found), " && ".join(remedies))


def _lacking(expert: Expert, weights: str | None) -> Iterator[SetupProblem]:
    absent = [package for package in getattr(expert, "packages", ()) if missing_package((package,))]
    if absent:
        names = ", ".join(package.module for package in absent)
        yield SetupProblem(f"{names}: not installed", " && ".join(_commands(absent)))
    try:
        getattr(expert, "environment", lambda: None)()
    except SetupProblem as problem:
        yield problem
    for name in getattr(expert, "weight_names", ()) if weights != RANDOM else ():
        if name not in WEIGHTS:
            continue  # weights of a plug-in: its `load` reports what is missing
        try:
            located(name, weights)
        except SetupProblem as problem:
            yield problem


def _commands(packages: Sequence[Package]) -> list[str]:
    """Each command once. Commands without options are merged into one, which comes first."""
    commands = list(dict.fromkeys(part for package in packages for part in package.install.split(" && ")))
    simple = {command: match for command in commands if (match := _SIMPLE.fullmatch(command))}
    names = dict.fromkeys(name for match in simple.values() for name in match[1].split())
    joined = [f"pip install {' '.join(names)}"] if names else []
    return joined + [command for command in commands if command not in simple]
