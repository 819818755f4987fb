"""Progress of a long run: a bar with rate and remaining time on a terminal, plain lines elsewhere."""

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import TaskID

_HEARTBEAT_S = 30.0
"""Longest time without a line."""


def console() -> Console:
    """Standard output without automatic highlighting."""
    return Console(highlight=False)


@runtime_checkable
class Progress(Protocol):
    """Receives the progress of a run."""

    def say(self, line: str) -> None:
        """Takes a message for the user."""
        ...

    def begin(self, what: str, total: int) -> None:
        """Starts `total` items of one kind of work ("annotating")."""
        ...

    def step(self, name: str, outcome: str) -> None:
        """Finishes one item."""
        ...

    def part(self, name: str, doing: str, outcome: str, seconds: float) -> None:
        """Takes the outcome of a finished part of an item ("colmap") and its seconds."""
        ...

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        """Takes the current stage of an item ("colmap"), and how many of its frames are read."""
        ...

    def left(self, seconds: float) -> None:
        """Takes the expected time of all remaining items."""
        ...


class Silent:
    """Shows nothing."""

    def say(self, line: str) -> None:
        """Ignored."""

    def begin(self, what: str, total: int) -> None:
        """Ignored."""

    def step(self, name: str, outcome: str) -> None:
        """Ignored."""

    def part(self, name: str, doing: str, outcome: str, seconds: float) -> None:
        """Ignored."""

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        """Ignored."""

    def left(self, seconds: float) -> None:
        """Ignored."""


class Lines(Silent):
    """For logs: one line per finished item with the time since the start, and one every half minute in between."""

    def __init__(self) -> None:
        self._what, self._total, self._done = "", 0, 0
        self._began_s = self._said_s = time.monotonic()
        self._left = ""

    def say(self, line: str) -> None:
        """Prints it."""
        print(printable(line), flush=True)

    def begin(self, what: str, total: int) -> None:
        """Starts counting."""
        self._what, self._total, self._done, self._left = what, total, 0, ""

    def step(self, name: str, outcome: str) -> None:
        """Prints "0:01:40 annotating 3/12: name: outcome; about 2 min left"."""
        self._done += 1
        self._say_now(f"{self._done}/{self._total}: {name}: {outcome}", self._left if self._done < self._total else "")

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        """Prints "0:02:10 annotating 3/12: name: colmap, frame 120 of 900; about 2 min left" now and then."""
        if time.monotonic() - self._said_s >= _HEARTBEAT_S:
            frames = f", frame {done} of {total}" if done else ""
            self._say_now(f"{self._done}/{self._total}: {name}: {doing}{frames}", self._left)

    def left(self, seconds: float) -> None:
        """For the next line."""
        self._left = f"; about {duration(seconds)} left"

    def _say_now(self, line: str, left: str) -> None:
        self._said_s = time.monotonic()
        since = timedelta(seconds=int(self._said_s - self._began_s))
        self.say(f"{since} {self._what} {line}{left}")

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""


class Shares(Silent):
    """Few lines on standard error: one for each twentieth of the work."""

    def __init__(self) -> None:
        self._what, self._total, self._done, self._unsuccessful = "", 0, 0, 0

    def say(self, line: str) -> None:
        """Prints it."""
        import sys

        print(printable(line), file=sys.stderr, flush=True)

    def begin(self, what: str, total: int) -> None:
        """Starts counting."""
        self._what, self._total, self._done, self._unsuccessful = what, total, 0, 0

    def step(self, name: str, outcome: str) -> None:
        """Prints "asking 150/3000 (5 %), 2 unsuccessful" after each twentieth."""
        self._done += 1
        self._unsuccessful += in_trouble(outcome)
        total = max(1, self._total)
        if 20 * self._done // total > 20 * (self._done - 1) // total:
            failed = f", {self._unsuccessful} unsuccessful" if self._unsuccessful else ""
            self.say(f"{self._what} {self._done}/{total} ({100 * self._done // total} %){failed}")

    def __enter__(self) -> "Shares":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""


class Bar(Silent):
    """A rich bar with rate and time left, and one bar of frames for each clip at work."""

    def __init__(self, *, stderr: bool = False) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.progress import Progress as RichProgress

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        rate = TextColumn("{task.fields[rate]}")
        timing = (rate, TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
        self._bar = RichProgress(*columns, *timing, console=Console(stderr=True) if stderr else None)
        self._task = self._bar.add_task("", total=None, visible=False, rate="", left="")
        self._rich_task = {task.id: task for task in self._bar.tasks}[self._task]
        self._by_rate = True
        self._stages: dict[str, TaskID] = {}

    def say(self, line: str) -> None:
        """Prints above the bar; markup in names is not interpreted."""
        self._bar.console.print(printable(line), markup=False, highlight=False)

    def begin(self, what: str, total: int) -> None:
        """Resets the bar."""
        for name in list(self._stages):
            self._bar.remove_task(self._stages.pop(name))
        self._by_rate = True
        self._bar.reset(self._task, description=what, total=total, visible=total > 0, rate="", left="")

    def step(self, name: str, outcome: str) -> None:
        """Advances the bar; prints outcomes other than success."""
        self._bar.advance(self._task)
        task = self._rich_task
        per_minute = 60 * task.completed / task.elapsed if task.elapsed else 0.0
        self._bar.update(self._task, rate=f"{per_minute:.1f}/min")
        if self._by_rate and per_minute and task.total:  # without a forecast items count alike
            self._show_left(60 * (task.total - task.completed) / per_minute)
        if name in self._stages:
            self._bar.remove_task(self._stages.pop(name))
        if in_trouble(outcome):
            self.say(f"{name}: {outcome}")

    def stage(self, name: str, doing: str, done: int, total: int) -> None:
        """Shows a bar of frames below the main bar."""
        from rich.markup import escape

        what = escape(printable(f"  {name}: {doing}"))
        if name not in self._stages:
            self._stages[name] = self._bar.add_task(what, total=total, rate="", left="")
        self._bar.update(self._stages[name], description=what, completed=done, total=total)

    def left(self, seconds: float) -> None:
        """Shows the forecast of the run."""
        self._by_rate = False
        self._show_left(seconds)

    def _show_left(self, seconds: float) -> None:
        self._bar.update(self._task, left=f"about {duration(seconds)} left" if seconds >= 1 else "")

    def __enter__(self) -> "Bar":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves the terminal as it was."""
        self._bar.stop()


def for_terminal() -> Bar | Lines:
    """A bar on a terminal, lines elsewhere. To be used in a `with` block."""
    import sys

    return Bar() if sys.stdout.isatty() else Lines()


def for_thousands() -> Bar | Shares:
    """For many short items, on standard error, so that standard output has only the result of the command."""
    import sys

    return Bar(stderr=True) if sys.stderr.isatty() else Shares()


def duration(seconds: float) -> str:
    """A readable duration: "40 s", "12 min", "3 h 20 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def in_trouble(outcome: str) -> bool:
    """Whether the outcome is anything but success."""
    return bool(outcome) and not outcome.startswith(("done", "already done"))


def printable(text: str) -> str:
    """The text on one line, with control characters and lone surrogates escaped."""
    safe = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in safe)


def counted(number: int, noun: str) -> str:
    """A number and its noun: "1 clip", "3 clips"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
