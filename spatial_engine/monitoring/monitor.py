"""Follows a run: says the seconds of its stages at its end, and keeps its log and its state for the status page.

    STATUS/index.html           the page
    STATUS/annotate 2-of-8.json     the state of a run, from which the page is made
    STATUS/annotate 2-of-8.jsonl    its log: one event a line; a run that is repeated is appended

Runs that share the folder, of any machine, appear on one page.
"""

import json
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import spatial_engine
from spatial_engine.atomic_file import one_writer, write_json
from spatial_engine.errors import BusyError, Interrupted
from spatial_engine.monitoring.profiling import profiled
from spatial_engine.monitoring.status_page import write_status_page
from spatial_engine.monitoring.tally import Tally
from spatial_engine.options import MonitoringOptions, Shard
from spatial_engine.progress import Progress

_EVERY_S = 2.0
"""Least time between two pages."""
_SHARE = 50
"""A page is written again after this many times the seconds that writing it took: thousands of shards slow no run."""


_WHOLE = Shard()


@contextmanager
def monitored(
    progress: Progress, options: MonitoringOptions, command: str, target: Path, shard: Shard = _WHOLE
) -> Iterator[Progress]:
    """The progress of a run, followed as the options say. Within a run that is followed already, that run's."""
    if isinstance(progress, Monitor):
        yield progress
        return
    name = command if shard.count == 1 else f"{command} {shard.file_name}"
    with ExitStack() as held:
        held.enter_context(profiled(None if options.profile is None else Path(options.profile)))
        files = None if options.status is None else _run_files(Path(options.status), name, held)
        monitor = Monitor(progress, files, {"command": command, "target": str(target), "shard": str(shard)})
        try:
            yield monitor
        except BaseException as error:
            if isinstance(error, Interrupted | KeyboardInterrupt):
                monitor.end("stopped", getattr(error, "remedy", ""))
            else:
                monitor.end("failed", str(error))
            raise
        monitor.end("done")


class Monitor:
    """A progress that keeps account of what it hears, and passes it on."""

    def __init__(
        self,
        shown: Progress,
        files: Path | None,
        about: dict[str, str],
        *,
        clock: Callable[[], float] = time.monotonic,
        date: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`files`: path of the state file and the log, without their suffixes; None: nothing is written."""
        self._shown, self._files, self._clock, self._date = shown, files, clock, date
        self._about = about | {"host": platform.node(), "version": spatial_engine.__version__, "began": self._now()}
        self._tally, self._doing = Tally(), ""
        self._next_page_s = clock()
        self._event("run", **self._about)
        self._show("running")

    def say(self, line: str) -> None:
        """Logged."""
        self._event("message", text=line)
        self._shown.say(line)

    def begin(self, what: str, total: int) -> None:
        """Begins a stage."""
        self._tally.begin(what, total, self._clock())
        self._event("stage", stage=what, total=total)
        self._shown.begin(what, total)
        self._show("running")

    def step(self, name: str, outcome: str) -> None:
        """Counted and logged."""
        self._tally.step(name, outcome, self._clock())
        self._event("item", name=name, outcome=outcome)
        self._shown.step(name, outcome)
        self._show("running")

    def part(self, name: str, doing: str, outcome: str, seconds: float) -> None:
        """Counted and logged."""
        self._tally.part(doing, seconds)
        self._event("part", name=name, part=doing, outcome=outcome, seconds=round(seconds, 3))
        self._shown.part(name, doing, outcome, seconds)

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        """Shown on the page."""
        self._doing = f"{name}: {doing}"
        self._shown.stage(name, doing, done, total)
        self._show("running")

    def left(self, seconds: float) -> None:
        """Shown on the page."""
        self._tally.left_s = seconds
        self._shown.left(seconds)

    def end(self, state: str, reason: str = "") -> None:
        """Says the seconds of the stages; the last page."""
        self._tally.at(self._clock())
        self._tally.left_s, self._doing, self._next_page_s = None, "", 0.0
        self._show(state, reason)
        self._event("end", state=state, reason=reason, stages=[stage.to_json() for stage in self._tally.stages])
        if self._tally.summary and state == "done":
            self._shown.say(f"seconds: {self._tally.summary}")

    def _now(self) -> str:
        return self._date().isoformat(sep=" ", timespec="milliseconds")

    def _event(self, event: str, **what: Any) -> None:
        if self._files is None:
            return
        line = json.dumps({"time": self._now(), "event": event, "shard": self._about["shard"]} | what)
        with self._files.with_name(f"{self._files.name}.jsonl").open("a", encoding="utf-8") as log:
            log.write(line + "\n")

    def _show(self, state: str, reason: str = "") -> None:
        """Writes state and page, unless that was a moment ago."""
        began_s = self._clock()
        if self._files is None or began_s < self._next_page_s:
            return
        self._tally.at(began_s)
        record = self._about | {
            "state": state,
            "reason": reason,
            "updated": self._now(),
            "doing": self._doing,
            "left_s": self._tally.left_s,
            "stages": [stage.to_json() for stage in self._tally.stages],
            "failures": self._tally.failures,
        }
        write_json(self._files.with_name(f"{self._files.name}.json"), record)
        write_status_page(self._files.parent)
        self._next_page_s = self._clock() + max(_EVERY_S, _SHARE * (self._clock() - began_s))


def _run_files(folder: Path, name: str, held: ExitStack) -> Path:
    """A name for the files of a run that no other run uses until `held` ends: "annotate", "annotate+2", ..."""
    for number in count(1):
        files = folder / (name if number == 1 else f"{name}+{number}")
        with suppress(BusyError):
            held.enter_context(one_writer(files))
            return files
    raise AssertionError
