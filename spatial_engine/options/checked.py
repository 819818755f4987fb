"""What all options share: a chain of checks, and how a call chooses them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

from annotated_doc import Doc

from spatial_engine.errors import UsageError

StrPath = str | Path
Options = TypeVar("Options")


class Checked:
    """Ends the chain of `__post_init__` of classes that are combined below."""

    def __post_init__(self) -> None:
        """Nothing left to check."""


@dataclass(frozen=True, kw_only=True)
class WorkerOptions(Checked):
    """How many processes work."""

    workers: Annotated[
        int,
        Doc(
            "Processes that work side by side, one clip at a time each. 0: none but this one, "
            "where a crash of native code ends the run; with models on several GPUs, one for each GPU."
        ),
    ] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.workers < 0:
            raise UsageError(f"--workers {self.workers}", "give 0 or more processes")


def chosen(kind: type[Options], options: object = None, changes: dict[str, Any] | None = None) -> Options:
    """Options of a kind: the defaults, then what `options` (of this kind, or a part or a superset of it) says, then
    single fields. Raises `UsageError` for a field that there is not."""
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if unknown := sorted((changes or {}).keys() - set(known)):
        raise UsageError(f"no option is called {', '.join(unknown)}", f"there are: {', '.join(known)}")
    given = {name: getattr(options, name) for name in known if hasattr(options, name)}
    return kind(**given | (changes or {}))


def words(text: str | Sequence[Any] | None) -> list[Any] | None:
    """The words of "a,b"; of a list, its members. Raises `UsageError` where there is none."""
    if text is None:
        return None
    found = [word.strip() for word in text.split(",") if word.strip()] if isinstance(text, str) else list(text)
    if not found:
        raise UsageError(f"{text!r} names nothing", "leave the option out to take all")
    return found
