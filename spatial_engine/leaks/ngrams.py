"""Texts as sparse rows: hashed n-grams of their characters, without those that tell nothing."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.leaks.guesses import has_words
from templates.question import Question

_LETTERS = 6
CUES = _LETTERS + 8


def option_cues(question: Question) -> Float64[np.ndarray, "k 14"]:
    """A row per option: its letter (A to F); longest, shortest; largest, smallest, middle number; most and least like
    the others; the share of its words that the prompt has. An option that is a picture has its letter alone."""
    cues = np.zeros((len(question.options), CUES))
    for k in range(min(len(question.options), _LETTERS)):
        cues[k, k] = 1
    if not has_words(question) or len(question.options) < 2:
        return cues
    options = [option.lower() for option in question.options]
    _mark(cues, _LETTERS, [float(len(option)) for option in options])
    numbers = [re.search(r"-?\d+(?:\.\d+)?", option) for option in options]
    if all(numbers):
        values = [float(found.group()[:30]) for found in numbers if found]
        _mark(cues, _LETTERS + 2, values)
        if len(set(values)) == len(values) > 2:
            cues[np.argsort(values)[1:-1], _LETTERS + 4] = 1
    words = [set(re.findall(r"\w+", option)) for option in options]
    likeness = [sum(len(own & other) / max(1, len(own | other)) for other in words) for own in words]
    _mark(cues, _LETTERS + 5, [round(value, 9) for value in likeness])
    prompt = set(re.findall(r"\w+", question.prompt.lower()))
    cues[:, _LETTERS + 7] = [len(own & prompt) / max(1, len(own)) for own in words]
    return cues


def _mark(cues: Float64[np.ndarray, "k 14"], column: int, sizes: list[float]) -> None:
    """Two columns: the largest, the smallest; nothing where all are equal."""
    if len(set(sizes)) > 1:
        cues[:, column] = [size == max(sizes) for size in sizes]
        cues[:, column + 1] = [size == min(sizes) for size in sizes]


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
