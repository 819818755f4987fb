"""How a long run shows itself: a bar with rate and time left on a terminal, plain lines elsewhere."""

from typing import Protocol, runtime_checkable

from rich.console import Console


def console() -> Console:
    """Standard output, without colours of rich's own choice."""
    return Console(highlight=False)


@runtime_checkable
class Progress(Protocol):
    """What the pipeline tells while it works."""

    def say(self, line: str) -> None:
        """Something that the user should read."""
        ...

    def begin(self, what: str, total: int) -> None:
        """`total` pieces of work of one kind start ("annotating")."""
        ...

    def step(self, name: str, outcome: str) -> None:
        """One piece is finished."""
        ...


class Silent:
    """Shows nothing."""

    def say(self, line: str) -> None:
        """Ignored."""

    def begin(self, what: str, total: int) -> None:
        """Ignored."""

    def step(self, name: str, outcome: str) -> None:
        """Ignored."""


class Lines:
    """One line per finished piece, for logs and pipes."""

    def __init__(self) -> None:
        self._what, self._total, self._done = "", 0, 0

    def say(self, line: str) -> None:
        """Prints it."""
        print(printable(line), flush=True)

    def begin(self, what: str, total: int) -> None:
        """Starts counting."""
        self._what, self._total, self._done = what, total, 0

    def step(self, name: str, outcome: str) -> None:
        """Prints "annotating 3/12: name: outcome"."""
        self._done += 1
        self.say(f"{self._what} {self._done}/{self._total}: {name}: {outcome}")

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""


class Shares:
    """Few lines on standard error: one for each twentieth of the work, however many pieces it has."""

    def __init__(self) -> None:
        self._what, self._total, self._done, self._troubled = "", 0, 0, 0

    def say(self, line: str) -> None:
        """Prints it."""
        import sys

        print(printable(line), file=sys.stderr, flush=True)

    def begin(self, what: str, total: int) -> None:
        """Starts counting."""
        self._what, self._total, self._done, self._troubled = what, total, 0, 0

    def step(self, name: str, outcome: str) -> None:
        """Prints "asking 150/3000 (5 %), 2 in trouble", where another twentieth is full."""
        self._done += 1
        self._troubled += _in_trouble(outcome)
        total = max(1, self._total)
        if 20 * self._done // total > 20 * (self._done - 1) // total:
            trouble = f", {self._troubled} in trouble" if self._troubled else ""
            self.say(f"{self._what} {self._done}/{total} ({100 * self._done // total} %){trouble}")

    def __enter__(self) -> "Shares":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""


class Bar:
    """A rich bar with rate and time left, on standard output or standard error."""

    def __init__(self, *, stderr: bool = False) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as RichProgress

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        rate = TextColumn("{task.fields[rate]}")
        timing = (rate, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        self._bar = RichProgress(*columns, *timing, console=Console(stderr=True) if stderr else None)
        self._task = self._bar.add_task("", total=None, visible=False, rate="")

    def say(self, line: str) -> None:
        """Prints above the bar. Markup in user's names stays text."""
        self._bar.console.print(printable(line), markup=False, highlight=False)

    def begin(self, what: str, total: int) -> None:
        """Resets the bar."""
        self._bar.reset(self._task, description=what, total=total, visible=total > 0, rate="")

    def step(self, name: str, outcome: str) -> None:
        """Advances the bar; prints what is not plain success."""
        self._bar.advance(self._task)
        task = self._bar.tasks[0]
        per_minute = 60 * task.completed / task.elapsed if task.elapsed else 0.0
        self._bar.update(self._task, rate=f"{per_minute:.1f}/min")
        if _in_trouble(outcome):
            self.say(f"{name}: {outcome}")

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
    """For many short pieces, on standard error: what the command is asked for stands alone on standard output."""
    import sys

    return Bar(stderr=True) if sys.stderr.isatty() else Shares()


def _in_trouble(outcome: str) -> bool:
    """Whether that is more than plain success."""
    return bool(outcome) and not outcome.startswith(("done", "already done"))


def printable(text: str) -> str:
    """One line that any terminal can show: control characters and lone surrogates are escaped."""
    safe = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in safe)


def counted(number: int, noun: str) -> str:
    """A number and its noun: "1 clip", "3 clips"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
