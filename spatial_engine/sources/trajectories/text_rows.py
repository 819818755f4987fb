"""Strict reading of text files of numbers: every error names the line."""

import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from spatial_engine.errors import UsageError

QUATERNION_TOLERANCE = 0.01
"""Largest difference between a quaternion's norm and 1: rounding to three digits stays below it."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Numbers of a text file."""

    values: Float64[np.ndarray, "n k"]
    lines: tuple[int, ...]
    """Line number of each row, from 1."""

    @property
    def places(self) -> tuple[str, ...]:
        """The lines as messages name them: "line 7"."""
        return tuple(f"line {line}" for line in self.lines)


def read_text(path: Path) -> str:
    """The text of a file. Raises `UsageError` if it cannot be read or is not text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not a text file", "give poses as text; spatial-engine run takes videos") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "give a text file") from error


def split_line(line: str) -> list[str]:
    """Fields of a line, separated by blanks, commas or semicolons; empty for comments."""
    return [] if line.lstrip().startswith("#") else re.split(r"[\s,;]+", line.strip(" \t\r\n,;"))


def first_fields(head: str) -> list[str]:
    """Fields of the first line that is neither empty nor a comment."""
    return next((fields for fields in map(split_line, head.splitlines()) if fields != [""] and fields), [])


def read_rows(path: Path, form: str, columns: range) -> Rows:
    """All rows of numbers. `columns`: allowed numbers of columns; every row must have as many as the first.

    Raises `UsageError` that names the line.
    """
    rows: list[list[float]] = []
    lines = []
    wanted = columns
    for line, text in enumerate(read_text(path).splitlines(), start=1):
        fields = split_line(text)
        if not fields or fields == [""]:
            continue
        if len(fields) not in wanted:
            raise UsageError(
                f"{path}, line {line}: {len(fields)} columns, but {form} has {_count(wanted)}",
                "correct that line, or give another --format",
            )
        try:
            rows.append(list(map(float, fields)))
        except ValueError:
            raise _not_a_number(path, line, next(field for field in fields if not is_number(field))) from None
        lines.append(line)
        wanted = range(len(fields), len(fields) + 1)
    if not rows:
        raise UsageError(f"{path} has no pose", "give a file with at least two poses")
    values = np.array(rows, dtype=np.float64)
    invalid = np.argwhere(~np.isfinite(values))
    if len(invalid):
        row, column = invalid[0].tolist()
        raise _not_a_number(path, lines[row], str(values[row, column]))
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
        raise _not_a_number(path, line, field)
    return float(field)


def _not_a_number(path: Path, line: int, field: str) -> UsageError:
    return UsageError(
        f"{path}, line {line}: {field!r} is not a finite number", "correct or remove that line; # starts a comment"
    )


def matrices_from_quaternions(
    path: Path, places: tuple[str, ...], xyz: Float64[np.ndarray, "n 3"], wxyz: Float64[np.ndarray, "n 4"]
) -> Float64[np.ndarray, "n 4 4"]:
    """Poses from positions and unit quaternions. Raises `UsageError` that names the place of another quaternion."""
    norms = np.linalg.norm(wxyz, axis=1)
    bad = np.abs(norms - 1.0) > QUATERNION_TOLERANCE
    if bad.any():
        row = int(np.argmax(bad))
        raise UsageError(
            f"{path}, {places[row]}: the quaternion has length {norms[row]:.4g} instead of 1 "
            f"({int(bad.sum())} of {len(bad)} poses)",
            "check the order of columns and --format: tum writes qx qy qz qw, euroc and colmap qw qx qy qz",
        )
    matrices = np.tile(np.eye(4), (len(xyz), 1, 1))
    matrices[:, :3, :3] = Rotation.from_quat(wxyz, scalar_first=True).as_matrix()
    matrices[:, :3, 3] = xyz
    return matrices


def _count(columns: range) -> str:
    return str(columns[0]) if len(columns) == 1 else f"at least {columns[0]}"
