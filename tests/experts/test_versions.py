"""An expert's version must change with its source, or stored signals would be taken for what they are not.

`python tests/experts/test_versions.py` writes `versions.json` anew, but not while a changed expert keeps its version.
"""

import ast
import hashlib
import importlib.util
import json
from pathlib import Path

from experts.registry import EXPERTS

RECORD = Path(__file__).with_name("versions.json")
TYPES_ONLY = {"experts.signals", "experts.provenance", "experts.expert", "experts.registry"}
"""Modules that an expert may import without resting on what they do."""


def present() -> dict[str, dict[str, str]]:
    """Version and source hash of each built-in expert."""
    return {name: {"version": EXPERTS.load(name).version, "source": source_hash(name)} for name in EXPERTS.builtin}


def source_hash(name: str) -> str:
    """Hash of the code of an expert's module and of the `experts` modules that it imports, without words."""
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
        digest.update(f"{module}\n{ast.dump(without_words(trees[module]))}".encode())
    return digest.hexdigest()[:16]


def tree_of(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> list[str]:
    """Modules of `experts` that are imported anywhere inside."""
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [
        f"experts.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "experts"
        for alias in node.names
    ]
    return [name for name in names if name.startswith("experts.")]


def without_words(tree: ast.Module) -> ast.Module:
    """Drops docstrings and other bare strings; comments are not in the tree anyway."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def stale(recorded: dict[str, dict[str, str]], now: dict[str, dict[str, str]]) -> list[str]:
    """Experts whose source changed under an unchanged version."""
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


def test_a_changed_constant_is_seen_and_a_comment_is_not() -> None:
    one, two = (ast.parse(f'"""Words."""\nx = {n}  # note') for n in (1, 2))
    other_words = ast.parse('"""Other."""\nx = 1')
    assert ast.dump(without_words(one)) == ast.dump(without_words(other_words))
    assert ast.dump(without_words(one)) != ast.dump(without_words(two))
    before = {"klt": {"version": "1", "source": "a"}}
    assert stale(before, {"klt": {"version": "1", "source": "b"}}) == ["klt"]
    assert stale(before, {"klt": {"version": "2", "source": "b"}}) == []


def refresh() -> None:
    """Writes the record, unless a version has to be raised first."""
    now = present()
    if RECORD.exists() and (names := stale(json.loads(RECORD.read_text()), now)):
        raise SystemExit(f"changed under the same version, raise `version` first: {', '.join(names)}")
    RECORD.write_text(json.dumps(now, indent=1) + "\n")


if __name__ == "__main__":
    refresh()
