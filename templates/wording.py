"""What a template says: instructions, prompts and texts of options, from a TOML file beside its module."""

import inspect
import string
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from templates.columns import Json

_ALLOWED = "instructions, prompts, options, placeholders"
_FIELDS = frozenset(_ALLOWED.split(", "))
REASONING = "reasoning"
"""The table of a file that holds no wording but the steps of `templates.reasoning`."""


class WordingError(ValueError):
    """A file of wordings is missing or cannot be used; the message names the file, the key and what is allowed."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """How a template asks in one format, or in one variant of it. A prompt and the instructions together are complete.

    Raises `WordingError` for prompts whose placeholders are not those declared.
    """

    instructions: str = ""
    """What is the same for every question: axes, how to count, form of the answer. It has no placeholders: braces stand
    for themselves."""
    prompts: tuple[str, ...]
    """Phrasings of the question, for `str.format`."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Text of an option by its value, where the options are closed words; else empty."""
    placeholders: tuple[str, ...] = ()
    """Names that the template fills in. Every prompt has each of them."""

    def __post_init__(self) -> None:
        for number, prompt in enumerate(self.prompts, start=1):
            if (found := placeholders(prompt)) != {*self.placeholders}:
                said, allowed = (", ".join(names) or "none" for names in (sorted(found), self.placeholders))
                raise WordingError(
                    f"prompt {number} has the placeholders {said}; it must have {allowed}, as `placeholders` "
                    f"declares: {prompt!r}"
                )

    def option(self, value: str) -> str:
        """The text of an option. Raises `WordingError`."""
        if value not in self.options:
            raise WordingError(f"the wording has no option {value!r}; it has: {', '.join(self.options) or 'none'}")
        return self.options[value]


@cache
def wordings(template: type) -> Mapping[str, Wording]:
    """The wordings of a template class by key: the format, with ".variant" where it has several ("yes_no.floor").

    Raises `WordingError`.
    """
    return read_wordings(wording_file(template))


def wording_file(template: type) -> Path:
    """`<name>.toml` in the folder of the module that defines a template class, or else one of its bases. Raises
    `WordingError`."""
    name: str = template.name  # type: ignore[attr-defined]
    folders = dict.fromkeys(Path(inspect.getfile(cls)).parent for cls in template.__mro__ if _has_file(cls))
    for folder in folders:
        if (path := folder / f"{name}.toml").is_file():
            return path
    path = next(iter(folders)) / f"{name}.toml"
    raise WordingError(f"the template {name} has no wordings: write {path}; a wheel must hold it (package data)")


def read_wordings(path: Path) -> Mapping[str, Wording]:
    """The wordings of a file by key. Raises `WordingError`."""
    content = {name: table for name, table in tables_of(path).items() if name != REASONING}
    read = {}
    for key, table in _tables(path, content):
        try:
            read[key] = _wording(table)
        except WordingError as error:
            raise WordingError(f"{path}: [{key}]: {error}") from error
    return read


def tables_of(path: Path) -> Mapping[str, Json]:
    """What a file holds. Raises `WordingError`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WordingError(f"{path}: no valid TOML: {error}") from error


def _has_file(cls: type) -> bool:
    return hasattr(inspect.getmodule(cls), "__file__")


def _tables(path: Path, content: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Json]]]:
    """(key, table) of each wording; a table that holds only tables is a group of variants."""
    for name, value in content.items():
        key = f"{prefix}{name}"
        if not isinstance(value, Mapping):
            where = f"[{prefix.rstrip('.')}]: " if prefix else ""
            allowed = _ALLOWED if prefix else "tables named after formats, such as [choice] or [yes_no.floor]"
            raise WordingError(f"{path}: {where}unknown key {name!r}; allowed: {allowed}")
        if _FIELDS & value.keys() or not value:
            yield key, value
        else:
            yield from _tables(path, value, f"{key}.")


def _wording(table: Mapping[str, Json]) -> Wording:
    if unknown := sorted(table.keys() - _FIELDS):
        raise WordingError(f"unknown key {unknown[0]!r}; allowed: {_ALLOWED}")
    instructions, options = table.get("instructions", ""), table.get("options", {})
    if not isinstance(instructions, str):
        raise WordingError("instructions must be a string")
    if not isinstance(options, Mapping) or not all(isinstance(text, str) for text in options.values()):
        raise WordingError("options must be a table of strings, the text of each option by its value")
    prompts, placeholders = _strings(table, "prompts"), _strings(table, "placeholders")
    if not prompts:
        raise WordingError("no prompts; at least one is needed")
    return Wording(instructions=instructions, prompts=prompts, options=dict(options), placeholders=placeholders)


def _strings(table: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = table.get(name, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise WordingError(f"{name} must be a list of strings that are not empty")
    return tuple(value)


def placeholders(prompt: str) -> set[str]:
    """Names of the placeholders of a sentence. Raises `WordingError` for a brace that stands alone."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(prompt) if name is not None}
    except ValueError as error:
        raise WordingError(f"{error}; write {{{{ for a brace: {prompt!r}") from error
