"""An expert's version must change with its source, as stored signals are reused by version.

`python tests/experts/test_versions.py` rewrites `versions.json`, unless a changed expert has its old version.
"""

import ast
import hashlib
import importlib.util
import json
from pathlib import Path

from benchmarks.trust.code_hash import code_of
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
    sources = {}
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            sources[module] = source_of(module)
            waiting += imported(ast.parse(sources[module]))
    for module in sorted(sources):
        digest.update(f"{module}\n{code_of(sources[module])}".encode())
    return digest.hexdigest()[:16]


def source_of(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


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
    one, two = (code_of(f'"""Words."""\nx = {n}  # note') for n in (1, 2))
    assert one == code_of('"""Other."""\nx = 1')
    assert one != two
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
