"""The options of `adjudicate`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked


@dataclass(frozen=True, kw_only=True)
class AdjudicateOptions(Checked):
    """Which questions an annotator judges, and where the page is served. Raises `UsageError`."""

    annotator: Annotated[str | None, Doc('Name of the annotator; by default "me".')] = None
    port: Annotated[int, Doc("Port of the page on this machine; 0: any free one.")] = 8766
    sample: Annotated[int | None, Doc("Judge this many questions, drawn at random.")] = None
    seed: Annotated[int, Doc("Seed of the draw and of the order; give all annotators the same.")] = 0
    leaf: Annotated[str | Sequence[str] | None, Doc("Levels, branches or leaves to judge, such as L1/Motion,L2.")] = (
        None
    )
    disagreements: Annotated[
        bool, Doc("List the questions on which annotators disagree; with --annotator, judge them as a third annotator.")
    ] = False
    items: Annotated[bool, Doc("Judge what other annotators corrected or wrote.")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.port <= 65535:
            raise UsageError(f"--port {self.port}", "give a port from 0 to 65535")
        if self.sample is not None and self.sample < 1:
            raise UsageError(f"--sample {self.sample}", "give at least 1")
