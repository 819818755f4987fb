"""Success of what is done rather than said: rates, ways, progress."""

from collections.abc import Sequence


def success_rate(successes: Sequence[bool]) -> float:
    """Share of successes; 0 of none."""
    return sum(map(bool, successes)) / len(successes) if successes else 0.0


def spl(success: bool, shortest: float, taken: float) -> float:
    """Success weighted by path length, S · l / max(p, l) (Anderson et al. 2018, arXiv:1807.06757): from 0 to 1."""
    if not success:
        return 0.0
    longest = max(shortest, taken)
    return shortest / longest if longest > 0 else 1.0


def progress(at_start: float, at_end: float) -> float:
    """Share of the distance to the goal that was overcome, from 0 (no nearer) to 1 (there)."""
    if at_start <= 0:
        return float(at_end <= 0)
    return min(1.0, max(0.0, 1 - at_end / at_start))
