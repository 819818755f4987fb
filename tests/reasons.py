"""Reasons of refusals, as the code has them: texts that are counted, and that docs/gates.md explains."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
_CASES, _CASES_OF = ("cases", "every_case", "differ"), ("cases", "_known")
"""Names of variables, and of functions, that hold reasons with the rows in which they apply."""
_ARGUMENT = {"found.refuse": 0, "Measured.none": 1, "_none": 0}
"""Which argument is the reason, by what is called; that of `NoEstimate` has a name."""
_ELSEWHERE = {"templates/truth.py", "templates/checked.py"}
"""Where other texts have the same form: verdicts on labels, faults of templates."""
_DETAILS = {"no background"}
"""Reasons that are shown as the detail of another one."""


def all_reasons() -> set[str]:
    """Why there is no signal, why a signal is not used, and why a fact is not asked."""
    paths = [path for folder in ("experts", "templates", "spatial_engine/sequences") for path in _files(folder)]
    found = {text for path in paths for node in ast.walk(_tree(path)) for text in _reasons(node, path)}
    return {text for text in found if " " in text} - _DETAILS


def _files(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*.py") if path.relative_to(ROOT).as_posix() not in _ELSEWHERE]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _reasons(node: ast.AST, path: Path) -> Iterator[str]:
    """The reasons in a statement or expression itself."""
    for cases in _with_cases(node):
        keys = [key for each in ast.walk(cases) if isinstance(each, ast.Dict) for key in each.keys if key]
        yield from (text for key in keys for text in _texts(key, path))
    if isinstance(node, ast.keyword) and node.arg in ("why", "reason"):
        yield from _texts(node.value, path)
    if isinstance(node, ast.Call) and (at := _ARGUMENT.get(ast.unparse(node.func))) is not None:
        yield from (text for each in node.args[at : at + 1] for text in _texts(each, path))


def _with_cases(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement or call in which tables have reasons as keys."""
    match node:
        case ast.Call(func=ast.Name(id="first_reason"), args=[_, cases]):
            yield cases
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _CASES:
            yield value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.AST() as value) if name in _CASES:
            yield value
        case ast.AugAssign(target=ast.Name(id=name), value=value) if name in _CASES:
            yield value
        case ast.FunctionDef(name=name) if name in _CASES_OF:
            yield from (each for each in ast.walk(node) if isinstance(each, ast.Return))


def _texts(node: ast.AST, path: Path) -> set[str]:
    """What an expression may be: a constant, the name of one, the branches of a condition."""
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    if isinstance(node, ast.Name) and isinstance(text := getattr(module, node.id, None), str):
        return {text}
    values: list[ast.AST] = [node]
    if isinstance(node, ast.Name):  # of a function
        assigned = [each for each in ast.walk(_tree(path)) if isinstance(each, ast.Assign)]
        values = [each.value for each in assigned if node.id in map(ast.unparse, each.targets)]
    values += [branch for each in values if isinstance(each, ast.IfExp) for branch in (each.body, each.orelse)]
    return {each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)}
