"""Text files of numbers, read strictly: whatever is not as it should be is an error that names its line."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from spatial_engine.errors import UsageError

QUATERNION_TOLERANCE = 0.01
"""Largest departure of a quaternion's norm from 1: three written digits stay below it."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Numbers of a text file."""

    values: Float64[np.ndarray, "n k"]
    lines: tuple[int, ...]
    """Line of each row, from 1."""

    @property
    def places(self) -> tuple[str, ...]:
        """The lines as messages name them."""
        return tuple(f"line {line}" for line in self.lines)


def read_text(path: Path) -> str:
    """A whole text file. Raises `UsageError` where there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no text file", "give poses as text; spatial-engine run takes videos") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "give a text file") from error


def split_line(line: str) -> list[str]:
    """Fields of a line, between blanks, commas or semicolons; none in comments."""
    return [] if line.lstrip().startswith("#") else re.split(r"[\s,;]+", line.strip(" \t\r\n,;"))


def first_fields(head: str) -> list[str]:
    """Fields of the first line that is neither empty nor a comment."""
    return next((fields for fields in map(split_line, head.splitlines()) if fields != [""] and fields), [])


def read_rows(path: Path, form: str, columns: range) -> Rows:
    """Every row of numbers. `columns`: how many each may have, all rows as many as the first."""
    rows: list[list[float]] = []
    lines = []
    wanted = columns
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        fields = split_line(text)
        if not fields or fields == [""]:
            continue
        if len(fields) not in wanted:
            raise UsageError(
                f"{path}, line {line}: {len(fields)} columns, where {form} has {_count(wanted)}",
                "correct that line, or name another --format",
            )
        try:
            rows.append(list(map(float, fields)))
        except ValueError:
            raise _no_number(path, line, next(field for field in fields if not is_number(field))) from None
        lines.append(line)
        wanted = range(len(fields), len(fields) + 1)
    if not rows:
        raise UsageError(f"{path} holds no pose", "give a file with at least two poses")
    values = np.array(rows, dtype=np.float64)
    broken = np.argwhere(~np.isfinite(values))
    if len(broken):
        row, column = broken[0].tolist()
        raise _no_number(path, lines[row], str(values[row, column]))
    return Rows(values=values, lines=tuple(lines))


def is_number(field: str) -> bool:
    """Whether a field is a finite number."""
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def number(path: Path, line: int, field: str) -> float:
    """A finite number. Raises `UsageError` that names the line."""
    if not is_number(field):
        raise _no_number(path, line, field)
    return float(field)


def _no_number(path: Path, line: int, field: str) -> UsageError:
    return UsageError(
        f"{path}, line {line}: {field!r} is not a finite number", "correct or remove that line; # starts comments"
    )


def matrices_from_quaternions(
    path: Path, places: tuple[str, ...], xyz: Float64[np.ndarray, "n 3"], wxyz: Float64[np.ndarray, "n 4"]
) -> Float64[np.ndarray, "n 4 4"]:
    """Poses from positions and quaternions of length 1."""
    norms = np.linalg.norm(wxyz, axis=1)
    off = np.abs(norms - 1.0) > QUATERNION_TOLERANCE
    if off.any():
        row = int(np.argmax(off))
        raise UsageError(
            f"{path}, {places[row]}: the quaternion has length {norms[row]:.4g} instead of 1 "
            f"({int(off.sum())} of {len(off)} poses)",
            "check the order of columns and --format: tum writes qx qy qz qw, euroc and colmap qw qx qy qz",
        )
    matrices = np.tile(np.eye(4), (len(xyz), 1, 1))
    matrices[:, :3, :3] = Rotation.from_quat(wxyz, scalar_first=True).as_matrix()
    matrices[:, :3, 3] = xyz
    return matrices


def _count(columns: range) -> str:
    return str(columns[0]) if len(columns) == 1 else f"at least {columns[0]}"
