"""`sequence.yaml` as a `Manifest`, read and checked."""

from pathlib import Path
from typing import Any

from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import Manifest

FILE = "sequence.yaml"


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file. Raises `UsageError` that names the key."""
    import yaml

    try:
        stated = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read ({error})", "name a sequence.yaml, or a folder that holds one"
        ) from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is no YAML: {' '.join(str(error).split())}", "see docs/sequences.md") from error
    return manifest_of(stated, str(path))


def manifest_of(stated: Any, source: str) -> Manifest:
    """A manifest of plain values. `source` names it in errors."""
    from pydantic import TypeAdapter, ValidationError

    if not isinstance(stated, dict):
        raise UsageError(f"{source} holds {type(stated).__name__}, not keys and values", "see docs/sequences.md")
    try:
        return TypeAdapter(Manifest).validate_python(stated)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{source}: {place}: {first['msg']} (given: {str(first['input'])[:60]!r})", "see docs/sequences.md"
        ) from error
