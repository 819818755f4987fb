"""Arrays and attributes in a zip file that any reader of zarr opens. The library writes it; what it wrote is read
without it, which takes a tenth of the time where arrays are small."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np

_CHUNK_BYTES = 4 << 20  # a chunk is what one read decompresses: about a depth map
_CODECS = ["bytes", "blosc"]


def write_zarr(path: Path, attributes: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Writes a file with one group."""
    import zarr
    from zarr.codecs import BloscCodec
    from zarr.storage import ZipStore

    with ZipStore(path, mode="w") as file:
        group = zarr.create_group(file, attributes=attributes)
        for name, array in arrays.items():
            codec = BloscCodec(cname="zstd", **_compression(array))
            group.create_array(name, data=np.ascontiguousarray(array), chunks=_chunks(array), compressors=codec)


def _compression(array: np.ndarray) -> dict[str, Any]:
    """The settings of blosc that decompress fastest at about the same size: with "bitshuffle", as for all else,
    decimals took twice as long and maps of object ids four times."""
    if array.dtype.kind == "f":
        return {"clevel": 3, "shuffle": "shuffle"}
    return {"clevel": 6, "shuffle": "noshuffle"} if array.ndim > 2 else {"clevel": 3, "shuffle": "bitshuffle"}


def _chunks(array: np.ndarray) -> tuple[int, ...]:
    rows = max(1, _CHUNK_BYTES // max(1, array.nbytes // max(1, len(array))))
    return (min(rows, max(1, array.shape[0])), *(max(1, side) for side in array.shape[1:]))


def read_zarr(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Attributes and arrays of a file that `write_zarr` made. Raises on damage."""
    if not is_zipfile(path):
        raise ValueError("it is cut off or overwritten")
    with ZipFile(path) as file:  # which compares the sums of all parts, and their names with those of its directory
        parts = {part.filename: file.read(part) for part in file.infolist()}
    names = [part.removesuffix("/zarr.json") for part in parts if part.endswith("/zarr.json")]
    return json.loads(parts["zarr.json"])["attributes"], {name: _array(name, parts) for name in names}


def _array(name: str, parts: dict[str, bytes]) -> np.ndarray:
    from numcodecs import blosc

    blosc.use_threads = False  # workers have one thread each
    about = json.loads(parts[f"{name}/zarr.json"])
    if (codecs := [codec["name"] for codec in about["codecs"]]) != _CODECS:
        raise ValueError(f"{name} is encoded by {codecs}, not by {_CODECS}")
    (count, *sides), (rows, *_) = about["shape"], about["chunk_grid"]["configuration"]["chunk_shape"]
    chunks = np.empty((-(-count // rows), rows, *sides), about["data_type"])  # the last one may have rows to spare
    for number, chunk in enumerate(chunks):
        part = "/".join([name, "c", str(number), *"0" * len(sides)])
        if part not in parts:  # a chunk of nothing but the fill value is not stored
            chunk[...] = about["fill_value"]
            continue
        if (size := int.from_bytes(parts[part][4:8], "little")) != chunk.nbytes:  # by the header of blosc
            raise ValueError(f"{part} has {size} bytes, not {chunk.nbytes}")
        blosc.decompress(parts[part], chunk)
    return chunks.reshape(len(chunks) * rows, *sides)[:count]
