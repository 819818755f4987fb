"""Which experts run, and with which weights."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked, StrPath, WorkerOptions

if TYPE_CHECKING:
    from experts.expert import Expert

_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


@dataclass(frozen=True, kw_only=True)
class WeightsFolder(Checked):
    """Where weight files lie."""

    weights_dir: Annotated[
        StrPath | None, Doc("Folder of model weights; by default the one that `spatial-engine weights list` names.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights_dir is not None and Path(self.weights_dir).is_file():
            raise UsageError(
                f"--weights-dir {self.weights_dir}: no such folder", "spatial-engine weights fetch makes it"
            )

    @property
    def folder(self) -> str | None:
        """The folder as text; None: the usual one."""
        return None if self.weights_dir is None else str(self.weights_dir)


@dataclass(frozen=True, kw_only=True)
class FetchOptions(WeightsFolder):
    """Where weights come to lie, and which licences are accepted."""

    allow_noncommercial: Annotated[bool, Doc("Accept code and weights whose licence forbids commercial use.")] = False


@dataclass(frozen=True, kw_only=True)
class ModelOptions(FetchOptions):
    """Which weights experts with models load, and where they run."""

    random_weights: Annotated[
        bool, Doc("Draw weights at random, to try the code without any download. The signals mean nothing.")
    ] = False
    device: Annotated[str, Doc("Where models run: auto, cpu, cuda, or one GPU, such as cuda:1.")] = "auto"
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"] | None,
        Doc("Precision of models; by default what the device does best."),
    ] = None
    clips_at_once: Annotated[
        int, Doc("Clips that a worker passes to a model together. More use the GPU better; results stay the same.")
    ] = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _DEVICE.fullmatch(self.device):
            raise UsageError(f"no device is called {self.device!r}", "there are: auto, cpu, cuda, cuda:0, cuda:1, ...")
        if self.random_weights and self.weights_dir is not None:
            raise UsageError("--weights-dir and --random-weights", "leave one of them out")
        if self.clips_at_once < 1:
            raise UsageError(f"--clips-at-once {self.clips_at_once}", "give at least 1")

    @property
    def weights(self) -> str | None:
        """As `Expert.load` takes it: a folder, "random", or None for the usual folder."""
        return "random" if self.random_weights else self.folder


@dataclass(frozen=True, kw_only=True)
class ExpertOptions(ModelOptions, WorkerOptions):
    """Which experts run, and in how many processes. With workers, a script needs `if __name__ == "__main__":`. Each
    worker loads models of its own; several GPUs are taken in turn. Without, each of several GPUs gets a worker."""

    experts: Annotated[
        "str | Sequence[str | Expert] | None",
        Doc(
            "Experts to run: names such as klt,colmap or geocalib:distorted. +NAME adds one to the default, which is "
            "all that need no weights; -NAME takes one away; `default` stands for it. Of two experts for one signal "
            "the first provides it and the second is compared with it."
        ),
    ] = None
