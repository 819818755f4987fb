"""The one way in which YAML files are read: plain values, no aliases, limited size, depth and number of values.

An alias repeats what its anchor names: 600 bytes of nested aliases stand for billions of values. A number to base 60
("1:30:00") of a megabyte keeps a processor busy for minutes. No file that we read needs either.
"""

from pathlib import Path
from typing import Any

import yaml

from spatial_engine.errors import UsageError

MOST_BYTES = 1 << 20
"""Larger files are refused. A manifest of 10 000 image names has about 300 kB."""
DEEPEST = 20
"""Lists and mappings within each other. A manifest has four."""
MOST_VALUES = 100_000
"""Values, keys included. Options of 10 000 clips have half as many."""
LONGEST_NUMBER = 40
"""Characters of a number; a float of double precision needs 24."""


_OPENCV_HEAD = "%YAML:1.0"  # what OpenCV and EuRoC write is no YAML directive


class _RefusedError(yaml.YAMLError):  # type: ignore[misc]
    """What the file holds is YAML that we do not read."""


class _PlainLoader(yaml.SafeLoader):  # type: ignore[misc]
    """`yaml.SafeLoader` without aliases, too much depth, too many values and endless numbers."""

    depth = 0
    values = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _RefusedError(f"an anchor or alias in line {line}: write the value out")
        if self.depth >= DEEPEST:
            raise _RefusedError(f"more than {DEEPEST} lists and mappings within each other, in line {line}")
        self.depth, self.values = self.depth + 1, self.values + 1
        if self.values > MOST_VALUES:
            raise _RefusedError(f"more than {MOST_VALUES} values, in line {line}")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_yaml_int(self, node: Any) -> int:
        return int(super().construct_yaml_int(self._short(node)))

    def construct_yaml_float(self, node: Any) -> float:
        return float(super().construct_yaml_float(self._short(node)))

    def _short(self, node: Any) -> Any:
        if len(node.value) > LONGEST_NUMBER:
            raise _RefusedError(f"a number of {len(node.value)} characters, in line {node.start_mark.line + 1}")
        return node


_PlainLoader.add_constructor("tag:yaml.org,2002:int", _PlainLoader.construct_yaml_int)
_PlainLoader.add_constructor("tag:yaml.org,2002:float", _PlainLoader.construct_yaml_float)


def read_yaml(path: Path, remedy: str) -> Any:
    """The plain values of a file: dicts, lists, texts, numbers, dates. None for an empty file.

    Raises `UsageError`, with `remedy`, for a file that cannot be read, is no YAML, has anchors or aliases, is larger
    than `MOST_BYTES`, deeper than `DEEPEST`, or has more than `MOST_VALUES` values.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UsageError(f"{path} has {size} bytes; at most {MOST_BYTES} are read", remedy)
        text = path.read_text(encoding="utf-8-sig").removeprefix(_OPENCV_HEAD)
        return yaml.load(text, _PlainLoader)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read ({error})", remedy) from error
    except _RefusedError as error:
        raise UsageError(f"{path}: {error}", remedy) from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is no YAML: {' '.join(str(error).split())}", remedy) from error
