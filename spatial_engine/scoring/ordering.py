"""Orders of the same things: exact, by pairs, by rank correlation."""

from collections.abc import Hashable, Sequence


def exact(said: Sequence[Hashable], true: Sequence[Hashable]) -> bool:
    """Whether both orders are the same."""
    return list(said) == list(true)


def pairs_right(said: Sequence[Hashable], true: Sequence[Hashable]) -> float:
    """Share of pairs that stand in the true order, from 0 (reversed) to 1; 1 for fewer than two things.

    Raises `ValueError` unless both order the same distinct things.
    """
    pairs = len(true) * (len(true) - 1) // 2
    return 1 - _inversions(_places(said, true)) / pairs if pairs else 1.0


def kendall_tau(said: Sequence[Hashable], true: Sequence[Hashable]) -> float:
    """Kendall's τ (1938), from -1 (reversed) to 1: 2 · pairs_right - 1, for nothing is tied."""
    return 2 * pairs_right(said, true) - 1


def _places(said: Sequence[Hashable], true: Sequence[Hashable]) -> list[int]:
    place = {thing: index for index, thing in enumerate(true)}
    if len(place) != len(true) or len(said) != len(true) or set(said) != place.keys():
        raise ValueError("both must order the same distinct things")
    return [place[thing] for thing in said]


def _inversions(places: Sequence[int]) -> int:
    return sum(places[i] > places[j] for j in range(len(places)) for i in range(j))
