"""Hash of the code that results depend on. Docstrings and comments do not count: results outlive a better wording."""

import ast
import hashlib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def digest(patterns: Sequence[str], root: Path = ROOT) -> str:
    """Hash of the files under `root` that fit a glob pattern: Python files by their code, others by their bytes."""
    found = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
        found.update(f"{path.relative_to(root).as_posix()}\0{_content_hash(path)}\n".encode())
    return found.hexdigest()[:16]


def code_of(source: str) -> str:
    """Syntax tree of a module, without docstrings and other bare constants. (It contains no comments.)"""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _content_hash(path: Path) -> str:
    content = path.read_bytes()
    return hashlib.sha256(code_of(content.decode()).encode() if path.suffix == ".py" else content).hexdigest()
