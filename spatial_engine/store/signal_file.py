"""One signal, one file: arrays in a zarr zip, everything else as its JSON attributes; `NoEstimate` as JSON.

Works for every frozen dataclass of `experts.signals`: fields are recognised by what they hold, and rebuilt by
their declared types. Zip bytes differ from run to run (they hold times); equality is `artefact_hash`.
"""

import hashlib
import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from experts.signals import NoEstimate, Signal
from spatial_engine.atomic_file import atomic_file, read_json, write_json
from spatial_engine.errors import StoreError
from spatial_engine.store.zarr_zip import read_zarr, write_zarr


def file_name(signal_name: str, key: str, value: Signal | NoEstimate) -> str:
    """`<signal>.<key>.zarr.zip`, or `.json` for a `NoEstimate`."""
    return f"{signal_name}.{key}.{'json' if isinstance(value, NoEstimate) else 'zarr.zip'}"


def write_signal(path: Path, value: Signal | NoEstimate) -> None:
    """Writes a signal atomically; the ending of `path` must be that of `file_name`."""
    attributes, arrays = _split(value)
    if isinstance(value, NoEstimate):
        write_json(path, attributes)
        return
    with atomic_file(path) as temporary:
        write_zarr(temporary, attributes, arrays)


def read_signal(path: Path, kind: type) -> Signal | NoEstimate:
    """Reads what `write_signal` wrote. `kind` is the signal's dataclass. Raises `StoreError` on damage."""
    try:
        if path.suffix == ".json":
            return read_no_estimate(path)
        attributes, arrays = read_zarr(path)
        return _build(kind, attributes | arrays)
    except Exception as error:  # zip, zarr, codec and type errors all mean the same here
        raise StoreError(
            f"{path.name} cannot be read: {error}",
            f"delete {path} and run annotate again: it recomputes what is missing",
        ) from error


def read_no_estimate(path: Path) -> NoEstimate:
    """The reason in a file. Raises `ValueError` on damage."""
    found = read_json(path)
    if not (isinstance(found, dict) and all(isinstance(value, str) for value in found.values())):
        raise ValueError("it holds no reason")
    try:
        return NoEstimate(**found)
    except TypeError as error:
        raise ValueError("it holds no reason") from error


def as_filed(value: Signal | NoEstimate) -> Signal | NoEstimate:
    """The signal as its file will give it back, so that who gets it from memory computes the same: attributes as JSON
    keeps them, arrays in C order. Arrays are shared with `value`, but cannot be written to."""
    attributes, arrays = _split(value)
    filed: Signal | NoEstimate = _build(type(value), json.loads(json.dumps(attributes)) | _read_only(arrays))
    return filed


def artefact_hash(value: Signal | NoEstimate) -> str:
    """sha256 of a signal's arrays and attributes: equal signals, equal hash, whatever the file's bytes."""
    attributes, arrays = _split(value)
    digest = hashlib.sha256(json.dumps([type(value).__name__, attributes], sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def to_json(value: Any) -> Any:
    """JSON value of scalars, containers and dataclasses without arrays; sets become sorted lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(to_json(item) for item in value)
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _split(value: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    parts = {field.name: getattr(value, field.name) for field in fields(value)}
    arrays = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
    return {name: to_json(part) for name, part in parts.items() if name not in arrays}, arrays


def _build(kind: Any, value: Any) -> Any:
    """A value of the declared type `kind` from its JSON form."""
    if get_origin(kind) in (Union, UnionType):
        return None if value is None else _build(next(arg for arg in get_args(kind) if arg is not type(None)), value)
    if get_origin(kind) is tuple:
        return tuple(_build(get_args(kind)[0], item) for item in value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        make: Any = kind
        return make(**{name: _build(hints[name], part) for name, part in value.items()})
    return float(value) if kind is float else value


def _read_only(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    views = {name: np.ascontiguousarray(array).view() for name, array in arrays.items()}
    for view in views.values():
        view.flags.writeable = False
    return views
