"""What a run left behind in OUT/<run>/, be it finished, running or killed: read with patience, never refused."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from spatial_engine.evaluation.result import METHOD
from spatial_engine.evaluation.run_folder import RESULT, RUN, SCORES
from spatial_engine.evaluation.scored import ScoredItem, Status
from templates.measured import Json

_FIELDS = {field.name for field in fields(ScoredItem)}


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """One run of an evaluation, to be looked at."""

    path: Path
    record: Mapping[str, Json]
    """What `run.json` says; empty if it cannot be read."""

    @property
    def name(self) -> str:
        """The folder's name: unique in its evaluation, which a model's name need not be."""
        return self.path.name

    @property
    def baseline(self) -> bool:
        """Whether it only gives a scale: an oracle, a guesser, a model that saw no pictures."""
        return self.record.get("baseline") is True or self.record.get("blind") is True

    @property
    def dataset(self) -> Path | None:
        """Where the data set lay that was asked."""
        place = self.record.get("dataset")
        return Path(place) if isinstance(place, str) and place else None

    def scores(self) -> tuple[list[ScoredItem], int]:
        """Its scored items, and how many lines could not be read (the last one of a killed run, say)."""
        found, damaged = [], 0
        try:
            with (self.path / SCORES).open("rb") as lines:
                for line in lines:
                    item = _item(line)
                    found += [item] if item is not None else []
                    damaged += item is None
        except FileNotFoundError:
            pass
        return found, damaged

    def kept_result(self) -> dict[str, Any] | None:
        """What `result.json` says; None if there is none, or one that is older than the scores or this program."""
        file = self.path / RESULT
        try:
            if file.stat().st_mtime_ns < (self.path / SCORES).stat().st_mtime_ns:
                return None
        except OSError:
            return None
        found = _record(file)
        return found if found.get("method") == METHOD else None


def finished_runs(out: Path) -> list[FinishedRun]:
    """All runs of an evaluation folder, by name. A run is a folder with a `run.json` in it."""
    if not out.is_dir():
        return []
    return [FinishedRun(path=path, record=_record(path / RUN)) for path in sorted(out.iterdir()) if _is_run(path)]


def _is_run(path: Path) -> bool:
    return not path.name.startswith(".") and (path / RUN).is_file()


def _record(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _item(line: bytes) -> ScoredItem | None:
    """One line, or None if it is no scored item. Keys that are not known are left."""
    try:
        record = json.loads(line)
        item = ScoredItem(**{name: record[name] for name in record if name in _FIELDS})
    except (ValueError, TypeError, RecursionError):
        return None
    words = (item.id, item.ability, item.format, item.template, item.fact_id, item.clip)
    shares = (item.score, item.chance)
    sound = (
        all(isinstance(word, str) for word in words)
        and all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares)
        and item.ability.count("/") == 2
        and item.status in get_args(Status)
    )
    return item if sound else None
