"""Files of JSON values that hold arrays: small, read at once, and without code.

8 bytes    length of the header
header     JSON: the value, in which {"array": k} stands for array k; kind, shape and place of each array; sha256
the bytes of all arrays, one after the other
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from spatial_engine.atomic_file import atomic_file

_KINDS = "biufUS"
"""Of arrays whose bytes are stored; others become lists."""


class DamagedFileError(ValueError):
    """A file is not what was written."""


def write_arrays(path: Path, value: Any, *, durable: bool = True) -> None:
    """Writes a value of dicts, lists, plain values and arrays. Tuples become lists, plain values of numpy those of
    Python. `durable` as in `atomic_file`. Raises `TypeError` for anything else."""
    arrays: list[np.ndarray] = []
    held = _without_arrays(value, arrays)
    content = b"".join(array.tobytes() for array in arrays)
    ends = np.cumsum([array.nbytes for array in arrays]).tolist()
    kinds = [[array.dtype.str, array.shape, end - array.nbytes] for array, end in zip(arrays, ends, strict=True)]
    record = {"value": held, "arrays": kinds, "sha256": sha256(content).hexdigest()}
    header = json.dumps(record, separators=(",", ":")).encode()
    with atomic_file(path, durable=durable) as temporary:
        temporary.write_bytes(len(header).to_bytes(8, "little") + header + content)


def read_arrays(path: Path) -> Any:
    """The value of a file that `write_arrays` made. Raises `DamagedFileError`."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    try:
        record = json.loads(data[8:start])
        content = memoryview(data)[start:]
        if sha256(content).hexdigest() != record["sha256"]:
            raise ValueError("its checksum differs")
        arrays = [_array(content, *each) for each in record["arrays"]]
        return _with_arrays(record["value"], arrays)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DamagedFileError(f"{path} is damaged: {error}") from error


def _array(content: memoryview, kind: str, shape: list[int], start: int) -> np.ndarray:
    count = prod(shape)
    if not count or not np.dtype(kind).itemsize:
        return np.zeros(shape, dtype=kind)
    return np.frombuffer(content, dtype=kind, count=count, offset=start).reshape(shape)


def _without_arrays(value: Any, arrays: list[np.ndarray]) -> Any:
    match value:
        case np.ndarray() if value.dtype.kind in _KINDS:
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case np.ndarray():
            return {"objects": value.tolist()}
        case np.generic():
            return value.item()
        case Mapping():
            return {"map": {str(name): _without_arrays(each, arrays) for name, each in value.items()}}
        case list() | tuple():
            return [_without_arrays(each, arrays) for each in value]
        case None | bool() | int() | float() | str():
            return value
    raise TypeError(f"{type(value).__name__} cannot be filed; allowed: arrays, numbers, texts, lists and dicts of them")


def _with_arrays(held: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(held, list):
        return [_with_arrays(each, arrays) for each in held]
    if not isinstance(held, dict):
        return held
    ((kind, content),) = held.items()
    if kind == "array":
        return arrays[content]
    if kind == "map":
        return {name: _with_arrays(each, arrays) for name, each in content.items()}
    return np.array(content, dtype=object)
