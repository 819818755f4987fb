"""A dataset on disk: questions.jsonl, provenance.jsonl, media/, audit.json, cost.json, README.md. It is written whole
or not at all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.cost import COST
from spatial_engine.dataset.lines import QuestionLines, read_questions
from spatial_engine.errors import SpatialEngineError, UsageError
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.output_folder import atomic_folder, check_free, recover
from templates.columns import Json
from templates.question import Question

FORMAT_VERSION = 3
"""Version of `questions.jsonl`, `provenance.jsonl` and `audit.json`."""


PARQUET = "parquet"
"""Folder of the questions as parquet files, where the user wanted them."""
DATASET_FILES = frozenset({"questions.jsonl", "provenance.jsonl", "media", "audit.json", COST, "README.md", PARQUET})
"""What a dataset consists of."""
_AT_ONCE = 4096
"""Questions that are read at once."""
_OURS = DATASET_FILES | {"report"}


@dataclass(frozen=True)
class Dataset:
    """A finished dataset."""

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "Dataset":
        """The dataset in a folder. Raises `UsageError` if there is none, or if its format version differs."""
        _check(Path(path))
        return cls(Path(path))

    @property
    def questions(self) -> Iterator[Question]:
        """All questions, by (clip, fact, format), read one at a time. Raises `UsageError` for damaged files."""
        return read_questions(self.path)

    def table(self) -> QuestionTable:
        """All questions as columns. Raises as `questions`."""
        questions, lines = self.questions, QuestionLines(self.path)
        parts = iter(lambda: [*islice(questions, _AT_ONCE)], [])
        return QuestionTable.joined(map(QuestionTable.of, parts), read=lines)

    @property
    def audit(self) -> dict[str, Json]:
        """The content of `audit.json`."""
        return dict(read_json(self.path / "audit.json"))


@contextmanager
def dataset_folder(path: Path, *, allow_empty: bool = False) -> Iterator[Path]:
    """A new folder that becomes the dataset at `path` if the block ends without an error.

    Raises:
        UsageError: `path` holds something that is not a dataset.
        BusyError: another process writes to `path`.
        SpatialEngineError: the new dataset has no question, the one at `path` has some, and `allow_empty` is False.
    """
    with atomic_folder(path, _OURS, _check) as folder:
        yield folder
        if not allow_empty and _is_empty(folder) and not _is_empty(path):
            why = sum((Counter(found) for found in Dataset(folder).audit["refused"].values()), Counter[str]())
            first = f" (most often: {why.most_common(1)[0][0]})" if why else ""
            cause = f"nothing can be asked{first}; {path} keeps its questions"
            raise SpatialEngineError(cause, "--allow-empty replaces them by an empty dataset")


def _is_empty(folder: Path) -> bool:
    questions = folder / "questions.jsonl"
    return not questions.is_file() or questions.stat().st_size == 0


def check_target(path: str | Path) -> None:
    """Raises `UsageError` if `write_dataset` would refuse `path`: to be called before the work."""
    check_free(Path(path), _check)


def _check(path: Path) -> None:
    """Raises `UsageError` unless `path` holds a dataset of this format."""
    recover(path)
    if not path.exists():
        raise UsageError(f"{path} is not a dataset: there is nothing at that path", "check the path")
    try:
        version = read_json(path / "audit.json")["format_version"]
    except (OSError, ValueError, TypeError, KeyError):
        if (path / "store.json").is_file():
            remedy = f"spatial-engine generate {path} -o DATASET makes one of it"
            raise UsageError(f"{path} is a store, not a dataset", remedy) from None
        raise UsageError(
            f"{path} is not a dataset: it has no audit.json that names a format version",
            "name a dataset made by `spatial-engine generate`; to make one, a folder that does not exist yet",
        ) from None
    anew = "make it again into a new folder: spatial-engine generate STORE -o NEW_DATASET"
    if version != FORMAT_VERSION:
        raise UsageError(
            f"{path} is a dataset of format {version}; this version reads and replaces format {FORMAT_VERSION}", anew
        )
    if not (path / "questions.jsonl").is_file():
        raise UsageError(f"{path} is a damaged dataset: its questions.jsonl is missing", anew)


def scenes_of(record: Mapping[str, Json], clip_ids: Iterable[str]) -> dict[str, str]:
    """The scene of every clip in the splits or of these ids. A clip without one in `audit.json` is its own scene."""
    clips = {*clip_ids}
    clips.update(clip for names in (record.get("splits") or {}).values() for clip in names)
    known = record.get("scenes") or {}
    return {clip: str(known.get(clip, clip)) for clip in sorted(clips)}
