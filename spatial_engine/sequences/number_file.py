"""Texts of numbers."""

from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.errors import UsageError


def read_numbers(path: Path) -> Float64[np.ndarray, "r c"]:
    """Rows of a text; "#" begins a comment. Raises `UsageError` for other things, and for a text without numbers."""
    try:
        lines = [line.partition("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines()]
        rows = np.array([line for line in lines if line], dtype=np.float64)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read as numbers: {error}", "rows of numbers, with blanks between"
        ) from error
    if rows.ndim != 2:
        raise UsageError(f"{path} holds no numbers", "rows of numbers, with blanks between")
    return rows
