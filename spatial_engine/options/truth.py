"""Footage that is a dataset with ground truth."""

from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked, StrPath


@dataclass(frozen=True, kw_only=True)
class TruthOptions(Checked):
    """Whether ground truth takes the place of experts. Raises `UsageError` for parts that mean nothing without it."""

    truth: Annotated[
        bool,
        Doc(
            "The footage is a dataset (docs/sequences.md): its camera paths, depth, gravity and objects are taken as "
            "they are. Point tracks are computed beside them, or what --experts names."
        ),
    ] = False
    preset: Annotated[str | None, Doc("Layout of the dataset; by default the one that fits.")] = None
    manifest: Annotated[StrPath | None, Doc("A sequence.yaml elsewhere; its paths are relative to the footage.")] = None
    only: Annotated[str, Doc("Sequences of these names: scene-0061/*.")] = "*"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.truth and (self.preset, self.manifest, self.only) != (None, None, "*"):
            raise UsageError("--preset, --manifest and --only name ground truth", "add --truth")
