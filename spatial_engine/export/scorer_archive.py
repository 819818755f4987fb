"""What an export carries into another harness: the code of a task, and `scorer.zip`, the scorer as one importable file.

Some harnesses pin packages that conflict with this package's (lmms-eval: av<16), and a dataset may be scored years
later. So an export carries the code that scores it, with `json_repair` (pure Python, MIT); beside these it needs only
numpy, scipy and jaxtyping.
"""

import ast
import zipfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import spatial_engine
from spatial_engine.scoring.own.readers import READERS
from templates.answers.registry import ANSWERS, FORMATS

NAME = "scorer.zip"
ENTRY = ("spatial_engine.scoring.own", "spatial_engine.scoring.reading", "templates.question")
REGISTRIES = (ANSWERS, FORMATS, READERS)
"""What they name is loaded by name: no import tells."""
_OURS = ("spatial_engine", "templates", "experts", "action_mapping")
_CARRIED = "json_repair"
"""A library that `scoring.reading` imports and harnesses do not have."""
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # equal code, equal bytes


def task_code(module: str) -> bytes:
    """The text of a module of `export/other_programs`, to be copied into an export."""
    return (Path(__file__).parent / "other_programs" / f"{module}.py").read_bytes()


def write_scorer(path: Path) -> None:
    """Writes the archive to `path`: the modules of `ENTRY`, those that `REGISTRIES` name, all of ours that
    they import, and a library."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, source in _sources(tuple(_plugins())):
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), source, zipfile.ZIP_DEFLATED)


def _plugins() -> Iterator[tuple[str, str, str]]:
    """(group, name, target) of what third parties have added."""
    for registry in REGISTRIES:
        for name, target in registry.targets().items():
            if name not in registry.builtin:
                yield registry.group, name, target


@cache
def _sources(plugins: tuple[tuple[str, str, str], ...]) -> tuple[tuple[str, bytes], ...]:
    """(name in the archive, bytes) of each file, by name."""
    named = [target.partition(":")[0] for registry in REGISTRIES for target in registry.builtin.values()]
    named += [target.partition(":")[0] for *_, target in plugins]
    roots = {package: Path(str(spatial_engine.__file__)).parents[1] for package in _OURS}
    roots |= {package: _root(package) for package in {module.split(".")[0] for module in named} - roots.keys()}
    found: dict[str, bytes] = {}
    waiting = [place for module in (*ENTRY, *named) for place in _files(module, roots)]
    while waiting:
        name, file = waiting.pop()
        if name not in found:
            found[name] = file.read_bytes()
            waiting += [place for module in _imported(ast.parse(found[name])) for place in _files(module, roots)]
    return (*sorted({**found, **_entry_points(plugins)}.items()), *_library())


def _library() -> Iterator[tuple[str, bytes]]:
    """Its Python files, its licence, and the record without which the licence's folder is no distribution."""
    for file in sorted(distribution(_CARRIED).files or (), key=str):
        if (file.suffix == ".py" and file.parts[0] == _CARRIED) or file.name in ("LICENSE", "METADATA"):
            yield file.as_posix(), file.read_binary()


def _root(package: str) -> Path:
    """The folder that a package, or a module by itself, lies in."""
    spec = find_spec(package)
    origin = Path(str(spec and spec.origin))
    return origin.parents[1] if origin.name == "__init__.py" else origin.parent


def _files(module: str, roots: dict[str, Path]) -> Iterator[tuple[str, Path]]:
    """(name in the archive, file) of each file that an import of `module` runs: its packages and itself. What is
    neither ours nor a plug-in's is not carried."""
    names = module.split(".")
    if names[0] not in roots:
        return
    for depth in range(1, len(names) + 1):
        place = "/".join(names[:depth])
        for name in (f"{place}/__init__.py", f"{place}.py"):
            if (roots[names[0]] / name).is_file():
                yield name, roots[names[0]] / name


def _entry_points(plugins: tuple[tuple[str, str, str], ...]) -> dict[str, bytes]:
    """What makes the archive a distribution of its plug-ins, so that their names are found in it."""
    if not plugins:
        return {}
    groups = {group: [f"{name} = {target}" for g, name, target in plugins if g == group] for group, *_ in plugins}
    text = "\n".join(line for group, lines in groups.items() for line in (f"[{group}]", *lines, ""))
    folder = "scorer_plugins-1.dist-info"
    metadata = "Metadata-Version: 2.1\nName: scorer-plugins\nVersion: 1\n"
    return {f"{folder}/METADATA": metadata.encode(), f"{folder}/entry_points.txt": text.encode()}


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
