"""A benchmark's local copy as a dataset of our own form: OUT/<benchmark>/items, read once."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spatial_engine.atomic_file import read_json, write_json
from spatial_engine.dataset.dataset import FORMAT_VERSION, Dataset, dataset_folder
from spatial_engine.dataset.lines import write_questions
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.benchmarks.benchmark import COLUMNS, Benchmark
from spatial_engine.evaluation.benchmarks.fields import Columns, Fields, check_columns, merged
from spatial_engine.evaluation.benchmarks.pictures import Pictures
from spatial_engine.evaluation.benchmarks.questions import question_of
from spatial_engine.evaluation.benchmarks.registry import benchmark_of
from spatial_engine.evaluation.benchmarks.rows import BrokenRow, Row, read_rows, tables
from spatial_engine.options import BenchmarkOptions
from spatial_engine.progress import Progress, Silent, counted
from templates.columns import Json
from templates.question import Question

ITEMS = "items"
_SILENT = Silent()
_EXAMPLES = 5
_MEDIA = ("videos", "images", "media")
_README = """\
# {title}

Items of {title} (arXiv {paper}), read from a local copy to be asked by `spatial-engine evaluate --benchmark {name}`.
They are the work of its authors: its licence holds, not that of this program.
"""


def prepare(path: str | Path, folder: Path, options: BenchmarkOptions, progress: Progress = _SILENT) -> Dataset:
    """The items of a benchmark as a dataset in `folder`; what is there already stays if its source is unchanged.

    Rows that cannot be asked are left out and counted by reason in its `audit.json`. Raises `UsageError` for an unknown
    name, and for files of which nothing can be asked.
    """
    name = options.benchmark
    benchmark = benchmark_of(name)
    found = tables(Path(path), benchmark.files)
    columns = merged({**COLUMNS, **benchmark.columns}, options.columns)
    source = _source(Path(path), found, options)
    if not _is_current(folder, source):
        roots = [Path(options.media)] if options.media else list(dict.fromkeys(_roots(Path(path), found)))
        reading = _Reading(benchmark, name, columns, found, options.frames)
        with dataset_folder(folder) as new:
            write_questions(new, reading.questions(Pictures(new, roots)))
            if not reading.asked:
                raise UsageError(f"{path}: no item can be asked: {reading.reasons()}", _remedy(reading.broken))
            write_json(new / "audit.json", reading.audit(source))
            readme = _README.format(title=benchmark.title, paper=benchmark.paper, name=name)
            (new / "README.md").write_text(readme, encoding="utf-8")
    dataset = Dataset.open(folder)
    _tell(dataset, benchmark, progress)
    return dataset


@dataclass
class _Reading:
    """Reads the items, and counts what is left out."""

    benchmark: Benchmark
    name: str
    columns: Columns
    tables: list[Path]
    frames: int
    asked: Counter[str] = field(default_factory=Counter)
    """Questions by format."""
    broken: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _ids: set[str] = field(default_factory=set)

    def questions(self, pictures: Pictures) -> Iterator[Question]:
        """Every item that can be asked."""
        for table in self.tables:
            checked = False
            for row in read_rows(table):
                if not row.fault and not checked:
                    check_columns(row, self.columns, self.benchmark.needed)
                    checked = True
                try:
                    question = self._question(row, pictures)
                except BrokenRow as reason:
                    self.broken[str(reason)] += 1
                    self.examples[str(reason)] += [f"{table.name}, row {row.number}"]
                    continue
                self.asked[question.format] += 1
                yield question

    def _question(self, row: Row, pictures: Pictures) -> Question:
        if row.fault:
            raise BrokenRow(row.fault)
        fields = Fields(row, self.columns)
        row_id = self._id(fields)
        question = question_of(self.benchmark, self.name, fields, row_id, pictures, self.frames)
        self._ids.add(row_id)
        return question

    def _id(self, fields: Fields) -> str:
        """The row's own id; with the name of its table where another table has the same."""
        given = fields.get("id")
        plain = str(given) if given is not None else f"{fields.row.table.stem}/{fields.row.number}"
        if plain not in self._ids:
            return plain
        longer = f"{fields.row.table.stem}/{plain}"
        if len(self.tables) == 1 or longer in self._ids:
            raise BrokenRow("an id that an earlier row has")
        return longer

    def reasons(self) -> str:
        """Why rows are left out, most frequent first, with a row each."""
        if not self.broken:
            return "there are no rows"
        return "; ".join(f"{count} × {why} ({self.examples[why][0]})" for why, count in self.broken.most_common())

    def audit(self, source: dict[str, Json]) -> dict[str, Json]:
        """`audit.json`."""
        return {
            "format_version": FORMAT_VERSION,
            "benchmark": source,
            "title": self.benchmark.title,
            "questions": self.asked.total(),
            "formats": dict(sorted(self.asked.items())),
            "refused": {self.name: dict(self.broken.most_common())},
            "examples": {why: rows[:_EXAMPLES] for why, rows in self.examples.items()},
        }


def _roots(path: Path, found: list[Path]) -> Iterator[Path]:
    """Where its media may lie: its folder, those of its tables, and the usual folders in them."""
    for folder in (path if path.is_dir() else path.parent, *(table.parent for table in found)):
        yield folder
        yield from (folder / name for name in _MEDIA if (folder / name).is_dir())


def _source(path: Path, found: list[Path], options: BenchmarkOptions) -> dict[str, Json]:
    """All on which the items depend. Times of files stand for their content."""
    stats = [(str(table.absolute()), table.stat()) for table in found]
    return {
        "name": options.benchmark,
        "path": str(path.absolute()),
        "tables": [[name, stat.st_size, stat.st_mtime_ns] for name, stat in stats],
        "frames": options.frames,
        "columns": list(options.columns),
        "media": str(options.media) if options.media else None,
    }


def _is_current(folder: Path, source: dict[str, Json]) -> bool:
    audit = folder / "audit.json"
    return audit.is_file() and read_json(audit).get("benchmark") == source


def _remedy(broken: Counter[str]) -> str:
    if any("missing" in why for why in broken):
        return "name the folder below which its pictures and videos are: --media FOLDER"
    return "is that the benchmark's own file? --columns FIELD=COLUMN names other columns (docs/benchmarks.md)"


def _tell(dataset: Dataset, benchmark: Benchmark, progress: Progress) -> None:
    audit = dataset.audit
    refused = next(iter(audit["refused"].values()))
    progress.say(f"{benchmark.title}: {counted(audit['questions'], 'item')} in {dataset.path}")
    for why, count in refused.items():
        progress.say(f"{counted(count, 'row')} left out: {why} (first: {audit['examples'][why][0]})")
