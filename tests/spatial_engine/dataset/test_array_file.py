"""Values with arrays come back as they were, and damage is found."""

from pathlib import Path

import numpy as np
import pytest

from spatial_engine.dataset.array_file import DamagedFileError, read_arrays, write_arrays

ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.array([[0.1, np.nan]]),
    np.array(["", "Küche", "\ud800"]),
    np.zeros((0, 4, 2)),
    np.array([True, False]),
    np.full(2, ""),
    np.array(7.0),
]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_arrays_come_back(tmp_path: Path, array: np.ndarray) -> None:
    write_arrays(tmp_path / "f", {"a": [array, array[..., None]]})
    found = read_arrays(tmp_path / "f")["a"]
    for one, other in zip(found, (array, array[..., None]), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def test_plain_values_come_back(tmp_path: Path) -> None:
    value = {"array": {"map": [1, None, True, "x"]}, "objects": [0.1, float("inf")], "ünï": {}}
    write_arrays(tmp_path / "f", value)
    assert read_arrays(tmp_path / "f") == value
    write_arrays(tmp_path / "f", [(1, np.float64(0.5)), np.array([None, "a"], dtype=object)])
    pair, objects = read_arrays(tmp_path / "f")
    assert pair == [1, 0.5] and objects.tolist() == [None, "a"]


def test_other_values_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Path cannot be filed"):
        write_arrays(tmp_path / "f", {"a": tmp_path.joinpath()})
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("place", [0, 12, -1])
def test_damage_is_found(tmp_path: Path, place: int) -> None:
    write_arrays(tmp_path / "f", {"a": np.arange(100)})
    data = bytearray((tmp_path / "f").read_bytes())
    data[place] ^= 0xFF
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(DamagedFileError, match="is damaged"):
        read_arrays(tmp_path / "f")
    (tmp_path / "f").write_bytes(data[:40])
    with pytest.raises(DamagedFileError, match="is damaged"):
        read_arrays(tmp_path / "f")
