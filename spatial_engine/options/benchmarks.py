"""The options of other people's benchmarks."""

from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.options.checked import Checked, StrPath
from spatial_engine.options.evaluation import at_least_one


@dataclass(frozen=True, kw_only=True)
class BenchmarkOptions(Checked):
    """Which published benchmark a local copy holds, and how it is read. Raises `UsageError`."""

    benchmark: Annotated[
        str, Doc("Name of the benchmark that DATASET is a local copy of: vsi_bench, ... (docs/benchmarks.md).")
    ] = ""
    frames: Annotated[
        int, Doc("Of --benchmark: how many frames of a video are shown; published runs use 16 or 32.")
    ] = 32
    columns: Annotated[
        tuple[str, ...], Doc("Of --benchmark: columns that are named otherwise, as FIELD=COLUMN,...")
    ] = ()
    media: Annotated[
        StrPath | None, Doc("Of --benchmark: folder of its pictures and videos; by default that of its tables.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least_one("frames", self.frames)
