"""Random numbers that depend on a fact and the seed alone, whatever facts are drawn for beside it."""

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from jaxtyping import Float64, Int64

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, kw_only=True)
class Chance:
    """Reproducible random numbers for n facts: equal ids, seed and `use` give equal ones. `use` names the purpose
    ("options"); numbers for different uses are independent."""

    ids: np.ndarray
    """Identity of each fact, 64 bits."""
    seed: int

    @classmethod
    def of(cls, fact_ids: np.ndarray | list[str], seed: int) -> "Chance":
        """From ids of 16 hex digits."""
        return cls(ids=np.array([int(id, 16) for id in fact_ids], dtype=np.uint64), seed=seed)

    def uniform(self, use: str, count: int) -> Float64[np.ndarray, "n k"]:
        """`count` numbers in [0, 1) for each fact; different uses are independent. SplitMix64 (Steele et al. 2014)."""
        start = np.uint64((crc32(use.encode()) << 32) ^ (self.seed & 0xFFFFFFFF))
        with np.errstate(over="ignore"):
            state = _mixed(self.ids ^ _mixed(np.array([start]) + _STEP))[:, None]
            state = state + _STEP * np.arange(1, count + 1, dtype=np.uint64)
            return (_mixed(state) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def order(self, use: str, count: int) -> Int64[np.ndarray, "n k"]:
        """A random order of `count` things for each fact."""
        return self.uniform(use, count).argsort(axis=1, kind="stable")

    def index(self, use: str, below: int | np.ndarray) -> Int64[np.ndarray, "n"]:
        """A whole number from 0 to `below` - 1 for each fact."""
        return (self.uniform(use, 1)[:, 0] * below).astype(np.int64)


def _mixed(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint64(30))) * _MIX[0]
    x = (x ^ (x >> np.uint64(27))) * _MIX[1]
    return x ^ (x >> np.uint64(31))
