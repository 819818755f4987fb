"""What an export carries into another harness: the code of a task, and `scorer.zip`, the scorer as one importable file.

Some harnesses pin packages that conflict with this package's (lmms-eval: av<16), and a data set may be scored years
later. So an export carries the code that scores it, with `json_repair` (pure Python, MIT); beside these it needs only
numpy, scipy and jaxtyping.
"""

import ast
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import spatial_engine

NAME = "scorer.zip"
ENTRY = ("spatial_engine.scoring.own", "spatial_engine.scoring.reading", "templates.question")
_CARRIED = "json_repair"
"""A library that `scoring.reading` imports and harnesses do not have."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal code, equal bytes
_ROOT = Path(str(spatial_engine.__file__)).parents[1]


def task_code(module: str) -> bytes:
    """The text of a module of `export/elsewhere`, to be copied into an export."""
    return (Path(__file__).parent / "elsewhere" / f"{module}.py").read_bytes()


def write_scorer(path: Path) -> None:
    """Writes the archive to `path`: the modules of `ENTRY`, all of ours that they import, and a library."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, source in _sources():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), source, zipfile.ZIP_DEFLATED)


@cache
def _sources() -> tuple[tuple[str, bytes], ...]:
    """(name in the archive, bytes) of each file, by name."""
    found: set[Path] = set()
    waiting = [file for module in ENTRY for file in _files(module)]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += [needed for module in _imported(ast.parse(file.read_bytes())) for needed in _files(module)]
    ours = ((file.relative_to(_ROOT).as_posix(), file.read_bytes()) for file in sorted(found))
    return (*ours, *_library())


def _library() -> Iterator[tuple[str, bytes]]:
    """Its Python files and its licence."""
    for file in sorted(distribution(_CARRIED).files or (), key=str):
        if (file.suffix == ".py" and file.parts[0] == _CARRIED) or file.name == "LICENSE":
            yield file.as_posix(), file.read_binary()


def _files(module: str) -> Iterator[Path]:
    """Files of ours that an import of `module` runs: its packages and itself. What is not ours is not carried."""
    place = _ROOT
    for name in module.split("."):
        place = place / name
        for file in (place / "__init__.py", place.with_suffix(".py")):
            if file.is_file():
                yield file


def _imported(tree: ast.AST) -> Iterator[str]:
    """Names that code imports, functions included, but not what only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case _:
                yield from _imported(node)
