"""An expert's version must change with its source, as stored signals are reused by version.

`python tests/experts/test_versions.py` rewrites `versions.json`, unless a changed expert has its old version.
"""

import ast
import hashlib
import importlib.util
import json
from pathlib import Path

from experts.registry import EXPERTS

RECORD = Path(__file__).with_name("versions.json")
TYPES_ONLY = {"experts.signals", "experts.provenance", "experts.expert", "experts.registry"}
"""Modules that do not affect the output of an expert that imports them."""


def present() -> dict[str, dict[str, str]]:
    """Version and source hash of each built-in expert."""
    return {name: {"version": EXPERTS.load(name).version, "source": source_hash(name)} for name in EXPERTS.builtin}


def source_hash(name: str) -> str:
    """Hash of the code of an expert's module and of the `experts` modules that it imports, without docstrings."""
    waiting, seen = [EXPERTS.builtin[name].partition(":")[0]], set(TYPES_ONLY)
    digest = hashlib.sha256()
    trees = {}
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            trees[module] = tree_of(module)
            waiting += imported(trees[module])
    for module in sorted(trees):
        digest.update(f"{module}\n{ast.dump(without_docstrings(trees[module]))}".encode())
    return digest.hexdigest()[:16]


def tree_of(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> list[str]:
    """Modules of `experts` that a module imports anywhere."""
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [
        f"experts.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "experts"
        for alias in node.names
    ]
    return [name for name in names if name.startswith("experts.")]


def without_docstrings(tree: ast.Module) -> ast.Module:
    """Drops docstrings and other bare strings. (The tree contains no comments.)"""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def stale(recorded: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> list[str]:
    """Experts whose source changed, while their version did not."""
    return [
        name
        for name, entry in now.items()
        if name in recorded
        and recorded[name]["source"] != entry["source"]
        and recorded[name]["version"] == entry["version"]
    ]


def test_versions_change_with_sources() -> None:
    recorded, now = json.loads(RECORD.read_text()), present()
    assert stale(recorded, now) == [], "raise `version` in these, then run: python tests/experts/test_versions.py"
    assert recorded == now, "run: python tests/experts/test_versions.py"


def test_a_changed_constant_changes_the_hash_and_a_comment_does_not() -> None:
    one, two = (ast.parse(f'"""Words."""\nx = {n}  # note') for n in (1, 2))
    other_words = ast.parse('"""Other."""\nx = 1')
    assert ast.dump(without_docstrings(one)) == ast.dump(without_docstrings(other_words))
    assert ast.dump(without_docstrings(one)) != ast.dump(without_docstrings(two))
    before = {"klt": {"version": "1", "source": "a"}}
    assert stale(before, {"klt": {"version": "1", "source": "b"}}) == ["klt"]
    assert stale(before, {"klt": {"version": "2", "source": "b"}}) == []


def refresh() -> None:
    """Writes the record, unless a version must be raised first."""
    now = present()
    if RECORD.exists() and (names := stale(json.loads(RECORD.read_text()), now)):
        raise SystemExit(f"changed under the same version, raise `version` first: {', '.join(names)}")
    RECORD.write_text(json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    refresh()
