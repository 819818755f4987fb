"""OUT/benchmarks.md and benchmarks.json: all models on all benchmarks, beside chance and people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from spatial_engine.atomic_file import atomic_file, read_json, write_json
from spatial_engine.evaluation.benchmarks.benchmark import Benchmark
from spatial_engine.evaluation.benchmarks.registry import BENCHMARKS, benchmark_of
from spatial_engine.evaluation.result import CAPABILITIES, METHOD, Capability
from spatial_engine.evaluation.runs import RESERVED, RESULT, finished_runs
from templates.columns import Json

CHANCE, HUMAN = "chance", "human"
_GUESSES = "random"
"""The baseline whose scores are chance."""
_NOTES = """
Of each benchmark its own metric, in brackets the chance-adjusted accuracy of its choices (`*`: only a part of the items
was asked). By capability: the mean over benchmarks of the mean score of the items that test it; circular scores of
choices likewise. chance: a uniform guess. Time-outs count as wrong.
"""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run on one benchmark."""

    metric: float | None
    """The benchmark's own; our accuracy where it has none."""
    chance_adjusted: float | None
    whole: bool
    """Whether all its items were asked."""
    capabilities: Mapping[Capability, float]
    soft: float | None
    """Circular evaluation: share of presentations answered right; None without it."""
    hard: float | None
    """Share of choices answered right in all their presentations."""
    timed_out: int
    input_tokens: float
    output_tokens: float
    cost: float | None


def write_table(out: Path) -> Path:
    """Writes both files from the results of the runs in OUT; returns benchmarks.md."""
    found = {name: _cells(out / name) for name in _known(out)}
    titles = {name: benchmark_of(name) for name in found}
    rows = _rows(found)
    write_json(out / "benchmarks.json", _record(titles, rows))
    with atomic_file(out / "benchmarks.md") as temporary:
        temporary.write_text(_markdown(titles, rows), encoding="utf-8")
    return out / "benchmarks.md"


def _known(out: Path) -> list[str]:
    """The benchmarks with results in OUT, in the order of the registry."""
    return [name for name in BENCHMARKS.targets() if (out / name / "items" / "audit.json").is_file()]


def _cells(folder: Path) -> dict[str, Cell]:
    """By run; the baseline of guesses is chance, others are left out."""
    total = read_json(folder / "items" / "audit.json")["questions"]
    shown = [run for run in finished_runs(folder) if run.name not in RESERVED or run.name == _GUESSES]
    results = {CHANCE if run.name == _GUESSES else run.name: _result(run.path / RESULT) for run in shown}
    return {name: _cell(found, total) for name, found in results.items() if found is not None}


def _result(file: Path) -> dict[str, Json] | None:
    """The results of a run; None where it has none yet, or those of another version."""
    if not file.is_file():
        return None
    found: dict[str, Json] = read_json(file)
    return found if found.get("method") == METHOD else None


def _cell(result: Mapping[str, Json], total: int) -> Cell:
    published, usage, circular = result["published"], result["usage"], result["circular"] or {}
    tokens = {kind: (usage[kind] or {"sum": 0})["sum"] for kind in ("input_tokens", "output_tokens")}
    return Cell(
        metric=published["score"] if published else result["overall"]["score"],
        chance_adjusted=result["overall"]["chance_adjusted"],
        whole=result["overall"]["items"] == total,
        capabilities={tag: result["levels"][tag]["score"] for tag in CAPABILITIES if tag in result["levels"]},
        soft=circular.get("soft"),
        hard=circular.get("hard"),
        timed_out=result["statuses"]["timed_out"],
        cost=usage["cost"]["amount"] if usage["cost"] else None,
        **tokens,
    )


def _rows(found: Mapping[str, Mapping[str, Cell]]) -> dict[str, dict[str, Cell]]:
    """Cells by run and benchmark: models by their mean metric, chance last."""
    names = {name for cells in found.values() for name in cells}
    rows = {name: {key: cells[name] for key, cells in found.items() if name in cells} for name in names}
    return dict(sorted(rows.items(), key=lambda row: (row[0] == CHANCE, -_mean_metric(row[1]), row[0])))


def _mean_metric(cells: Mapping[str, Cell]) -> float:
    return fmean([cell.metric or 0.0 for cell in cells.values()])


def _by_capability(cells: Mapping[str, Cell], tag: Capability) -> float | None:
    return _mean(cell.capabilities.get(tag) for cell in cells.values())


def _mean(values: Iterable[float | None]) -> float | None:
    """Of those that are there."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _record(titles: Mapping[str, Benchmark], rows: Mapping[str, Mapping[str, Cell]]) -> dict[str, Json]:
    return {
        "benchmarks": {
            name: {"title": benchmark.title, "human": None if benchmark.human is None else vars(benchmark.human)}
            for name, benchmark in titles.items()
        },
        "runs": {
            name: {
                "benchmarks": {key: vars(cell) for key, cell in cells.items()},
                "capabilities": {tag: _by_capability(cells, tag) for tag in CAPABILITIES},
            }
            for name, cells in rows.items()
        },
    }


def _markdown(titles: Mapping[str, Benchmark], rows: Mapping[str, Mapping[str, Cell]]) -> str:
    head: list[str] = ["", *(benchmark.title for benchmark in titles.values()), *CAPABILITIES]
    head += ["circular soft", "hard", "time-outs", "tokens in", "tokens out", "cost"]
    lines: list[Sequence[str]] = [head, ["---", *["--:"] * (len(head) - 1)]]
    lines += [_line(name, cells, titles) for name, cells in rows.items()]
    if people := {name: benchmark.human for name, benchmark in titles.items() if benchmark.human}:
        told = [f"{people[name].score:.3f}" if name in people else "" for name in titles]
        lines.insert(-1 if CHANCE in rows else len(lines), [HUMAN, *told, *[""] * (len(head) - 1 - len(told))])
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    legend = ", ".join(f"{tag}: {words.lower()}" for tag, words in CAPABILITIES.items())
    sources = [f"{titles[name].title}: {human.source}." for name, human in people.items()]
    return "\n".join([text, _NOTES, f"{legend}.", *(["", f"{HUMAN}: {' '.join(sources)}"] if sources else []), ""])


def _line(name: str, cells: Mapping[str, Cell], titles: Mapping[str, Benchmark]) -> Sequence[str]:
    shown = [_shown_cell(cells[key]) if key in cells else "" for key in titles]
    means = [_by_capability(cells, tag) for tag in CAPABILITIES]
    means += [_mean(cell.soft for cell in cells.values()), _mean(cell.hard for cell in cells.values())]
    shown += map(_shown, means)
    if name == CHANCE:
        return [name, *shown, "", "", "", ""]
    costs = [cell.cost for cell in cells.values() if cell.cost is not None]
    sums = [sum(cell.timed_out for cell in cells.values())]
    sums += [round(sum(getattr(cell, kind) for cell in cells.values())) for kind in ("input_tokens", "output_tokens")]
    return [name, *shown, *map(str, sums), f"{sum(costs):.2f}" if costs else ""]


def _shown_cell(cell: Cell) -> str:
    adjusted = "" if cell.chance_adjusted is None else f" ({cell.chance_adjusted:.3f})"
    return f"{_shown(cell.metric) or '-'}{'' if cell.whole else '*'}{adjusted}"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
