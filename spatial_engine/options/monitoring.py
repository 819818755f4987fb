"""What is recorded about a run while it runs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked, StrPath


@dataclass(frozen=True, kw_only=True)
class MonitoringOptions(Checked):
    """Where a run is recorded. Nothing here changes a result. Raises `UsageError`."""

    status: Annotated[
        StrPath | None,
        Doc(
            "Keep a page of progress and failures there, index.html, and a log of events; shards may share the folder."
        ),
    ] = None
    profile: Annotated[
        StrPath | None, Doc("Write the time spent in every function there, workers included, in the format of pstats.")
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.status is not None and Path(self.status).exists() and not Path(self.status).is_dir():
            raise UsageError(f"--status {self.status} is a file", "name a folder, which need not exist yet")
        if self.profile is not None and Path(self.profile).is_dir():
            raise UsageError(f"--profile {self.profile} is a folder", "name a file, such as run.prof")
