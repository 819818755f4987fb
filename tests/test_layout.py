"""The layout of the packages, read from their own import statements: few modules, short chains, no circles."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYER = {"spatial_engine": 2, "templates": 1, "experts": 0, "action_mapping": 0}
"""A package imports from its own layer only within itself, and otherwise from lower layers."""

MODULES, SINGLE_FILES, CHAIN = 26, 6, 10


def is_entry(path: Path) -> bool:
    """Whether a file only hands names on (`__init__.py`) or starts the program (`__main__.py`)."""
    return path.name in ("__init__.py", "__main__.py")


@cache
def files() -> dict[str, Path]:
    """Every file of the four packages by its dotted name."""
    paths = [path for package in LAYER for path in (ROOT / package).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports of a file, those inside functions included, those for type checkers alone not."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not (isinstance(node, ast.expr) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))):
            yield from statements(node)


def imported(name: str, path: Path) -> set[str]:
    """Dotted names of our own files that a file imports."""
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        wanted = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            wanted = [f"{node.module}.{name}" for name in wanted]
        for full in wanted:
            while full and full not in files():
                full = full.rpartition(".")[0]
            found |= {full} - {"", name}
    return found


@cache
def imports() -> dict[str, set[str]]:
    return {name: imported(name, path) for name, path in files().items()}


@cache
def inner() -> dict[str, set[str]]:
    """The same without `__init__.py` and `__main__.py`: what they hand on is imported from its own file as well."""
    entry = {name for name, path in files().items() if is_entry(path)}
    return {name: targets - entry for name, targets in imports().items() if name not in entry}


def module_of(name: str) -> str:
    """What stands directly in `spatial_engine`; the other packages are one module each."""
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "spatial_engine" else parts[0]


def modules() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, targets in inner().items():
        own = module_of(name)
        found.setdefault(own, set()).update({module_of(target) for target in targets} - {own})
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle of a graph; empty if it has none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(graph).static_order():
        below = max((chains[target] for target in graph.get(name, ())), key=len, default=[])
        chains[name] = [name, *below]
    return max(chains.values(), key=len)


def test_few_modules_stand_directly_in_the_engine() -> None:
    folder = ROOT / "spatial_engine"
    single = sorted(path.stem for path in folder.glob("*.py") if not is_entry(path))
    packages = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    assert len(single) <= SINGLE_FILES, single
    assert len(single) + len(packages) <= MODULES, single + packages


def test_no_circle_among_files_nor_among_modules() -> None:
    assert circle(inner()) == []
    assert circle(modules()) == []


def test_the_longest_chain_of_imports_is_short() -> None:
    chain = longest_chain(modules())
    assert len(chain) <= CHAIN, " → ".join(chain)


def test_no_import_goes_up() -> None:
    def package(name: str) -> str:
        return name.split(".")[0]

    upwards = [
        f"{name} imports {target}"
        for name, targets in imports().items()
        for target in targets
        if package(name) != package(target) and LAYER[package(name)] <= LAYER[package(target)]
    ]
    assert upwards == []


def test_a_circle_and_a_long_chain_are_found() -> None:
    assert set(circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
    assert longest_chain({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == ["a", "b", "c"]
    assert circle({"a": {"b"}, "b": set()}) == []
