"""Texts as sparse rows: hashed n-grams of their characters, without those that tell nothing."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int64

COLUMNS = 2**18
SIZES = (3, 4, 5)
_LONGEST = 2000
"""Characters of a text that are read."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def ngrams(texts: Sequence[str], sizes: Sequence[int] = SIZES) -> Any:
    """A csr matrix (texts, COLUMNS) of zeros and ones. Case does not count; the ends of a text do."""
    from scipy.sparse import csr_array

    distinct = list(dict.fromkeys(texts))
    row_of = {text: row for row, text in enumerate(distinct)}
    rows, columns = _hashed([f"\x02{text[:_LONGEST].lower()}\x03" for text in distinct], sizes)
    shape = (len(distinct), COLUMNS)
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return telling(matrix)[[row_of[text] for text in texts]]


def telling(matrix: Any) -> Any:
    """Without columns that all rows share or only one row has; rows of length 1."""
    found = np.bincount(matrix.indices, minlength=matrix.shape[1])
    kept = matrix[:, np.flatnonzero((found > 1) & (found < matrix.shape[0]))]
    sizes = np.sqrt(np.diff(kept.indptr).astype(np.float64))
    kept.data = np.repeat(1 / np.maximum(sizes, 1), np.diff(kept.indptr))
    return kept


def _hashed(texts: Sequence[str], sizes: Sequence[int]) -> tuple[Int64[np.ndarray, "m"], Int64[np.ndarray, "m"]]:
    """(row, column) of every n-gram."""
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    row = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    rows, columns = [], []
    for size in sizes:
        count = len(letters) - size + 1
        if count <= 0:
            continue
        code = np.full(count, size, dtype=np.uint64)
        for k in range(size):
            code = (code ^ letters[k : k + count]) * _FACTOR  # wraps around
        inside = row[:count] == row[size - 1 :]
        rows.append(row[:count][inside])
        columns.append((code[inside] >> np.uint64(40)).astype(np.int64) % COLUMNS)
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *rows]), np.concatenate([none, *columns])
