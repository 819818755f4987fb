"""Arrays come back as the library of zarr reads them."""

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import zarr
from zarr.storage import ZipStore

from spatial_engine.store import zarr_zip
from spatial_engine.store.zarr_zip import read_zarr, write_zarr

RNG = np.random.default_rng(0)
ARRAYS = {
    "whole": RNG.normal(size=(8, 3)),
    "with an end": RNG.normal(size=(10, 3)).astype(np.float32),
    "zeros within": np.repeat(np.array([[1, 2], [0, 0], [3, 0]], dtype=np.int32), 4, axis=0),
    "zeros": np.zeros((10, 2, 2), dtype=np.int64),
    "known": RNG.random(10) < 0.5,
    "unknown": np.full((4, 2), np.nan),
    "no rows": np.zeros((0, 2)),
    "no columns": np.zeros((3, 0), dtype=np.float32),
}
ATTRIBUTES = {"labels": ["mug", "ball"], "seed": None, "sigma": 0.25}


def test_arrays_and_attributes_are_those_that_the_library_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zarr_zip, "_CHUNK_BYTES", 96)  # a few rows
    path = tmp_path / "some.zarr.zip"
    write_zarr(path, ATTRIBUTES, ARRAYS)
    with ZipStore(path, mode="r") as file:
        theirs = {name: np.asarray(array[...]) for name, array in zarr.open_group(file, mode="r").arrays()}
    attributes, ours = read_zarr(path)
    assert attributes == ATTRIBUTES
    assert ours.keys() == theirs.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert ours[name].dtype == theirs[name].dtype == array.dtype, name
        np.testing.assert_array_equal(ours[name], theirs[name], strict=True)
        np.testing.assert_array_equal(ours[name], array, strict=True)


def test_a_file_of_another_encoding_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "other.zarr.zip"
    with ZipStore(path, mode="w") as file:
        zarr.create_group(file).create_array("plain", data=np.arange(3), compressors=None)
    with pytest.raises(ValueError, match=r"plain is encoded by \['bytes'\], not by \['bytes', 'blosc'\]"):
        read_zarr(path)


def test_a_chunk_of_another_size_is_damage(tmp_path: Path) -> None:
    path, other = tmp_path / "some.zarr.zip", tmp_path / "other.zarr.zip"
    write_zarr(path, {}, {"rows": np.arange(1.0, 9.0), "fewer": np.arange(1.0, 4.0)})
    with ZipFile(path) as whole, ZipFile(other, "w") as mixed:
        for name in whole.namelist():
            mixed.writestr(name, whole.read(name.replace("rows/c", "fewer/c")))
    with pytest.raises(ValueError, match="rows/c/0 has 24 bytes, not 64"):
        read_zarr(other)
