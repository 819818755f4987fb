"""HDF5 files of EgoDex: poses of hands in a world, the task in words, a video of the same name beside each.

They do not say how far a hand is open.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from spatial_engine.errors import SetupError, UsageError
from spatial_engine.sources.episodes.stated import Episodes
from spatial_engine.sources.episodes.table import EpisodeTable, base_from_view
from spatial_engine.sources.image_groups import natural_key


def read_hands(folder: Path, stated: Episodes, pictures: str) -> Iterator[EpisodeTable]:
    """An episode per file. Raises `SetupError` without h5py, and `UsageError`."""
    try:
        import h5py  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ModuleNotFoundError as error:
        raise SetupError("h5py is not installed, and this dataset lies in HDF5 files", "pip install h5py") from error
    videos = {path.with_suffix(""): path for path in folder.glob(pictures)}
    (hand,) = stated.pose if len(stated.pose) == 1 else ("rightHand",)
    for path in sorted(folder.glob(stated.files or "**/*.hdf5"), key=natural_key):
        try:
            with h5py.File(path, "r") as file:
                poses = np.asarray(file[f"transforms/{hand}"], dtype=np.float64)
                text = file.attrs.get("llm_description", "")
        except (OSError, KeyError) as error:
            raise UsageError(f"{path} is not as EgoDex has it ({error})", "see docs/sequences.md") from error
        yield EpisodeTable(
            name=path.relative_to(folder).with_suffix("").as_posix(),
            pictures=(videos[path.with_suffix("")],) if path.with_suffix("") in videos else (),
            base_from_view=base_from_view(poses.reshape(-1, 16), stated),
            opening=np.full(len(poses), np.nan),
            instruction=text.decode() if isinstance(text, bytes) else str(text),
            step_rows=np.empty(0, dtype=np.int64),
            success=stated.success,
        )
